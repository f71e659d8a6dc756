/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two passes. While records come, each is packed into fields, and the fields that take few values choose its shape; the rest are appended to
 * one array, and each shape keeps the least and greatest value of each of its fields. At the finish the shapes are written, and what the fields
 * differ by from their least goes into columns.
 */
#include "log/batch_encoder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "log/record_pack.h"
#include "log/shape_table.h"
#include "log/varint.h"

#define RECORD_CAPACITY 65536u
#define VALUE_CAPACITY (256u << 10)
#define COLUMN_CAPACITY (LOG_KIND_COUNT * LOG_KNOWN_FIELD_MAX)
#define SECTION_CAPACITY (2 * COLUMN_CAPACITY + 16)

/* A split number is a first byte and at most 8 more. */
#define SPLIT_MAX_BYTES (1 + SPLIT_REST_MAX_BYTES)

/* What each part of the payload can take at most. */
#define DICTIONARY_MAX_BYTES (3u << 20)
#define SHAPES_MAX_BYTES (SHAPE_CAPACITY * (3u + LOG_KNOWN_FIELD_MAX * (1u + LEB128_MAX_BYTES)))
#define COLUMNS_MAX_BYTES (VALUE_CAPACITY * SPLIT_MAX_BYTES + RECORD_CAPACITY * 2)
#define SCRATCH_BYTES (COLUMNS_MAX_BYTES + (COLUMN_CAPACITY + 1) * SPLIT_REST_MAX_BYTES)
#define DIRECTORY_MAX_BYTES (SECTION_CAPACITY * 2 * 5)
#define PAYLOAD_MAX_BYTES (DIRECTORY_MAX_BYTES + DICTIONARY_MAX_BYTES + SHAPES_MAX_BYTES + COLUMNS_MAX_BYTES)

_Static_assert(PAYLOAD_MAX_BYTES <= LOG_PAYLOAD_MAX_BYTES, "a full batch must be a legal one");

struct column {
	uint8_t *first;
	uint8_t *rest;
	uint32_t first_cnt;
	uint32_t rest_cnt;
};

struct batch_encoder {
	struct record_packer packer;
	struct shape_table shapes;
	uint16_t *order; /* the shape of each record */
	uint64_t *values;
	uint32_t record_cnt;
	uint32_t value_cnt;
	uint32_t *label_spans; /* by SPAN_LABEL, 0: without one */
	uint64_t first_ns;
	uint64_t last_ns;
	uint8_t *scratch; /* the columns while they are written */
	uint8_t *payload;
	struct column order_column;
	struct column columns[COLUMN_CAPACITY];
	uint32_t cuts[SECTION_CAPACITY];
};

/* ---- while records come ---- */

struct batch_encoder *batch_encoder_new(void)
{
	struct batch_encoder *encoder = calloc(1, sizeof(*encoder));

	if (!encoder)
		return NULL;
	encoder->order = malloc(RECORD_CAPACITY * sizeof(*encoder->order));
	encoder->values = malloc(VALUE_CAPACITY * sizeof(*encoder->values));
	encoder->label_spans = calloc(RECORD_NAME_CAPACITY + 1, sizeof(*encoder->label_spans));
	encoder->scratch = malloc(SCRATCH_BYTES);
	encoder->payload = malloc(PAYLOAD_MAX_BYTES);
	if (record_packer_init(&encoder->packer) | shape_table_init(&encoder->shapes) || !encoder->order || !encoder->values ||
	    !encoder->label_spans || !encoder->scratch || !encoder->payload) {
		batch_encoder_free(encoder);
		return NULL;
	}
	batch_encoder_reset(encoder);
	return encoder;
}

void batch_encoder_free(struct batch_encoder *encoder)
{
	if (!encoder)
		return;
	record_packer_release(&encoder->packer);
	shape_table_release(&encoder->shapes);
	free(encoder->order);
	free(encoder->values);
	free(encoder->label_spans);
	free(encoder->scratch);
	free(encoder->payload);
	free(encoder);
}

void batch_encoder_reset(struct batch_encoder *encoder)
{
	memset(encoder->label_spans, 0, (encoder->packer.names.count + (size_t)1) * sizeof(*encoder->label_spans));
	record_packer_reset(&encoder->packer);
	shape_table_clear(&encoder->shapes);
	encoder->record_cnt = encoder->value_cnt = 0;
	encoder->first_ns = UINT64_MAX;
	encoder->last_ns = 0;
}

size_t batch_encoder_payload_max(void)
{
	return PAYLOAD_MAX_BYTES;
}

size_t batch_encoder_bytes(const struct batch_encoder *encoder)
{
	return encoder->record_cnt + (size_t)encoder->value_cnt * 2 + (size_t)encoder->shapes.count * 16 +
	       encoder->packer.names.byte_cnt + encoder->packer.texts.byte_cnt;
}

int batch_encoder_add(struct batch_encoder *encoder, const struct txtrace_record *record)
{
	int err = record_packer_check(&encoder->packer, record);
	uint64_t fields[LOG_KNOWN_FIELD_MAX], time_ns;
	struct shape *shape;

	if (err)
		return err;
	if (encoder->record_cnt == RECORD_CAPACITY || encoder->shapes.count == SHAPE_CAPACITY ||
	    encoder->value_cnt + LOG_KNOWN_FIELD_MAX > VALUE_CAPACITY)
		return -ENOSPC;
	record_pack(&encoder->packer, record, fields);
	shape = shape_table_find(&encoder->shapes, record->kind, fields);
	shape->count++;
	for (uint32_t left = shape->collected; left; left &= left - 1) {
		uint32_t i = (uint32_t)__builtin_ctz(left);
		int64_t value = (int64_t)fields[i];

		encoder->values[encoder->value_cnt++] = fields[i];
		shape->least[i] = value < shape->least[i] ? value : shape->least[i];
		shape->greatest[i] = value > shape->greatest[i] ? value : shape->greatest[i];
	}
	if (record->kind == TXTRACE_RECORD_SPAN)
		encoder->label_spans[fields[SPAN_LABEL]]++;
	encoder->order[encoder->record_cnt++] = (uint16_t)(shape - encoder->shapes.shapes);
	time_ns = encoder->packer.model.time_ns;
	encoder->first_ns = time_ns < encoder->first_ns ? time_ns : encoder->first_ns;
	encoder->last_ns = time_ns > encoder->last_ns ? time_ns : encoder->last_ns;
	return 0;
}

void batch_encoder_visit_labels(const struct batch_encoder *encoder, label_visitor visit, void *context)
{
	const struct intern_strings *names = &encoder->packer.names;

	if (encoder->label_spans[0])
		visit(context, NULL, 0, encoder->label_spans[0]);
	for (uint32_t i = 0; i < names->count; i++) {
		uint32_t begin = intern_strings_begin(names, i);

		if (encoder->label_spans[1 + i])
			visit(context, names->bytes + begin, names->ends[i] - begin, encoder->label_spans[1 + i]);
	}
}

void batch_encoder_count(const struct batch_encoder *encoder, uint64_t record_cnts[TXTRACE_RECORD_KIND_COUNT])
{
	memset(record_cnts, 0, TXTRACE_RECORD_KIND_COUNT * sizeof(*record_cnts));
	for (uint32_t i = 0; i < encoder->shapes.count; i++)
		record_cnts[encoder->shapes.shapes[i].kind] += encoder->shapes.shapes[i].count;
}

uint64_t batch_encoder_last_ns(const struct batch_encoder *encoder)
{
	return encoder->last_ns;
}

/* ---- at the finish ---- */

/* Gives each column room for what may come into it. */
static void lay_columns(struct batch_encoder *encoder)
{
	uint8_t *at = encoder->scratch;

	memset(encoder->columns, 0, sizeof(encoder->columns));
	for (uint32_t i = 0; i < encoder->shapes.count; i++) {
		const struct shape *shape = &encoder->shapes.shapes[i];

		for (uint32_t left = shape->variable; left; left &= left - 1)
			encoder->columns[shape->kind * LOG_KNOWN_FIELD_MAX + (uint32_t)__builtin_ctz(left)].first_cnt += shape->count;
	}
	for (uint32_t i = 0; i < COLUMN_CAPACITY; i++) {
		struct column *column = &encoder->columns[i];

		column->first = at;
		column->rest = at + column->first_cnt;
		at += column->first_cnt * SPLIT_MAX_BYTES + SPLIT_REST_MAX_BYTES;
		column->first_cnt = 0;
	}
	encoder->order_column = (struct column){ .first = at, .rest = at + encoder->record_cnt };
}

static inline void put_number(struct column *column, uint64_t value)
{
	column->rest_cnt += split_put(&column->first[column->first_cnt++], column->rest + column->rest_cnt, value);
}

static void fill_columns(struct batch_encoder *encoder)
{
	const uint64_t *value = encoder->values;

	for (uint32_t i = 0; i < encoder->record_cnt; i++) {
		const struct shape *shape = &encoder->shapes.shapes[encoder->order[i]];

		put_number(&encoder->order_column, shape->code);
		for (uint32_t left = shape->collected; left; left &= left - 1, value++) {
			uint32_t field = (uint32_t)__builtin_ctz(left);

			if (shape->variable & 1u << field)
				put_number(&encoder->columns[shape->kind * LOG_KNOWN_FIELD_MAX + field],
					   *value - (uint64_t)shape->least[field]);
		}
	}
}

/* The payload while it is written: the directory grows apart from the sections, which follow it. */
struct assembly {
	uint8_t directory[DIRECTORY_MAX_BYTES];
	uint32_t directory_length;
	uint32_t section_cnt;
	uint8_t *begin; /* of the sections */
	uint8_t *section;
	uint8_t *at;
	uint32_t *cuts;
};

static void end_section(struct assembly *assembly, uint32_t id)
{
	if (assembly->at == assembly->section)
		return;
	assembly->directory_length += leb128_put(assembly->directory + assembly->directory_length, id);
	assembly->directory_length += leb128_put(assembly->directory + assembly->directory_length,
						 (uint64_t)(assembly->at - assembly->section));
	assembly->cuts[assembly->section_cnt++] = (uint32_t)(assembly->at - assembly->begin);
	assembly->section = assembly->at;
}

static void put_leb128(struct assembly *assembly, uint64_t value)
{
	assembly->at += leb128_put(assembly->at, value);
}

static void put_bytes(struct assembly *assembly, const void *bytes, size_t length)
{
	memcpy(assembly->at, bytes, length);
	assembly->at += length;
}

static void put_strings(struct assembly *assembly, const struct intern_strings *strings, uint32_t section)
{
	if (!strings->count)
		return;
	put_leb128(assembly, strings->count);
	for (uint32_t i = 0; i < strings->count; i++)
		put_leb128(assembly, strings->ends[i] - intern_strings_begin(strings, i));
	put_bytes(assembly, strings->bytes, strings->byte_cnt);
	end_section(assembly, section);
}

static void put_dictionary(struct assembly *assembly, const struct record_packer *packer)
{
	uint32_t tid = 0, pid = 0;
	uint64_t object = 0;

	put_leb128(assembly, packer->threads.count);
	for (uint32_t i = 0; i < packer->threads.count; i++) {
		const struct model_thread *thread = &packer->model.threads[i];

		put_leb128(assembly, zigzag((uint64_t)((int64_t)thread->tid - tid)));
		put_leb128(assembly, zigzag((uint64_t)((int64_t)thread->pid - pid)));
		tid = thread->tid;
		pid = thread->pid;
	}
	end_section(assembly, LOG_SECTION_THREADS);
	put_strings(assembly, &packer->names, LOG_SECTION_NAMES);
	put_strings(assembly, &packer->texts, LOG_SECTION_TEXTS);
	put_leb128(assembly, packer->objects.count);
	for (uint32_t i = 0; i < packer->objects.count; i++) {
		put_leb128(assembly, zigzag(packer->objects.keys[i] - object));
		object = packer->objects.keys[i];
	}
	end_section(assembly, LOG_SECTION_OBJECTS);
	put_leb128(assembly, packer->slots.count);
	end_section(assembly, LOG_SECTION_SLOTS);
}

static uint32_t field_cnt_of(const struct shape *shape)
{
	uint32_t field_cnt = kind_fields[shape->kind].count;

	while (field_cnt && !shape->least[field_cnt - 1] && !(shape->variable & 1u << (field_cnt - 1)))
		field_cnt--;
	return field_cnt;
}

static void put_field(struct assembly *assembly, const struct shape *shape, uint32_t field)
{
	uint64_t value = (uint64_t)shape->least[field];

	if (shape->variable & 1u << field) {
		put_leb128(assembly, value ? FIELD_VARIABLE_FROM : FIELD_VARIABLE);
		if (value)
			put_leb128(assembly, zigzag(value));
	} else if (value > UINT64_MAX - FIELD_CONSTANT) {
		put_leb128(assembly, FIELD_CONSTANT_LARGE);
		put_leb128(assembly, value);
	} else {
		put_leb128(assembly, value + FIELD_CONSTANT);
	}
}

/* Field by field, not shape by shape: neighbours are alike. */
static void put_shapes(struct assembly *assembly, const struct shape *shapes, const uint16_t *ranking, uint32_t shape_cnt)
{
	put_leb128(assembly, shape_cnt);
	for (uint32_t i = 0; i < shape_cnt; i++)
		put_leb128(assembly, shapes[ranking[i]].kind);
	for (uint32_t i = 0; i < shape_cnt; i++)
		put_leb128(assembly, field_cnt_of(&shapes[ranking[i]]));
	for (uint32_t field = 0; field < LOG_KNOWN_FIELD_MAX; field++)
		for (uint32_t i = 0; i < shape_cnt; i++)
			if (field < field_cnt_of(&shapes[ranking[i]]))
				put_field(assembly, &shapes[ranking[i]], field);
	end_section(assembly, LOG_SECTION_SHAPES);
}

static void put_column(struct assembly *assembly, const struct column *column, uint32_t section)
{
	put_bytes(assembly, column->first, column->first_cnt);
	end_section(assembly, section);
	put_bytes(assembly, column->rest, column->rest_cnt);
	end_section(assembly, section + 1);
}

static void assemble(struct batch_encoder *encoder, struct assembly *assembly)
{
	put_dictionary(assembly, &encoder->packer);
	put_shapes(assembly, encoder->shapes.shapes, encoder->shapes.ranking, encoder->shapes.count);
	put_column(assembly, &encoder->order_column, LOG_SECTION_ORDER_FIRST);
	for (uint32_t kind = 0; kind < LOG_KIND_COUNT; kind++)
		for (uint32_t field = 0; field < LOG_KNOWN_FIELD_MAX; field++)
			put_column(assembly, &encoder->columns[kind * LOG_KNOWN_FIELD_MAX + field],
				   LOG_SECTION_COLUMNS + kind * LOG_FIELD_MAX * 2 + field * 2);
}

void batch_encoder_finish(struct batch_encoder *encoder, struct batch *batch)
{
	struct assembly assembly = {
		.begin = encoder->payload + DIRECTORY_MAX_BYTES,
		.section = encoder->payload + DIRECTORY_MAX_BYTES,
		.at = encoder->payload + DIRECTORY_MAX_BYTES,
		.cuts = encoder->cuts,
	};
	uint8_t count[LEB128_MAX_BYTES];
	uint32_t count_length, head_length;
	uint8_t *head;

	shape_table_settle(&encoder->shapes);
	lay_columns(encoder);
	fill_columns(encoder);
	assemble(encoder, &assembly);
	shape_table_learn(&encoder->shapes);

	count_length = (uint32_t)leb128_put(count, assembly.section_cnt);
	head_length = count_length + assembly.directory_length;
	head = assembly.begin - head_length;
	memcpy(head, count, count_length);
	memcpy(head + count_length, assembly.directory, assembly.directory_length);
	for (uint32_t i = 0; i < assembly.section_cnt; i++)
		encoder->cuts[i] += head_length;
	*batch = (struct batch){
		.payload = head,
		.cuts = encoder->cuts,
		.cut_cnt = assembly.section_cnt,
		.record_cnt = encoder->record_cnt,
		.first_ns = encoder->first_ns,
		.last_ns = encoder->last_ns,
	};
}
