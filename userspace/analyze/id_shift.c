/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/id_shift.h"

#include <errno.h>

/* Goes over a record; the first number that is out of range sticks. */
struct shifting {
	const struct id_shift *by;
	int err;
};

static void move_number(struct shifting *shifting, uint32_t *number, uint32_t range, uint32_t range_size)
{
	if (shifting->by->is_alone)
		return;
	if (*number >= range_size)
		shifting->err = -ERANGE;
	else
		*number += range * range_size;
}

static void move_cpu(struct shifting *shifting, uint32_t *cpu)
{
	if (*cpu != TXTRACE_CPU_UNKNOWN)
		move_number(shifting, cpu, shifting->by->cpu_range, ID_SHIFT_CPUS);
}

static void move_thread(struct shifting *shifting, uint32_t *pid, uint32_t *tid)
{
	move_number(shifting, pid, shifting->by->pid_range, ID_SHIFT_PIDS);
	move_number(shifting, tid, shifting->by->pid_range, ID_SHIFT_PIDS);
}

static void move_time(const struct shifting *shifting, uint64_t *time_ns)
{
	*time_ns += shifting->by->time_ns;
}

static void move_span(struct shifting *shifting, struct txtrace_record *record)
{
	struct txtrace_span *span = &record->span;

	move_time(shifting, &span->begin_ns);
	move_time(shifting, &span->end_ns);
	move_thread(shifting, &span->pid, &span->tid);
	if (span->end_tid)
		move_number(shifting, &span->end_tid, shifting->by->pid_range, ID_SHIFT_PIDS);
}

static void move_run(struct shifting *shifting, struct txtrace_record *record)
{
	struct txtrace_run *run = &record->run;

	move_time(shifting, &run->begin_ns);
	move_time(shifting, &run->end_ns);
	move_thread(shifting, &run->pid, &run->tid);
	move_cpu(shifting, &run->cpu);
}

static void move_wake(struct shifting *shifting, struct txtrace_record *record)
{
	struct txtrace_wake *wake = &record->wake;

	move_time(shifting, &wake->time_ns);
	move_thread(shifting, &wake->pid, &wake->tid);
	if (wake->waker_tid || wake->waker_pid)
		move_thread(shifting, &wake->waker_pid, &wake->waker_tid);
	move_cpu(shifting, &wake->cpu);
}

static void move_thread_record(struct shifting *shifting, struct txtrace_record *record)
{
	move_time(shifting, &record->thread.time_ns);
	move_thread(shifting, &record->thread.pid, &record->thread.tid);
}

static void move_attribute(struct shifting *shifting, struct txtrace_record *record)
{
	move_time(shifting, &record->attribute.time_ns);
	move_thread(shifting, &record->attribute.pid, &record->attribute.tid);
}

static void move_instant(struct shifting *shifting, struct txtrace_record *record)
{
	move_time(shifting, &record->instant.time_ns);
	move_thread(shifting, &record->instant.pid, &record->instant.tid);
}

static void move_counter(struct shifting *shifting, struct txtrace_record *record)
{
	move_time(shifting, &record->counter.time_ns);
	move_thread(shifting, &record->counter.pid, &record->counter.tid);
}

static void move_link(struct shifting *shifting, struct txtrace_record *record)
{
	move_time(shifting, &record->link.time_ns);
	move_thread(shifting, &record->link.pid, &record->link.tid);
}

static void move_loss(struct shifting *shifting, struct txtrace_record *record)
{
	move_time(shifting, &record->loss.first_ns);
	move_time(shifting, &record->loss.last_ns);
	move_cpu(shifting, &record->loss.cpu);
}

static void move_open_span(struct shifting *shifting, struct txtrace_record *record)
{
	move_time(shifting, &record->open_span.time_ns);
	move_time(shifting, &record->open_span.begin_ns);
	move_thread(shifting, &record->open_span.pid, &record->open_span.tid);
}

static void move_summary(struct shifting *shifting, struct txtrace_record *record)
{
	move_time(shifting, &record->summary.time_ns);
}

static void move_dropped(struct shifting *shifting, struct txtrace_record *record)
{
	move_time(shifting, &record->dropped.time_ns);
	move_time(shifting, &record->dropped.first_ns);
	move_time(shifting, &record->dropped.last_ns);
}

static void move_continued(struct shifting *shifting, struct txtrace_record *record)
{
	move_time(shifting, &record->continued.time_ns);
}

static void move_stay(struct shifting *shifting, struct txtrace_record *record)
{
	struct txtrace_stay *stay = &record->stay;
	uint32_t tid = stay->tid;

	move_time(shifting, &stay->enter_ns);
	move_time(shifting, &stay->exit_ns);
	move_thread(shifting, &stay->span_pid, &tid);
	move_thread(shifting, &stay->pid, &stay->tid);
}

static void move_object(struct shifting *shifting, struct txtrace_record *record)
{
	move_time(shifting, &record->object.time_ns);
	move_thread(shifting, &record->object.pid, &record->object.tid);
}

static void move_other_run(struct shifting *shifting, struct txtrace_record *record)
{
	struct txtrace_other_run *run = &record->other_run;

	move_time(shifting, &run->begin_ns);
	move_time(shifting, &run->end_ns);
	if (run->tid)
		move_thread(shifting, &run->pid, &run->tid);
	if (run->moved_tid)
		move_thread(shifting, &run->moved_pid, &run->moved_tid);
	move_cpu(shifting, &run->cpu);
}

static void move_cost(struct shifting *shifting, struct txtrace_record *record)
{
	move_time(shifting, &record->cost.time_ns);
	move_time(shifting, &record->cost.since_ns);
}

/* The parent may be anybody, traced or not. */
static void move_process(struct shifting *shifting, struct txtrace_record *record)
{
	uint32_t tid = record->process.pid, parent_tid = record->process.parent_pid;

	move_time(shifting, &record->process.time_ns);
	move_time(shifting, &record->process.start_ns);
	move_thread(shifting, &record->process.pid, &tid);
	if (record->process.parent_pid)
		move_thread(shifting, &record->process.parent_pid, &parent_tid);
}

static void move_trigger(struct shifting *shifting, struct txtrace_record *record)
{
	move_time(shifting, &record->trigger.time_ns);
	if (record->trigger.pid)
		move_thread(shifting, &record->trigger.pid, &record->trigger.tid);
}

static void move_stack(struct shifting *shifting, struct txtrace_record *record)
{
	struct txtrace_stack *stack = &record->stack;
	uint32_t tid = stack->tid;

	move_time(shifting, &stack->time_ns);
	move_thread(shifting, &stack->span_pid, &tid);
	move_thread(shifting, &stack->pid, &stack->tid);
}

static void move_frames(struct shifting *shifting, struct txtrace_record *record)
{
	move_time(shifting, &record->frames.time_ns);
}

static void move_overlap(struct shifting *shifting, struct txtrace_record *record)
{
	move_time(shifting, &record->overlap.time_ns);
	move_thread(shifting, &record->overlap.pid, &record->overlap.tid);
}

static void (*const moves[TXTRACE_RECORD_KIND_COUNT])(struct shifting *shifting,
						      struct txtrace_record *record) = {
	[TXTRACE_RECORD_SPAN] = move_span,	     [TXTRACE_RECORD_RUN] = move_run,
	[TXTRACE_RECORD_WAKE] = move_wake,	     [TXTRACE_RECORD_THREAD] = move_thread_record,
	[TXTRACE_RECORD_ATTRIBUTE] = move_attribute, [TXTRACE_RECORD_INSTANT] = move_instant,
	[TXTRACE_RECORD_COUNTER] = move_counter,     [TXTRACE_RECORD_LINK] = move_link,
	[TXTRACE_RECORD_LOSS] = move_loss,	     [TXTRACE_RECORD_OPEN_SPAN] = move_open_span,
	[TXTRACE_RECORD_SUMMARY] = move_summary,     [TXTRACE_RECORD_DROPPED] = move_dropped,
	[TXTRACE_RECORD_CONTINUED] = move_continued, [TXTRACE_RECORD_STAY] = move_stay,
	[TXTRACE_RECORD_OBJECT] = move_object,	     [TXTRACE_RECORD_COST] = move_cost,
	[TXTRACE_RECORD_OTHER_RUN] = move_other_run, [TXTRACE_RECORD_PROCESS] = move_process,
	[TXTRACE_RECORD_TRIGGER] = move_trigger,     [TXTRACE_RECORD_STACK] = move_stack,
	[TXTRACE_RECORD_FRAMES] = move_frames,	     [TXTRACE_RECORD_OVERLAP] = move_overlap,
};

int id_shift_apply(const struct id_shift *shift, struct txtrace_record *record)
{
	struct shifting shifting = { .by = shift };

	if (record->kind < TXTRACE_RECORD_KIND_COUNT && moves[record->kind])
		moves[record->kind](&shifting, record);
	return shifting.err;
}
