/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Monad's event rings: files, snapshots that are packed by zstd, and rings that
 * a writer writes. Threads take their clock readings before their numbers, so
 * events are put into the order of time.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/saturating.h"
#include "import/import_formats.h"
#include "import/monad_order.h"
#include "import/monad_ring.h"
#include "import/monad_story.h"
#include "log/format/log_format.h"

#define PAYLOADS_MAX (32u << 20) /* bytes of all that are held back */
#define POLL_NS 10000000u	 /* how long a writer is left alone when there is nothing new */
#define FOLLOW_CNT 65536u	 /* events between two looks at whether the user has seen enough */
#define PATIENCE_NS 1000000000u	 /* for a number that its writer does not finish */
#define TAG_BYTES 40u		 /* id and number of a block */

/* The names and payloads of the execution's events are those of this schema. */
static const uint8_t known_hash[MONAD_HASH_BYTES] = {
	0x89, 0x33, 0xf9, 0x07, 0xc4, 0x32, 0xc9, 0x8a, 0xc0, 0xc8, 0xdb, 0x62, 0xf9, 0xaa, 0x16, 0x4c,
	0x0c, 0x3f, 0x16, 0x72, 0xf4, 0x12, 0x90, 0xe4, 0xea, 0x34, 0x08, 0xdf, 0x6c, 0x67, 0x23, 0xf3,
};

/* Numbers in a row without an event, or payloads in a row that have expired. */
struct run {
	bool is_there;
	enum monad_item_kind kind;
	uint64_t first, last;
	uint64_t cnt;
	uint64_t since_ns; /* the event before; 0: there was none */
};

/* What is said at the end. */
struct lost {
	uint64_t cnt;
	uint64_t first;
};

struct reader {
	struct import *import;
	struct monad_ring *ring;
	struct monad_story story;
	struct monad_order order;
	size_t payload_bytes; /* of what is held back */
	bool is_execution;
	bool is_broken;	  /* the file can't be read any more */
	struct run front; /* what was overwritten before the first event */
	struct run missing, expired;
	uint64_t event_ns; /* of the event before */
	uint64_t event_cnt;
	uint64_t taken_ns; /* the latest time that was taken out of the order */
	uint64_t step_back_cnt;
	uint64_t late_cnt;
	struct lost holes, overwritten, cut, expired_payloads, cut_payloads;
};

static uint64_t number_at(const uint8_t *bytes, unsigned int width)
{
	uint64_t value = 0;

	for (unsigned int i = 0; i < width; i++)
		value |= (uint64_t)bytes[i] << (8 * i);
	return value;
}

/* ---- into order ---- */

static int take(struct reader *reader)
{
	struct monad_event *event = monad_order_take(&reader->order);
	int err;

	if (!event)
		return 0;
	if (event->time_ns > reader->taken_ns)
		reader->taken_ns = event->time_ns;
	err = monad_story_add(&reader->story, event);
	reader->payload_bytes -= event->payload ? event->payload_length : 0;
	free(event->payload);
	return err;
}

static int take_all(struct reader *reader)
{
	int err = 0;

	while (!err && reader->order.cnt > 0)
		err = take(reader);
	return err;
}

/* Takes over the payload. */
static int put(struct reader *reader, struct monad_event *event)
{
	int err = 0;

	while (!err && (reader->order.cnt >= MONAD_ORDER_MAX || reader->payload_bytes >= PAYLOADS_MAX))
		err = take(reader);
	reader->late_cnt += event->time_ns < reader->taken_ns;
	if (err) {
		free(event->payload);
		return err;
	}
	monad_order_add(&reader->order, event);
	reader->payload_bytes += event->payload ? event->payload_length : 0;
	return 0;
}

/* ---- what is lost ---- */

static void count_lost(struct lost *lost, uint64_t first, uint64_t cnt)
{
	if (lost->cnt == 0)
		lost->first = first;
	increase(&lost->cnt, cnt);
}

/* It ends at until_ns. */
static int end_run(struct reader *reader, struct run *run, enum monad_event_kind kind, uint64_t until_ns)
{
	struct monad_event event = { .kind = (uint8_t)kind,
				     .number = run->first,
				     .last = run->last,
				     .lost_cnt = run->cnt,
				     .time_ns = until_ns,
				     .since_ns = run->since_ns ? run->since_ns : until_ns };

	if (!run->is_there)
		return 0;
	*run = (struct run){ 0 };
	return put(reader, &event);
}

static int add_to_run(struct reader *reader, struct run *run, enum monad_event_kind kind,
		      const struct monad_item *item)
{
	int err = 0;

	if (run->is_there && (run->kind != item->kind || item->first != run->last + 1))
		err = end_run(reader, run, kind, reader->event_ns);
	if (!run->is_there)
		*run = (struct run){ .is_there = true,
				     .kind = item->kind,
				     .first = item->first,
				     .since_ns = reader->event_ns };
	run->last = item->last;
	increase(&run->cnt, item->last - item->first + 1);
	return err;
}

static int add_missing(struct reader *reader, const struct monad_item *item)
{
	bool is_front = item->kind == MONAD_OVERWRITTEN && reader->event_cnt == 0 &&
			!reader->missing.is_there;
	struct lost *lost = item->kind == MONAD_HOLE	      ? &reader->holes
			    : item->kind == MONAD_OVERWRITTEN ? &reader->overwritten
							      : &reader->cut;

	count_lost(lost, item->first, item->last - item->first + 1);
	return add_to_run(reader, is_front ? &reader->front : &reader->missing, MONAD_IS_LOSS, item);
}

static int end_missing(struct reader *reader, uint64_t until_ns)
{
	int err = end_run(reader, &reader->front, MONAD_IS_LOSS, until_ns);

	return err ? err : end_run(reader, &reader->missing, MONAD_IS_LOSS, until_ns);
}

/* ---- events ---- */

static uint32_t wanted(const void *context, uint16_t type, uint32_t size)
{
	const struct reader *reader = context;

	if (import_options(reader->import)->with_payloads)
		return size < LOG_STRING_MAX_BYTES ? size : LOG_STRING_MAX_BYTES;
	if (!reader->is_execution)
		return 0;
	switch (type) {
	case MONAD_BLOCK_START:
	case MONAD_BLOCK_QC:
	case MONAD_BLOCK_FINALIZED:
		return TAG_BYTES;
	case MONAD_BLOCK_VERIFIED:
		return 8;
	case MONAD_TXN_HEADER_START:
		return MONAD_ID_BYTES;
	case MONAD_BLOCK_REJECT:
	case MONAD_TXN_REJECT:
		return 4;
	default:
		return 0;
	}
}

/* What of an execution's payload is used. */
static void read_payload(struct monad_event *event, const struct monad_item *item)
{
	const uint8_t *payload = item->payload;
	size_t length = item->payload_length;

	switch (item->type) {
	case MONAD_BLOCK_START:
	case MONAD_BLOCK_QC:
	case MONAD_BLOCK_FINALIZED:
		event->has_id = event->has_value = length >= TAG_BYTES;
		if (event->has_id)
			event->value = number_at(payload + MONAD_ID_BYTES, 8);
		break;
	case MONAD_BLOCK_VERIFIED:
		event->has_value = length >= 8;
		event->value = event->has_value ? number_at(payload, 8) : 0;
		break;
	case MONAD_TXN_HEADER_START:
		event->has_id = length >= MONAD_ID_BYTES;
		break;
	case MONAD_BLOCK_REJECT:
	case MONAD_TXN_REJECT:
		event->has_value = length >= 4;
		event->value = event->has_value ? number_at(payload, 4) : 0;
		break;
	default:
		break;
	}
	if (event->has_id)
		memcpy(event->id, payload, MONAD_ID_BYTES);
}

static int keep_payload(struct reader *reader, struct monad_event *event, const struct monad_item *item)
{
	if (!import_options(reader->import)->with_payloads || item->state != MONAD_PAYLOAD_HERE)
		return 0;
	event->payload = malloc(item->payload_length);
	if (!event->payload)
		return -ENOMEM;
	memcpy(event->payload, item->payload, item->payload_length);
	event->payload_length = (uint32_t)item->payload_length;
	return 0;
}

static int look_at_payload(struct reader *reader, const struct monad_item *item)
{
	if (item->state == MONAD_PAYLOAD_EXPIRED) {
		count_lost(&reader->expired_payloads, item->first, 1);
		return add_to_run(reader, &reader->expired, MONAD_IS_EXPIRED, item);
	}
	if (item->state == MONAD_PAYLOAD_CUT)
		count_lost(&reader->cut_payloads, item->first, 1);
	return 0;
}

static int add_event(struct reader *reader, const struct monad_item *item)
{
	struct monad_event event = { .kind = MONAD_IS_EVENT,
				     .time_ns = item->time_ns,
				     .number = item->first,
				     .size = item->size,
				     .type = item->type };
	int err;

	if (item->time_ns > INT64_MAX) {
		struct monad_item hole = { .kind = MONAD_HOLE, .first = item->first, .last = item->first };

		err = add_missing(reader, &hole);
		return err ? err
			   : import_complain(reader->import, item->offset,
					     "event %" PRIu64
					     " has a time beyond the year 2262; it is left out",
					     item->first);
	}
	err = end_missing(reader, item->time_ns);
	if (!err && item->state != MONAD_PAYLOAD_EXPIRED)
		err = end_run(reader, &reader->expired, MONAD_IS_EXPIRED, reader->event_ns);
	err = err ? err : look_at_payload(reader, item);
	if (err)
		return err;
	memcpy(event.words, item->words, sizeof(event.words));
	if (reader->is_execution && item->state == MONAD_PAYLOAD_HERE)
		read_payload(&event, item);
	reader->step_back_cnt += reader->event_cnt++ > 0 && event.time_ns < reader->event_ns;
	reader->event_ns = event.time_ns;
	err = keep_payload(reader, &event, item);
	return err ? err : put(reader, &event);
}

static int add_item(struct reader *reader, const struct monad_item *item)
{
	return item->kind == MONAD_EVENT ? add_event(reader, item) : add_missing(reader, item);
}

/* ---- reading ---- */

/* What is there now, up to max of it. *cnt: how much that was. */
static int read_present(struct reader *reader, uint64_t max, uint64_t *cnt)
{
	struct monad_item item;
	int result = 1, err = 0;

	for (*cnt = 0; !err && *cnt < max && (result = monad_ring_next(reader->ring, &item)) == 1; ++*cnt)
		err = add_item(reader, &item);
	if (err || result >= 0)
		return err;
	reader->is_broken = true;
	return import_complain(reader->import, 0, "can't read on: %s", strerror(-result));
}

/* Until its writer has gone, or the user has seen enough. */
static int follow(struct reader *reader)
{
	uint64_t idle_ns = 0, cnt;
	bool is_alive = true;
	int err = 0;

	while (!err && is_alive && !reader->is_broken) {
		is_alive = monad_ring_is_alive(reader->ring);
		if (!is_alive) /* what it has left unfinished will not be finished */
			monad_ring_follow(reader->ring, false);
		err = read_present(reader, is_alive ? FOLLOW_CNT : UINT64_MAX, &cnt);
		idle_ns = cnt == 0 ? idle_ns + POLL_NS : 0;
		if (!err && idle_ns >= PATIENCE_NS) {
			idle_ns = 0;
			if (monad_ring_has_more(reader->ring))
				monad_ring_give_up_one(reader->ring);
			else
				err = take_all(reader);
		}
		if (!err && is_alive && import_wait(reader->import, cnt == 0 ? POLL_NS : 0))
			break;
	}
	return err;
}

static int check_length(struct reader *reader)
{
	uint64_t length, needed;
	int why;

	if (!monad_ring_is_short(reader->ring, &length, &needed, &why))
		return 0;
	if (why)
		return import_complain(reader->import, length,
				       "%s; what was unpacked is read: events behind the end: %" PRIu64
				       ", payloads: %" PRIu64,
				       why == -EBADMSG ? "the packed data are damaged or cut off"
						       : strerror(-why),
				       reader->cut.cnt, reader->cut_payloads.cnt);
	if (reader->cut.cnt == 0 && reader->cut_payloads.cnt == 0)
		return 0; /* nothing is missing */
	return import_complain(reader->import, length,
			       "the file ends here, and its header asks for %" PRIu64
			       " bytes: events behind the end: %" PRIu64 ", payloads: %" PRIu64,
			       needed, reader->cut.cnt, reader->cut_payloads.cnt);
}

static int read_ring(struct reader *reader)
{
	uint64_t cnt;
	int err = monad_story_init(&reader->story, reader->import, reader->is_execution);

	if (err)
		return err;
	monad_ring_set_wanted(reader->ring, wanted, reader);
	if (import_options(reader->import)->is_following && monad_ring_is_alive(reader->ring)) {
		monad_ring_follow(reader->ring, true);
		err = follow(reader);
	} else {
		err = read_present(reader, UINT64_MAX, &cnt);
	}
	err = err ? err : end_missing(reader, reader->event_ns);
	err = err ? err : end_run(reader, &reader->expired, MONAD_IS_EXPIRED, reader->event_ns);
	err = err ? err : take_all(reader);
	err = err ? err : check_length(reader);
	return err ? err : monad_story_finish(&reader->story);
}

static int open_ring(struct reader *reader)
{
	const char *directory = import_options(reader->import)->directory;
	struct import_source *source;
	struct error error = { "" };
	int result = import_next_source(reader->import, &source);

	if (result < 0)
		return result;
	result = monad_ring_open(&reader->ring, source, directory ? directory : ".", &error);
	if (result && error.text[0])
		return import_refuse(reader->import, "%s", error.text);
	if (result)
		return result;
	reader->is_execution = monad_ring_content_type(reader->ring) == MONAD_CONTENT_EXECUTION &&
			       memcmp(monad_ring_schema_hash(reader->ring), known_hash, sizeof(known_hash)) ==
				       0;
	return 0;
}

/* ---- what is said ---- */

static void note(struct import *import, uint64_t cnt, const char *what)
{
	if (cnt > 0)
		import_note(import, "%s: %" PRIu64, what, cnt);
}

static void note_lost(struct import *import, const struct lost *lost, const char *what)
{
	if (lost->cnt > 0)
		import_note(import, "%s: %" PRIu64 ", the first is event %" PRIu64, what, lost->cnt,
			    lost->first);
}

static void tell_all(const struct reader *reader)
{
	const struct monad_story *story = &reader->story;
	struct import *import = reader->import;
	uint16_t content = monad_ring_content_type(reader->ring);

	if (content == MONAD_CONTENT_EXECUTION && !reader->is_execution)
		import_note(import, "the events are an execution's, but of another schema than the one whose "
				    "names are known: their types are numbers");
	note_lost(import, &reader->holes, "holes, numbers that a writer took and did not finish");
	note_lost(import, &reader->overwritten, "events that were overwritten before they were read");
	note_lost(import, &reader->expired_payloads,
		  "payloads that were overwritten; their events are there");
	note(import, story->error_cnt, "events that the writer could not record in full");
	note(import, story->open_block_cnt, "blocks without an end or a begin, lower bounds");
	note(import, story->rejected_block_cnt, "of these, blocks that were rejected");
	note(import, story->open_transaction_cnt, "transactions that did not end, unfinished spans");
	note(import, story->given_up_cnt,
	     "of these, given up as the oldest, since more are open than can be followed");
	note(import, story->lone_exit_cnt, "ends of what has not begun, or has ended");
	note(import, story->repeat_cnt, "begins of what had begun, of which the first counts");
	note(import, reader->step_back_cnt,
	     "events whose time lies before that of the event in front of them, put into order");
	note(import, reader->late_cnt, "events too late in the ring to be put into order");
}

static int read_one(struct reader *reader)
{
	struct import_source *more;
	int err = open_ring(reader);

	err = err ? err : read_ring(reader);
	if (err)
		return err;
	tell_all(reader);
	err = import_next_source(reader->import, &more);
	if (err > 0)
		err = import_complain(
			reader->import, 0,
			"only one ring can be imported at a time, and this one is left out: import "
			"each, and txtrace merge puts them side by side");
	return err;
}

static int read_monad(struct import *import)
{
	struct reader *reader = calloc(1, sizeof(*reader));
	struct monad_event *event;
	int err;

	if (!reader)
		return -ENOMEM;
	reader->import = import;
	err = monad_order_init(&reader->order);
	err = err ? err : read_one(reader);
	while ((event = monad_order_take(&reader->order)))
		free(event->payload);
	monad_order_release(&reader->order);
	monad_story_release(&reader->story);
	monad_ring_close(reader->ring);
	free(reader);
	return err;
}

/* ---- the table ---- */

/* Versions that can't be read are refused by name. */
static bool is_monad(const uint8_t *head, size_t length)
{
	return length >= 6 && memcmp(head, MONAD_MAGIC, 4) == 0 && head[4] >= '0' && head[4] <= '9' &&
	       head[5] >= '0' && head[5] <= '9';
}

const struct import_format import_monad = {
	.name = "monad",
	.help = "Monad's event rings (RING01), their snapshots, and live rings",
	.is_format = is_monad,
	.read = read_monad,
	.can_follow = true,
};
