/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Made for speed: what a shape says once is worked out once, when the batch is opened, and the order of the records is read ahead in bulk. The
 * ways of runs and wakeups call nothing, so that they need no stack.
 */
#include "log/batch_decoder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "log/number.h"
#include "log/record_unpack.h"
#include "log/varint.h"

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* So many records' shapes are read ahead. */
#define AHEAD 256u

/* A column of numbers that is being read; an absent one is empty. */
struct column {
	const uint8_t *code;
	const uint8_t *code_end;
	const uint8_t *bits;
	uint64_t bit;
	uint64_t bit_cnt;
	const struct number_table *table;
};

/* A field that comes from a column. */
struct step {
	struct column *column;
	uint64_t base;  /* is added to the column's number */
	uint64_t field;
};

/*
 * How the records of a shape are made. Most logs are stays on CPUs and wakeups of which only the time differs, so these have ways of their own; a
 * stay's is by enum run_begin_from.
 */
enum shape_way {
	WAY_RUN_CPU = 0,
	WAY_RUN_END = 1,
	WAY_RUN_READY = 2,
	WAY_WAKE = 3,
	WAY_RUN_TIMES = 4, /* a stay of which other times are not told by its shape either */
	WAY_GENERAL = 5,
	WAY_UNKNOWN = 6,   /* a kind of a later version: its time counts */
};

#define RUN_TIMES (1u << FIELD_TIME | 1u << RUN_BEGIN | 1u << RUN_RUNNABLE | 1u << RUN_BLOCKED)
#define WAKE_TIMES (1u << FIELD_TIME)

struct record_shape {
	uint32_t way;  /* enum shape_way */
	uint32_t kind;
	struct column *time;
	struct model_thread *thread; /* of a run or wake with a way of its own */
	uint64_t *cpu_end_ns;
	union {
		struct txtrace_run run; /* all but the times */
		struct txtrace_wake wake;
	};
	const struct step *steps; /* by ascending field; the time may be the first of them */
	uint32_t step_cnt;
	uint32_t field_cnt;
	uint64_t values[LOG_KNOWN_FIELD_MAX]; /* constants; of the others, their bases, or those of the last record */
};

struct range {
	const uint8_t *at;
	const uint8_t *end;
};

/* A table that grows to what the largest batch needed. */
struct table {
	void *entries;
	size_t bytes;
};

enum table_id { TABLE_THREADS, TABLE_NAMES, TABLE_TEXTS, TABLE_OBJECTS, TABLE_SLOTS, TABLE_SHAPES, TABLE_STEPS, TABLE_OWN, TABLE_WAITS, TABLE_PARENTS, TABLE_MENTIONS, TABLE_COUNT };

struct batch_decoder {
	struct record_unpacker unpacker;
	struct record_shape **order_at; /* in order_ahead */
	struct record_shape **order_end;
	struct record_shape *shapes;
	uint32_t shape_cnt;
	uint32_t record_cnt;
	uint32_t ahead_cnt; /* records whose shapes have been read */
	bool is_order_bad;  /* and no more can be */
	struct range order;
	struct range order_more;
	struct column *own_columns;
	uint32_t own_cnt;
	struct table tables[TABLE_COUNT];
	struct range sections[LOG_SECTION_ORDER_MORE + 1]; /* the dictionary's, by enum log_section */
	struct column common_columns[LOG_KIND_COUNT][LOG_KNOWN_FIELD_MAX];
	struct column unknown_times[LOG_KIND_MAX - LOG_KIND_COUNT]; /* FIELD_TIME of the kinds that this version does not know */
	struct column absent;
	struct number_table *number_tables[NUMBER_LOW_MAX + 1]; /* made when a column first needs them */
	struct record_shape *order_ahead[AHEAD];
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
	for (unsigned int i = 0; i <= NUMBER_LOW_MAX; i++)
		free(decoder->number_tables[i]);
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

/* The column that a section belongs to; NULL for one that this version has no use for. */
static struct column *column_of(struct batch_decoder *decoder, uint64_t id)
{
	uint64_t kind, field;

	if (id < LOG_SECTION_COLUMNS)
		return NULL;
	if (id >= LOG_SECTION_OWN)
		return (id - LOG_SECTION_OWN) / 2 < decoder->own_cnt ? &decoder->own_columns[(id - LOG_SECTION_OWN) / 2] : NULL;
	kind = (id - LOG_SECTION_COLUMNS) / (2 * LOG_FIELD_MAX);
	field = (id - LOG_SECTION_COLUMNS) / 2 % LOG_FIELD_MAX;
	if (kind < LOG_KIND_COUNT && field < LOG_KNOWN_FIELD_MAX)
		return &decoder->common_columns[kind][field];
	if (kind >= LOG_KIND_COUNT && kind < LOG_KIND_MAX && field == FIELD_TIME)
		return &decoder->unknown_times[kind - LOG_KIND_COUNT];
	return NULL;
}

static const struct number_table *number_table(struct batch_decoder *decoder, uint8_t low)
{
	struct number_table **table = &decoder->number_tables[low];

	if (!*table) {
		*table = malloc(sizeof(**table));
		if (*table)
			number_table_init(*table, low);
	}
	return *table;
}

static int place_section(struct batch_decoder *decoder, uint64_t id, const uint8_t *body, uint64_t length)
{
	struct column *column = column_of(decoder, id);

	if (id <= LOG_SECTION_ORDER_MORE)
		decoder->sections[id] = (struct range){ body, body + length };
	if (!column || !length)
		return 0;
	if (id & 1) {
		column->bits = body;
		column->bit_cnt = length * 8;
		return 0;
	}
	if (*body > NUMBER_LOW_MAX)
		return -EBADMSG;
	column->code = body + 1;
	column->code_end = body + length;
	column->table = number_table(decoder, *body);
	return column->table ? 0 : -ENOMEM;
}

/* An absent section is an empty one that begins where reading is safe. */
static int clear_directory(struct batch_decoder *decoder, const uint8_t *payload, uint32_t own_cnt)
{
	const struct range none = { payload, payload };
	const struct column empty = { .code = payload, .code_end = payload, .bits = payload };

	decoder->own_columns = table_room(decoder, TABLE_OWN, own_cnt, sizeof(*decoder->own_columns));
	if (own_cnt && !decoder->own_columns)
		return -ENOMEM;
	decoder->own_cnt = own_cnt;
	for (uint32_t i = 0; i < own_cnt; i++)
		decoder->own_columns[i] = empty;
	for (uint32_t i = 0; i <= LOG_SECTION_ORDER_MORE; i++)
		decoder->sections[i] = none;
	for (uint32_t i = 0; i < LOG_KIND_COUNT * LOG_KNOWN_FIELD_MAX; i++)
		decoder->common_columns[i / LOG_KNOWN_FIELD_MAX][i % LOG_KNOWN_FIELD_MAX] = empty;
	for (uint32_t i = 0; i < LOG_KIND_MAX - LOG_KIND_COUNT; i++)
		decoder->unknown_times[i] = empty;
	decoder->absent = empty;
	return 0;
}

static int read_directory(struct batch_decoder *decoder, const uint8_t *at, const uint8_t *end)
{
	uint64_t section_cnt, id = 0, length = 0, own_cnt = 0;
	const uint8_t *payload = at, *body, *entry;
	int err;

	if (!leb128_get(&at, end, &section_cnt) || section_cnt > (uint64_t)(end - at))
		return -EBADMSG;
	entry = at;
	for (uint64_t i = 0; i < section_cnt; i++) {
		if (!leb128_get(&at, end, &id) || !leb128_get(&at, end, &length))
			return -EBADMSG;
		if (id >= LOG_SECTION_OWN && (id - LOG_SECTION_OWN) / 2 < LOG_OWN_COLUMN_MAX && (id - LOG_SECTION_OWN) / 2 >= own_cnt)
			own_cnt = (id - LOG_SECTION_OWN) / 2 + 1;
	}
	body = at;
	err = clear_directory(decoder, payload, (uint32_t)own_cnt);
	for (uint64_t i = 0; i < section_cnt && !err; i++) {
		leb128_get(&entry, end, &id);
		leb128_get(&entry, end, &length);
		if (length > (uint64_t)(end - body))
			return -EBADMSG;
		err = place_section(decoder, id, body, length);
		body += length;
	}
	return err;
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

/* A shape's field as the section tells it. */
struct told_field {
	uint64_t value;
	bool is_variable;
	bool is_own;
};

static int read_field(struct range *range, struct told_field *told)
{
	uint64_t code;

	if (!leb128_get(&range->at, range->end, &code))
		return -EBADMSG;
	*told = (struct told_field){ .is_variable = code <= FIELD_OWN_FROM, .is_own = code == FIELD_OWN_FROM };
	if (code >= FIELD_CONSTANT) {
		told->value = code - FIELD_CONSTANT;
	} else if (code != FIELD_VARIABLE) {
		if (!leb128_get(&range->at, range->end, &told->value))
			return -EBADMSG;
		if (code != FIELD_CONSTANT_LARGE)
			told->value = unzigzag(told->value);
	}
	return 0;
}

/* The kinds of all shapes, then how many fields each has. */
static int read_shape_heads(struct range *range, struct record_shape *shapes, uint32_t shape_cnt)
{
	uint64_t value;

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
	return 0;
}

/* Where a variable field of a shape comes from; NULL: this version does not look at it. Of a kind that is not known only the time counts. */
static struct column *field_column(struct batch_decoder *decoder, uint32_t kind, uint32_t field, const struct told_field *told,
				   uint32_t *own_cnt)
{
	uint32_t own = *own_cnt;

	*own_cnt += told->is_own;
	if (kind < LOG_KIND_COUNT && kind_fields[kind].count ? field >= kind_fields[kind].count : field != FIELD_TIME)
		return NULL;
	if (told->is_own)
		return own < decoder->own_cnt ? &decoder->own_columns[own] : &decoder->absent;
	return kind < LOG_KIND_COUNT ? &decoder->common_columns[kind][field] : &decoder->unknown_times[kind - LOG_KIND_COUNT];
}

/* Field 0 of all shapes, field 1 of those that have it, … For each shape the steps come one behind the other, in a place for all its fields. */
static int read_shape_fields(struct batch_decoder *decoder, struct range *range, struct record_shape *shapes, struct step *steps)
{
	uint32_t own_cnt = 0;

	for (uint32_t i = 0; i < decoder->shape_cnt; i++) {
		shapes[i].steps = steps;
		steps += shapes[i].field_cnt < LOG_KNOWN_FIELD_MAX ? shapes[i].field_cnt : LOG_KNOWN_FIELD_MAX;
	}
	for (uint32_t field = 0; field < LOG_KNOWN_FIELD_MAX; field++) {
		for (uint32_t i = 0; i < decoder->shape_cnt; i++) {
			struct record_shape *shape = &shapes[i];
			struct told_field told;
			struct column *column;

			if (field >= shape->field_cnt)
				continue;
			if (read_field(range, &told))
				return -EBADMSG;
			shape->values[field] = told.value;
			column = told.is_variable ? field_column(decoder, shape->kind, field, &told, &own_cnt) : NULL;
			if (column)
				((struct step *)shape->steps)[shape->step_cnt++] = (struct step){ column, told.value, field };
		}
	}
	return 0;
}

static uint32_t fields_from_columns(const struct record_shape *shape)
{
	uint32_t fields = 0;

	for (uint32_t i = 0; i < shape->step_cnt; i++)
		fields |= 1u << shape->steps[i].field;
	return fields;
}

/* A span is told by what a slot remembers, which is not the same in all records of the shape. */
static bool is_plain_wake(const struct record_shape *shape, uint32_t fields)
{
	return shape->kind == TXTRACE_RECORD_WAKE && !(fields & ~WAKE_TIMES) && shape->values[WAKE_SPAN_SLOT] == SLOT_ZERO &&
	       shape->values[WAKE_WAKER_SPAN_SLOT] == SLOT_ZERO;
}

/* Makes the record of this shape, all but its times, if the shape is one of those that have a way of their own. */
static void prepare_shape(struct batch_decoder *decoder, struct record_shape *shape)
{
	struct record_unpacker *unpacker = &decoder->unpacker;
	uint32_t fields = fields_from_columns(shape);
	uint64_t thread = shape->values[FIELD_THREAD];
	struct txtrace_record record;

	shape->way = shape->kind < LOG_KIND_COUNT && kind_fields[shape->kind].count ? WAY_GENERAL : WAY_UNKNOWN;
	shape->time = fields & 1u << FIELD_TIME ? shape->steps[0].column : NULL;
	if (!shape->time || (!(shape->kind == TXTRACE_RECORD_RUN && !(fields & ~RUN_TIMES)) && !is_plain_wake(shape, fields)))
		return;
	if (!record_unpack(unpacker, shape->kind, shape->values, &record))
		return;
	shape->thread = &unpacker->model.threads[thread];
	if (shape->kind == TXTRACE_RECORD_RUN) {
		shape->way = shape->step_cnt > 1 || unpacker->model.waits ? WAY_RUN_TIMES : WAY_RUN_CPU + (uint32_t)shape->values[RUN_BEGIN_FROM];
		shape->run = record.run;
		shape->cpu_end_ns = model_cpu_end(&unpacker->model, record.run.cpu);
	} else {
		shape->way = WAY_WAKE;
		shape->wake = record.wake;
	}
}

static void reset_model(struct record_unpacker *unpacker)
{
	for (uint32_t i = 0; i < unpacker->thread_cnt; i++) {
		struct model_thread *thread = &unpacker->model.threads[i];

		*thread = (struct model_thread){ .tid = thread->tid, .pid = thread->pid };
	}
	memset(unpacker->model.cpu_end_ns, 0, sizeof(unpacker->model.cpu_end_ns));
	for (uint32_t i = 0; i < unpacker->thread_cnt && unpacker->model.waits; i++)
		model_forget_waits(&unpacker->model.waits[i]);
	if (unpacker->model.parents)
		memset(unpacker->model.parents, 0, MODEL_PARENTS * sizeof(*unpacker->model.parents));
	if (unpacker->model.mentions)
		memset(unpacker->model.mentions, 0, MODEL_MENTIONS * sizeof(*unpacker->model.mentions));
	unpacker->model.time_ns = 0;
	unpacker->model.text_cnt = 0;
}

/* The greatest number that a field of a shape may be. */
static uint64_t field_max(const struct record_shape *shape, uint32_t field)
{
	return fields_from_columns(shape) & 1u << field ? UINT64_MAX : shape->values[field];
}

/* What spans and runs ask of the model beyond the usual is remembered only in the batches where they do. */
static int prepare_model(struct batch_decoder *decoder)
{
	struct model *model = &decoder->unpacker.model;
	bool asks_waits = false, asks_parents = false, asks_mentions = false;

	for (uint32_t i = 0; i < decoder->shape_cnt; i++) {
		const struct record_shape *shape = &decoder->shapes[i];

		if (shape->kind == TXTRACE_RECORD_SPAN) {
			asks_mentions |= field_max(shape, SPAN_BEGIN_FROM) >= SPAN_BEGIN_FROM_MENTION;
			asks_waits |= field_max(shape, SPAN_BASIS) >= SPAN_BASIS_READY;
			asks_parents |= field_max(shape, SPAN_BASIS) == SPAN_BASIS_CHILDREN || field_max(shape, SPAN_BASIS) == UINT64_MAX;
		} else if (shape->kind == TXTRACE_RECORD_RUN) {
			asks_waits |= field_max(shape, RUN_BEGIN_FROM) >= RUN_BEGIN_FROM_TOLD;
		}
	}
	model->waits = asks_waits ? table_room(decoder, TABLE_WAITS, decoder->unpacker.thread_cnt, sizeof(*model->waits)) : NULL;
	model->parents = asks_parents ? table_room(decoder, TABLE_PARENTS, MODEL_PARENTS, sizeof(*model->parents)) : NULL;
	model->mentions = asks_mentions ? table_room(decoder, TABLE_MENTIONS, MODEL_MENTIONS, sizeof(*model->mentions)) : NULL;
	return (asks_waits && !model->waits && decoder->unpacker.thread_cnt) || (asks_parents && !model->parents) ||
			       (asks_mentions && !model->mentions) ? -ENOMEM : 0;
}

static int read_shapes(struct batch_decoder *decoder)
{
	struct range range = decoder->sections[LOG_SECTION_SHAPES];
	struct record_shape *shapes;
	size_t field_cnt = 0;
	struct step *steps;

	if (read_count(&range, LOG_SHAPE_MAX, &decoder->shape_cnt))
		return -EBADMSG;
	decoder->shapes = shapes = table_room(decoder, TABLE_SHAPES, decoder->shape_cnt, sizeof(*shapes));
	if (decoder->shape_cnt && !shapes)
		return -ENOMEM;
	if (decoder->shape_cnt)
		memset(shapes, 0, decoder->shape_cnt * sizeof(*shapes));
	if (read_shape_heads(&range, shapes, decoder->shape_cnt))
		return -EBADMSG;
	for (uint32_t i = 0; i < decoder->shape_cnt; i++)
		field_cnt += shapes[i].field_cnt;
	steps = table_room(decoder, TABLE_STEPS, field_cnt, sizeof(*steps));
	if (field_cnt && !steps)
		return -ENOMEM;
	if (read_shape_fields(decoder, &range, shapes, steps))
		return -EBADMSG;
	if (prepare_model(decoder))
		return -ENOMEM;
	for (uint32_t i = 0; i < decoder->shape_cnt; i++)
		prepare_shape(decoder, &shapes[i]);
	reset_model(&decoder->unpacker); /* which the preparation has moved */
	return 0;
}

int batch_decoder_open(struct batch_decoder *decoder, const uint8_t *payload, size_t length, uint32_t record_cnt)
{
	struct record_unpacker *unpacker = &decoder->unpacker;
	int err = read_directory(decoder, payload, payload + length);

	decoder->record_cnt = decoder->ahead_cnt = 0;
	decoder->order_at = decoder->order_end = decoder->order_ahead;
	decoder->is_order_bad = false;
	decoder->order = decoder->sections[LOG_SECTION_ORDER];
	decoder->order_more = decoder->sections[LOG_SECTION_ORDER_MORE];
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

/* Without a branch on what the code says, which can't be foretold. */
static inline bool get_number(struct column *column, uint64_t *number)
{
	const struct number_class *of;
	uint64_t bit = column->bit;

	if (unlikely(column->code == column->code_end))
		return false;
	of = &column->table->classes[*column->code++];
	if (unlikely(bit + of->bits > column->bit_cnt))
		return false;
	column->bit = bit + of->bits;
	*number = of->base + bits_get(column->bits, bit, of->bits, of->mask);
	return true;
}

/* The stay's times; all else is in the shape. noting: the model, if the batch asks for waits. */
static inline void fill_run(struct model *noting, const struct record_shape *shape, uint64_t begin_ns, uint64_t end_ns, uint64_t more_runnable,
			    uint64_t more_blocked, struct txtrace_record *record)
{
	struct model_thread *thread = shape->thread;
	uint64_t runnable_ns = model_runnable(thread, begin_ns) + more_runnable;
	struct txtrace_run *run = &record->run;

	record->kind = TXTRACE_RECORD_RUN;
	memcpy(run, &shape->run, offsetof(struct txtrace_run, begin_ns));
	memcpy(&run->left_as, &shape->run.left_as, sizeof(*run) - offsetof(struct txtrace_run, left_as));
	run->begin_ns = begin_ns;
	run->end_ns = end_ns;
	run->runnable_ns = runnable_ns;
	run->blocked_ns = model_blocked(thread, begin_ns, runnable_ns) + more_blocked;
	if (noting)
		model_note_run(noting, thread, run);
	*shape->cpu_end_ns = thread->last_end_ns = thread->ready_ns = end_ns;
}

static inline uint64_t run_begin(const struct record_shape *shape, uint64_t from, uint64_t end_ns, uint64_t begin)
{
	return from == RUN_BEGIN_FROM_CPU ? *shape->cpu_end_ns + begin :
	       from == RUN_BEGIN_FROM_END ? end_ns - begin :
					    shape->thread->ready_ns + begin;
}

/* A record of a shape of which only the time is told by a column, once that is known. */
static inline void fill_simple(const struct record_shape *shape, uint64_t way, uint64_t time_ns, struct txtrace_record *record)
{
	if (way == WAY_WAKE) {
		record->kind = TXTRACE_RECORD_WAKE;
		record->wake = shape->wake;
		record->wake.time_ns = shape->thread->ready_ns = time_ns;
		return;
	}
	fill_run(NULL, shape, run_begin(shape, way, time_ns, shape->values[RUN_BEGIN]), time_ns, shape->values[RUN_RUNNABLE],
		 shape->values[RUN_BLOCKED], record);
}

static bool make_run(struct batch_decoder *decoder, const struct record_shape *shape, uint64_t time_ns, struct txtrace_record *record)
{
	struct model *model = &decoder->unpacker.model;
	uint64_t times[3], number, begin_ns;

	memcpy(times, &shape->values[RUN_BEGIN], sizeof(times));
	for (uint32_t i = 1; i < shape->step_cnt; i++) {
		if (unlikely(!get_number(shape->steps[i].column, &number)))
			return false;
		times[shape->steps[i].field - RUN_BEGIN] += number;
	}
	model->time_ns = time_ns;
	if (shape->values[RUN_BEGIN_FROM] == RUN_BEGIN_FROM_TOLD)
		begin_ns = model->waits[shape->thread - model->threads].stay_ns + times[0];
	else
		begin_ns = run_begin(shape, shape->values[RUN_BEGIN_FROM], time_ns, times[0]);
	fill_run(model->waits ? model : NULL, shape, begin_ns, time_ns, times[1], times[2], record);
	return true;
}

static bool make_general(struct batch_decoder *decoder, struct record_shape *shape, uint64_t time_ns, struct txtrace_record *record)
{
	const struct step *step = shape->steps + (shape->time ? 1 : 0), *end = shape->steps + shape->step_cnt;
	uint64_t number;

	for (; step < end; step++) {
		if (unlikely(!get_number(step->column, &number)))
			return false;
		shape->values[step->field] = step->base + number;
	}
	decoder->unpacker.model.time_ns = time_ns;
	return record_unpack(&decoder->unpacker, shape->kind, shape->values, record);
}

/* Any record of a known kind, or the time of another. False: it makes no sense. */
static bool make_record(struct batch_decoder *decoder, struct record_shape *shape, struct txtrace_record *record)
{
	uint64_t time_ns = decoder->unpacker.model.time_ns + shape->values[FIELD_TIME], number = 0;

	if (shape->time && unlikely(!get_number(shape->time, &number)))
		return false;
	time_ns += number;
	if (shape->way == WAY_GENERAL)
		return make_general(decoder, shape, time_ns, record);
	if (shape->way == WAY_RUN_TIMES)
		return make_run(decoder, shape, time_ns, record);
	if (shape->way != WAY_UNKNOWN)
		fill_simple(shape, shape->way, time_ns, record);
	decoder->unpacker.model.time_ns = time_ns;
	return true;
}

#define BYTES_OF(byte) (UINT64_C(0x0101010101010101) * (byte))

/* Eight records at once, while their shapes have codes below 128, as in most logs all have. Returns for how many that was so. */
static uint32_t look_ahead_easily(struct batch_decoder *decoder, uint32_t cnt)
{
	/* What lifts the first code that there is no shape for over the highest bit of its byte. */
	uint64_t lift = BYTES_OF(decoder->shape_cnt < 128 ? 128 - decoder->shape_cnt : 0), codes;
	struct record_shape *shapes = decoder->shapes;
	const uint8_t *code = decoder->order.at;
	uint32_t i = 0;

	for (; i + 8 <= cnt; i += 8) {
		memcpy(&codes, code + i, sizeof(codes));
		if ((codes | (codes + lift)) & BYTES_OF(128))
			break;
		for (uint32_t j = 0; j < 8; j++)
			decoder->order_ahead[i + j] = &shapes[code[i + j]];
	}
	return i;
}

/* Reads the shapes of the next records ahead, as far as they make sense. False: there are none. */
static bool look_ahead(struct batch_decoder *decoder)
{
	uint32_t left = decoder->record_cnt - decoder->ahead_cnt, cnt = left < AHEAD ? left : AHEAD, i;
	const uint8_t *more = decoder->order_more.at;

	if ((size_t)(decoder->order.end - decoder->order.at) < cnt)
		cnt = (uint32_t)(decoder->order.end - decoder->order.at);
	for (i = look_ahead_easily(decoder, cnt); i < cnt; i++) {
		uint32_t code = decoder->order.at[i], is_long = code >= LOG_ORDER_SHORT;

		if (is_long)
			code = LOG_ORDER_SHORT + (code - LOG_ORDER_SHORT) * 256 + *more;
		more += is_long;
		if (unlikely(code >= decoder->shape_cnt || more > decoder->order_more.end))
			break;
		decoder->order_ahead[i] = &decoder->shapes[code];
	}
	decoder->order.at += i;
	decoder->order_more.at = more;
	decoder->ahead_cnt += i;
	decoder->is_order_bad = i < (left < AHEAD ? left : AHEAD);
	decoder->order_at = decoder->order_ahead;
	decoder->order_end = decoder->order_ahead + i;
	return i > 0;
}

/* Any next record. */
static __attribute__((noinline)) int next_with_care(struct batch_decoder *decoder, struct txtrace_record *record)
{
	struct record_shape *shape;

	do {
		if (decoder->order_at == decoder->order_end && !look_ahead(decoder))
			return decoder->is_order_bad ? -EBADMSG : 0;
		shape = *decoder->order_at;
		if (unlikely(!make_record(decoder, shape, record)))
			return -EBADMSG;
		decoder->order_at++;
	} while (shape->way == WAY_UNKNOWN);
	return 1;
}

/* The ways of one time, without a call; whatever is not as usual is left to next_with_care. */
int batch_decoder_next(struct batch_decoder *decoder, struct txtrace_record *record)
{
	const struct number_class *of;
	const struct record_shape *shape;
	struct column *column;
	uint64_t bit, bits, word, way, time_ns;

	if (unlikely(decoder->order_at == decoder->order_end))
		return next_with_care(decoder, record);
	shape = *decoder->order_at;
	way = shape->way;
	if (way > WAY_WAKE)
		return next_with_care(decoder, record);
	column = shape->time;
	if (unlikely(column->code == column->code_end))
		return next_with_care(decoder, record);
	of = &column->table->classes[*column->code];
	bit = column->bit;
	bits = of->bits;
	if (unlikely(bit + bits > column->bit_cnt || bits > NUMBER_WORD_BITS))
		return next_with_care(decoder, record);
	column->code++;
	column->bit = bit + bits;
	decoder->order_at++;
	memcpy(&word, column->bits + bit / 8, sizeof(word));
	word = le64toh(word) >> bit % 8 & of->mask;
	time_ns = decoder->unpacker.model.time_ns + shape->values[FIELD_TIME] + of->base + word;
	decoder->unpacker.model.time_ns = time_ns;
	switch (way) {
	case WAY_WAKE:
		fill_simple(shape, WAY_WAKE, time_ns, record);
		return 1;
	case WAY_RUN_CPU:
		fill_simple(shape, WAY_RUN_CPU, time_ns, record);
		return 1;
	case WAY_RUN_END:
		fill_simple(shape, WAY_RUN_END, time_ns, record);
		return 1;
	default:
		fill_simple(shape, WAY_RUN_READY, time_ns, record);
		return 1;
	}
}

uint32_t batch_decoder_position(const struct batch_decoder *decoder)
{
	return decoder->ahead_cnt - (uint32_t)(decoder->order_end - decoder->order_at);
}
