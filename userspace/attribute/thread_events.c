/* SPDX-License-Identifier: BSD-2-Clause */
#include "attribute/thread_events.h"

#include <errno.h>
#include <stdlib.h>

#include "attribute/other_events.h"
#include "attribute/stack_events.h"
#include "attribute/thread_life.h"

int put_run(struct attribution *attribution, const struct thread *thread, uint64_t end_ns,
	    const struct event *left)
{
	bool is_blocked = left && left->sched.left_as == WIRE_LEFT_BLOCKED,
	     has_wait_end = thread->run_has_wait_end && thread->run_blocked_ns;
	struct txtrace_record record;

	record.kind = TXTRACE_RECORD_RUN;
	record.run = (struct txtrace_run){
		.tid = thread->tid,
		.pid = thread->tgid,
		.cpu = thread->run_cpu,
		.begin_ns = thread->run_begin_ns,
		.end_ns = end_ns,
		.blocked_ns = thread->run_blocked_ns,
		.runnable_ns = thread->run_runnable_ns,
		.idle_ns = thread->run_idle_ns,
		.idle_stolen_ns = thread->run_idle_stolen_ns,
		.stolen_ns = thread_run_stolen(thread, end_ns, left),
		.left_as = left ? left->sched.left_as : TXTRACE_LEFT_UNKNOWN,
		.reason = is_blocked ? left->sched.reason : 0,
		.syscall_nr = is_blocked ? left->sched.syscall_nr : 0,
		.object = is_blocked ? left->sched.object : 0,
		.has_wait_end = has_wait_end,
		.wait_reason = has_wait_end ? thread->run_wait_reason : 0,
		.wait_object = has_wait_end ? thread->run_wait_object : 0,
	};
	return put_record(attribution, &record);
}

static int switch_out(struct attribution *attribution, const struct event *event)
{
	struct thread *thread;
	bool was_on_cpu;
	int err = thread_of_event(attribution, event->tid, event->tgid, event->time_ns, &thread);

	if (err)
		return err;
	was_on_cpu = thread->now.state == THREAD_ON_CPU;
	err = put_hidden_stack(attribution, thread, event->time_ns);
	if (err)
		return err;
	thread->block_stack = 0;
	thread_leave(thread, event);
	if (was_on_cpu)
		err = put_run(attribution, thread, event->time_ns, event);
	if (!err && event->sched.left_as == WIRE_LEFT_DEAD)
		err = forget_thread(attribution, thread, event->time_ns);
	return err;
}

/* The first thread of a process that another one took over by exec: its tid is not its own any more. */
static bool is_nobody(struct attribution *attribution, const struct event *event)
{
	return event->sched.left_as == WIRE_LEFT_DEAD && !thread_table_get(&attribution->threads, event->tid);
}

int attribute_switch(struct attribution *attribution, const struct event *event)
{
	bool is_untraced = event->sched.left_as == WIRE_LEFT_UNTRACED;
	struct thread *next = NULL;
	int err = 0;

	if (!is_untraced && !is_nobody(attribution, event))
		err = switch_out(attribution, event);
	if (err || !event->sched.next_is_traced)
		return err;
	err = thread_of_event(attribution, event->sched.next_tid, event->sched.next_tgid, event->time_ns,
			      &next);
	if (err)
		return err;
	thread_arrive(next, event->time_ns, event->cpu);
	if (!event->tid)
		thread_found_idle(next, event->sched.other_ns, event->sched.stolen_ns);
	err = put_block_stack(attribution, next, event->time_ns);
	return err || !is_untraced ? err : put_run_before(attribution, event, next);
}

static uint64_t top_span(const struct thread *thread, uint32_t keyed_flag, uint32_t *flags)
{
	if (!thread)
		return 0;
	*flags |= thread->is_top_span_keyed ? keyed_flag : 0;
	return thread->top_span;
}

static uint32_t wake_flags(const struct event *event)
{
	return (event->flags & WIRE_IN_INTERRUPT ? TXTRACE_WAKE_INTERRUPT : 0) |
	       (event->flags & WIRE_WAKER_UNKNOWN ? TXTRACE_WAKE_WAKER_UNKNOWN : 0) |
	       (event->flags & WIRE_BY_TIMER ? TXTRACE_WAKE_TIMER : 0) |
	       (event->flags & WIRE_IN_SOFTIRQ ? TXTRACE_WAKE_SOFTIRQ : 0);
}

int attribute_wake(struct attribution *attribution, const struct event *event)
{
	bool is_interrupt = event->flags & WIRE_IN_INTERRUPT;
	struct txtrace_record record;
	struct txtrace_wake *wake = &record.wake;
	struct thread *wakee;
	int err = thread_of_event(attribution, event->wake.wakee_tid, event->wake.wakee_tgid, event->time_ns,
				  &wakee);

	if (err)
		return err;
	record.kind = TXTRACE_RECORD_WAKE;
	*wake = (struct txtrace_wake){
		.time_ns = event->time_ns,
		.tid = event->wake.wakee_tid,
		.pid = event->wake.wakee_tgid,
		.waker_tid = is_interrupt ? 0 : event->tid,
		.waker_pid = is_interrupt ? 0 : event->tgid,
		.cpu = event->cpu,
		.flags = wake_flags(event),
	};
	if (!is_interrupt)
		wake->waker_comm = string_of(&event->wake.waker_comm);
	wake->span = top_span(wakee, TXTRACE_WAKE_SPAN_KEYED, &wake->flags);
	if (!(event->flags & (WIRE_IN_INTERRUPT | WIRE_WAKER_UNKNOWN)))
		wake->waker_span = top_span(thread_table_get(&attribution->threads, event->tid),
					    TXTRACE_WAKE_WAKER_SPAN_KEYED, &wake->flags);
	if (event->wake.has_wait_end)
		thread_end_wait(wakee, event->wake.reason, event->wake.object);
	state_clock_wake(&wakee->now, event->time_ns);
	return put_record(attribution, &record);
}

static int put_thread(struct attribution *attribution, const struct event *event, bool is_exit)
{
	struct txtrace_record record = {
		.kind = TXTRACE_RECORD_THREAD,
		.thread = {
			.time_ns = event->time_ns,
			.tid = event->tid,
			.pid = event->tgid,
			.is_seed = event->flags & WIRE_IS_SEED,
			.is_exit = is_exit,
		},
	};

	if (!is_exit)
		record.thread.comm = string_of(&event->thread.comm);
	return put_record(attribution, &record);
}

int attribute_thread(struct attribution *attribution, const struct event *event)
{
	struct thread *thread = thread_table_get(&attribution->threads, event->tid);
	int err = 0;

	/* without clocks it is not traced: there is nothing but its name */
	if (event->flags & (WIRE_IS_RENAME | WIRE_NO_CLOCKS)) {
		if (thread && thread->tgid == event->tgid)
			thread_name(thread, &event->thread.comm);
		return put_thread(attribution, event, false);
	}
	if (thread)
		err = forget_thread(attribution, thread, event->time_ns);
	if (err)
		return err;
	thread = add_thread(attribution, event->tid, event->tgid, event->time_ns);
	if (!thread)
		return -ENOMEM;
	thread_start(thread, event);
	thread_name(thread, &event->thread.comm);
	return put_thread(attribution, event, false);
}

int attribute_thread_exit(struct attribution *attribution, const struct event *event)
{
	struct own_event own;
	int err = read_own_event(attribution, event, &own);

	if (!err)
		err = put_thread(attribution, event, true);
	if (!err)
		err = retire_thread(attribution, &own);
	/* no switch will tell */
	return err || attribution->threads.is_replayed
		       ? err
		       : forget_thread(attribution, own.thread, event->time_ns);
}

/*
 * The thread that exec'd took over the tid of the process a while ago: what happened to it since was taken
 * for the other one's, and by now its old tid may be somebody else's.
 */
static int take_over(struct attribution *attribution, const struct event *event, struct thread **thread)
{
	struct thread *leader = thread_table_get(&attribution->threads, event->tid);
	int err = leader ? forget_thread(attribution, leader, event->time_ns) : 0;

	if (err)
		return err;
	*thread = thread_table_get(&attribution->threads, (uint32_t)event->span.id);
	if (!*thread || (*thread)->tgid != event->tgid)
		return thread_of_event(attribution, event->tid, event->tgid, event->time_ns, thread);
	(*thread)->now.state = THREAD_UNKNOWN;
	(*thread)->is_synced = false;
	return thread_table_rename(&attribution->threads, *thread, event->tid);
}

/*
 * The process has a new program: the old one's spans are cut off. The thread that exec'd goes on, as the only
 * one, under the process' id.
 */
int attribute_exec(struct attribution *attribution, const struct event *event)
{
	struct own_event own;
	int err;

	if (event->span.id && event->span.id != event->tid) {
		err = take_over(attribution, event, &own.thread);
		if (!err)
			read_clocks(attribution, event, &own);
	} else {
		err = read_own_event(attribution, event, &own);
	}
	if (!err)
		err = leave_all(attribution, &own);
	return err ? err : cut_off_spans(attribution, own.thread->process, event->time_ns);
}

int attribute_process(struct attribution *attribution, const struct event *event)
{
	struct thread *thread = event->process.change == WIRE_PROCESS_LEFT
					? thread_table_get(&attribution->threads, event->tgid)
					: NULL;

	return thread && thread->tgid == event->tgid && thread->has_exited
		       ? forget_thread(attribution, thread, event->time_ns)
		       : 0;
}
