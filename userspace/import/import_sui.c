/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sui's transaction trace. Nothing in a file says whether its event types are
 * two or four: all files are looked through for a type that only four have,
 * before any is told.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/order_heap.h"
#include "base/saturating.h"
#include "base/text.h"
#include "import/import_formats.h"
#include "import/sui_batch.h"
#include "import/sui_story.h"

#define TYPE_CNT_MAX 4u
#define NAME_PREFIX "tx-trace-"
#define NAME_BYTES_MAX 60000u	    /* of a batch's instant; a string of a log has at most 65,535 */
#define NAMES_BYTES_MAX (16u << 20) /* of all that are held back */
#define DETECT_SECONDS_MAX (1ull << 34)
#define ORDER_MAX (128u << 10) /* events that are held back to be put into order: 11 MB */

struct reader {
	struct import *import;
	struct sui_story story;
	struct sui_lanes *lanes; /* NULL: none were given */
	struct order_heap order; /* of struct sui_event */
	uint32_t type_cnt;
	bool is_guessed; /* that there are two, as no event is of a later type */
	struct sui_clock clock;
	uint64_t lane_end_ns[SUI_LANE_CNT]; /* of the batch that was there last */
	uint64_t batch_cnt;
	uint64_t put_cnt;
	size_t name_bytes;     /* of what is held back */
	uint64_t taken_ns;     /* the latest time that was taken out of the order */
	uint64_t event_ns;     /* of the event before, in the file's order */
	uint64_t event_end_ns; /* the latest */
	uint64_t lost_cnt;     /* events since then */
	uint64_t file_number;
	bool has_file_number;
	bool is_file_due; /* to be told in front of its first batch */
	bool has_read; /* a file */
	bool is_sound; /* a batch was */
	uint64_t event_cnt;
	uint64_t step_back_cnt;
	uint64_t late_cnt;
	uint64_t missing_file_cnt;
	uint64_t nameless_cnt; /* batches that are not told */
};

/* ---- which event types there are ---- */

/* 1: there is an event that only files with four types have. */
static int find_late_type(struct import_source *source)
{
	struct sui_batch batch = { 0 };
	struct sui_batch_facts facts;
	struct error error;
	int result;

	while ((result = sui_batch_next(source, &batch, &error)) != 0) {
		if (result == -ENOMEM)
			return result;
		if (result == 1 &&
		    sui_batch_check(&batch, (struct sui_clock){ 0 }, TYPE_CNT_MAX, &facts, &error) == 0 &&
		    facts.type_max > 1)
			return 1;
	}
	return 0;
}

static int choose_types(struct reader *reader)
{
	struct import_source *source;
	int result, found = 0;

	reader->type_cnt = import_options(reader->import)->sui_variants;
	if (reader->type_cnt)
		return 0;
	if (!import_can_rewind(reader->import))
		return import_refuse(reader->import,
				     "how many event types it has is known only when all of it was read, and "
				     "it can be read only once: give --sui-variants 2 or 4, or a file");
	while (!found && (result = import_next_source(reader->import, &source)) != 0)
		found = result < 0 ? result : find_late_type(source);
	if (found < 0)
		return found;
	reader->type_cnt = found ? TYPE_CNT_MAX : 2;
	reader->is_guessed = !found;
	import_rewind(reader->import);
	return 0;
}

/* ---- into order ---- */

static bool is_before(const void *first, const void *second)
{
	const struct sui_event *a = first, *b = second;

	return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->number < b->number;
}

static const struct order_heap_kind order_kind = { sizeof(struct sui_event), is_before };

static int take(struct reader *reader)
{
	struct sui_event event;
	int err;

	if (!order_heap_take(&reader->order, &order_kind, &event))
		return 0;
	if (event.time_ns > reader->taken_ns)
		reader->taken_ns = event.time_ns;
	err = sui_story_add(&reader->story, &event);
	if (event.name)
		reader->name_bytes -= strlen(event.name);
	free(event.name);
	return err;
}

/* Takes over the name. */
static int put(struct reader *reader, struct sui_event *event)
{
	int err = 0;

	while (!err && (reader->order.cnt >= ORDER_MAX || reader->name_bytes >= NAMES_BYTES_MAX))
		err = take(reader);
	event->number = reader->put_cnt++;
	reader->late_cnt += event->time_ns < reader->taken_ns;
	err = err ? err : order_heap_add(&reader->order, &order_kind, event);
	if (err)
		free(event->name);
	else if (event->name)
		reader->name_bytes += strlen(event->name);
	return err;
}

/* Between the event before and this moment events were lost. */
static int put_loss(struct reader *reader, uint64_t until_ns)
{
	struct sui_event loss = { .kind = SUI_IS_LOSS, .lost_cnt = reader->lost_cnt };

	if (reader->lost_cnt == 0)
		return 0;
	reader->lost_cnt = 0;
	loss.since_ns = reader->event_cnt > 0 && reader->event_ns < until_ns ? reader->event_ns : until_ns;
	loss.time_ns = until_ns;
	return put(reader, &loss);
}

static int put_event(struct reader *reader, const struct sui_record *record, uint16_t lane)
{
	struct sui_event event = { .kind = SUI_IS_EVENT, .time_ns = reader->clock.ns, .lane = lane };
	int err = put_loss(reader, event.time_ns);

	/* files with two types have the last two */
	event.stage = (uint8_t)(record->type + TYPE_CNT_MAX - reader->type_cnt);
	memcpy(event.digest, record->digest, sizeof(event.digest));
	reader->step_back_cnt += reader->event_cnt++ > 0 && event.time_ns < reader->event_ns;
	reader->event_ns = event.time_ns;
	if (event.time_ns > reader->event_end_ns)
		reader->event_end_ns = event.time_ns;
	return err ? err : put(reader, &event);
}

/* ---- batches ---- */

static void append_word(struct text *text, const struct sui_record *record)
{
	if (record->kind == SUI_EVENT)
		text_append(text, " e");
	else if (record->kind == SUI_DELTA)
		text_append_format(text, " d%" PRIu32, record->delta_us);
	else
		text_append_format(text, " %c%" PRIu64 ".%" PRIu32, record->kind == SUI_ABSOLUTE ? 'a' : 'l',
				   record->seconds, record->nanos);
}

/* Of a batch that Sui's writer would write otherwise; what has no time was complained about. */
static void append_records(struct text *text, const struct sui_batch *batch, struct sui_clock clock)
{
	struct sui_records records;
	struct sui_record record;
	struct error error;

	if (clock.is_known)
		text_append_format(text, " c%" PRIu64, clock.ns);
	sui_records_init(&records, batch);
	while (text->length <= NAME_BYTES_MAX &&
	       sui_records_next(&records, TYPE_CNT_MAX, &record, &error) == 1) {
		sui_clock_move(&clock, &record);
		if (clock.is_known)
			append_word(text, &record);
	}
}

/* The number of a free lane; SUI_LANE_CNT: there is none. */
static unsigned int choose_lane(const struct reader *reader, uint64_t begin_ns)
{
	unsigned int lane = 0;

	while (lane < SUI_LANE_CNT && reader->lane_end_ns[lane] > begin_ns)
		lane++;
	return lane;
}

/* In front of its first batch, at the same time: a directory is written in the same files again. */
static int put_file(struct reader *reader, uint64_t time_ns, uint16_t lane)
{
	struct sui_event event = { .kind = SUI_IS_FILE, .time_ns = time_ns, .lane = lane };
	struct text name = { 0 };

	if (!reader->is_file_due)
		return 0;
	reader->is_file_due = false;
	text_append_format(&name, SUI_FILE " %" PRIu64 " %" PRIu64, reader->file_number, reader->batch_cnt);
	if (name.err)
		return name.err;
	event.name = name.bytes;
	return put(reader, &event);
}

/* *tid: of its events. */
static int put_batch(struct reader *reader, const struct sui_batch *batch,
		     const struct sui_batch_facts *facts, uint16_t *tid)
{
	unsigned int lane = choose_lane(reader, facts->begin_ns);
	struct sui_event event = { .kind = SUI_IS_BATCH, .time_ns = facts->begin_ns };
	struct text name = { 0 };
	int err;

	*tid = SUI_TID;
	text_append_format(&name, SUI_BATCH " %" PRIu64 " %" PRIu32, reader->batch_cnt, facts->event_cnt);
	if (!facts->is_regular)
		append_records(&name, batch, reader->clock);
	if (name.err || lane == SUI_LANE_CNT || name.length > NAME_BYTES_MAX) {
		err = name.err;
		reader->nameless_cnt++;
		text_release(&name);
		return err;
	}
	err = put_file(reader, facts->begin_ns, (uint16_t)(SUI_LANE_TID + lane));
	if (err) {
		text_release(&name);
		return err;
	}
	reader->batch_cnt++;
	reader->lane_end_ns[lane] = facts->end_ns;
	event.lane = *tid = (uint16_t)(SUI_LANE_TID + lane);
	event.name = name.bytes;
	return put(reader, &event);
}

static int put_records(struct reader *reader, const struct sui_batch *batch, uint16_t tid)
{
	struct sui_records records;
	struct sui_record record;
	struct error error;
	int err = 0;

	sui_records_init(&records, batch);
	while (!err && sui_records_next(&records, reader->type_cnt, &record, &error) == 1) {
		sui_clock_move(&reader->clock, &record);
		if (record.kind == SUI_EVENT && reader->clock.is_known)
			err = put_event(reader, &record, tid);
	}
	return err;
}

/* What is lost with it: the events that can be seen in it, and perhaps more. */
static int lose_batch(struct reader *reader, const struct sui_batch *batch, const char *why,
		      const char *details)
{
	struct sui_batch_facts facts;
	struct error ignored;

	sui_batch_check(batch, reader->clock, reader->type_cnt, &facts, &ignored);
	increase(&reader->lost_cnt, facts.event_cnt > 0 ? facts.event_cnt : 1);
	return import_complain(reader->import, batch->offset, "%s%s; its events are left out", why, details);
}

static int add_batch(struct reader *reader, const struct sui_batch *batch)
{
	struct sui_batch_facts facts;
	struct error error;
	uint16_t tid;
	int err = 0;

	if (sui_batch_check(batch, reader->clock, reader->type_cnt, &facts, &error))
		return lose_batch(reader, batch, "a batch can't be read: ", error.text);
	reader->is_sound = true;
	if (facts.timeless_cnt > 0)
		err = import_complain(reader->import, batch->offset,
				      "records in front of any absolute time, which are left out: %" PRIu32,
				      facts.timeless_cnt);
	if (err)
		return err;
	if (facts.begin_ns == UINT64_MAX && !reader->clock.is_known) {
		reader->nameless_cnt++; /* nothing in it has a time */
		return 0;
	}
	if (facts.begin_ns == UINT64_MAX) /* it has neither an event nor an absolute time */
		facts.begin_ns = facts.end_ns = reader->clock.ns;
	err = put_batch(reader, batch, &facts, &tid);
	return err ? err : put_records(reader, batch, tid);
}

/* ---- files ---- */

static int read_batches(struct reader *reader, struct import_source *source)
{
	struct sui_batch batch = { 0 };
	struct error why;
	int result, err = 0;

	reader->clock = (struct sui_clock){ 0 };
	while (!err && (result = sui_batch_next(source, &batch, &why)) != 0) {
		if (result == -ENOMEM)
			return result;
		err = result == 1 ? add_batch(reader, &batch) : lose_batch(reader, &batch, why.text, "");
	}
	if (!err && import_source_error(source))
		err = import_complain(reader->import, import_source_offset(source),
				      "%s; what follows in this file is not read",
				      import_source_error(source) == -EBADMSG
					      ? "the packed data are damaged or cut off"
					      : strerror(-import_source_error(source)));
	return err;
}

/* Of the first file: there is no log. Of a later one of a set: the others are read. */
static int refuse(struct reader *reader, const char *sentence)
{
	if (!reader->has_read)
		return import_refuse(reader->import, "%s", sentence);
	increase(&reader->lost_cnt, 1);
	return import_complain(reader->import, 0, "%s; the file is left out", sentence);
}

static int read_file(struct reader *reader, struct import_source *source)
{
	size_t length;
	const uint8_t *head = import_source_peek(source, 4, &length);

	if (!head)
		return -ENOMEM;
	if (length == 4 && !head[0] && !head[1] && !head[2] && !head[3])
		return refuse(reader,
			      "its first batch would have 0 bytes: files of the writer's first versions, "
			      "which were bincode and not BCS, begin so, and can't be read");
	reader->has_read = true;
	return read_batches(reader, source);
}

/* The N of tx-trace-N.bin; false: it is called otherwise. */
static bool number_of(const char *name, uint64_t *number)
{
	const char *slash = strrchr(name, '/');
	char *end;

	name = slash ? slash + 1 : name;
	if (strncmp(name, NAME_PREFIX, strlen(NAME_PREFIX)) != 0)
		return false;
	name += strlen(NAME_PREFIX);
	errno = 0;
	*number = isdigit((unsigned char)*name) ? strtoull(name, &end, 10) : 0;
	return isdigit((unsigned char)*name) && !errno && strncmp(end, ".bin", 4) == 0;
}

static void look_for_missing_files(struct reader *reader, const char *path)
{
	uint64_t before = reader->file_number;
	bool had_number = reader->has_file_number;

	reader->has_file_number = reader->is_file_due = number_of(path, &reader->file_number);
	if (!had_number || !reader->has_file_number || reader->file_number <= before ||
	    reader->file_number - before == 1)
		return;
	increase(&reader->missing_file_cnt, reader->file_number - before - 1);
	increase(&reader->lost_cnt, reader->file_number - before - 1); /* each had an event */
}

static int read_all(struct reader *reader)
{
	struct import_source *source;
	int result, err = choose_types(reader);

	if (err)
		return err;
	sui_story_init(&reader->story, reader->import, reader->type_cnt == 2 ? SUI_BEGIN : SUI_ENQUEUED);
	reader->story.lanes = reader->lanes;
	while (!err && (result = import_next_source(reader->import, &source)) != 0) {
		if (result < 0)
			return result;
		look_for_missing_files(reader, import_source_path(source));
		err = read_file(reader, source);
	}
	if (!err && !reader->is_sound && reader->lost_cnt > 0)
		return import_refuse(reader->import, "no batch in it can be read");
	err = err ? err : put_loss(reader, reader->event_end_ns);
	while (!err && reader->order.cnt > 0)
		err = take(reader);
	return err ? err : sui_story_finish(&reader->story);
}

/* ---- what is said ---- */

static void note(struct import *import, uint64_t cnt, const char *what)
{
	if (cnt > 0)
		import_note(import, "%s: %" PRIu64, what, cnt);
}

static void tell_guess(const struct reader *reader)
{
	const struct sui_story *story = &reader->story;

	if (!reader->is_guessed || reader->event_cnt == 0)
		return;
	if (story->execution_cnt > 0 &&
	    story->brief_execution_cnt >= story->execution_cnt - story->execution_cnt / 2)
		import_note(
			reader->import,
			"the events are of types 0 and 1 alone, taken for begin and complete; but %" PRIu64
			" of %" PRIu64 " pairs are at most 3 \xc2\xb5s apart, as enqueued and scheduled "
			"mostly are: if the writer knew four types, give --sui-variants 4",
			story->brief_execution_cnt, story->execution_cnt);
	else
		import_note(
			reader->import,
			"the events are of types 0 and 1 alone, taken for begin and complete; if the writer "
			"knew four types they are enqueued and scheduled: give --sui-variants 4");
}

static void tell_all(const struct reader *reader)
{
	const struct sui_story *story = &reader->story;
	struct import *import = reader->import;

	tell_guess(reader);
	note(import, story->unfinished_cnt, "transactions that never completed, unfinished spans");
	note(import, story->begun_cnt, "of these, executions that began");
	note(import, story->lone_complete_cnt, "completions of executions whose begin is not in the files");
	note(import, story->repeat_cnt,
	     "events that a transaction has had before it completed, of which the first counts");
	note(import, reader->step_back_cnt,
	     "events whose time lies before that of the event in front of them, put into order");
	note(import, reader->late_cnt, "records too late in the input to be put into order");
	note(import, story->given_up_cnt,
	     "transactions given up as the oldest, since more are open than can be followed");
	note(import, reader->missing_file_cnt, "files that are missing between others, by their numbers");
	note(import, reader->nameless_cnt,
	     "batches that Sui's writer would write otherwise, or that overlap too many: an export won't "
	     "give them back as they were");
}

static int read_lanes(struct reader *reader)
{
	const char *path = import_options(reader->import)->lanes;
	struct error why;
	int err = path ? sui_lanes_read(&reader->lanes, path, &why) : 0;

	return err && err != -ENOMEM ? import_refuse(reader->import, "--lanes: %s", why.text) : err;
}

static int read_sui(struct import *import)
{
	struct reader *reader = calloc(1, sizeof(*reader));
	struct sui_event event;
	int err;

	if (!reader)
		return -ENOMEM;
	reader->import = import;
	err = read_lanes(reader);
	if (!err)
		err = read_all(reader);
	if (!err)
		tell_all(reader);
	while (order_heap_take(&reader->order, &order_kind, &event))
		free(event.name);
	order_heap_release(&reader->order);
	sui_story_release(&reader->story);
	sui_lanes_free(reader->lanes);
	free(reader);
	return err;
}

/* ---- the table ---- */

/*
 * There is no magic number: as much of a batch as is there has to be sound, and to begin with an absolute
 * time before the year 2514.
 */
static bool is_batch(const uint8_t *bytes, size_t length, uint32_t wanted)
{
	struct sui_batch batch = { .bytes = bytes, .length = length < wanted ? length : wanted };
	struct sui_records records;
	struct sui_record record;
	struct error error;
	int result;

	sui_records_init(&records, &batch);
	if (sui_records_next(&records, TYPE_CNT_MAX, &record, &error) != 1 || record.kind != SUI_ABSOLUTE ||
	    record.seconds > DETECT_SECONDS_MAX)
		return false;
	/* each record takes from 3 to 34 bytes */
	if (records.left > wanted / 3 || wanted / 34 > records.left + 1)
		return false;
	do
		result = sui_records_next(&records, TYPE_CNT_MAX, &record, &error);
	while (result == 1);
	/* cut off: by the file's end, or the head's */
	return result == 0 || (batch.length < wanted && batch.length - records.at < 34);
}

/* The first one that is sound: a batch may be damaged, and the length in front of it not. */
static bool is_bcs(const uint8_t *head, size_t length)
{
	size_t at = 0;

	while (length - at > 4) {
		const uint8_t *bytes = head + at;
		uint32_t wanted = bytes[0] | bytes[1] << 8 | bytes[2] << 16 | (uint32_t)bytes[3] << 24;

		if (wanted == 0 || is_batch(bytes + 4, length - at - 4, wanted))
			return wanted != 0;
		if (wanted >= length - at - 4)
			return false;
		at += 4 + (size_t)wanted;
	}
	return false;
}

/* The first versions' files, which are refused with the reason. */
static bool is_bincode(const uint8_t *head, size_t length)
{
	uint64_t seconds = 0;

	for (unsigned int i = 0; length >= 20 && i < 8; i++)
		seconds |= (uint64_t)head[4 + i] << (8 * i);
	/* absolute time, variant 0; then a delta, variant 1 */
	return length >= 20 && seconds > 0 && seconds < DETECT_SECONDS_MAX && !head[0] && !head[1] &&
	       !head[2] && !head[3] && head[16] == 1 && !head[17] && !head[18] && !head[19];
}

static bool is_sui(const uint8_t *head, size_t length)
{
	return (length > 4 && is_bcs(head, length)) || is_bincode(head, length);
}

static bool is_member(const char *name)
{
	uint64_t number;

	return number_of(name, &number);
}

const struct import_format import_sui = {
	.name = "sui",
	.help = "Sui's transaction trace: batches of BCS",
	.is_format = is_sui,
	.is_member = is_member,
	.read = read_sui,
};
