/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/sui_story.h"

#include <errno.h>
#include <string.h>

struct sui_transaction {
	struct sui_transaction *older, *newer;
	uint64_t id;
	uint64_t first_ns;
	uint64_t times_ns[SUI_STAGE_CNT];
	uint64_t loss_cnt; /* of the story, when it began */
	uint8_t stages;	   /* that were reached: a bit for each */
	uint8_t digest[SUI_DIGEST_BYTES];
};

void sui_story_init(struct sui_story *story, struct import *import, enum sui_stage first_stage)
{
	*story = (struct sui_story){ .import = import, .first_stage = first_stage };
	key_map_init(&story->transactions, sizeof(struct sui_transaction), NULL);
}

void sui_story_release(struct sui_story *story)
{
	key_map_release(&story->transactions);
}

static struct txtrace_string text_of(const char *text)
{
	return (struct txtrace_string){ text, strlen(text) };
}

static struct txtrace_string key_of(const struct sui_transaction *transaction)
{
	return (struct txtrace_string){ (const char *)transaction->digest, SUI_DIGEST_BYTES };
}

static bool has(const struct sui_transaction *transaction, enum sui_stage stage)
{
	return transaction->stages & 1u << stage;
}

/* ---- the log ---- */

static int tell_thread(struct sui_story *story, uint64_t time_ns, uint32_t tid, const char *name)
{
	struct txtrace_record record = { .kind = TXTRACE_RECORD_THREAD };

	record.thread = (struct txtrace_thread){
		.time_ns = time_ns, .tid = tid, .pid = SUI_PID, .is_seed = true, .comm = text_of(name)
	};
	return import_add(story->import, &record);
}

static int begin(struct sui_story *story, uint64_t time_ns)
{
	const struct txtrace_log_info info = { .pid = SUI_PID,
					       .start_monotonic_ns = time_ns,
					       .start_realtime_ns = time_ns };
	int err;

	if (story->has_begun)
		return 0;
	story->has_begun = true;
	story->last_ns = time_ns;
	err = import_begin(story->import, &info);
	return err ? err : tell_thread(story, time_ns, SUI_TID, SUI_THREAD);
}

static int tell_instant(struct sui_story *story, const struct sui_event *event, uint64_t span,
			const char *name)
{
	struct txtrace_record record = { .kind = TXTRACE_RECORD_INSTANT };

	record.instant = (struct txtrace_instant){ .time_ns = event->time_ns,
						   .span = span,
						   .pid = SUI_PID,
						   .tid = event->lane,
						   .name = text_of(name) };
	return import_add(story->import, &record);
}

static int tell_batch(struct sui_story *story, const struct sui_event *event)
{
	int err = 0;

	for (; !err && event->lane >= SUI_LANE_TID + story->lane_cnt; story->lane_cnt++)
		err = tell_thread(story, event->time_ns, SUI_LANE_TID + story->lane_cnt, SUI_LANE_THREAD);
	return err ? err : tell_instant(story, event, 0, event->name);
}

static int tell_executing(struct sui_story *story, uint64_t time_ns)
{
	struct txtrace_record record = { .kind = TXTRACE_RECORD_COUNTER };

	record.counter = (struct txtrace_counter){ .time_ns = time_ns,
						   .value = (int64_t)story->executing_cnt,
						   .pid = SUI_PID,
						   .tid = SUI_TID,
						   .name = text_of(SUI_EXECUTING) };
	return import_add(story->import, &record);
}

static int tell_loss(struct sui_story *story, const struct sui_event *event)
{
	struct txtrace_record record = { .kind = TXTRACE_RECORD_LOSS };

	story->loss_cnt++;
	record.loss = (struct txtrace_loss){ .first_ns = event->since_ns,
					     .last_ns = event->time_ns,
					     .cpu = TXTRACE_CPU_UNKNOWN,
					     .span_event_cnt = event->lost_cnt };
	return import_add(story->import, &record);
}

/* ---- objects ---- */

static int tell_objects_thread(struct sui_story *story, uint64_t time_ns)
{
	if (story->has_objects)
		return 0;
	story->has_objects = true;
	return tell_thread(story, time_ns, SUI_OBJECT_TID, SUI_OBJECT_THREAD);
}

/* One more transaction, or with -1 one less, executes with each of its objects. */
static int count_objects(struct sui_story *story, const struct sui_transaction *transaction, int64_t change,
			 uint64_t time_ns)
{
	size_t cnt = 0;
	const uint32_t *objects =
		story->lanes ? sui_lanes_of(story->lanes, transaction->digest, &cnt) : NULL;
	int err = cnt > 0 ? tell_objects_thread(story, time_ns) : 0;

	for (size_t i = 0; i < cnt && !err; i++) {
		struct txtrace_record record = { .kind = TXTRACE_RECORD_COUNTER };
		int64_t *executing = sui_lanes_executing(story->lanes, objects[i]);

		*executing += change;
		record.counter = (struct txtrace_counter){ .time_ns = time_ns,
							   .value = *executing,
							   .pid = SUI_PID,
							   .tid = SUI_OBJECT_TID,
							   .name = sui_lanes_name(story->lanes, objects[i]) };
		err = import_add(story->import, &record);
	}
	return err;
}

/* The execution on the track of one object. */
static int tell_object(struct sui_story *story, const struct txtrace_span *execution,
		       struct txtrace_string object)
{
	struct txtrace_record record = { .kind = TXTRACE_RECORD_ATTRIBUTE };
	uint64_t id = ++story->span_cnt;
	int err;

	record.attribute = (struct txtrace_attribute){ .time_ns = execution->end_ns,
						       .span = id,
						       .pid = SUI_PID,
						       .tid = SUI_OBJECT_TID,
						       .type = TXTRACE_ATTRIBUTE_STRING,
						       .name = text_of("track"),
						       .string = object };
	err = import_add(story->import, &record);
	if (err)
		return err;
	record = (struct txtrace_record){ .kind = TXTRACE_RECORD_SPAN };
	record.span = *execution;
	record.span.id = id;
	record.span.tid = SUI_OBJECT_TID;
	record.span.end_tid = execution->end_tid ? SUI_OBJECT_TID : 0;
	record.span.label = text_of(SUI_OBJECT);
	return import_add(story->import, &record);
}

static int tell_objects(struct sui_story *story, const struct sui_transaction *transaction,
			const struct txtrace_span *execution)
{
	size_t cnt = 0;
	const uint32_t *objects =
		story->lanes ? sui_lanes_of(story->lanes, transaction->digest, &cnt) : NULL;
	int err = 0;

	for (size_t i = 0; i < cnt && !err; i++)
		err = tell_object(story, execution, sui_lanes_name(story->lanes, objects[i]));
	return err;
}

/* ---- spans ---- */

/* A child that ends now. */
static int tell_child(struct sui_story *story, const struct sui_transaction *transaction, const char *label,
		      uint64_t begin_ns, uint64_t end_ns, bool is_unfinished)
{
	struct txtrace_record record = { .kind = TXTRACE_RECORD_SPAN };
	struct txtrace_span *span = &record.span;
	bool is_execution = strcmp(label, SUI_EXECUTION) == 0;
	struct txtrace_span execution;
	int err;

	if (end_ns < begin_ns) /* an event that came too late to be put into order */
		end_ns = begin_ns;
	*span = (struct txtrace_span){ .id = ++story->span_cnt,
				       .parent = transaction->id,
				       .pid = SUI_PID,
				       .tid = SUI_TID,
				       .end_tid = is_unfinished ? 0 : SUI_TID,
				       .flags = TXTRACE_SPAN_PARENT_KEYED,
				       .begin_ns = begin_ns,
				       .end_ns = end_ns,
				       .work_ns = end_ns - begin_ns,
				       .label = text_of(label) };
	if (is_execution)
		span->ledger.unknown_ns = span->work_ns;
	else
		span->ledger.detached_ns = span->work_ns;
	if (is_unfinished)
		span->flags |= TXTRACE_SPAN_UNFINISHED | TXTRACE_SPAN_LOWER_BOUND;
	execution = *span;
	err = import_add(story->import, &record);
	return err || !is_execution ? err : tell_objects(story, transaction, &execution);
}

/* Before it was begun: from its first event to its begin, or to the last event in front of its end. */
static uint64_t waited_ns(const struct sui_transaction *transaction, uint64_t end_ns)
{
	uint64_t until_ns = transaction->first_ns;

	if (has(transaction, SUI_BEGIN))
		until_ns = transaction->times_ns[SUI_BEGIN];
	else if (!has(transaction, SUI_COMPLETE))
		until_ns = end_ns;
	else if (has(transaction, SUI_SCHEDULED))
		until_ns = transaction->times_ns[SUI_SCHEDULED];
	if (until_ns > end_ns)
		until_ns = end_ns;
	return until_ns > transaction->first_ns ? until_ns - transaction->first_ns : 0;
}

static uint32_t flags_of(const struct sui_story *story, const struct sui_transaction *transaction)
{
	uint8_t wanted = (uint8_t)(1u << story->first_stage | 1u << SUI_BEGIN | 1u << SUI_COMPLETE);
	uint32_t flags = TXTRACE_SPAN_KEYED | TXTRACE_SPAN_ROOT;

	if (!has(transaction, SUI_COMPLETE))
		flags |= TXTRACE_SPAN_UNFINISHED;
	if ((transaction->stages & wanted) == wanted)
		return flags;
	/* what is missing may have been lost; a span with all of them was not touched */
	if (transaction->loss_cnt != story->loss_cnt)
		flags |= TXTRACE_SPAN_LOSS;
	return flags | TXTRACE_SPAN_LOWER_BOUND;
}

static int tell_transaction(struct sui_story *story, const struct sui_transaction *transaction,
			    uint64_t end_ns)
{
	struct txtrace_record record = { .kind = TXTRACE_RECORD_SPAN };
	struct txtrace_span *span = &record.span;

	if (end_ns < transaction->first_ns)
		end_ns = transaction->first_ns;
	*span = (struct txtrace_span){ .id = transaction->id,
				       .pid = SUI_PID,
				       .tid = SUI_TID,
				       .end_tid = has(transaction, SUI_COMPLETE) ? SUI_TID : 0,
				       .flags = flags_of(story, transaction),
				       .begin_ns = transaction->first_ns,
				       .end_ns = end_ns,
				       .work_ns = end_ns - transaction->first_ns,
				       .label = text_of(SUI_TRANSACTION),
				       .key = key_of(transaction) };
	span->ledger.detached_ns = waited_ns(transaction, end_ns);
	span->ledger.unknown_ns = span->work_ns - span->ledger.detached_ns;
	return import_add(story->import, &record);
}

/* ---- transactions ---- */

static void forget(struct sui_story *story, struct sui_transaction *transaction)
{
	uint8_t digest[SUI_DIGEST_BYTES];

	memcpy(digest, transaction->digest, sizeof(digest));
	*(transaction->older ? &transaction->older->newer : &story->oldest) = transaction->newer;
	*(transaction->newer ? &transaction->newer->older : &story->newest) = transaction->older;
	key_map_remove(&story->transactions, digest, sizeof(digest));
}

/* The oldest one has no end, and will have none. */
static int give_up(struct sui_story *story, uint64_t end_ns)
{
	struct sui_transaction *transaction = story->oldest;
	const char *wait = has(transaction, SUI_SCHEDULED)  ? SUI_WAIT_FOR_EXECUTOR
			   : has(transaction, SUI_ENQUEUED) ? SUI_WAIT_FOR_INPUTS
							    : NULL;
	uint64_t since_ns =
		transaction->times_ns[has(transaction, SUI_SCHEDULED) ? SUI_SCHEDULED : SUI_ENQUEUED];
	int err = 0;

	story->unfinished_cnt++;
	if (has(transaction, SUI_BEGIN)) {
		story->begun_cnt++;
		story->executing_cnt--;
		wait = SUI_EXECUTION;
		since_ns = transaction->times_ns[SUI_BEGIN];
		err = count_objects(story, transaction, -1, end_ns);
	}
	if (!err && wait)
		err = tell_child(story, transaction, wait, since_ns, end_ns, true);
	err = err ? err : tell_transaction(story, transaction, end_ns);
	forget(story, transaction);
	return err;
}

/* Its key is told before its first event. */
static int tell_key(struct sui_story *story, const struct sui_transaction *transaction)
{
	struct txtrace_record record = { .kind = TXTRACE_RECORD_OPEN_SPAN };

	record.open_span = (struct txtrace_open_span){ .time_ns = transaction->first_ns,
						       .id = transaction->id,
						       .begin_ns = transaction->first_ns,
						       .pid = SUI_PID,
						       .tid = SUI_TID,
						       .label = text_of(SUI_TRANSACTION),
						       .key = key_of(transaction),
						       .flags = TXTRACE_SPAN_KEYED | TXTRACE_SPAN_ROOT };
	return import_add(story->import, &record);
}

static int find_transaction(struct sui_story *story, uint64_t time_ns, const uint8_t *digest,
			    struct sui_transaction **found)
{
	struct sui_transaction *transaction;
	bool is_new, is_executing;
	int err = 0;

	*found = key_map_find(&story->transactions, digest, SUI_DIGEST_BYTES);
	if (*found)
		return 0;
	if (story->transactions.count >= SUI_OPEN_MAX) {
		story->given_up_cnt++;
		is_executing = has(story->oldest, SUI_BEGIN);
		err = give_up(story, time_ns);
		err = err || !is_executing ? err : tell_executing(story, time_ns);
	}
	transaction = key_map_add(&story->transactions, digest, SUI_DIGEST_BYTES, &is_new);
	if (!transaction)
		return -ENOMEM;
	*transaction = (struct sui_transaction){ .older = story->newest,
						 .id = ++story->span_cnt,
						 .first_ns = time_ns,
						 .loss_cnt = story->loss_cnt };
	memcpy(transaction->digest, digest, SUI_DIGEST_BYTES);
	*(story->newest ? &story->newest->newer : &story->oldest) = transaction;
	story->newest = *found = transaction;
	return err ? err : tell_key(story, transaction);
}

static int complete(struct sui_story *story, struct sui_transaction *transaction, uint64_t time_ns)
{
	uint64_t begin_ns = transaction->times_ns[SUI_BEGIN];
	int err = 0;

	if (has(transaction, SUI_BEGIN)) {
		story->execution_cnt++;
		story->brief_execution_cnt += time_ns - begin_ns <= SUI_BRIEF_NS;
		story->executing_cnt--;
		err = tell_executing(story, time_ns);
		err = err ? err : count_objects(story, transaction, -1, time_ns);
		err = err ? err : tell_child(story, transaction, SUI_EXECUTION, begin_ns, time_ns, false);
	} else {
		story->lone_complete_cnt++;
	}
	err = err ? err : tell_transaction(story, transaction, time_ns);
	forget(story, transaction);
	return err;
}

/* What it did until now has ended. */
static int reach(struct sui_story *story, struct sui_transaction *transaction, enum sui_stage stage,
		 uint64_t time_ns)
{
	bool is_repeat = has(transaction, stage);
	int err = 0;

	story->repeat_cnt += is_repeat;
	if (is_repeat) /* the first one counts */
		return 0;
	transaction->stages |= (uint8_t)(1u << stage);
	transaction->times_ns[stage] = time_ns;
	if (stage == SUI_COMPLETE)
		return complete(story, transaction, time_ns);
	if (stage == SUI_SCHEDULED && has(transaction, SUI_ENQUEUED))
		return tell_child(story, transaction, SUI_WAIT_FOR_INPUTS,
				  transaction->times_ns[SUI_ENQUEUED], time_ns, false);
	if (stage != SUI_BEGIN)
		return 0;
	if (has(transaction, SUI_SCHEDULED))
		err = tell_child(story, transaction, SUI_WAIT_FOR_EXECUTOR,
				 transaction->times_ns[SUI_SCHEDULED], time_ns, false);
	story->executing_cnt++;
	err = err ? err : count_objects(story, transaction, 1, time_ns);
	return err ? err : tell_executing(story, time_ns);
}

/* ---- all ---- */

static int tell_event(struct sui_story *story, const struct sui_event *event)
{
	struct sui_transaction *transaction;
	int err = find_transaction(story, event->time_ns, event->digest, &transaction);

	err = err ? err : tell_instant(story, event, transaction->id, sui_stage_name(event->stage));
	return err ? err : reach(story, transaction, event->stage, event->time_ns);
}

int sui_story_add(struct sui_story *story, const struct sui_event *event)
{
	int err = begin(story, event->time_ns);

	if (event->time_ns > story->last_ns)
		story->last_ns = event->time_ns;
	if (err)
		return err;
	switch ((enum sui_event_kind)event->kind) {
	case SUI_IS_BATCH:
		return tell_batch(story, event);
	case SUI_IS_EVENT:
		return tell_event(story, event);
	case SUI_IS_FILE:
		return tell_batch(story, event);
	case SUI_IS_LOSS:
		return tell_loss(story, event);
	}
	return 0;
}

int sui_story_finish(struct sui_story *story)
{
	int err = begin(story, 0); /* there are no events */

	while (!err && story->oldest)
		err = give_up(story, story->last_ns);
	return err;
}
