/* SPDX-License-Identifier: BSD-2-Clause */
/* The scheduler's events: threads, their stays on CPUs, who woke them. */
#include <errno.h>
#include <stdlib.h>

#include "attribute/attribution_internal.h"
#include "attribute/clocks.h"

static struct process *process_of(struct attribution *attribution, uint32_t tgid)
{
	struct process *process = id_map_get(&attribution->processes, 0, tgid);

	if (process)
		return process;
	process = calloc(1, sizeof(*process));
	if (!process)
		return NULL;
	process->tgid = tgid;
	if (id_map_put(&attribution->processes, 0, tgid, process)) {
		free(process);
		return NULL;
	}
	return process;
}

static struct thread *add_thread(struct attribution *attribution, uint32_t tid, uint32_t tgid, uint64_t time_ns)
{
	struct process *process = process_of(attribution, tgid);
	struct thread *thread = process ? thread_table_add(&attribution->threads, tid, tgid, time_ns) : NULL;

	if (thread)
		process->thread_cnt++;
	return thread;
}

/* The thread has gone: from its spans and its process. With the last one the process has gone, and its spans are cut off. */
static int retire_thread(struct attribution *attribution, struct thread *thread, uint64_t time_ns, const struct wire_clocks *clocks)
{
	uint32_t tgid = thread->tgid;
	struct process *process = id_map_get(&attribution->processes, 0, tgid);
	int err = leave_all(attribution, thread, time_ns, clocks);

	if (err)
		return err;
	thread->has_exited = true;
	if (!process || --process->thread_cnt)
		return 0;
	id_map_remove(&attribution->processes, 0, tgid);
	free(process);
	return cut_off_spans(attribution, tgid, time_ns);
}

/* Nothing will be heard of it again. If its exit was not, then that was lost: nobody knows when it left its spans. */
static int forget_thread(struct attribution *attribution, struct thread *thread, uint64_t time_ns)
{
	int err = 0;

	for (struct stay *stay = thread->stays; stay; stay = stay->next_of_thread)
		mark_lossy(stay->span);
	if (!thread->has_exited)
		err = retire_thread(attribution, thread, time_ns, NULL);
	thread_table_remove(&attribution->threads, thread);
	return err;
}

/* The tid is used again, and the exit of its last bearer was lost. */
static int replace_thread(struct attribution *attribution, struct thread **thread, uint32_t tgid, uint64_t time_ns)
{
	uint32_t tid = (*thread)->tid;
	int err = forget_thread(attribution, *thread, time_ns);

	*thread = err ? NULL : add_thread(attribution, tid, tgid, time_ns);
	return err ? err : *thread ? 0 : -ENOMEM;
}

int thread_of_event(struct attribution *attribution, uint32_t tid, uint32_t tgid, uint64_t time_ns, struct thread **thread)
{
	*thread = thread_table_get(&attribution->threads, tid);
	if (!*thread)
		*thread = add_thread(attribution, tid, tgid, time_ns);
	else if ((*thread)->tgid != tgid)
		return replace_thread(attribution, thread, tgid, time_ns);
	return *thread ? 0 : -ENOMEM;
}

int thread_of_own_event(struct attribution *attribution, const struct event *event, struct thread **thread)
{
	int err = thread_of_event(attribution, event->tid, event->tgid, event->time_ns, thread);
	bool is_other;

	if (err)
		return err;
	is_other = (*thread)->has_exited ||
		   (event->clocks && (*thread)->is_synced && (*thread)->clocks.born_ns != event->clocks->born_ns);
	return is_other ? replace_thread(attribution, thread, event->tgid, event->time_ns) : 0;
}

const struct wire_clocks *read_clocks(struct attribution *attribution, struct thread *thread, const struct event *event,
				      struct wire_clocks *clocks)
{
	uint64_t last_loss_ns = attribution->sched_loss_until_ns;
	bool is_lossless = !last_loss_ns || thread->reading_ns > last_loss_ns, is_mismatch;

	if (!thread_read_own(&attribution->threads, thread, event, clocks, &is_mismatch))
		return NULL;
	if (is_mismatch && is_lossless)
		count_anomaly(attribution, TXTRACE_ANOMALY_CLOCK_MISMATCH);
	return clocks;
}

int put_run(struct attribution *attribution, const struct thread *thread, uint64_t end_ns, const struct event *left)
{
	struct txtrace_record record = {
		.kind = TXTRACE_RECORD_RUN,
		.run = {
			.tid = thread->tid,
			.pid = thread->tgid,
			.cpu = thread->run_cpu,
			.begin_ns = thread->run_begin_ns,
			.end_ns = end_ns,
			.blocked_ns = thread->run_blocked_ns,
			.runnable_ns = thread->run_runnable_ns,
			.left_as = left ? left->sched.left_as : TXTRACE_LEFT_UNKNOWN,
		},
	};

	if (left && left->sched.left_as == WIRE_LEFT_BLOCKED) {
		record.run.reason = left->sched.reason;
		record.run.syscall_nr = left->sched.syscall_nr;
		record.run.object = left->sched.object;
	}
	return put_record(attribution, &record);
}

static int switch_out(struct attribution *attribution, const struct event *event)
{
	struct thread *thread;
	bool was_on_cpu;
	int err = thread_of_event(attribution, event->tid, event->tgid, event->time_ns, &thread);

	if (err)
		return err;
	was_on_cpu = thread->state == THREAD_ON_CPU;
	thread->block_stack = 0;
	thread_leave(thread, event->time_ns, event->sched.left_as == WIRE_LEFT_BLOCKED ? THREAD_BLOCKED : THREAD_RUNNABLE,
		     event->sched.reason);
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
	struct thread *next;
	int err = 0;

	if (event->sched.left_as != WIRE_LEFT_UNTRACED && !is_nobody(attribution, event))
		err = switch_out(attribution, event);
	if (err || !event->sched.next_is_traced)
		return err;
	err = thread_of_event(attribution, event->sched.next_tid, event->sched.next_tgid, event->time_ns, &next);
	if (err)
		return err;
	thread_arrive(next, event->time_ns, event->cpu);
	return put_block_stack(attribution, next, event->time_ns);
}

/* The span that the thread has entered last; 0: it is in none. */
static uint64_t current_span(const struct thread *thread, uint32_t keyed_flag, uint32_t *flags)
{
	const struct txtrace_span *span = thread && thread->stays ? &thread->stays->span->record : NULL;

	if (!span)
		return 0;
	*flags |= span->flags & TXTRACE_SPAN_KEYED ? keyed_flag : 0;
	return span->id;
}

int attribute_wake(struct attribution *attribution, const struct event *event)
{
	struct thread *wakee;
	bool is_interrupt = event->flags & WIRE_IN_INTERRUPT;
	struct txtrace_record record = {
		.kind = TXTRACE_RECORD_WAKE,
		.wake = {
			.time_ns = event->time_ns,
			.tid = event->wake.wakee_tid,
			.pid = event->wake.wakee_tgid,
			.waker_tid = is_interrupt ? 0 : event->tid,
			.waker_pid = is_interrupt ? 0 : event->tgid,
			.cpu = event->cpu,
			.flags = (is_interrupt ? TXTRACE_WAKE_INTERRUPT : 0) |
				 (event->flags & WIRE_WAKER_UNKNOWN ? TXTRACE_WAKE_WAKER_UNKNOWN : 0),
		},
	};

	int err = thread_of_event(attribution, event->wake.wakee_tid, event->wake.wakee_tgid, event->time_ns, &wakee);

	if (err)
		return err;
	if (!is_interrupt)
		record.wake.waker_comm = string_of(&event->wake.waker_comm);
	record.wake.span = current_span(wakee, TXTRACE_WAKE_SPAN_KEYED, &record.wake.flags);
	if (!(event->flags & (WIRE_IN_INTERRUPT | WIRE_WAKER_UNKNOWN)))
		record.wake.waker_span = current_span(thread_table_get(&attribution->threads, event->tid), TXTRACE_WAKE_WAKER_SPAN_KEYED,
						      &record.wake.flags);
	thread_wake(wakee, event->time_ns);
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

	if (event->flags & (WIRE_IS_RENAME | WIRE_NO_CLOCKS)) { /* without clocks it is not traced: there is nothing but its name */
		if (thread && thread->tgid == event->tgid)
			thread_name(thread, &event->thread.comm);
		return put_thread(attribution, event, false);
	}
	if (thread)
		err = replace_thread(attribution, &thread, event->tgid, event->time_ns);
	else
		err = thread_of_event(attribution, event->tid, event->tgid, event->time_ns, &thread);
	if (err)
		return err;
	thread_start(thread, event);
	thread_name(thread, &event->thread.comm);
	return put_thread(attribution, event, false);
}

int attribute_thread_exit(struct attribution *attribution, const struct event *event)
{
	struct wire_clocks storage;
	const struct wire_clocks *clocks;
	struct thread *thread;
	int err = thread_of_own_event(attribution, event, &thread);

	if (err)
		return err;
	clocks = read_clocks(attribution, thread, event, &storage);
	err = put_thread(attribution, event, true);
	return err ? err : retire_thread(attribution, thread, event->time_ns, clocks);
}

/*
 * The thread that exec'd took over the tid of the process a while ago: what happened to it since was taken for the other one's, and by now its old tid
 * may be somebody else's.
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
	(*thread)->state = THREAD_UNKNOWN;
	(*thread)->is_synced = false;
	return thread_table_rename(&attribution->threads, *thread, event->tid);
}

/* The process has a new program: the old one's spans are cut off. The thread that exec'd goes on, as the only one, under the process' id. */
int attribute_exec(struct attribution *attribution, const struct event *event)
{
	struct wire_clocks storage;
	const struct wire_clocks *clocks;
	struct thread *thread;
	int err;

	if (event->span.id && event->span.id != event->tid)
		err = take_over(attribution, event, &thread);
	else
		err = thread_of_own_event(attribution, event, &thread);
	if (err)
		return err;
	clocks = read_clocks(attribution, thread, event, &storage);
	err = leave_all(attribution, thread, event->time_ns, clocks);
	return err ? err : cut_off_spans(attribution, event->tgid, event->time_ns);
}
