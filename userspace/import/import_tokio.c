/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "import/import_formats.h"
#include "import/tokio_order.h"
#include "import/tokio_story.h"
#include "import/tokio_trc.h"
#include "import/tokio_wire.h"

#define MAGIC "TOKIOTRC"
#define MAGIC_BYTES 8
#define CLOCK_NS (1000ull << 32)	  /* u32 of µs */
#define LANE_CNT (TOKIO_WORKER_OTHER + 2) /* the last one: the queue's samples, which have no worker */

/* A worker's clock, made one that does not wrap. */
struct clock {
	bool is_known;
	uint64_t last_ns;
};

struct reader {
	struct import *import;
	struct tokio_order order;
	struct tokio_story story;
	struct string_pool *strings;
	struct id_map locations; /* of this file: (0, number) -> number of a string, + 1 */
	struct clock clocks[LANE_CNT];
	uint64_t last_ns;      /* of the record before */
	struct tokio_trc *trc; /* NULL: no file was in that format */
	uint64_t clock_ns;     /* a moment of TRC's clock, and of the wall clock; 0: not known */
	uint64_t realtime_ns;
	uint64_t metadata_cnt;
	uint64_t name_cnt;
	bool has_begun;
	bool has_read; /* the header of a file */
};

/* ---- into order ---- */

/* The header of the log: as late as can be, so that a pair of clock readings is known, if there is one. */
static int begin(struct reader *reader, uint64_t first_ns)
{
	struct txtrace_log_info info = { .pid = TOKIO_PID, .start_monotonic_ns = first_ns };

	if (reader->has_begun)
		return 0;
	reader->has_begun = true;
	if (reader->realtime_ns > reader->clock_ns)
		info.start_realtime_ns = first_ns + (reader->realtime_ns - reader->clock_ns);
	return import_begin(reader->import, &info);
}

static int take(struct reader *reader)
{
	struct tokio_event event;
	int err;

	if (!tokio_order_take(&reader->order, &event))
		return 0;
	err = begin(reader, reader->trc ? event.time_ns : 0);
	return err ? err : tokio_story_add(&reader->story, &event);
}

/* Events that are held back, or their place in the log. */
static uint64_t first_ns(const struct reader *reader)
{
	const struct tokio_event *first = tokio_order_first(&reader->order);

	return first ? first->time_ns : 0;
}

static int complain(struct reader *reader, uint64_t offset, const char *sentence, const char *consequence)
{
	int err = begin(reader, reader->trc ? first_ns(reader) : 0);

	return err ? err : import_complain(reader->import, offset, "%s; %s", sentence, consequence);
}

/* The time closest to that of the lane's event before; of its first one, to that of any before. */
static uint64_t unwrap(struct reader *reader, struct clock *clock, uint64_t time_ns)
{
	uint64_t near_ns = clock->is_known ? clock->last_ns : reader->last_ns;

	time_ns += near_ns / CLOCK_NS * CLOCK_NS;
	if (near_ns > time_ns && near_ns - time_ns > CLOCK_NS / 2)
		time_ns += CLOCK_NS;
	else if (!clock->is_known && time_ns > near_ns && time_ns - near_ns > CLOCK_NS / 2 &&
		 time_ns >= CLOCK_NS)
		time_ns -= CLOCK_NS;
	clock->is_known = true;
	clock->last_ns = time_ns;
	return time_ns;
}

static int put_into_order(struct reader *reader, const struct tokio_event *event)
{
	int err = tokio_order_is_full(&reader->order) ? take(reader) : 0;

	reader->last_ns = event->time_ns;
	return err ? err : tokio_order_add(&reader->order, event);
}

static int add_event(struct reader *reader, struct tokio_record *record)
{
	struct tokio_event *event = &record->event;
	size_t lane = event->kind == TOKIO_QUEUE_SAMPLE ? LANE_CNT - 1 : event->worker;
	uintptr_t number;

	if (event->has & TOKIO_TIME_IS_GUESSED)
		event->time_ns = reader->last_ns;
	else
		event->time_ns = unwrap(reader, &reader->clocks[lane], event->time_ns);
	if (record->location != TOKIO_NO_LOCATION) {
		number = (uintptr_t)id_map_get(&reader->locations, 0, record->location);
		event->name = number ? (uint32_t)(number - 1) : TOKIO_NO_STRING;
	}
	return put_into_order(reader, event);
}

/* ---- names ---- */

static int add_location(struct reader *reader, const struct tokio_record *record)
{
	uint32_t number;
	int err = string_pool_add(reader->strings, (const char *)record->text.bytes, record->text.length,
				  &number);

	/* a number, not a pointer: + 1, as a map has no NULL */
	return err ? err
		   : id_map_put(&reader->locations, 0, record->location, (void *)((uintptr_t)number + 1));
}

static int skip_metadata(struct reader *reader, struct import_source *source, uint32_t pair_cnt,
			 struct error *error)
{
	int err = 0;

	for (; !err && pair_cnt > 0; pair_cnt--) {
		err = tokio_wire_skip_pair(source, error);
		reader->metadata_cnt += !err;
	}
	return err;
}

static int add_record(struct reader *reader, struct import_source *source, struct tokio_record *record,
		      struct error *error)
{
	switch (record->type) {
	case TOKIO_RECORD_EVENT:
		return add_event(reader, record);
	case TOKIO_RECORD_LOCATION:
		return add_location(reader, record);
	case TOKIO_RECORD_METADATA:
		return skip_metadata(reader, source, record->pair_cnt, error);
	default:
		reader->name_cnt++;
		return 0;
	}
}

static int add_trc(struct reader *reader, const struct tokio_record *record)
{
	switch (record->type) {
	case TOKIO_RECORD_EVENT:
		return put_into_order(reader, &record->event);
	case TOKIO_RECORD_CLOCK:
		reader->clock_ns = record->event.time_ns;
		reader->realtime_ns = record->realtime_ns;
		return 0;
	case TOKIO_RECORD_PAIR:
		reader->metadata_cnt++;
		return 0;
	default:
		reader->name_cnt++;
		return 0;
	}
}

/* ---- files ---- */

#define NOT_READ "what follows in this file is not read"

static int read_trc(struct reader *reader, struct import_source *source)
{
	struct tokio_record record;
	struct error error = { 0 };
	int result;

	if (!reader->trc)
		reader->trc = tokio_trc_new(reader->strings);
	if (!reader->trc)
		return -ENOMEM;
	tokio_trc_reset(reader->trc);
	import_source_skip(source, TOKIO_TRC_HEADER_BYTES);
	while ((result = tokio_trc_next(reader->trc, source, &record, &error)) == 1) {
		result = add_trc(reader, &record);
		if (result)
			return result;
	}
	return result == -EBADMSG ? complain(reader, tokio_trc_offset(reader->trc), error.text, NOT_READ)
				  : result;
}

static int read_records(struct reader *reader, struct import_source *source, uint32_t version)
{
	struct tokio_record record;
	struct error error = { 0 };
	uint64_t offset;
	int result;

	do {
		offset = import_source_offset(source);
		result = tokio_wire_next(source, version, &record, &error);
		if (result == 1) {
			result = add_record(reader, source, &record, &error);
			result = result ? result : 1;
		}
	} while (result == 1);
	return result == -EBADMSG ? complain(reader, offset, error.text, NOT_READ) : result;
}

/* Of the first file: there is no log. Of a later one of a set: the others are read. */
static int refuse(struct reader *reader, const char *sentence)
{
	if (!reader->has_read)
		return import_refuse(reader->import, "%s", sentence);
	return complain(reader, 0, sentence, "the file is left out");
}

static int read_file(struct reader *reader, struct import_source *source)
{
	struct error what;
	const char *refusal;
	size_t length;
	const uint8_t *head = import_source_peek(source, TOKIO_HEADER_BYTES, &length);
	uint32_t version;

	if (!head)
		return -ENOMEM;
	if (tokio_trc_is_header(head, length)) {
		reader->has_read = true;
		return read_trc(reader, source);
	}
	if (length < TOKIO_HEADER_BYTES)
		return refuse(reader, import_source_error(source) ? "the packed data are damaged or cut off"
								  : "it ends inside the header");
	if (memcmp(head, MAGIC, MAGIC_BYTES) != 0) {
		error_set(&what, "it is not " MAGIC ": the first 8 bytes are %.8s", (const char *)head);
		return refuse(reader, what.text);
	}
	version = head[8] | head[9] << 8 | head[10] << 16 | (uint32_t)head[11] << 24;
	refusal = tokio_wire_refusal(version);
	if (refusal) {
		error_set(&what, MAGIC " version %" PRIu32 " %s", version, refusal);
		return refuse(reader, what.text);
	}
	import_source_skip(source, TOKIO_HEADER_BYTES);
	id_map_release(&reader->locations);
	id_map_init(&reader->locations);
	reader->has_read = true;
	return read_records(reader, source, version);
}

static void note(struct import *import, uint64_t cnt, const char *what)
{
	if (cnt > 0)
		import_note(import, "%s: %" PRIu64, what, cnt);
}

static void tell_losses(const struct reader *reader)
{
	const struct tokio_story *story = &reader->story;
	struct import *import = reader->import;

	note(import, story->no_cpu_cnt, "active periods without a CPU time in this format");
	note(import, story->no_wait_cnt,
	     "parked times that may end with a wait for a CPU, as this format does not say");
	note(import, story->long_wait_cnt,
	     "waits for a CPU that are longer than the parked time before them, kept as they are");
	note(import, story->clipped_cnt, "active periods with more CPU time than time, cut to the time");
	note(import, story->stray_end_cnt, "ends of polls without a start, left out");
	note(import, story->replaced_cnt,
	     "polls that did not end before the worker's next one, unfinished spans");
	note(import, story->no_room_cnt, "polls of more tasks than can be followed at once");
	note(import, story->guessed_cnt,
	     "spawns and ends of tasks without a time, which have that of the record before");
	note(import, reader->metadata_cnt, "entries of segment metadata, left out");
	note(import, reader->name_cnt, "names of functions and threads, left out");
	note(import, story->sample_cnt, "CPU samples, left out");
	note(import, story->lone_wake_cnt, "wakeups by or of tasks that are not in the log, left out");
	if (reader->trc) {
		note(import, tokio_trc_other_cnt(reader->trc), "events of unknown kinds, left out");
		note(import, tokio_trc_field_cnt(reader->trc), "fields of spans, left out");
		note(import, tokio_trc_text_cnt(reader->trc),
		     "texts longer than 65,535 bytes, cut, or too many to keep, unknown");
	}
	note(import, reader->order.late_cnt, "records too late in the input to be put into order");
}

static int read_all(struct reader *reader)
{
	struct import_source *source;
	int result, err = 0;

	while (!err && (result = import_next_source(reader->import, &source)) != 0)
		err = result < 0 ? result : read_file(reader, source);
	while (!err && reader->order.heap.cnt > 0)
		err = take(reader);
	if (!err)
		err = begin(reader, 0); /* there are no events */
	return err ? err : tokio_story_finish(&reader->story);
}

static int read_tokio(struct import *import)
{
	struct reader *reader = calloc(1, sizeof(*reader));
	int err;

	if (!reader)
		return -ENOMEM;
	reader->import = import;
	reader->strings = string_pool_new();
	id_map_init(&reader->locations);
	tokio_order_init(&reader->order);
	tokio_story_init(&reader->story, import, reader->strings);
	err = reader->strings ? read_all(reader) : -ENOMEM;
	if (!err)
		tell_losses(reader);
	tokio_story_release(&reader->story);
	tokio_order_release(&reader->order);
	tokio_trc_free(reader->trc);
	id_map_release(&reader->locations);
	string_pool_free(reader->strings);
	free(reader);
	return err;
}

static bool is_tokio(const uint8_t *head, size_t length)
{
	return (length >= MAGIC_BYTES && memcmp(head, MAGIC, MAGIC_BYTES) == 0) ||
	       tokio_trc_is_header(head, length);
}

/* trace.0.bin, trace.1.bin.gz; what is still being written has .active behind that. */
static bool is_member(const char *name)
{
	return strstr(name, ".bin") != NULL;
}

const struct import_format import_tokio = {
	.name = "tokio",
	.help = "Tokio's telemetry (dial9): TOKIOTRC and TRC",
	.is_format = is_tokio,
	.is_member = is_member,
	.read = read_tokio,
};
