/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/tokio_wire.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define NS_PER_US 1000ull
#define NO_TEXT 0xffffu /* the length of a location that is not there */
#define PAIR_MAX 1024u
#define METADATA_CODE 11

/* What the codes of versions 8 and later mean; 4 to 6 have two more for polls with a queue. */
enum wire_kind {
	WIRE_NONE = 0,
	WIRE_POLL_START,
	WIRE_POLL_END,
	WIRE_POLL_START_QUEUED,
	WIRE_POLL_END_QUEUED,
	WIRE_PARK,
	WIRE_UNPARK,
	WIRE_QUEUE,
	WIRE_LOCATION,
	WIRE_TASK_SPAWN,
	WIRE_TASK_END,
	WIRE_WAKE,
	WIRE_CPU_SAMPLE,
	WIRE_FRAME,
	WIRE_THREAD_NAME,
	WIRE_METADATA,
};

static uint16_t get_u16(const uint8_t *bytes)
{
	return (uint16_t)(bytes[0] | bytes[1] << 8);
}

static uint32_t get_u32(const uint8_t *bytes)
{
	return get_u16(bytes) | (uint32_t)get_u16(bytes + 2) << 16;
}

const char *tokio_wire_refusal(uint32_t version)
{
	switch (version) {
	case 4:
	case 5:
	case 6:
	case 8:
	case 9:
	case 13:
	case 14:
	case 15:
	case 16:
	case 17:
	case 18:
		return NULL;
	case 7:
		return "was never public: its layout is unknown";
	case 10:
	case 11:
	case 12:
		return "lived on a branch: its layout is ambiguous";
	default:
		return version < 4 ? "was never this format" : "is not known";
	}
}

static enum wire_kind kind_of(uint32_t version, uint8_t code)
{
	static const uint8_t first[] = { WIRE_POLL_START, WIRE_POLL_END, WIRE_PARK, WIRE_UNPARK, WIRE_QUEUE };
	static const uint8_t old[] = { WIRE_POLL_START_QUEUED, WIRE_POLL_END_QUEUED };
	static const uint8_t later[] = { WIRE_LOCATION,	  WIRE_TASK_SPAWN, WIRE_WAKE,
					 WIRE_CPU_SAMPLE, WIRE_FRAME,	   WIRE_THREAD_NAME };

	if (code < 5)
		return first[code];
	if (version <= 6)
		return code < 7 ? old[code - 5] : WIRE_NONE;
	if (code < 7 || (code == 7 && version >= 9) || (code < 11 && version >= 13))
		return later[code - 5];
	if (code == METADATA_CODE && version >= 14)
		return version <= 15 ? WIRE_TASK_END : version >= 17 ? WIRE_METADATA : WIRE_NONE;
	return code == 172 && version >= 16 ? WIRE_TASK_END : WIRE_NONE;
}

/* With the code; of those of variable length, the part before what is variable. */
static size_t fixed_bytes(uint32_t version, enum wire_kind kind)
{
	switch (kind) {
	case WIRE_POLL_START:
		return version <= 6 ? 6 : 13;
	case WIRE_POLL_END:
	case WIRE_QUEUE:
		return 6;
	case WIRE_POLL_START_QUEUED:
	case WIRE_POLL_END_QUEUED:
		return 7;
	case WIRE_PARK:
		return version == 4 ? 7 : 11;
	case WIRE_UNPARK:
		return version == 4 ? 7 : version == 5 ? 11 : 15;
	case WIRE_LOCATION:
		return 5;
	case WIRE_TASK_SPAWN:
		return version >= 15 ? 11 : 7;
	case WIRE_TASK_END:
		return version == 14 ? 5 : 9;
	case WIRE_WAKE:
		return 14;
	case WIRE_CPU_SAMPLE:
		return 12;
	case WIRE_FRAME:
		return 11;
	case WIRE_THREAD_NAME:
		return 7;
	case WIRE_METADATA:
		return version == 18 ? 11 : 3;
	case WIRE_NONE:
		break;
	}
	return 0;
}

/* ---- cut off? ---- */

static int say_cut_off(struct import_source *source, size_t length, struct error *error)
{
	if (import_source_error(source))
		error_set(error, "the packed data are damaged or cut off");
	else
		error_set(error, "the record is cut off: %zu bytes are left of it", length);
	return -EBADMSG;
}

/* 0: *bytes has that many. */
static int need(struct import_source *source, size_t cnt, const uint8_t **bytes, struct error *error)
{
	size_t length;

	*bytes = import_source_peek(source, cnt, &length);
	if (!*bytes)
		return -ENOMEM;
	return length < cnt ? say_cut_off(source, length, error) : 0;
}

/* A text of 16 bits of length at `at`, which becomes the place behind it. */
static int need_text(struct import_source *source, size_t *at, const uint8_t **bytes,
		     struct tokio_bytes *text, struct error *error)
{
	int err = need(source, *at + 2, bytes, error);
	size_t length;

	if (err)
		return err;
	length = get_u16(*bytes + *at);
	*at += 2;
	err = need(source, *at + length, bytes, error);
	if (err)
		return err;
	text->length = length;
	text->bytes = *bytes + *at;
	*at += length;
	return 0;
}

/* ---- records with a time ---- */

static void set_time(struct tokio_event *event, const uint8_t *bytes)
{
	event->time_ns = get_u32(bytes) * NS_PER_US;
}

static void set_queue(struct tokio_event *event, uint8_t depth)
{
	event->queue = depth;
	event->has |= TOKIO_HAS_QUEUE;
}

/* Behind the code: u32 time, u8 worker, and what the kind has. */
static void get_poll(const uint8_t *bytes, uint32_t version, enum wire_kind kind, struct tokio_record *record)
{
	struct tokio_event *event = &record->event;
	bool is_start = kind == WIRE_POLL_START || kind == WIRE_POLL_START_QUEUED;

	event->kind = is_start ? TOKIO_POLL_START : TOKIO_POLL_END;
	set_time(event, bytes);
	event->worker = bytes[4];
	if (version <= 6) {
		bool is_queued = kind == WIRE_POLL_START_QUEUED || kind == WIRE_POLL_END_QUEUED;

		set_queue(event, is_queued ? bytes[5] : 0);
	} else if (is_start) {
		set_queue(event, bytes[5]);
		event->task = get_u32(bytes + 6);
		event->has |= TOKIO_HAS_TASK;
		record->location = get_u16(bytes + 10);
	}
}

static void get_park(const uint8_t *bytes, uint32_t version, enum wire_kind kind, struct tokio_event *event)
{
	event->kind = kind == WIRE_PARK ? TOKIO_PARK : TOKIO_UNPARK;
	set_time(event, bytes);
	event->worker = bytes[4];
	set_queue(event, bytes[5]);
	if (version >= 5) {
		event->cpu_ns = get_u32(bytes + 6) * NS_PER_US;
		event->has |= TOKIO_HAS_CPU | TOKIO_CPU_IS_32_BIT;
	}
	if (version >= 6 && kind == WIRE_UNPARK) {
		event->wait_ns = get_u32(bytes + 10) * NS_PER_US;
		event->has |= TOKIO_HAS_WAIT;
	}
}

static void get_task(const uint8_t *bytes, uint32_t version, enum wire_kind kind, struct tokio_record *record)
{
	struct tokio_event *event = &record->event;
	bool is_spawn = kind == WIRE_TASK_SPAWN, has_time = version >= 15;

	event->kind = is_spawn ? TOKIO_TASK_SPAWN : TOKIO_TASK_END;
	event->worker = TOKIO_WORKER_OTHER;
	event->has = TOKIO_HAS_TASK | (has_time ? 0 : TOKIO_TIME_IS_GUESSED);
	if (has_time)
		set_time(event, bytes);
	bytes += has_time ? 4 : 0;
	event->task = get_u32(bytes);
	if (is_spawn)
		record->location = get_u16(bytes + 4);
}

static void get_wake(const uint8_t *bytes, struct tokio_event *event)
{
	event->kind = TOKIO_WAKE;
	set_time(event, bytes);
	event->other = get_u32(bytes + 4);
	event->task = get_u32(bytes + 8);
	event->worker = bytes[12];
}

static int get_sample(struct import_source *source, const uint8_t *bytes, size_t *size,
		      struct tokio_record *record, struct error *error)
{
	struct tokio_event *event = &record->event;

	event->kind = TOKIO_SAMPLE;
	set_time(event, bytes + 1);
	event->worker = bytes[5];
	*size += bytes[11] * sizeof(uint64_t);
	return need(source, *size, &bytes, error);
}

/* ---- names ---- */

static int get_frame(struct import_source *source, const uint8_t *bytes, size_t *size,
		     struct tokio_record *record, struct error *error)
{
	int err;

	record->type = TOKIO_RECORD_NAME;
	*size = 9;
	err = need_text(source, size, &bytes, &record->text, error);
	if (!err)
		err = need(source, *size + 2, &bytes, error);
	if (!err && get_u16(bytes + *size) == NO_TEXT)
		*size += 2;
	else if (!err)
		err = need_text(source, size, &bytes, &record->text, error);
	return err;
}

static int get_name(struct import_source *source, const uint8_t *bytes, enum wire_kind kind, size_t *size,
		    struct tokio_record *record, struct error *error)
{
	record->type = kind == WIRE_LOCATION ? TOKIO_RECORD_LOCATION : TOKIO_RECORD_NAME;
	record->location = get_u16(bytes + 1);
	*size -= 2;
	return need_text(source, size, &bytes, &record->text, error);
}

static int get_metadata(const uint8_t *bytes, size_t size, struct tokio_record *record, struct error *error)
{
	record->type = TOKIO_RECORD_METADATA;
	record->pair_cnt = get_u16(bytes + size - 2);
	if (record->pair_cnt <= PAIR_MAX)
		return 0;
	error_set(error, "metadata of %" PRIu32 " entries: at most %u are allowed", record->pair_cnt,
		  PAIR_MAX);
	return -EBADMSG;
}

/* ---- all ---- */

static int get(struct import_source *source, uint32_t version, const uint8_t *bytes, size_t *size,
	       struct tokio_record *record, struct error *error)
{
	enum wire_kind kind = kind_of(version, bytes[0]);

	switch (kind) {
	case WIRE_POLL_START:
	case WIRE_POLL_END:
	case WIRE_POLL_START_QUEUED:
	case WIRE_POLL_END_QUEUED:
		get_poll(bytes + 1, version, kind, record);
		return 0;
	case WIRE_PARK:
	case WIRE_UNPARK:
		get_park(bytes + 1, version, kind, &record->event);
		return 0;
	case WIRE_QUEUE:
		record->event.kind = TOKIO_QUEUE_SAMPLE;
		set_time(&record->event, bytes + 1);
		set_queue(&record->event, bytes[5]);
		return 0;
	case WIRE_TASK_SPAWN:
	case WIRE_TASK_END:
		get_task(bytes + 1, version, kind, record);
		return 0;
	case WIRE_WAKE:
		get_wake(bytes + 1, &record->event);
		return 0;
	case WIRE_CPU_SAMPLE:
		return get_sample(source, bytes, size, record, error);
	case WIRE_FRAME:
		return get_frame(source, bytes, size, record, error);
	case WIRE_LOCATION:
	case WIRE_THREAD_NAME:
		return get_name(source, bytes, kind, size, record, error);
	case WIRE_METADATA:
		return get_metadata(bytes, *size, record, error);
	case WIRE_NONE:
		break;
	}
	return -EBADMSG;
}

int tokio_wire_next(struct import_source *source, uint32_t version, struct tokio_record *record,
		    struct error *error)
{
	const uint8_t *bytes;
	size_t length, size;
	int err;

	*record = (struct tokio_record){ .location = TOKIO_NO_LOCATION,
					 .event = { .name = TOKIO_NO_STRING } };
	bytes = import_source_peek(source, 1, &length);
	if (!bytes)
		return -ENOMEM;
	if (length == 0)
		return import_source_error(source) ? say_cut_off(source, 0, error) : 0;
	size = fixed_bytes(version, kind_of(version, bytes[0]));
	if (size == 0) {
		error_set(error, "version %" PRIu32 " has no record of code %u", version, bytes[0]);
		return -EBADMSG;
	}
	err = need(source, size, &bytes, error);
	if (!err)
		err = get(source, version, bytes, &size, record, error);
	if (err)
		return err;
	/* what was peeked stays where it is until the next call */
	import_source_skip(source, size);
	return 1;
}

int tokio_wire_skip_pair(struct import_source *source, struct error *error)
{
	struct tokio_bytes text;
	const uint8_t *bytes;
	size_t size = 0;
	int err = need_text(source, &size, &bytes, &text, error);

	if (!err)
		err = need_text(source, &size, &bytes, &text, error);
	if (!err)
		import_source_skip(source, size);
	return err;
}
