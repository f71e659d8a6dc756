/* SPDX-License-Identifier: BSD-2-Clause */
#include "log/batch_decoder.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "log/record_unpack.h"
#include "log/varint.h"

/* How the records of a shape are made. Most logs are stays on CPUs and wakeups of which only the times differ: these have a way of their own. */
enum shape_way { WAY_GENERAL, WAY_RUN, WAY_WAKE, WAY_UNKNOWN };

#define RUN_TIMES (1u << FIELD_TIME | 1u << RUN_BEGIN | 1u << RUN_RUNNABLE | 1u << RUN_BLOCKED)
#define WAKE_TIMES (1u << FIELD_TIME)

struct record_shape {
	uint32_t kind;
	uint32_t variable; /* bit set of the fields that come from columns; those of a later version are left out */
	uint32_t way;      /* enum shape_way */
	uint32_t field_cnt;
	struct model_thread *thread; /* of a run or wake with a way of its own */
	uint64_t *cpu_end_ns;
	union {
		struct txtrace_run run; /* all but the times */
		struct txtrace_wake wake;
	};
	uint64_t values[LOG_KNOWN_FIELD_MAX]; /* constants, and what the columns' numbers are added to */
};

struct range {
	const uint8_t *at;
	const uint8_t *end;
};

/* A column of split numbers; an absent one is empty. */
struct column {
	struct range first;
	struct range rest;
};

/* A table that grows to what the largest batch needed. */
struct table {
	void *entries;
	size_t bytes;
};

enum table_id { TABLE_THREADS, TABLE_NAMES, TABLE_TEXTS, TABLE_OBJECTS, TABLE_SLOTS, TABLE_SHAPES, TABLE_COUNT };

struct batch_decoder {
	struct record_unpacker unpacker;
	struct table tables[TABLE_COUNT];
	const struct record_shape *shapes;
	uint32_t shape_cnt;
	uint32_t record_cnt;
	uint32_t position;
	struct range sections[LOG_SECTION_ORDER_REST + 1]; /* the dictionary's, by enum log_section */
	struct column order;
	struct column columns[LOG_KIND_COUNT][LOG_KNOWN_FIELD_MAX];
	struct column unknown_times[LOG_KIND_MAX - LOG_KIND_COUNT]; /* FIELD_TIME of the kinds that this version does not know */
};

struct batch_decoder *batch_decoder_new(void)
{
	return calloc(1, sizeof(struct batch_decoder));
}

void batch_decoder_free(struct batch_decoder *decoder)
{
	if (!decoder)
		return;
	for (unsigned int i = 0; i < TABLE_COUNT; i++)
		free(decoder->tables[i].entries);
	free(decoder);
}

static void *table_room(struct batch_decoder *decoder, enum table_id id, size_t cnt, size_t entry_bytes)
{
	struct table *table = &decoder->tables[id];
	void *entries;

	if (cnt * entry_bytes > table->bytes) {
		entries = realloc(table->entries, cnt * entry_bytes);
		if (!entries)
			return NULL;
		table->entries = entries;
		table->bytes = cnt * entry_bytes;
	}
	return table->entries;
}

/* ---- the directory ---- */

/* Where a section's bytes are to be known; NULL for one that this version has no use for. */
static struct range *section_place(struct batch_decoder *decoder, uint64_t id)
{
	uint64_t kind, field;
	struct column *column;

	if (id == LOG_SECTION_ORDER_FIRST)
		return &decoder->order.first;
	if (id == LOG_SECTION_ORDER_REST)
		return &decoder->order.rest;
	if (id <= LOG_SECTION_ORDER_REST)
		return &decoder->sections[id];
	if (id < LOG_SECTION_COLUMNS)
		return NULL;
	kind = (id - LOG_SECTION_COLUMNS) / (2 * LOG_FIELD_MAX);
	field = (id - LOG_SECTION_COLUMNS) / 2 % LOG_FIELD_MAX;
	if (kind < LOG_KIND_COUNT && field < LOG_KNOWN_FIELD_MAX)
		column = &decoder->columns[kind][field];
	else if (kind >= LOG_KIND_COUNT && kind < LOG_KIND_MAX && field == FIELD_TIME)
		column = &decoder->unknown_times[kind - LOG_KIND_COUNT];
	else
		return NULL;
	return id & 1 ? &column->rest : &column->first;
}

/* An absent section is an empty one that begins where reading is safe. */
static void clear_directory(struct batch_decoder *decoder, const uint8_t *payload)
{
	const struct range none = { payload, payload };
	const struct column empty = { none, none };

	for (uint32_t i = 0; i <= LOG_SECTION_ORDER_REST; i++)
		decoder->sections[i] = none;
	for (uint32_t i = 0; i < LOG_KIND_COUNT * LOG_KNOWN_FIELD_MAX; i++)
		decoder->columns[i / LOG_KNOWN_FIELD_MAX][i % LOG_KNOWN_FIELD_MAX] = empty;
	for (uint32_t i = 0; i < LOG_KIND_MAX - LOG_KIND_COUNT; i++)
		decoder->unknown_times[i] = empty;
	decoder->order = empty;
}

static int read_directory(struct batch_decoder *decoder, const uint8_t *at, const uint8_t *end)
{
	uint64_t section_cnt, id, length;
	const uint8_t *body, *entry;
	struct range *place;

	clear_directory(decoder, at);
	if (!leb128_get(&at, end, &section_cnt) || section_cnt > (uint64_t)(end - at))
		return -EBADMSG;
	entry = at;
	for (uint64_t i = 0; i < section_cnt; i++)
		if (!leb128_get(&at, end, &id) || !leb128_get(&at, end, &length))
			return -EBADMSG;
	body = at;
	for (uint64_t i = 0; i < section_cnt; i++) {
		leb128_get(&entry, end, &id);
		leb128_get(&entry, end, &length);
		if (length > (uint64_t)(end - body))
			return -EBADMSG;
		place = section_place(decoder, id);
		if (place)
			*place = (struct range){ body, body + length };
		body += length;
	}
	return 0;
}

/* ---- the dictionary ---- */

/* How many entries the section says it has: at most max, and as many as its bytes can hold. An absent section has none. */
static int read_count(struct range *range, uint32_t max, uint32_t *cnt)
{
	uint64_t value = 0;

	if (range->at != range->end && (!leb128_get(&range->at, range->end, &value) || value > max ||
					value > (uint64_t)(range->end - range->at)))
		return -EBADMSG;
	*cnt = (uint32_t)value;
	return 0;
}

static int read_threads(struct batch_decoder *decoder)
{
	struct range range = decoder->sections[LOG_SECTION_THREADS];
	struct record_unpacker *unpacker = &decoder->unpacker;
	uint64_t tid = 0, pid = 0, value;

	if (read_count(&range, LOG_THREAD_MAX, &unpacker->thread_cnt))
		return -EBADMSG;
	unpacker->model.threads = table_room(decoder, TABLE_THREADS, unpacker->thread_cnt, sizeof(struct model_thread));
	if (unpacker->thread_cnt && !unpacker->model.threads)
		return -ENOMEM;
	for (uint32_t i = 0; i < unpacker->thread_cnt; i++) {
		if (!leb128_get(&range.at, range.end, &value))
			return -EBADMSG;
		tid += unzigzag(value);
		if (!leb128_get(&range.at, range.end, &value))
			return -EBADMSG;
		pid += unzigzag(value);
		unpacker->model.threads[i] = (struct model_thread){ .tid = (uint32_t)tid, .pid = (uint32_t)pid };
	}
	return 0;
}

static int read_strings(struct batch_decoder *decoder, enum log_section section, enum table_id table, uint32_t max,
			const struct txtrace_string **strings, uint32_t *cnt)
{
	struct range range = decoder->sections[section];
	struct txtrace_string *entries;
	uint64_t length;

	if (read_count(&range, max, cnt))
		return -EBADMSG;
	*strings = entries = table_room(decoder, table, *cnt, sizeof(*entries));
	if (*cnt && !entries)
		return -ENOMEM;
	for (uint32_t i = 0; i < *cnt; i++) {
		if (!leb128_get(&range.at, range.end, &length))
			return -EBADMSG;
		entries[i].length = length;
	}
	for (uint32_t i = 0; i < *cnt; i++) {
		if (entries[i].length > (size_t)(range.end - range.at))
			return -EBADMSG;
		entries[i].bytes = (const char *)range.at;
		range.at += entries[i].length;
	}
	return 0;
}

static int read_objects(struct batch_decoder *decoder)
{
	struct range range = decoder->sections[LOG_SECTION_OBJECTS];
	struct record_unpacker *unpacker = &decoder->unpacker;
	uint64_t object = 0, value, *objects;

	if (read_count(&range, LOG_OBJECT_MAX, &unpacker->object_cnt))
		return -EBADMSG;
	unpacker->objects = objects = table_room(decoder, TABLE_OBJECTS, unpacker->object_cnt, sizeof(*objects));
	if (unpacker->object_cnt && !objects)
		return -ENOMEM;
	for (uint32_t i = 0; i < unpacker->object_cnt; i++) {
		if (!leb128_get(&range.at, range.end, &value))
			return -EBADMSG;
		objects[i] = object += unzigzag(value);
	}
	return 0;
}

static int read_slots(struct batch_decoder *decoder)
{
	struct range range = decoder->sections[LOG_SECTION_SLOTS];
	struct record_unpacker *unpacker = &decoder->unpacker;
	uint64_t cnt = 0;

	if (range.at != range.end && (!leb128_get(&range.at, range.end, &cnt) || cnt > LOG_SLOT_MAX))
		return -EBADMSG;
	unpacker->slot_cnt = (uint32_t)cnt;
	unpacker->model.slots = table_room(decoder, TABLE_SLOTS, cnt, sizeof(uint64_t));
	if (cnt && !unpacker->model.slots)
		return -ENOMEM;
	if (cnt)
		memset(unpacker->model.slots, 0, cnt * sizeof(uint64_t));
	return 0;
}

/* ---- the shapes ---- */

static int read_field(struct range *range, uint64_t *value, bool *is_variable)
{
	uint64_t code;

	if (!leb128_get(&range->at, range->end, &code))
		return -EBADMSG;
	*is_variable = code == FIELD_VARIABLE || code == FIELD_VARIABLE_FROM;
	*value = code >= FIELD_CONSTANT ? code - FIELD_CONSTANT : 0;
	if (code == FIELD_VARIABLE_FROM || code == FIELD_CONSTANT_LARGE) {
		if (!leb128_get(&range->at, range->end, value))
			return -EBADMSG;
		if (code == FIELD_VARIABLE_FROM)
			*value = unzigzag(*value);
	}
	return 0;
}

/* The kinds of all shapes, then how many fields each has, then field 0 of all, field 1 of those that have it, … */
static int read_shape_fields(struct range *range, struct record_shape *shapes, uint32_t shape_cnt)
{
	uint64_t value;
	bool is_variable;

	for (uint32_t i = 0; i < shape_cnt; i++) {
		if (!leb128_get(&range->at, range->end, &value) || value >= LOG_KIND_MAX)
			return -EBADMSG;
		shapes[i].kind = (uint32_t)value;
	}
	for (uint32_t i = 0; i < shape_cnt; i++) {
		if (!leb128_get(&range->at, range->end, &value) || value > LOG_FIELD_MAX)
			return -EBADMSG;
		shapes[i].field_cnt = (uint32_t)value;
	}
	for (uint32_t field = 0; field < LOG_KNOWN_FIELD_MAX; field++) {
		for (uint32_t i = 0; i < shape_cnt; i++) {
			if (field >= shapes[i].field_cnt)
				continue;
			if (read_field(range, &shapes[i].values[field], &is_variable))
				return -EBADMSG;
			shapes[i].variable |= is_variable ? 1u << field : 0;
		}
	}
	return 0;
}

/* Fields that the shape does not tell are 0. Of a kind or a field that is not known only the time counts. */
static void settle_shape(struct record_shape *shape)
{
	shape->field_cnt = shape->kind < LOG_KIND_COUNT ? kind_fields[shape->kind].count : 0;
	shape->way = shape->field_cnt ? WAY_GENERAL : WAY_UNKNOWN;
	shape->variable &= shape->field_cnt ? (1u << shape->field_cnt) - 1 : 1u << FIELD_TIME;
}

/* A span is told by what a slot remembers, which is not the same in all records of the shape. */
static bool is_plain_wake(const struct record_shape *shape)
{
	return shape->kind == TXTRACE_RECORD_WAKE && !(shape->variable & ~WAKE_TIMES) && shape->values[WAKE_SPAN_SLOT] == SLOT_ZERO &&
	       shape->values[WAKE_WAKER_SPAN_SLOT] == SLOT_ZERO;
}

/* Makes the record of this shape, all but its times, if the shape is one of those that have a way of their own. */
static void prepare_shape(struct record_unpacker *unpacker, struct record_shape *shape)
{
	struct txtrace_record record;
	uint64_t thread = shape->values[FIELD_THREAD];

	if (!(shape->kind == TXTRACE_RECORD_RUN && !(shape->variable & ~RUN_TIMES)) && !is_plain_wake(shape))
		return;
	if (!record_unpack(unpacker, shape->kind, shape->values, &record))
		return;
	shape->thread = &unpacker->model.threads[thread];
	if (shape->kind == TXTRACE_RECORD_RUN) {
		shape->way = WAY_RUN;
		shape->run = record.run;
		shape->cpu_end_ns = model_cpu_end(&unpacker->model, record.run.cpu);
	} else {
		shape->way = WAY_WAKE;
		shape->wake = record.wake;
	}
}

static void reset_model(struct record_unpacker *unpacker)
{
	for (uint32_t i = 0; i < unpacker->thread_cnt; i++)
		unpacker->model.threads[i].last_end_ns = unpacker->model.threads[i].span_end_ns = unpacker->model.threads[i].ready_ns = 0;
	memset(unpacker->model.cpu_end_ns, 0, sizeof(unpacker->model.cpu_end_ns));
	unpacker->model.time_ns = 0;
	unpacker->model.text_cnt = 0;
}

static int read_shapes(struct batch_decoder *decoder)
{
	struct range range = decoder->sections[LOG_SECTION_SHAPES];
	struct record_shape *shapes;

	if (read_count(&range, LOG_SHAPE_MAX, &decoder->shape_cnt))
		return -EBADMSG;
	decoder->shapes = shapes = table_room(decoder, TABLE_SHAPES, decoder->shape_cnt, sizeof(*shapes));
	if (decoder->shape_cnt && !shapes)
		return -ENOMEM;
	if (decoder->shape_cnt)
		memset(shapes, 0, decoder->shape_cnt * sizeof(*shapes));
	if (read_shape_fields(&range, shapes, decoder->shape_cnt))
		return -EBADMSG;
	for (uint32_t i = 0; i < decoder->shape_cnt; i++) {
		settle_shape(&shapes[i]);
		prepare_shape(&decoder->unpacker, &shapes[i]);
	}
	reset_model(&decoder->unpacker); /* which the preparation has moved */
	return 0;
}

int batch_decoder_open(struct batch_decoder *decoder, const uint8_t *payload, size_t length, uint32_t record_cnt)
{
	struct record_unpacker *unpacker = &decoder->unpacker;
	int err = read_directory(decoder, payload, payload + length);

	decoder->record_cnt = decoder->position = 0;
	err = err ? err : read_threads(decoder);
	err = err ? err : read_strings(decoder, LOG_SECTION_NAMES, TABLE_NAMES, LOG_NAME_MAX, &unpacker->names, &unpacker->name_cnt);
	err = err ? err : read_strings(decoder, LOG_SECTION_TEXTS, TABLE_TEXTS, LOG_TEXT_MAX, &unpacker->texts, &unpacker->text_cnt);
	err = err ? err : read_objects(decoder);
	err = err ? err : read_slots(decoder);
	err = err ? err : read_shapes(decoder);
	if (err)
		return err;
	decoder->record_cnt = record_cnt;
	return 0;
}

/* ---- the records ---- */

/* Without a branch on the length, which can't be foretold: the rest is read, 8 bytes of it, even where there is none. */
static inline bool get_number(struct column *column, uint64_t *value)
{
	const struct split_class *of;
	uint64_t rest;

	if (column->first.at == column->first.end)
		return false;
	of = &split_classes[*column->first.at++];
	if (of->rest_bytes > column->rest.end - column->rest.at)
		return false;
	memcpy(&rest, column->rest.at, sizeof(rest));
	column->rest.at += of->rest_bytes;
	*value = of->base + (le64toh(rest) & of->rest_mask);
	return true;
}

/* A field of a shape: a constant, or from its column. */
static inline bool get_field(struct batch_decoder *decoder, const struct record_shape *shape, uint32_t field, uint64_t *value)
{
	uint64_t number = 0;

	if (shape->variable & 1u << field && !get_number(&decoder->columns[shape->kind][field], &number))
		return false;
	*value = shape->values[field] + number;
	return true;
}

static inline bool get_time(struct batch_decoder *decoder, const struct record_shape *shape, struct column *times)
{
	uint64_t number = 0;

	if (shape->variable & 1u << FIELD_TIME && !get_number(times, &number))
		return false;
	decoder->unpacker.model.time_ns += shape->values[FIELD_TIME] + number;
	return true;
}

static inline bool make_run(struct batch_decoder *decoder, const struct record_shape *shape, struct txtrace_record *record)
{
	uint64_t end_ns, begin = shape->values[RUN_BEGIN], runnable = shape->values[RUN_RUNNABLE], blocked = shape->values[RUN_BLOCKED];
	struct model_thread *thread = shape->thread;

	if (!get_time(decoder, shape, &decoder->columns[TXTRACE_RECORD_RUN][FIELD_TIME]))
		return false;
	if (shape->variable & ~(1u << FIELD_TIME) &&
	    (!get_field(decoder, shape, RUN_BEGIN, &begin) || !get_field(decoder, shape, RUN_RUNNABLE, &runnable) ||
	     !get_field(decoder, shape, RUN_BLOCKED, &blocked)))
		return false;
	end_ns = decoder->unpacker.model.time_ns;
	switch (shape->values[RUN_BEGIN_FROM]) {
	case RUN_BEGIN_FROM_CPU:
		begin = *shape->cpu_end_ns + begin;
		break;
	case RUN_BEGIN_FROM_END:
		begin = end_ns - begin;
		break;
	default:
		begin = thread->ready_ns + begin;
	}
	record->kind = TXTRACE_RECORD_RUN;
	record->run = shape->run;
	record->run.begin_ns = begin;
	record->run.end_ns = end_ns;
	runnable += model_runnable(thread, begin);
	record->run.runnable_ns = runnable;
	record->run.blocked_ns = blocked + model_blocked(thread, begin, runnable);
	*shape->cpu_end_ns = thread->last_end_ns = thread->ready_ns = end_ns;
	return true;
}

static inline bool make_wake(struct batch_decoder *decoder, const struct record_shape *shape, struct txtrace_record *record)
{
	if (!get_time(decoder, shape, &decoder->columns[TXTRACE_RECORD_WAKE][FIELD_TIME]))
		return false;
	record->kind = TXTRACE_RECORD_WAKE;
	record->wake = shape->wake;
	record->wake.time_ns = shape->thread->ready_ns = decoder->unpacker.model.time_ns;
	return true;
}

__attribute__((noinline)) static bool make_general(struct batch_decoder *decoder, const struct record_shape *shape, struct txtrace_record *record)
{
	struct column *columns = decoder->columns[shape->kind];
	uint64_t fields[LOG_KNOWN_FIELD_MAX];

	memcpy(fields, shape->values, sizeof(fields));
	for (uint32_t left = shape->variable; left; left &= left - 1) {
		uint32_t i = (uint32_t)__builtin_ctz(left);
		uint64_t number;

		if (!get_number(&columns[i], &number))
			return false;
		fields[i] += number;
	}
	return record_unpack(&decoder->unpacker, shape->kind, fields, record);
}

static bool skip_unknown(struct batch_decoder *decoder, const struct record_shape *shape)
{
	return get_time(decoder, shape,
			shape->kind < LOG_KIND_COUNT ? &decoder->columns[shape->kind][FIELD_TIME] :
						       &decoder->unknown_times[shape->kind - LOG_KIND_COUNT]);
}

int batch_decoder_next(struct batch_decoder *decoder, struct txtrace_record *record)
{
	const struct record_shape *shape;
	uint64_t code;
	bool is_good;

	while (decoder->position < decoder->record_cnt) {
		if (!get_number(&decoder->order, &code) || code >= decoder->shape_cnt)
			return -EBADMSG;
		shape = &decoder->shapes[code];
		if (shape->way == WAY_UNKNOWN) {
			if (!skip_unknown(decoder, shape))
				return -EBADMSG;
			decoder->position++;
			continue;
		}
		is_good = shape->way == WAY_RUN	 ? make_run(decoder, shape, record) :
			  shape->way == WAY_WAKE ? make_wake(decoder, shape, record) :
						   make_general(decoder, shape, record);
		if (!is_good)
			return -EBADMSG;
		decoder->position++;
		return 1;
	}
	return 0;
}

uint32_t batch_decoder_position(const struct batch_decoder *decoder)
{
	return decoder->position;
}
