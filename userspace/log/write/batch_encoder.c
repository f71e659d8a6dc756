/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two passes. While records come, each is packed into fields, and the fields that take few values choose its
 * shape; the rest are appended to one array, and each shape keeps the least and greatest value of each of its
 * fields. At the finish the shapes are written, and what the fields differ by from their least goes into
 * columns: of frequent shapes into their own, as numbers of one meaning compress better alone.
 */
#include "log/write/batch_encoder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "log/format/number.h"
#include "log/write/record_pack.h"
#include "log/write/shape_table.h"
#include "log/format/varint.h"

#define RECORD_CAPACITY 65536u
#define VALUE_CAPACITY (256u << 10)
/*
 * A column of a shape's own has some 70 bytes of statistics, once it is compressed: fewer numbers than this
 * don't pay for it.
 */
#define OWN_COLUMN_MIN_COUNT 384u

#define COMMON_COLUMN_COUNT (LOG_KIND_COUNT * LOG_KNOWN_FIELD_MAX)
#define OWN_COLUMN_CAPACITY (VALUE_CAPACITY / OWN_COLUMN_MIN_COUNT)
#define COLUMN_CAPACITY (COMMON_COLUMN_COUNT + OWN_COLUMN_CAPACITY)
#define SECTION_CAPACITY (2 * COLUMN_CAPACITY + 16)

_Static_assert(OWN_COLUMN_CAPACITY <= LOG_OWN_COLUMN_MAX, "the format allows as many");

/* What each part of the payload can take at most. */
#define DICTIONARY_MAX_BYTES (3u << 20)
#define SHAPES_MAX_BYTES (SHAPE_CAPACITY * (3u + LOG_KNOWN_FIELD_MAX * (1u + LEB128_MAX_BYTES)))
#define COLUMNS_MAX_BYTES (VALUE_CAPACITY * NUMBER_MAX_BYTES + COLUMN_CAPACITY * 2 + RECORD_CAPACITY * 2 + 1)
/* The values, and later their raw bits. */
#define VALUES_BYTES (VALUE_CAPACITY * sizeof(uint64_t))
#define DIRECTORY_MAX_BYTES (SECTION_CAPACITY * 2 * 5)
#define PAYLOAD_MAX_BYTES (DIRECTORY_MAX_BYTES + DICTIONARY_MAX_BYTES + SHAPES_MAX_BYTES + COLUMNS_MAX_BYTES)

_Static_assert(PAYLOAD_MAX_BYTES <= LOG_PAYLOAD_MAX_BYTES, "a full batch must be a legal one");
_Static_assert(DICTIONARY_MAX_BYTES >= 2 * LOG_STRINGS_MAX_BYTES + (448u << 10),
	       "names and texts, and the numbers of the tables of record_pack.c");

/* Its numbers lie one behind the other. */
struct column {
	uint64_t *numbers;
	uint32_t cnt;
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
	uint64_t *numbers; /* the values again, column by column */
	uint8_t *payload;
	uint32_t own_cnt;
	struct column columns[COLUMN_CAPACITY]; /* the common ones by kind and field, then the shapes' own */
	uint32_t cuts[SECTION_CAPACITY];
};

/* ---- while records come ---- */

struct batch_encoder *batch_encoder_new(void)
{
	struct batch_encoder *encoder = calloc(1, sizeof(*encoder));

	if (!encoder)
		return NULL;
	encoder->order = malloc(RECORD_CAPACITY * sizeof(*encoder->order));
	encoder->values = malloc(VALUES_BYTES);
	encoder->label_spans = calloc(RECORD_NAME_CAPACITY + 1, sizeof(*encoder->label_spans));
	encoder->numbers = malloc(VALUE_CAPACITY * sizeof(*encoder->numbers));
	encoder->payload = malloc(PAYLOAD_MAX_BYTES);
	if (record_packer_init(&encoder->packer) | shape_table_init(&encoder->shapes) || !encoder->order ||
	    !encoder->values || !encoder->label_spans || !encoder->numbers || !encoder->payload) {
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
	free(encoder->numbers);
	free(encoder->payload);
	free(encoder);
}

void batch_encoder_reset(struct batch_encoder *encoder)
{
	memset(encoder->label_spans, 0,
	       (encoder->packer.names.count + (size_t)1) * sizeof(*encoder->label_spans));
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
	for (uint64_t left = shape->collected; left; left &= left - 1) {
		uint32_t i = (uint32_t)__builtin_ctzll(left);
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
			visit(context, names->bytes + begin, names->ends[i] - begin,
			      encoder->label_spans[1 + i]);
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

/*
 * Says where the numbers of each shape go, in the order in which put_shapes tells it, and gives each column
 * its room.
 */
static void lay_columns(struct batch_encoder *encoder)
{
	uint64_t *at = encoder->numbers;

	memset(encoder->columns, 0, sizeof(encoder->columns));
	encoder->own_cnt = 0;
	for (uint32_t field = 0; field < LOG_KNOWN_FIELD_MAX; field++) {
		for (uint32_t i = 0; i < encoder->shapes.count; i++) {
			struct shape *shape = &encoder->shapes.shapes[encoder->shapes.ranking[i]];
			uint32_t column = shape->kind * LOG_KNOWN_FIELD_MAX + field;

			if (!(shape->variable & FIELD_BIT(field)))
				continue;
			if (shape->count >= OWN_COLUMN_MIN_COUNT)
				column = COMMON_COLUMN_COUNT + encoder->own_cnt++;
			shape->columns[field] = (uint16_t)column;
			encoder->columns[column].cnt += shape->count;
		}
	}
	for (uint32_t i = 0; i < COLUMN_CAPACITY; i++) {
		encoder->columns[i].numbers = at;
		at += encoder->columns[i].cnt;
		encoder->columns[i].cnt = 0;
	}
}

static void fill_columns(struct batch_encoder *encoder)
{
	const uint64_t *value = encoder->values;

	for (uint32_t i = 0; i < encoder->record_cnt; i++) {
		const struct shape *shape = &encoder->shapes.shapes[encoder->order[i]];

		for (uint64_t left = shape->collected; left; left &= left - 1, value++) {
			uint32_t field = (uint32_t)__builtin_ctzll(left);

			if (shape->variable & FIELD_BIT(field)) {
				struct column *column = &encoder->columns[shape->columns[field]];

				column->numbers[column->cnt++] = *value - (uint64_t)shape->least[field];
			}
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
	uint32_t field_cnt = record_kinds[shape->kind].log_field_cnt;

	while (field_cnt && !shape->least[field_cnt - 1] && !(shape->variable & FIELD_BIT(field_cnt - 1)))
		field_cnt--;
	return field_cnt;
}

static void put_field(struct assembly *assembly, const struct shape *shape, uint32_t field)
{
	uint64_t value = (uint64_t)shape->least[field];

	if (shape->variable & FIELD_BIT(field)) {
		bool is_own = shape->columns[field] >= COMMON_COLUMN_COUNT;

		put_leb128(assembly, is_own ? FIELD_OWN_FROM : value ? FIELD_VARIABLE_FROM : FIELD_VARIABLE);
		if (is_own || value)
			put_leb128(assembly, zigzag(value));
	} else if (value > UINT64_MAX - FIELD_CONSTANT) {
		put_leb128(assembly, FIELD_CONSTANT_LARGE);
		put_leb128(assembly, value);
	} else {
		put_leb128(assembly, value + FIELD_CONSTANT);
	}
}

/* Field by field, not shape by shape: neighbours are alike. */
static void put_shapes(struct assembly *assembly, const struct shape *shapes, const uint16_t *ranking,
		       uint32_t shape_cnt)
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

#define SAMPLES 512u

/*
 * Of a number of middle size so many leading bits are told by its code: one more where there are enough
 * numbers for finer statistics.
 */
#define LEADING_BITS 6u
#define MANY_NUMBERS 8192u

/*
 * How many bits of each number are noise: all but the leading ones of a number of the middle. The column has
 * numbers.
 */
static unsigned int pick_low(const struct column *column)
{
	uint32_t step = column->cnt / SAMPLES + 1, sample_cnt = (column->cnt + step - 1) / step, below = 0;
	uint32_t lengths[65] = { 0 };
	unsigned int length = 0, leading = LEADING_BITS;

	for (uint32_t i = 0; i < column->cnt; i += step)
		lengths[64 - (column->numbers[i] ? __builtin_clzll(column->numbers[i]) : 64)]++;
	while (below + lengths[length] <= sample_cnt / 2)
		below += lengths[length++];
	leading += column->cnt >= MANY_NUMBERS;
	length = length > leading ? length - leading : 0;
	return length < NUMBER_LOW_MAX ? length : NUMBER_LOW_MAX;
}

/*
 * The raw bits of all columns stand behind the codes of all: noise by itself takes the compressor no time.
 * They are kept apart until then.
 */
struct noise {
	struct bit_writer writer;
	uint8_t *begin;
	uint32_t section_cnt;
	uint32_t ids[COLUMN_CAPACITY];
	uint8_t *ends[COLUMN_CAPACITY];
};

static void put_codes(struct assembly *assembly, struct noise *noise, const struct column *column,
		      uint32_t section)
{
	uint8_t *codes = assembly->at;
	unsigned int low;

	if (!column->cnt)
		return;
	low = pick_low(column);
	*codes++ = (uint8_t)low;
	for (uint32_t i = 0; i < column->cnt; i++)
		bits_put(&noise->writer, column->numbers[i], number_code(column->numbers[i], low, &codes[i]));
	assembly->at = codes + column->cnt;
	end_section(assembly, section);
	noise->writer = (struct bit_writer){ .at = bits_end(&noise->writer) };
	noise->ids[noise->section_cnt] = section + 1;
	noise->ends[noise->section_cnt++] = noise->writer.at;
}

static void put_order(struct assembly *assembly, const struct batch_encoder *encoder)
{
	uint8_t *at = assembly->at, *more = at + encoder->record_cnt;

	for (uint32_t i = 0; i < encoder->record_cnt; i++) {
		uint32_t code = encoder->shapes.shapes[encoder->order[i]].code;
		uint32_t above = code - LOG_ORDER_SHORT;

		*more = (uint8_t)above;
		more += code >= LOG_ORDER_SHORT;
		at[i] = (uint8_t)(code < LOG_ORDER_SHORT ? code : LOG_ORDER_SHORT + (above >> 8));
	}
	assembly->at = at + encoder->record_cnt;
	end_section(assembly, LOG_SECTION_ORDER);
	assembly->at = more;
	end_section(assembly, LOG_SECTION_ORDER_MORE);
}

static void put_noise(struct assembly *assembly, const struct noise *noise)
{
	const uint8_t *at = noise->begin;

	for (uint32_t i = 0; i < noise->section_cnt; i++) {
		put_bytes(assembly, at, (size_t)(noise->ends[i] - at));
		end_section(assembly, noise->ids[i]);
		at = noise->ends[i];
	}
}

/* The values have been copied into the columns: their place is free for the noise. */
static void assemble(struct batch_encoder *encoder, struct assembly *assembly)
{
	struct noise noise = { .writer.at = (uint8_t *)encoder->values, .begin = (uint8_t *)encoder->values };

	put_dictionary(assembly, &encoder->packer);
	put_shapes(assembly, encoder->shapes.shapes, encoder->shapes.ranking, encoder->shapes.count);
	put_order(assembly, encoder);
	for (uint32_t i = 0; i < COMMON_COLUMN_COUNT; i++)
		put_codes(assembly, &noise, &encoder->columns[i],
			  LOG_SECTION_COLUMNS + i / LOG_KNOWN_FIELD_MAX * LOG_FIELD_MAX * 2 +
				  i % LOG_KNOWN_FIELD_MAX * 2);
	for (uint32_t i = 0; i < encoder->own_cnt; i++)
		put_codes(assembly, &noise, &encoder->columns[COMMON_COLUMN_COUNT + i],
			  LOG_SECTION_OWN + i * 2);
	put_noise(assembly, &noise);
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
