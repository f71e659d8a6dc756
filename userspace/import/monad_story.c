/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/monad_story.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY_BYTES 48

struct monad_block {
	uint64_t event;	 /* number of its BLOCK_START: what other events call it */
	uint64_t span;	 /* id */
	uint64_t number; /* if has_number */
	uint64_t begin_ns;
	uint64_t loss_cnt; /* of the story, when it began */
	bool has_number;
	bool has_id;
	bool is_open;
	bool is_keyed; /* its span is: the number was known when it began */
	bool has_span; /* it has begun */
	uint8_t id[MONAD_ID_BYTES];
};

struct monad_transaction {
	struct monad_transaction *older, *newer;
	uint64_t block, number; /* number of the block's event; the transaction's own + 1 */
	uint64_t span;
	uint64_t parent;
	uint64_t begin_ns;
	uint64_t loss_cnt;
	bool is_parent_keyed;
	char key[KEY_BYTES];
};

/* Of the schema 8933f907c4…; NULL: it has no event of this type. */
static const char *const type_names[MONAD_TYPE_CNT] = {
	NULL,
	"RECORD_ERROR",
	"BLOCK_START",
	"reject",
	"BLOCK_PERF_EVM_ENTER",
	"BLOCK_PERF_EVM_EXIT",
	"BLOCK_END",
	"BLOCK_QC",
	"BLOCK_FINALIZED",
	"BLOCK_VERIFIED",
	"TXN_HEADER_START",
	"TXN_ACCESS_LIST_ENTRY",
	"TXN_AUTH_LIST_ENTRY",
	"TXN_HEADER_END",
	"reject",
	"TXN_PERF_EVM_ENTER",
	"TXN_PERF_EVM_EXIT",
	"TXN_EVM_OUTPUT",
	"TXN_LOG",
	"TXN_CALL_FRAME",
	"TXN_END",
	"ACCOUNT_ACCESS_LIST_HEADER",
	"ACCOUNT_ACCESS",
	"STORAGE_ACCESS",
	"EVM_ERROR",
};

int monad_story_init(struct monad_story *story, struct import *import, bool is_execution)
{
	*story = (struct monad_story){ .import = import, .is_execution = is_execution };
	id_map_init(&story->transactions);
	story->blocks = calloc(MONAD_BLOCK_MAX, sizeof(*story->blocks));
	return story->blocks ? 0 : -ENOMEM;
}

void monad_story_release(struct monad_story *story)
{
	struct monad_transaction *transaction;

	for (size_t i = 0; (transaction = id_map_next(&story->transactions, &i));)
		free(transaction);
	id_map_release(&story->transactions);
	free(story->blocks);
}

static struct txtrace_string text_of(const char *text)
{
	return (struct txtrace_string){ text, strlen(text) };
}

/* ---- the log ---- */

static int begin(struct monad_story *story, uint64_t time_ns)
{
	const struct txtrace_log_info info = { .pid = MONAD_PID,
					       .start_monotonic_ns = time_ns,
					       .start_realtime_ns = time_ns };

	if (story->has_begun)
		return 0;
	story->has_begun = true;
	story->last_ns = time_ns;
	return import_begin(story->import, &info);
}

/* Where the first record of such a track stands. */
static int tell_thread(struct monad_story *story, uint64_t time_ns, uint32_t tid)
{
	static const char *const names[] = { NULL, "blocks", "transactions", "ring" };
	struct txtrace_record record = { .kind = TXTRACE_RECORD_THREAD };

	if (story->told_threads & 1u << tid)
		return 0;
	story->told_threads |= (uint8_t)(1u << tid);
	record.thread = (struct txtrace_thread){
		.time_ns = time_ns, .tid = tid, .pid = MONAD_PID, .is_seed = true, .comm = text_of(names[tid])
	};
	return import_add(story->import, &record);
}

/* Where something is told: the track, and the span. */
struct place {
	uint64_t time_ns;
	uint64_t span;
	uint32_t tid;
};

static int tell_instant(struct monad_story *story, const struct place *place, const char *name)
{
	struct txtrace_record record = { .kind = TXTRACE_RECORD_INSTANT };
	int err = tell_thread(story, place->time_ns, place->tid);

	record.instant = (struct txtrace_instant){ .time_ns = place->time_ns,
						   .span = place->span,
						   .pid = MONAD_PID,
						   .tid = place->tid,
						   .name = text_of(name) };
	return err ? err : import_add(story->import, &record);
}

static int tell_number(struct monad_story *story, const struct place *place, const char *name, uint64_t value)
{
	struct txtrace_record record = { .kind = TXTRACE_RECORD_ATTRIBUTE };

	record.attribute = (struct txtrace_attribute){ .time_ns = place->time_ns,
						       .span = place->span,
						       .pid = MONAD_PID,
						       .tid = place->tid,
						       .type = TXTRACE_ATTRIBUTE_UINT,
						       .value = value,
						       .name = text_of(name) };
	return import_add(story->import, &record);
}

static int tell_string(struct monad_story *story, const struct place *place, const char *name,
		       const char *bytes, size_t length, bool is_truncated)
{
	struct txtrace_record record = { .kind = TXTRACE_RECORD_ATTRIBUTE };

	record.attribute = (struct txtrace_attribute){ .time_ns = place->time_ns,
						       .span = place->span,
						       .pid = MONAD_PID,
						       .tid = place->tid,
						       .type = TXTRACE_ATTRIBUTE_STRING,
						       .is_truncated = is_truncated,
						       .name = text_of(name),
						       .string = { bytes, length } };
	return import_add(story->import, &record);
}

static int tell_loss(struct monad_story *story, uint64_t since_ns, uint64_t until_ns, uint64_t cnt)
{
	struct txtrace_record record = { .kind = TXTRACE_RECORD_LOSS };

	record.loss = (struct txtrace_loss){ .first_ns = since_ns < until_ns ? since_ns : until_ns,
					     .last_ns = until_ns,
					     .cpu = TXTRACE_CPU_UNKNOWN,
					     .span_event_cnt = cnt };
	return import_add(story->import, &record);
}

/* Which numbers they were is told by an instant. */
static int tell_lost_numbers(struct monad_story *story, const struct monad_event *event)
{
	const struct place place = { event->time_ns, 0, MONAD_TID_RING };
	char name[80];
	int err;

	story->loss_cnt++;
	if (event->last > event->number)
		snprintf(name, sizeof(name), "lost events %" PRIu64 " to %" PRIu64, event->number,
			 event->last);
	else
		snprintf(name, sizeof(name), "lost event %" PRIu64, event->number);
	err = tell_loss(story, event->since_ns, event->time_ns, event->lost_cnt);
	return err ? err : tell_instant(story, &place, name);
}

/* ---- spans ---- */

/* A block or a transaction is open; whether, and where, it runs is not known. */
static void fill_span(struct txtrace_span *span, uint64_t begin_ns, uint64_t end_ns, bool is_unfinished)
{
	if (end_ns < begin_ns)
		end_ns = begin_ns;
	span->pid = MONAD_PID;
	span->end_tid = is_unfinished ? 0 : span->tid;
	span->begin_ns = begin_ns;
	span->end_ns = end_ns;
	span->work_ns = span->ledger.unknown_ns = end_ns - begin_ns;
	if (is_unfinished)
		span->flags |= TXTRACE_SPAN_UNFINISHED | TXTRACE_SPAN_LOWER_BOUND;
}

static int tell_block(struct monad_story *story, const struct monad_block *block, uint64_t end_ns,
		      bool is_unfinished)
{
	struct txtrace_record record = { .kind = TXTRACE_RECORD_SPAN };
	struct txtrace_span *span = &record.span;
	char key[KEY_BYTES];

	*span = (struct txtrace_span){ .id = block->span,
				       .tid = MONAD_TID_BLOCKS,
				       .flags = TXTRACE_SPAN_ROOT,
				       .label = text_of("block") };
	if (block->is_keyed) {
		snprintf(key, sizeof(key), "%" PRIu64, block->number);
		span->key = text_of(key);
		span->flags |= TXTRACE_SPAN_KEYED;
	}
	fill_span(span, block->begin_ns, end_ns, is_unfinished);
	if (is_unfinished && block->loss_cnt != story->loss_cnt)
		span->flags |= TXTRACE_SPAN_LOSS;
	return import_add(story->import, &record);
}

static int tell_transaction(struct monad_story *story, const struct monad_transaction *transaction,
			    uint64_t end_ns, bool is_unfinished, uint32_t flags)
{
	struct txtrace_record record = { .kind = TXTRACE_RECORD_SPAN };
	struct txtrace_span *span = &record.span;

	*span = (struct txtrace_span){ .id = transaction->span,
				       .parent = transaction->parent,
				       .tid = MONAD_TID_TRANSACTIONS,
				       .flags = TXTRACE_SPAN_KEYED | flags,
				       .label = text_of("transaction"),
				       .key = text_of(transaction->key) };
	if (!transaction->parent)
		span->flags |= TXTRACE_SPAN_ROOT;
	else if (transaction->is_parent_keyed)
		span->flags |= TXTRACE_SPAN_PARENT_KEYED;
	fill_span(span, transaction->begin_ns, end_ns, is_unfinished);
	if (is_unfinished && transaction->loss_cnt != story->loss_cnt)
		span->flags |= TXTRACE_SPAN_LOSS;
	return import_add(story->import, &record);
}

/* What names a span is told before its first event. */
static int tell_open(struct monad_story *story, const struct txtrace_open_span *open)
{
	struct txtrace_record record = { .kind = TXTRACE_RECORD_OPEN_SPAN };
	int err = tell_thread(story, open->time_ns, open->tid);

	record.open_span = *open;
	record.open_span.pid = MONAD_PID;
	return err ? err : import_add(story->import, &record);
}

/* ---- blocks ---- */

/* Of the latest; NULL: it is none of them. */
static struct monad_block *find_block(const struct monad_story *story, uint64_t event)
{
	uint64_t cnt = story->block_cnt < MONAD_BLOCK_MAX ? story->block_cnt : MONAD_BLOCK_MAX;

	for (uint64_t i = 1; event && i <= cnt; i++) {
		struct monad_block *block = &story->blocks[(story->block_cnt - i) % MONAD_BLOCK_MAX];

		if (block->event == event)
			return block;
	}
	return NULL;
}

/* By what consensus calls it. */
static struct monad_block *find_named_block(const struct monad_story *story, const struct monad_event *event)
{
	uint64_t cnt = story->block_cnt < MONAD_BLOCK_MAX ? story->block_cnt : MONAD_BLOCK_MAX;

	for (uint64_t i = 1; i <= cnt; i++) {
		struct monad_block *block = &story->blocks[(story->block_cnt - i) % MONAD_BLOCK_MAX];

		if (event->has_id && block->has_id && memcmp(block->id, event->id, MONAD_ID_BYTES) == 0)
			return block;
		if (!event->has_id && event->has_value && block->has_number && block->number == event->value)
			return block;
	}
	return NULL;
}

/* It has no end. */
static int close_block(struct monad_story *story, struct monad_block *block, uint64_t end_ns)
{
	if (!block->is_open)
		return 0;
	block->is_open = false;
	story->open_block_cnt++;
	return tell_block(story, block, end_ns, true);
}

/* Made if it is new. */
static int need_block(struct monad_story *story, uint64_t event, uint64_t time_ns, struct monad_block **found)
{
	struct monad_block *block = find_block(story, event);
	int err;

	*found = block;
	if (block || event == 0)
		return 0;
	*found = block = &story->blocks[story->block_cnt % MONAD_BLOCK_MAX];
	err = close_block(story, block, time_ns);
	story->block_cnt++;
	*block = (struct monad_block){ .event = event, .span = ++story->span_cnt };
	return err;
}

static int start_block(struct monad_story *story, const struct monad_event *event)
{
	struct monad_block *block;
	int err = need_block(story, event->words[0] ? event->words[0] : event->number, event->time_ns,
			     &block);

	if (err || !block || block->has_span)
		return err;
	block->has_number = event->has_value;
	block->number = event->value;
	block->has_id = event->has_id;
	memcpy(block->id, event->id, MONAD_ID_BYTES);
	return 0;
}

static int enter_block(struct monad_story *story, const struct monad_event *event)
{
	struct txtrace_open_span open = { .time_ns = event->time_ns,
					  .begin_ns = event->time_ns,
					  .tid = MONAD_TID_BLOCKS,
					  .label = text_of("block"),
					  .flags = TXTRACE_SPAN_ROOT };
	struct place place = { event->time_ns, 0, MONAD_TID_BLOCKS };
	struct monad_block *block;
	char key[KEY_BYTES];
	int err = need_block(story, event->words[0], event->time_ns, &block);

	if (err || !block)
		return err;
	if (block->has_span) {
		story->repeat_cnt++;
		return 0;
	}
	block->has_span = block->is_open = true;
	block->is_keyed = block->has_number;
	block->begin_ns = event->time_ns;
	block->loss_cnt = story->loss_cnt;
	place.span = open.id = block->span;
	if (block->is_keyed) {
		snprintf(key, sizeof(key), "%" PRIu64, block->number);
		open.key = text_of(key);
		open.flags |= TXTRACE_SPAN_KEYED;
	}
	err = tell_open(story, &open);
	return err || !block->has_number ? err : tell_number(story, &place, "number", block->number);
}

/* Without a begin: it is a lower bound, of no length. */
static int leave_block(struct monad_story *story, const struct monad_event *event)
{
	struct monad_block *block;
	int err = need_block(story, event->words[0], event->time_ns, &block);

	if (err || !block || (block->has_span && !block->is_open)) {
		story->lone_exit_cnt += !err;
		return err;
	}
	if (!block->is_open) {
		story->lone_exit_cnt++;
		err = enter_block(story, event);
		block->is_open = false;
		story->open_block_cnt++;
		return err ? err : tell_block(story, block, event->time_ns, true);
	}
	block->is_open = false;
	return tell_block(story, block, event->time_ns, false);
}

/* It is not executed to its end. */
static int reject_block(struct monad_story *story, const struct monad_event *event)
{
	struct monad_block *block = find_block(story, event->words[0]);

	if (!block || !block->is_open)
		return 0;
	story->rejected_block_cnt++;
	return close_block(story, block, event->time_ns);
}

/* ---- transactions ---- */

static void forget(struct monad_story *story, struct monad_transaction *transaction)
{
	*(transaction->older ? &transaction->older->newer : &story->oldest) = transaction->newer;
	*(transaction->newer ? &transaction->newer->older : &story->newest) = transaction->older;
	id_map_remove(&story->transactions, transaction->block, transaction->number);
	free(transaction);
}

static int give_up(struct monad_story *story, uint64_t end_ns)
{
	int err = tell_transaction(story, story->oldest, end_ns, true, 0);

	story->open_transaction_cnt++;
	forget(story, story->oldest);
	return err;
}

/* The block's number if that is known, else that of its event. */
static void name_transaction(struct monad_transaction *transaction, const struct monad_block *block)
{
	if (block && block->has_number)
		snprintf(transaction->key, sizeof(transaction->key), "%" PRIu64 "/%" PRIu64, block->number,
			 transaction->number - 1);
	else
		snprintf(transaction->key, sizeof(transaction->key), "event %" PRIu64 "/%" PRIu64,
			 transaction->block, transaction->number - 1);
}

static int open_transaction(struct monad_story *story, const struct monad_event *event,
			    struct monad_transaction **opened)
{
	const struct monad_block *block = find_block(story, event->words[0]);
	struct monad_transaction *transaction;
	int err = 0;

	if (story->transactions.cnt >= MONAD_OPEN_MAX) {
		story->given_up_cnt++;
		err = give_up(story, event->time_ns);
	}
	transaction = calloc(1, sizeof(*transaction));
	if (!transaction || id_map_put(&story->transactions, event->words[0], event->words[1], transaction)) {
		free(transaction);
		return -ENOMEM;
	}
	*transaction = (struct monad_transaction){ .older = story->newest,
						   .block = event->words[0],
						   .number = event->words[1],
						   .span = ++story->span_cnt,
						   .begin_ns = event->time_ns,
						   .loss_cnt = story->loss_cnt };
	if (block && block->has_span) {
		transaction->parent = block->span;
		transaction->is_parent_keyed = block->is_keyed;
	}
	name_transaction(transaction, block);
	*(story->newest ? &story->newest->newer : &story->oldest) = transaction;
	story->newest = *opened = transaction;
	return err;
}

static int enter_transaction(struct monad_story *story, const struct monad_event *event)
{
	struct monad_transaction *transaction = id_map_get(&story->transactions, event->words[0],
							   event->words[1]);
	int err;

	if (transaction) {
		story->repeat_cnt++;
		return 0;
	}
	err = open_transaction(story, event, &transaction);
	return err ? err
		   : tell_open(story,
			       &(struct txtrace_open_span){ .time_ns = event->time_ns,
							    .id = transaction->span,
							    .parent = transaction->parent,
							    .begin_ns = event->time_ns,
							    .tid = MONAD_TID_TRANSACTIONS,
							    .label = text_of("transaction"),
							    .key = text_of(transaction->key),
							    .flags = TXTRACE_SPAN_KEYED |
								     (!transaction->parent ? TXTRACE_SPAN_ROOT
								      : transaction->is_parent_keyed
									      ? TXTRACE_SPAN_PARENT_KEYED
									      : 0) });
}

/* Without a begin: it is a lower bound, of no length. */
static int leave_transaction(struct monad_story *story, const struct monad_event *event)
{
	struct monad_transaction *transaction = id_map_get(&story->transactions, event->words[0],
							   event->words[1]);
	uint32_t flags = 0;
	int err = 0;

	if (!transaction) {
		story->lone_exit_cnt++;
		flags = TXTRACE_SPAN_LOWER_BOUND | (story->loss_cnt > 0 ? TXTRACE_SPAN_LOSS : 0);
		err = enter_transaction(story, event);
		transaction = id_map_get(&story->transactions, event->words[0], event->words[1]);
	}
	if (err || !transaction)
		return err;
	err = tell_transaction(story, transaction, event->time_ns, false, flags);
	forget(story, transaction);
	return err;
}

/* ---- instants ---- */

static struct place place_of(const struct monad_story *story, const struct monad_event *event)
{
	const struct monad_transaction *transaction = NULL;
	const struct monad_block *block = NULL;

	if (!story->is_execution)
		return (struct place){ event->time_ns, 0, MONAD_TID_RING };
	if (event->words[1])
		transaction = id_map_get(&story->transactions, event->words[0], event->words[1]);
	else if (event->words[0])
		block = find_block(story, event->words[0]);
	else if (event->type >= MONAD_BLOCK_QC && event->type <= MONAD_BLOCK_VERIFIED)
		block = find_named_block(story, event);
	if (event->words[1])
		return (struct place){ event->time_ns, transaction ? transaction->span : 0,
				       MONAD_TID_TRANSACTIONS };
	if (event->words[0] || block)
		return (struct place){ event->time_ns, block ? block->span : 0, MONAD_TID_BLOCKS };
	return (struct place){ event->time_ns, 0, MONAD_TID_RING };
}

/* What belongs to an event has the event's name in front of its own. */
static int tell_bytes(struct monad_story *story, const struct monad_event *event, const struct place *place,
		      const char *name)
{
	char attribute[96];
	int err;

	if (event->size == 0)
		return 0;
	snprintf(attribute, sizeof(attribute), "%s bytes", name);
	err = tell_number(story, place, attribute, event->size);
	if (err || !event->payload)
		return err;
	snprintf(attribute, sizeof(attribute), "%s payload", name);
	return tell_string(story, place, attribute, event->payload, event->payload_length,
			   event->payload_length < event->size);
}

static int tell_words(struct monad_story *story, const struct monad_event *event, const struct place *place,
		      const char *name)
{
	char attribute[96];
	int err = 0;

	for (unsigned int i = 0; !err && i < 4; i++) {
		snprintf(attribute, sizeof(attribute), "%s word %u", name, i);
		if (event->words[i])
			err = tell_number(story, place, attribute, event->words[i]);
	}
	return err;
}

static int tell_hash(struct monad_story *story, const struct monad_event *event, const struct place *place)
{
	static const char digits[] = "0123456789abcdef";
	char hash[2 + 2 * MONAD_ID_BYTES] = "0x";

	for (size_t i = 0; i < MONAD_ID_BYTES; i++) {
		hash[2 + 2 * i] = digits[event->id[i] >> 4];
		hash[3 + 2 * i] = digits[event->id[i] & 15];
	}
	return tell_string(story, place, "hash", hash, sizeof(hash), false);
}

/* An event that could not be recorded in full. */
static int tell_record_error(struct monad_story *story, const struct monad_event *event)
{
	story->error_cnt++;
	story->loss_cnt++;
	return tell_loss(story, event->time_ns, event->time_ns, 1);
}

static int tell_other(struct monad_story *story, const struct monad_event *event)
{
	struct place place = place_of(story, event);
	char number[16];
	const char *name = NULL;
	int err;

	if (story->is_execution && event->type < MONAD_TYPE_CNT)
		name = type_names[event->type];
	else if (event->type == MONAD_RECORD_ERROR)
		name = type_names[MONAD_RECORD_ERROR];
	if (!name) {
		snprintf(number, sizeof(number), "type %u", event->type);
		name = number;
	}
	err = tell_instant(story, &place, name);
	if (!err && event->type == MONAD_RECORD_ERROR)
		err = tell_record_error(story, event);
	if (!err && !story->is_execution)
		err = tell_words(story, event, &place, name);
	err = err ? err : tell_bytes(story, event, &place, name);
	if (err || !story->is_execution)
		return err;
	if (event->type == MONAD_TXN_HEADER_START && event->has_id)
		return tell_hash(story, event, &place);
	if ((event->type == MONAD_BLOCK_REJECT || event->type == MONAD_TXN_REJECT) && event->has_value)
		return tell_number(story, &place, "reason", event->value);
	return 0;
}

/* ---- all ---- */

static int tell_execution(struct monad_story *story, const struct monad_event *event)
{
	int err = 0;

	switch (event->type) {
	case MONAD_BLOCK_START:
		err = start_block(story, event);
		return err ? err : tell_other(story, event);
	case MONAD_BLOCK_ENTER:
		return event->words[0] ? enter_block(story, event) : tell_other(story, event);
	case MONAD_BLOCK_EXIT:
		return event->words[0] ? leave_block(story, event) : tell_other(story, event);
	case MONAD_TXN_ENTER:
		return event->words[1] ? enter_transaction(story, event) : tell_other(story, event);
	case MONAD_TXN_EXIT:
		return event->words[1] ? leave_transaction(story, event) : tell_other(story, event);
	case MONAD_BLOCK_REJECT:
		err = tell_other(story, event);
		return err ? err : reject_block(story, event);
	default:
		return tell_other(story, event);
	}
}

int monad_story_add(struct monad_story *story, const struct monad_event *event)
{
	int err = begin(story, event->time_ns);

	if (event->time_ns > story->last_ns)
		story->last_ns = event->time_ns;
	if (err)
		return err;
	switch ((enum monad_event_kind)event->kind) {
	case MONAD_IS_LOSS:
		return tell_lost_numbers(story, event);
	case MONAD_IS_EXPIRED:
		return tell_loss(story, event->since_ns, event->time_ns, event->lost_cnt);
	case MONAD_IS_EVENT:
		break;
	}
	return story->is_execution ? tell_execution(story, event) : tell_other(story, event);
}

int monad_story_finish(struct monad_story *story)
{
	uint64_t cnt = story->block_cnt < MONAD_BLOCK_MAX ? story->block_cnt : MONAD_BLOCK_MAX;
	int err = begin(story, 0); /* there are no events */

	while (!err && story->oldest)
		err = give_up(story, story->last_ns);
	for (uint64_t i = 0; !err && i < cnt; i++)
		err = close_block(story, &story->blocks[(story->block_cnt - cnt + i) % MONAD_BLOCK_MAX],
				  story->last_ns);
	return err;
}
