/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/tokio_trc.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/id_map.h"

#define TEXT_MAX 65535u /* longer ones are cut off */
#define OPTIONAL 0x80

static const uint8_t header[TOKIO_TRC_HEADER_BYTES] = { 'T', 'R', 'C', 0, 1 };

enum tag {
	TAG_SCHEMA = 1,
	TAG_EVENT = 2,
	TAG_STRINGS = 3,
	TAG_STACKS = 4,
	TAG_BASE = 5,
	TAG_ANNOTATIONS = 6,
};

enum field_type {
	FIELD_I64 = 1,
	FIELD_F64 = 2,
	FIELD_BOOL = 3,
	FIELD_STRING = 4,
	FIELD_BYTES = 5,
	FIELD_POOLED_STACK = 6,
	FIELD_POOLED_STRING = 7,
	FIELD_STACK = 8,
	FIELD_VARINT = 9,
	FIELD_STRING_MAP = 10,
	FIELD_U8 = 11,
	FIELD_U16 = 12,
	FIELD_U32 = 13,
	FIELD_LIST = 14,
	FIELD_MAP = 15,
};

/* What the fields are called that mean something here. */
enum slot {
	SLOT_NONE = 0,
	SLOT_WORKER,
	SLOT_QUEUE,
	SLOT_TASK,
	SLOT_LOCATION,
	SLOT_CPU,
	SLOT_WAIT,
	SLOT_GLOBAL_QUEUE,
	SLOT_WAKER,
	SLOT_WOKEN,
	SLOT_TARGET,
	SLOT_SPAN,
	SLOT_PARENT,
	SLOT_SPAN_NAME,
	SLOT_REALTIME,
	SLOT_CNT,
};

static const struct {
	const char *name;
	enum slot slot;
} slots[] = {
	{ "worker_id", SLOT_WORKER },
	{ "local_queue", SLOT_QUEUE },
	{ "task_id", SLOT_TASK },
	{ "spawn_loc", SLOT_LOCATION },
	{ "cpu_time_ns", SLOT_CPU },
	{ "sched_wait_ns", SLOT_WAIT },
	{ "waker_task_id", SLOT_WAKER },
	{ "woken_task_id", SLOT_WOKEN },
	{ "global_queue", SLOT_GLOBAL_QUEUE },
	{ "target_worker", SLOT_TARGET },
	{ "span_id", SLOT_SPAN },
	{ "parent_span_id", SLOT_PARENT },
	{ "span_name", SLOT_SPAN_NAME },
	{ "realtime_ns", SLOT_REALTIME },
};

enum what {
	WHAT_OTHER = 0,
	WHAT_EVENT,
	WHAT_SYMBOL,
	WHAT_CLOCK,
	WHAT_METADATA,
};

static const struct {
	const char *name;
	bool is_prefix;
	enum what what;
	enum tokio_kind kind;
} names[] = {
	{ "PollStartEvent", false, WHAT_EVENT, TOKIO_POLL_START },
	{ "PollEndEvent", false, WHAT_EVENT, TOKIO_POLL_END },
	{ "WorkerParkEvent", false, WHAT_EVENT, TOKIO_PARK },
	{ "WorkerUnparkEvent", false, WHAT_EVENT, TOKIO_UNPARK },
	{ "QueueSampleEvent", false, WHAT_EVENT, TOKIO_QUEUE_SAMPLE },
	{ "TaskSpawnEvent", false, WHAT_EVENT, TOKIO_TASK_SPAWN },
	{ "TaskTerminateEvent", false, WHAT_EVENT, TOKIO_TASK_END },
	{ "WakeEventEvent", false, WHAT_EVENT, TOKIO_WAKE },
	{ "CpuSampleEvent", false, WHAT_EVENT, TOKIO_SAMPLE },
	{ "SpanCloseEvent", false, WHAT_EVENT, TOKIO_SPAN_CLOSE },
	{ "SpanEnter:", true, WHAT_EVENT, TOKIO_SPAN_ENTER },
	{ "SpanExit:", true, WHAT_EVENT, TOKIO_SPAN_EXIT },
	{ "CallframeDefEvent", false, WHAT_SYMBOL, 0 },
	{ "SymbolTableEntry", false, WHAT_SYMBOL, 0 },
	{ "ClockSyncEvent", false, WHAT_CLOCK, 0 },
	{ "SegmentMetadataEvent", false, WHAT_METADATA, 0 },
};

struct field {
	uint8_t type;
	uint8_t slot;
};

struct schema {
	enum what what;
	enum tokio_kind kind;
	bool has_timestamp;
	uint16_t field_cnt;
	struct field fields[];
};

struct value {
	bool is_there;
	bool is_text;
	uint64_t number; /* a text: its number in the pool */
};

struct tokio_trc {
	struct string_pool *strings;
	struct id_map schemas; /* (0, type id) -> struct schema */
	struct id_map texts;   /* (0, id) -> number in `strings`, + 1 */
	uint64_t base_ns;
	uint64_t offset;
	uint64_t other_cnt;
	uint64_t field_cnt;
	uint64_t text_cnt;
	struct value values[SLOT_CNT]; /* of the event that is read */
	struct import_source *source;
	struct error *error;
};

bool tokio_trc_is_header(const uint8_t *bytes, size_t length)
{
	return length >= sizeof(header) && memcmp(bytes, header, sizeof(header)) == 0;
}

struct tokio_trc *tokio_trc_new(struct string_pool *strings)
{
	struct tokio_trc *trc = calloc(1, sizeof(*trc));

	if (!trc)
		return NULL;
	trc->strings = strings;
	id_map_init(&trc->schemas);
	id_map_init(&trc->texts);
	return trc;
}

void tokio_trc_reset(struct tokio_trc *trc)
{
	struct schema *schema;

	for (size_t i = 0; (schema = id_map_next(&trc->schemas, &i));)
		free(schema);
	id_map_release(&trc->schemas);
	id_map_release(&trc->texts);
	id_map_init(&trc->schemas);
	id_map_init(&trc->texts);
	trc->base_ns = 0;
}

void tokio_trc_free(struct tokio_trc *trc)
{
	if (!trc)
		return;
	tokio_trc_reset(trc);
	free(trc);
}

uint64_t tokio_trc_offset(const struct tokio_trc *trc)
{
	return trc->offset;
}

uint64_t tokio_trc_other_cnt(const struct tokio_trc *trc)
{
	return trc->other_cnt;
}

uint64_t tokio_trc_field_cnt(const struct tokio_trc *trc)
{
	return trc->field_cnt;
}

uint64_t tokio_trc_text_cnt(const struct tokio_trc *trc)
{
	return trc->text_cnt;
}

/* ---- numbers and bytes ---- */

static int cut_off(struct tokio_trc *trc)
{
	if (import_source_error(trc->source))
		error_set(trc->error, "the packed data are damaged or cut off");
	else
		error_set(trc->error, "the frame is cut off");
	return -EBADMSG;
}

/* Little endian, of 1 to 8 bytes. */
static int get(struct tokio_trc *trc, size_t width, uint64_t *value)
{
	uint8_t bytes[sizeof(*value)];

	*value = 0;
	if (import_source_read(trc->source, bytes, width) < width)
		return cut_off(trc);
	for (size_t i = 0; i < width; i++)
		*value |= (uint64_t)bytes[i] << (8 * i);
	return 0;
}

static int get_varint(struct tokio_trc *trc, uint64_t *value)
{
	uint64_t byte;
	int err;

	*value = 0;
	for (unsigned int shift = 0; shift < 64; shift += 7) {
		err = get(trc, 1, &byte);
		if (err)
			return err;
		if (shift == 63 && byte > 1)
			break;
		*value |= (byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return 0;
	}
	error_set(trc->error, "a number has more than 64 bits");
	return -EBADMSG;
}

static int skip(struct tokio_trc *trc, uint64_t cnt)
{
	return import_source_skip(trc->source, cnt) < cnt ? cut_off(trc) : 0;
}

/* The text of this length as a number of the pool; without room for it: STRING_POOL_NONE. */
static int get_text(struct tokio_trc *trc, uint64_t length, uint32_t *number)
{
	size_t kept = length < TEXT_MAX ? (size_t)length : TEXT_MAX, found;
	const uint8_t *bytes = import_source_peek(trc->source, kept, &found);
	int err = 0;

	*number = STRING_POOL_NONE;
	if (!bytes)
		return -ENOMEM;
	if (found < kept)
		return cut_off(trc);
	if (string_pool_bytes(trc->strings) < TOKIO_TRC_STRINGS_MAX)
		err = string_pool_add(trc->strings, (const char *)bytes, kept, number);
	trc->text_cnt += *number == STRING_POOL_NONE || kept < length;
	return err ? err : skip(trc, length);
}

static int get_sized_text(struct tokio_trc *trc, size_t width, uint32_t *number)
{
	uint64_t length;
	int err = get(trc, width, &length);

	return err ? err : get_text(trc, length, number);
}

/* u32 count, then so many addresses. */
static int skip_addresses(struct tokio_trc *trc)
{
	uint64_t cnt;
	int err = get(trc, 4, &cnt);

	return err ? err : skip(trc, cnt * sizeof(uint64_t));
}

/* ---- values ---- */

static int bad_type(struct tokio_trc *trc, unsigned int type)
{
	error_set(trc->error, "a field is of the unknown type %u", type);
	return -EBADMSG;
}

static int get_scalar(struct tokio_trc *trc, unsigned int type, uint64_t *number)
{
	static const uint8_t widths[] = {
		[FIELD_I64] = 8,	   [FIELD_F64] = 8, [FIELD_BOOL] = 1, [FIELD_POOLED_STACK] = 4,
		[FIELD_POOLED_STRING] = 4, [FIELD_U8] = 1,  [FIELD_U16] = 2,  [FIELD_U32] = 4
	};

	if (type == FIELD_VARINT)
		return get_varint(trc, number);
	if (type >= sizeof(widths) || !widths[type])
		return bad_type(trc, type);
	return get(trc, widths[type], number);
}

static int skip_text(struct tokio_trc *trc)
{
	uint64_t length;
	int err = get(trc, 4, &length);

	return err ? err : skip(trc, length);
}

/*
 * Passes a value that holds others, which may do so, too: what is left to read at each depth stands in a
 * stack of its own.
 */
static int skip_nested(struct tokio_trc *trc, unsigned int type)
{
	uint64_t left[TOKIO_TRC_DEPTH_MAX], next, number;
	size_t depth = 0;
	int err = get(trc, 4, &left[0]);

	left[0] *= type == FIELD_MAP ? 2 : 1;
	while (!err) {
		while (left[depth] == 0) {
			if (depth-- == 0)
				return 0;
		}
		left[depth]--;
		err = get(trc, 1, &next);
		if (err)
			break;
		if (next == FIELD_STRING || next == FIELD_BYTES) {
			err = skip_text(trc);
		} else if (next == FIELD_STACK || next == FIELD_STRING_MAP) {
			error_set(trc->error, "a list holds a value of type %u", (unsigned int)next);
			err = -EBADMSG;
		} else if (next != FIELD_LIST && next != FIELD_MAP) {
			err = get_scalar(trc, (unsigned int)next, &number);
		} else if (++depth == TOKIO_TRC_DEPTH_MAX) {
			error_set(trc->error, "lists stand in lists more than %u deep", TOKIO_TRC_DEPTH_MAX);
			err = -EBADMSG;
		} else {
			err = get(trc, 4, &left[depth]);
			left[depth] *= next == FIELD_MAP ? 2 : 1;
		}
	}
	return err;
}

static int skip_string_map(struct tokio_trc *trc)
{
	uint64_t cnt;
	int err = get(trc, 4, &cnt);

	for (uint64_t left = 2 * cnt; !err && left > 0; left--)
		err = skip_text(trc);
	return err;
}

static int get_value(struct tokio_trc *trc, unsigned int type, struct value *value)
{
	uint32_t text = STRING_POOL_NONE;
	uintptr_t pooled;
	int err;

	switch (type) {
	case FIELD_STRING:
		err = get_sized_text(trc, 4, &text);
		*value = (struct value){ .is_there = true, .is_text = true, .number = text };
		return err;
	case FIELD_POOLED_STRING:
		err = get(trc, 4, &value->number);
		pooled = (uintptr_t)id_map_get(&trc->texts, 0, value->number);
		value->number = pooled ? pooled - 1 : STRING_POOL_NONE;
		value->is_there = value->is_text = true;
		return err;
	case FIELD_BYTES:
		return skip_text(trc);
	case FIELD_STACK:
		return skip_addresses(trc);
	case FIELD_STRING_MAP:
		return skip_string_map(trc);
	case FIELD_LIST:
	case FIELD_MAP:
		return skip_nested(trc, type);
	default:
		value->is_there = true;
		return get_scalar(trc, type, &value->number);
	}
}

static bool is_for_text(uint8_t slot)
{
	return slot == SLOT_LOCATION || slot == SLOT_SPAN_NAME;
}

static int get_field(struct tokio_trc *trc, const struct field *field)
{
	struct value value = { 0 };
	uint64_t is_there = 1;
	int err = 0;

	if (field->type & OPTIONAL)
		err = get(trc, 1, &is_there);
	if (!err && is_there)
		err = get_value(trc, field->type & ~(unsigned int)OPTIONAL, &value);
	/* a schema may give a name's field the type of a number */
	if (field->slot != SLOT_NONE && value.is_text == is_for_text(field->slot))
		trc->values[field->slot] = value;
	return err;
}

/* ---- schemas ---- */

static uint8_t find_slot(const char *name, size_t length)
{
	for (size_t i = 0; i < sizeof(slots) / sizeof(*slots); i++) {
		if (strlen(slots[i].name) == length && memcmp(slots[i].name, name, length) == 0)
			return (uint8_t)slots[i].slot;
	}
	return SLOT_NONE;
}

static void find_what(struct schema *schema, const char *name, size_t length)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		size_t wanted = strlen(names[i].name);

		if ((names[i].is_prefix ? length > wanted : length == wanted) &&
		    memcmp(names[i].name, name, wanted) == 0) {
			schema->what = names[i].what;
			schema->kind = names[i].kind;
			return;
		}
	}
}

/* u16 length and name; the name stays where it is until the next call. */
static int get_name(struct tokio_trc *trc, const char **name, size_t *length)
{
	uint64_t wanted;
	int err = get(trc, 2, &wanted);

	if (err)
		return err;
	*name = (const char *)import_source_peek(trc->source, (size_t)wanted, length);
	if (!*name)
		return -ENOMEM;
	return *length < wanted ? cut_off(trc) : 0;
}

static int get_fields(struct tokio_trc *trc, struct schema *schema)
{
	const char *name;
	size_t length;
	uint64_t type;
	int err = 0;

	for (uint16_t i = 0; !err && i < schema->field_cnt; i++) {
		err = get_name(trc, &name, &length);
		if (err)
			break;
		schema->fields[i].slot = find_slot(name, length);
		import_source_skip(trc->source, length);
		err = get(trc, 1, &type);
		schema->fields[i].type = (uint8_t)type;
	}
	return err;
}

static int keep_schema(struct tokio_trc *trc, uint64_t type_id, struct schema *schema)
{
	struct schema *known = id_map_get(&trc->schemas, 0, type_id);
	size_t size = sizeof(*schema) + schema->field_cnt * sizeof(*schema->fields);
	int err;

	if (known) {
		bool is_same = known->field_cnt == schema->field_cnt && memcmp(known, schema, size) == 0;

		free(schema);
		if (is_same)
			return 0;
		error_set(trc->error, "type %" PRIu64 " gets a second schema", type_id);
		return -EBADMSG;
	}
	if (trc->schemas.cnt < TOKIO_TRC_SCHEMA_MAX) {
		err = id_map_put(&trc->schemas, 0, type_id, schema);
	} else {
		error_set(trc->error, "there are more than %u schemas", TOKIO_TRC_SCHEMA_MAX);
		err = -EBADMSG;
	}
	if (err)
		free(schema);
	return err;
}

static int read_schema(struct tokio_trc *trc)
{
	struct schema head = { 0 }, *schema;
	uint64_t type_id, has_timestamp, field_cnt;
	const char *name;
	size_t length;
	int err = get(trc, 2, &type_id);

	err = err ? err : get_name(trc, &name, &length);
	if (err)
		return err;
	find_what(&head, name, length);
	import_source_skip(trc->source, length);
	err = get(trc, 1, &has_timestamp);
	err = err ? err : get(trc, 2, &field_cnt);
	if (err)
		return err;
	if (field_cnt > TOKIO_TRC_FIELD_MAX) {
		error_set(trc->error, "a schema of %" PRIu64 " fields", field_cnt);
		return -EBADMSG;
	}
	schema = calloc(1, sizeof(*schema) + field_cnt * sizeof(*schema->fields));
	if (!schema)
		return -ENOMEM;
	schema->what = head.what;
	schema->kind = head.kind;
	schema->has_timestamp = has_timestamp;
	schema->field_cnt = (uint16_t)field_cnt;
	err = get_fields(trc, schema);
	if (!err)
		return keep_schema(trc, type_id, schema);
	free(schema);
	return err;
}

/* ---- events ---- */

static uint64_t number_of(const struct tokio_trc *trc, enum slot slot)
{
	return trc->values[slot].number;
}

static void set_if(const struct tokio_trc *trc, struct tokio_event *event, enum slot slot, uint64_t *member,
		   enum tokio_has has)
{
	if (!trc->values[slot].is_there)
		return;
	*member = trc->values[slot].number;
	event->has |= (uint8_t)has;
}

static void make_event(struct tokio_trc *trc, const struct schema *schema, struct tokio_record *record)
{
	struct tokio_event *event = &record->event;
	enum slot worker = schema->kind == TOKIO_WAKE ? SLOT_TARGET : SLOT_WORKER;

	event->kind = (uint8_t)schema->kind;
	event->time_ns = trc->base_ns;
	event->worker = TOKIO_WORKER_OTHER;
	if (trc->values[worker].is_there && number_of(trc, worker) < TOKIO_WORKER_CNT)
		event->worker = (uint16_t)number_of(trc, worker);
	set_if(trc, event, SLOT_QUEUE, &event->queue, TOKIO_HAS_QUEUE);
	set_if(trc, event, SLOT_GLOBAL_QUEUE, &event->queue, TOKIO_HAS_QUEUE);
	set_if(trc, event, SLOT_CPU, &event->cpu_ns, TOKIO_HAS_CPU);
	set_if(trc, event, SLOT_WAIT, &event->wait_ns, TOKIO_HAS_WAIT);
	set_if(trc, event, SLOT_TASK, &event->task, TOKIO_HAS_TASK);
	set_if(trc, event, SLOT_WOKEN, &event->task, TOKIO_HAS_TASK);
	set_if(trc, event, SLOT_SPAN, &event->task, TOKIO_HAS_TASK);
	set_if(trc, event, SLOT_WAKER, &event->other, 0);
	set_if(trc, event, SLOT_PARENT, &event->other, 0);
	if (trc->values[SLOT_LOCATION].is_there)
		event->name = (uint32_t)number_of(trc, SLOT_LOCATION);
	if (trc->values[SLOT_SPAN_NAME].is_there)
		event->name = (uint32_t)number_of(trc, SLOT_SPAN_NAME);
	record->type = TOKIO_RECORD_EVENT;
}

static void count_fields(struct tokio_trc *trc, const struct schema *schema)
{
	if (schema->kind != TOKIO_SPAN_ENTER)
		return;
	for (uint16_t i = 0; i < schema->field_cnt; i++)
		trc->field_cnt += schema->fields[i].slot == SLOT_NONE;
}

/* 1: *record was filled in; 0: it is an event without a meaning here. */
static int make_record(struct tokio_trc *trc, const struct schema *schema, struct tokio_record *record)
{
	switch (schema->what) {
	case WHAT_EVENT:
		count_fields(trc, schema);
		make_event(trc, schema, record);
		return 1;
	case WHAT_CLOCK:
		record->type = TOKIO_RECORD_CLOCK;
		record->event.time_ns = trc->base_ns;
		record->realtime_ns = number_of(trc, SLOT_REALTIME);
		return 1;
	case WHAT_METADATA:
		record->type = TOKIO_RECORD_PAIR;
		return 1;
	case WHAT_SYMBOL:
		record->type = TOKIO_RECORD_NAME;
		return 1;
	case WHAT_OTHER:
		break;
	}
	trc->other_cnt++;
	return 0;
}

static int read_event(struct tokio_trc *trc, struct tokio_record *record)
{
	const struct schema *schema;
	uint64_t type_id, delta_ns = 0;
	int err = get(trc, 2, &type_id);

	if (err)
		return err;
	schema = id_map_get(&trc->schemas, 0, type_id);
	if (!schema) {
		error_set(trc->error, "an event of type %" PRIu64 ", which has no schema", type_id);
		return -EBADMSG;
	}
	if (schema->has_timestamp)
		err = get(trc, 3, &delta_ns);
	memset(trc->values, 0, sizeof(trc->values));
	for (uint16_t i = 0; !err && i < schema->field_cnt; i++)
		err = get_field(trc, &schema->fields[i]);
	if (err)
		return err;
	trc->base_ns += delta_ns;
	return make_record(trc, schema, record);
}

/* ---- pools ---- */

static int read_strings(struct tokio_trc *trc)
{
	uint64_t cnt, id;
	uint32_t number;
	int err = get(trc, 4, &cnt);

	for (; !err && cnt > 0; cnt--) {
		err = get(trc, 4, &id);
		err = err ? err : get_sized_text(trc, 4, &number);
		/* a number, not a pointer: + 1, as a map has no NULL */
		if (!err && trc->texts.cnt == TOKIO_TRC_POOL_MAX)
			trc->text_cnt++;
		else if (!err && number != STRING_POOL_NONE)
			err = id_map_put(&trc->texts, 0, id, (void *)((uintptr_t)number + 1));
	}
	return err;
}

static int skip_stacks(struct tokio_trc *trc)
{
	uint64_t cnt, id, frame_cnt;
	int err = get(trc, 4, &cnt);

	for (; !err && cnt > 0; cnt--) {
		err = get(trc, 4, &id);
		err = err ? err : get(trc, 4, &frame_cnt);
		err = err ? err : skip(trc, frame_cnt * sizeof(uint64_t));
	}
	return err;
}

static int skip_annotations(struct tokio_trc *trc)
{
	uint64_t cnt, number;
	int err = get_varint(trc, &number);

	err = err ? err : get(trc, 2, &cnt);
	for (; !err && cnt > 0; cnt--) {
		err = get(trc, 2, &number); /* of the field */
		err = err ? err : get(trc, 2, &number);
		err = err ? err : skip(trc, number);
		err = err ? err : skip_text(trc);
	}
	return err;
}

/* ---- frames ---- */

/* The first byte of a header is a tag, too: what follows is another thread's stream. */
static int read_header(struct tokio_trc *trc)
{
	uint8_t rest[TOKIO_TRC_HEADER_BYTES - 1];

	if (import_source_read(trc->source, rest, sizeof(rest)) < sizeof(rest))
		return cut_off(trc);
	if (memcmp(rest, header + 1, sizeof(rest)) != 0) {
		error_set(trc->error, "a header of another format or version");
		return -EBADMSG;
	}
	tokio_trc_reset(trc);
	return 0;
}

/* 1: an event; 0: anything else */
static int read_frame(struct tokio_trc *trc, uint64_t tag, struct tokio_record *record)
{
	switch (tag) {
	case TAG_SCHEMA:
		return read_schema(trc);
	case TAG_EVENT:
		return read_event(trc, record);
	case TAG_STRINGS:
		return read_strings(trc);
	case TAG_STACKS:
		return skip_stacks(trc);
	case TAG_BASE:
		return get(trc, 8, &trc->base_ns);
	case TAG_ANNOTATIONS:
		return skip_annotations(trc);
	case 'T':
		return read_header(trc);
	default:
		error_set(trc->error, "the frame has the unknown tag %u", (unsigned int)tag);
		return -EBADMSG;
	}
}

int tokio_trc_next(struct tokio_trc *trc, struct import_source *source, struct tokio_record *record,
		   struct error *error)
{
	size_t length;
	uint64_t tag;
	int result = 0;

	trc->source = source;
	trc->error = error;
	while (result == 0) {
		*record = (struct tokio_record){ .location = TOKIO_NO_LOCATION,
						 .event = { .name = TOKIO_NO_STRING } };
		trc->offset = import_source_offset(source);
		if (!import_source_peek(source, 1, &length))
			return -ENOMEM;
		if (length == 0)
			return import_source_error(source) ? cut_off(trc) : 0;
		result = get(trc, 1, &tag);
		result = result ? result : read_frame(trc, tag, record);
	}
	return result;
}
