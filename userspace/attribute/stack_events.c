/* SPDX-License-Identifier: BSD-2-Clause */
#include "attribute/stack_events.h"

#define SPAN_MAX 32 /* of one thread at once, from the one entered last; its stacks count for these */

/* Ids of keyed spans are others than those of a process. */
static bool is_same_kind_of_parent(const struct span *child, const struct span *parent)
{
	return child->flags & TXTRACE_SPAN_PARENT_KEYED
		       ? parent->flags & TXTRACE_SPAN_KEYED
		       : !(parent->flags & TXTRACE_SPAN_KEYED) && child->pid == parent->pid;
}

/* A child that the thread is in, too, is charged with the same, and then it is not the parent's own. */
static bool is_child_there(const struct thread *thread, const struct span *parent)
{
	int cnt = 0;

	for (const struct stay *stay = thread->stays; stay && cnt < SPAN_MAX;
	     stay = stay->next_of_thread, cnt++) {
		const struct span *span = stay->span;

		if (span->parent == parent->id && span != parent && is_same_kind_of_parent(span, parent))
			return true;
	}
	return false;
}

/* One for each span of which it is the own time. */
static int put_stack(struct attribution *attribution, const struct thread *thread, struct txtrace_stack stack)
{
	struct txtrace_record record = { .kind = TXTRACE_RECORD_STACK, .stack = stack };
	int err = 0, cnt = 0;

	record.stack.pid = thread->tgid;
	record.stack.tid = thread->tid;
	record.stack.span_pid = thread->tgid;
	if (!thread->stays)
		return put_record(attribution, &record);
	for (const struct stay *stay = thread->stays; stay && !err && cnt < SPAN_MAX;
	     stay = stay->next_of_thread, cnt++) {
		const struct span *span = stay->span;

		if (is_child_there(thread, span))
			continue;
		record.stack.span = span->id;
		record.stack.span_pid = span->pid;
		record.stack.is_keyed = span->flags & TXTRACE_SPAN_KEYED;
		err = put_record(attribution, &record);
		record.stack.is_repeat = true;
	}
	return err;
}

static int put_sleep(struct attribution *attribution, struct thread *thread, uint64_t time_ns,
		     uint64_t blocked_ns)
{
	uint32_t id = thread->block_stack;

	thread->block_stack = 0;
	if (!id || !blocked_ns)
		return 0;
	return put_stack(attribution, thread,
			 (struct txtrace_stack){ .time_ns = time_ns,
						 .what = TXTRACE_STACK_OFF_CPU,
						 .stack = id,
						 .weight_ns = blocked_ns });
}

int put_block_stack(struct attribution *attribution, struct thread *thread, uint64_t time_ns)
{
	return put_sleep(attribution, thread, time_ns, thread->run_blocked_ns);
}

int put_hidden_stack(struct attribution *attribution, struct thread *thread, uint64_t time_ns)
{
	uint64_t end_ns = thread->block_stack ? state_clock_sleep_end(&thread->now, time_ns) : 0;

	return end_ns ? put_sleep(attribution, thread, time_ns, elapsed_ns(thread->now.since_ns, end_ns)) : 0;
}

/* That of a block waits for the end of the block; if the switch was lost, it is nobody's. */
int attribute_stack(struct attribution *attribution, const struct event *event)
{
	struct thread *thread = thread_table_get(&attribution->threads, event->tid);

	if (!thread || thread->tgid != event->tgid || !event->stack.id)
		return 0;
	if (event->stack.what == WIRE_STACK_ON_CPU)
		return put_stack(attribution, thread,
				 (struct txtrace_stack){ .time_ns = event->time_ns,
							 .what = TXTRACE_STACK_ON_CPU,
							 .stack = event->stack.id,
							 .weight_ns = event->stack.weight_ns });
	if (event->stack.what == WIRE_STACK_OFF_CPU && thread->now.state == THREAD_BLOCKED &&
	    thread->now.since_ns == event->stack.begin_ns)
		thread->block_stack = event->stack.id;
	return 0;
}
