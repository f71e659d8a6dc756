/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the code was: which time and which span a stack stands for. */
#include "attribute/attribution_internal.h"

static int put_stack(struct attribution *attribution, const struct thread *thread, struct txtrace_stack stack)
{
	const struct txtrace_span *span = thread->stays ? &thread->stays->span->record : NULL;
	struct txtrace_record record = { .kind = TXTRACE_RECORD_STACK, .stack = stack };

	record.stack.pid = thread->tgid;
	record.stack.tid = thread->tid;
	if (span) {
		record.stack.span = span->id;
		record.stack.is_keyed = span->flags & TXTRACE_SPAN_KEYED;
	}
	return put_record(attribution, &record);
}

int put_block_stack(struct attribution *attribution, struct thread *thread, uint64_t time_ns)
{
	uint32_t id = thread->block_stack;

	thread->block_stack = 0;
	if (!id || !thread->run_blocked_ns)
		return 0;
	return put_stack(attribution, thread, (struct txtrace_stack){ .time_ns = time_ns, .what = TXTRACE_STACK_OFF_CPU, .stack = id,
								      .weight_ns = thread->run_blocked_ns });
}

/* That of a block waits for the end of the block; if the switch was lost, it is nobody's. */
int attribute_stack(struct attribution *attribution, const struct event *event)
{
	struct thread *thread = thread_table_get(&attribution->threads, event->tid);

	if (!thread || thread->tgid != event->tgid || !event->stack.id)
		return 0;
	if (event->stack.what == WIRE_STACK_ON_CPU)
		return put_stack(attribution, thread, (struct txtrace_stack){ .time_ns = event->time_ns, .what = TXTRACE_STACK_ON_CPU,
									      .stack = event->stack.id, .weight_ns = event->stack.object });
	if (event->stack.what == WIRE_STACK_OFF_CPU && thread->state == THREAD_BLOCKED && thread->since_ns == event->stack.begin_ns)
		thread->block_stack = event->stack.id;
	return 0;
}
