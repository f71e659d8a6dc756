/* SPDX-License-Identifier: BSD-2-Clause */
#include "attribute/attribution.h"

#include <errno.h>
#include <stdlib.h>

#include "attribute/attribution_state.h"
#include "attribute/left_out.h"
#include "attribute/other_events.h"
#include "attribute/sampling.h"
#include "attribute/span_budget.h"
#include "attribute/span_close.h"
#include "attribute/span_events.h"
#include "attribute/stack_events.h"
#include "attribute/thread_events.h"

struct attribution *attribution_new(attribution_sink sink, void *context)
{
	struct attribution *attribution = calloc(1, sizeof(*attribution));

	if (!attribution)
		return NULL;
	attribution->sink = sink;
	attribution->context = context;
	thread_table_init(&attribution->threads);
	span_table_init(&attribution->spans, &attribution->threads);
	id_map_init(&attribution->processes);
	id_map_init(&attribution->waiting);
	id_map_init(&attribution->sampling.ended);
	attribution->budget.limit_bytes = ATTRIBUTION_SPAN_BYTES;
	return attribution;
}

void attribution_limit_spans(struct attribution *attribution, uint64_t bytes)
{
	attribution->budget.limit_bytes = bytes;
}

void attribution_free(struct attribution *attribution)
{
	struct process *process;

	if (!attribution)
		return;
	for (size_t i = 0; (process = id_map_next(&attribution->processes, &i));)
		free(process);
	id_map_release(&attribution->processes);
	release_marks(attribution);
	sampling_release(&attribution->sampling);
	span_table_release(&attribution->spans);
	thread_table_release(&attribution->threads);
	free(attribution);
}

void attribution_set_filter(struct attribution *attribution, const struct attribution_filter *filter)
{
	attribution->filter = *filter;
}

#define KIND(kind) (UINT64_C(1) << (kind))

/*
 * That others begin, and most of what is said about spans, changes nothing in the record of one that is open.
 * A tag does.
 */
#define SPAN_KINDS											\
	(KIND(EVENT_THREAD_EXIT) | KIND(EVENT_EXEC) | KIND(EVENT_ENTER) | KIND(EVENT_LEAVE) | \
	 KIND(EVENT_END) | KIND(EVENT_TAG) | KIND(EVENT_KEY_ENTER) | KIND(EVENT_KEY_LEAVE) |  \
	 KIND(EVENT_KEY_END) | KIND(EVENT_VALUE) | KIND(EVENT_ABANDON))

static bool may_touch(const struct event *event, uint64_t kinds)
{
	return event->loss.span_event_cnt && (!event->loss.kinds || event->loss.kinds & kinds);
}

static void mark_open_spans(struct attribution *attribution, bool only_keyed)
{
	struct span *span;

	for (size_t i = 0; (span = span_table_next(&attribution->spans, &i));)
		if (!only_keyed || span->flags & TXTRACE_SPAN_KEYED)
			mark_lossy(span);
}

static void extend(uint64_t *until_ns, uint64_t last_ns)
{
	if (last_ns > *until_ns)
		*until_ns = last_ns;
}

/*
 * A lost span event may have been of any open span; a lost begin with a key ends the span that has this key.
 * A lost switch damages only what is read off the replay, which is judged where that happens: the kernel's
 * own readings stay exact. Whatever else would have set the replay right does no more than that.
 */
static int attribute_loss(struct attribution *attribution, const struct event *event)
{
	struct txtrace_record record;
	uint64_t last_ns = event->loss.last_ns;
	bool touches_spans = may_touch(event, SPAN_KINDS);

	record.kind = TXTRACE_RECORD_LOSS;
	record.loss = (struct txtrace_loss){
		.first_ns = event->time_ns,
		.last_ns = last_ns,
		.cpu = event->cpu,
		.span_event_cnt = event->loss.span_event_cnt,
		.sched_event_cnt = event->loss.sched_event_cnt,
		.pid = event->tgid,
		.tid = event->tid,
	};
	if (touches_spans) {
		mark_open_spans(attribution, false);
		extend(&attribution->span_loss_until_ns, last_ns);
	} else if (may_touch(event, KIND(EVENT_KEY_BEGIN))) {
		mark_open_spans(attribution, true);
		extend(&attribution->key_loss_until_ns, last_ns);
	}
	attribution->threads.has_losses = true;
	if (event->loss.sched_event_cnt || !touches_spans)
		extend(&attribution->sched_loss_until_ns, last_ns);
	return put_record(attribution, &record);
}

/* Said once, and first: what is to come is read by it. */
static int attribute_mode(struct attribution *attribution, const struct event *event)
{
	attribution->sched = event->mode.sched;
	attribution->threads.is_replayed = event->mode.sched == SCHED_TIMELINE;
	attribution->threads.steal = event->mode.steal;
	return 0;
}

static int (*const handlers[])(struct attribution *attribution, const struct event *event) = {
	[EVENT_SWITCH] = attribute_switch,
	[EVENT_WAKE] = attribute_wake,
	[EVENT_THREAD] = attribute_thread,
	[EVENT_THREAD_EXIT] = attribute_thread_exit,
	[EVENT_EXEC] = attribute_exec,
	[EVENT_OTHER] = attribute_other,
	[EVENT_MOVE] = attribute_move,
	[EVENT_BEGIN] = attribute_begin,
	[EVENT_BEGIN_DETACHED] = attribute_begin,
	[EVENT_ENTER] = attribute_enter,
	[EVENT_LEAVE] = attribute_leave,
	[EVENT_END] = attribute_end,
	[EVENT_TAG] = attribute_tag,
	[EVENT_ATTR] = attribute_attr,
	[EVENT_INSTANT] = attribute_instant,
	[EVENT_COUNTER] = attribute_counter,
	[EVENT_LINK] = attribute_link,
	[EVENT_KEY_BEGIN] = attribute_begin,
	[EVENT_KEY_ENTER] = attribute_enter,
	[EVENT_KEY_LEAVE] = attribute_leave,
	[EVENT_KEY_END] = attribute_end,
	[EVENT_KEY_INSTANT] = attribute_key_instant,
	[EVENT_PROCESS] = attribute_process,
	[EVENT_MODE] = attribute_mode,
	[EVENT_VALUE] = attribute_value,
	[EVENT_ABANDON] = attribute_end,
	[EVENT_STACK] = attribute_stack,
	[EVENT_LOSS] = attribute_loss,
};

/* From so many on most of what an event needs lies far from the processor. */
#define EXPECT_FROM_THREADS 2048
#define EXPECT_FROM_SPANS 8192

bool attribution_wants_expectations(const struct attribution *attribution)
{
	return attribution->threads.by_tid.cnt > EXPECT_FROM_THREADS ||
	       attribution->spans.open_cnt > EXPECT_FROM_SPANS;
}

/* After so many further calls of attribution_expect(). */
#define ITEM_AFTER 8
#define BEHIND_AFTER 12

static const struct event_subject *expected_before(const struct attribution *attribution, uint32_t cnt)
{
	return &attribution->expected[(attribution->expected_cnt - cnt) % ATTRIBUTION_AHEAD];
}

/* Each step needs what the one before has fetched. */
void attribution_expect(struct attribution *attribution, const struct event_subject *subject)
{
	uint32_t at = attribution->expected_cnt % ATTRIBUTION_AHEAD;
	struct event_subject *expected = &attribution->expected[at];
	const struct event_subject *before;

	*expected = *subject;
	/* mostly several events of a thread follow each other */
	if (subject->tid == attribution->expected_tid)
		expected->tid = 0;
	attribution->expected_tid = subject->tid;
	if (expected->tid)
		thread_table_fetch_slot(&attribution->threads, expected->tid);
	if (expected->span)
		span_table_fetch_slot(&attribution->spans, expected->tgid, expected->span);
	before = expected_before(attribution, ITEM_AFTER);
	if (before->tid)
		thread_table_fetch(&attribution->threads, before->tid);
	if (before->span)
		span_table_fetch(&attribution->spans, before->tgid, before->span);
	before = expected_before(attribution, BEHIND_AFTER);
	if (before->tid)
		thread_table_fetch_reading(&attribution->threads, before->tid);
	if (before->span)
		span_table_fetch_reading(&attribution->spans, before->tgid, before->span);
	attribution->expected_cnt++;
}

int attribution_feed(struct attribution *attribution, const struct event *event)
{
	if (event->kind >= sizeof(handlers) / sizeof(handlers[0]) || !handlers[event->kind])
		return -EINVAL;
	if (event->time_ns > attribution->now_ns)
		attribution->now_ns = event->time_ns;
	return handlers[event->kind](attribution, event);
}

/* What is known from the begin on. */
#define CHECKPOINT_FLAGS										\
	(TXTRACE_SPAN_KEYED | TXTRACE_SPAN_ROOT | TXTRACE_SPAN_NESTED | TXTRACE_SPAN_PARENT_KEYED | \
		TXTRACE_SPAN_PARENT_LOST)

static int put_checkpoint(struct attribution *attribution, struct span *span, uint64_t time_ns)
{
	struct txtrace_record record;

	if (span->is_left_out || elapsed_ns(span->begin_ns, time_ns) < attribution->filter.min_duration_ns)
		return 0;
	record.kind = TXTRACE_RECORD_OPEN_SPAN;
	record.open_span = (struct txtrace_open_span){
		.time_ns = time_ns,
		.id = span->id,
		.parent = span->parent,
		.begin_ns = span->begin_ns,
		.pid = span->pid,
		.tid = span->tid,
		.label = span_label(span),
		.key = span_key(span),
		.flags = span->flags & CHECKPOINT_FLAGS,
	};
	span->has_checkpoint = true;
	return put_record(attribution, &record);
}

static bool lacks_checkpoint(const struct span *span, uint32_t tgid)
{
	(void)tgid;
	return !span->has_checkpoint;
}

static bool is_any(const struct span *span, uint32_t tgid)
{
	(void)span;
	(void)tgid;
	return true;
}

static int put_checkpoints(struct attribution *attribution,
			   bool (*is_wanted)(const struct span *span, uint32_t tgid), uint64_t time_ns)
{
	struct span **list;
	size_t cnt;
	int err = span_table_list(&attribution->spans, is_wanted, 0, &list, &cnt);

	for (size_t i = 0; !err && i < cnt; i++)
		err = put_checkpoint(attribution, list[i], time_ns);
	free(list);
	return err;
}

int attribution_checkpoint(struct attribution *attribution, uint64_t time_ns)
{
	int err = budget_tell(attribution);

	return err ? err : put_checkpoints(attribution, lacks_checkpoint, time_ns);
}

static int compare_tids(const void *a, const void *b)
{
	const struct thread *left = *(struct thread *const *)a, *right = *(struct thread *const *)b;

	return left->tid < right->tid ? -1 : left->tid > right->tid;
}

typedef int (*put_thread_fn)(struct attribution *attribution, const struct thread *thread, uint64_t time_ns);

/* Of each thread, in a fixed order. */
static int put_of_threads(struct attribution *attribution, put_thread_fn put, uint64_t time_ns)
{
	struct thread **list = malloc((attribution->threads.threads.cnt + (size_t)1) * sizeof(*list)),
		      *thread;
	size_t cnt = 0;
	int err = 0;

	if (!list)
		return -ENOMEM;
	for (size_t i = 0; (thread = thread_table_next(&attribution->threads, &i));)
		list[cnt++] = thread;
	qsort(list, cnt, sizeof(*list), compare_tids);
	for (size_t i = 0; !err && i < cnt; i++)
		err = put(attribution, list[i], time_ns);
	free(list);
	return err;
}

/* The stay on a CPU that goes on. */
static int put_last_run(struct attribution *attribution, const struct thread *thread, uint64_t end_ns)
{
	return thread->now.state == THREAD_ON_CPU && attribution->threads.is_replayed
		       ? put_run(attribution, thread, end_ns, NULL)
		       : 0;
}

static int put_known_thread(struct attribution *attribution, const struct thread *thread, uint64_t time_ns)
{
	struct txtrace_record record = {
		.kind = TXTRACE_RECORD_THREAD,
		.thread = {
			.time_ns = time_ns,
			.tid = thread->tid,
			.pid = thread->tgid,
			.is_seed = true,
			.comm = { thread->comm, thread->comm_length },
		},
	};

	return thread->is_told && !thread->has_exited ? put_record(attribution, &record) : 0;
}

int attribution_restate(struct attribution *attribution)
{
	int err = put_of_threads(attribution, put_known_thread, attribution->now_ns);

	return err ? err : put_checkpoints(attribution, is_any, attribution->now_ns);
}

int attribution_finish(struct attribution *attribution, uint64_t end_ns)
{
	int err = budget_tell(attribution);

	if (!err)
		err = cut_off_spans(attribution, NULL, end_ns);
	return err ? err : put_of_threads(attribution, put_last_run, end_ns);
}

void attribution_stats(const struct attribution *attribution, struct attribution_stats *stats)
{
	*stats = attribution->stats;
	stats->open_span_cnt = attribution->spans.open_cnt;
	stats->span_bytes = attribution->budget.used_bytes;
	stats->thread_cnt = attribution->threads.threads.cnt;
}
