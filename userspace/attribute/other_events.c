/* SPDX-License-Identifier: BSD-2-Clause */
#include "attribute/other_events.h"

/* A begin that is not before the end tells nothing: the watch of that CPU had only just begun. */
static int put_other_run(struct attribution *attribution, const struct txtrace_other_run *run)
{
	struct txtrace_record record = { .kind = TXTRACE_RECORD_OTHER_RUN, .other_run = *run };
	uint64_t length_ns = elapsed_ns(run->begin_ns, run->end_ns);

	if (run->stolen_ns > length_ns)
		record.other_run.stolen_ns = length_ns;
	return run->begin_ns < run->end_ns || run->moved_tid ? put_record(attribution, &record) : 0;
}

int attribute_other(struct attribution *attribution, const struct event *event)
{
	struct txtrace_other_run run = {
		.begin_ns = event->other.since_ns,
		.end_ns = event->time_ns,
		.tid = event->tid,
		.pid = event->tgid,
		.cpu = event->cpu,
		.comm = string_of(&event->other.comm),
		.stolen_ns = event->other.stolen_ns,
	};

	return put_other_run(attribution, &run);
}

/*
 * Idle time is normally part of the run of the thread that gets the CPU, which is written when that thread
 * leaves. It gets a record now if another thread has waited there for longer, or still waits: the wait of
 * that one may end before the run does.
 */
int put_run_before(struct attribution *attribution, const struct event *event, const struct thread *next)
{
	struct txtrace_other_run run = {
		.begin_ns = event->time_ns - event->sched.other_ns,
		.end_ns = event->time_ns,
		.tid = event->tid,
		.pid = event->tgid,
		.cpu = event->cpu,
		.comm = string_of(&event->sched.other_comm),
		.stolen_ns = event->sched.stolen_ns,
	};

	if (event->sched.other_ns > event->time_ns ||
	    (!event->tid && event->sched.other_ns <= next->run_runnable_ns &&
	     !(event->flags & WIRE_OTHERS_WAIT)))
		return 0;
	return put_other_run(attribution, &run);
}

int attribute_move(struct attribution *attribution, const struct event *event)
{
	struct txtrace_other_run run = {
		.begin_ns = event->move.since_ns < event->time_ns ? event->move.since_ns : event->time_ns,
		.end_ns = event->time_ns,
		.tid = event->move.other_tid,
		.pid = event->move.other_tgid,
		.cpu = event->move.from_cpu,
		.flags = event->move.is_unknown ? TXTRACE_OTHER_RUN_NOBODY_KNOWN : 0,
		.moved_tid = event->tid,
		.moved_pid = event->tgid,
		.comm = string_of(&event->move.other_comm),
		.stolen_ns = event->move.stolen_ns,
	};

	return put_other_run(attribution, &run);
}
