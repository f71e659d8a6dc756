/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The viewer sorts by time, and has a queue for each CPU: of events with the
 * same time, those of one CPU stay in the order in which they were written.
 * Between CPUs that order is not kept, so events that may have the time of
 * another event, and have to come before or behind it, go to that one's CPU.
 */
#include "export/perfetto_sched.h"

#include <stdio.h>
#include <string.h>

#include "export/timeline.h"

#define CPU_CNT_MAX 1024 /* the viewer refuses more */

/* prev_state of a sched_switch, as in the kernel */
enum {
	SWITCH_RUNNABLE = 0,
	SWITCH_SLEEPING = 1,
	SWITCH_UNINTERRUPTIBLE = 2,
	SWITCH_STOPPED = 4,
	SWITCH_DEAD = 0x10,
	SWITCH_PREEMPTED = 0x100,
	SWITCH_UNKNOWN = 0x7000, /* no kernel has it: the viewer makes NULL of it */
};

/* common_flags */
enum {
	FLAG_HARDIRQ = 0x08,
	FLAG_SOFTIRQ = 0x10,
};

void perfetto_sched_init(struct perfetto_sched *sched, struct packet_writer *writer, const char *kernel)
{
	unsigned int major = 0, minor = 0;
	char version[16]; /* in the log it may have no end */
	bool is_known;

	snprintf(version, sizeof(version), "%.15s", kernel);
	is_known = sscanf(version, "%3u.%3u", &major, &minor) == 2;
	*sched = (struct perfetto_sched){
		.writer = writer,
		.preempted_state = is_known && (major > 4 || (major == 4 && minor >= 14)) ? SWITCH_PREEMPTED
											  : SWITCH_RUNNABLE,
	};
}

/* ---- packets ---- */

#define EVENT_CNT_MAX 4

/* Events of one CPU, for one packet. */
struct bundle {
	Perfetto__FtraceEventBundle message;
	Perfetto__FtraceEvent events[EVENT_CNT_MAX];
	Perfetto__FtraceEvent *pointers[EVENT_CNT_MAX];
};

static void bundle_begin(struct perfetto_sched *sched, struct bundle *bundle, uint32_t cpu, uint64_t time_ns)
{
	perfetto__ftrace_event_bundle__init(&bundle->message);
	bundle->message.has_cpu = true;
	bundle->message.cpu = cpu;
	bundle->message.event = bundle->pointers;
	/* by default it would be BOOTTIME, which the log does not know; perfetto.c says what it is */
	bundle->message.has_ftrace_clock = true;
	bundle->message.ftrace_clock = PERFETTO__FTRACE_EVENT_BUNDLE__FTRACE_CLOCK__FTRACE_CLOCK_MONO_RAW;
	packet_begin(sched->writer, time_ns)->ftrace_events = &bundle->message;
}

static Perfetto__FtraceEvent *bundle_add(struct bundle *bundle, uint64_t time_ns, uint32_t running_tid)
{
	Perfetto__FtraceEvent *event = &bundle->events[bundle->message.n_event];

	bundle->pointers[bundle->message.n_event++] = event;
	perfetto__ftrace_event__init(event);
	event->has_timestamp = true;
	event->timestamp = time_ns < INT64_MAX ? time_ns : INT64_MAX;
	event->has_pid = true;
	event->pid = running_tid;
	return event;
}

/* ---- the wait before a run ---- */

static int64_t state_of_block(unsigned int reason)
{
	switch (reason) {
	case TXTRACE_BLOCK_DISK:
	case TXTRACE_BLOCK_PAGE_FAULT:
	case TXTRACE_BLOCK_THROTTLED:
		return SWITCH_UNINTERRUPTIBLE;
	case TXTRACE_BLOCK_STOPPED:
		return SWITCH_STOPPED;
	default:
		return SWITCH_SLEEPING;
	}
}

#define GENERIC_STATE(name) PERFETTO__GENERIC_KERNEL_TASK_STATE_EVENT__TASK_STATE_ENUM__TASK_STATE_##name

/* A block that no switch tells of: the first one of the thread, or behind lost events. */
static int put_block(struct perfetto_sched *sched, const struct thread_run *told,
		     const struct state_slice *slice)
{
	static const int states[] = {
		[SWITCH_SLEEPING] = GENERIC_STATE(INTERRUPTIBLE_SLEEP),
		[SWITCH_UNINTERRUPTIBLE] = GENERIC_STATE(UNINTERRUPTIBLE_SLEEP),
		[SWITCH_STOPPED] = GENERIC_STATE(STOPPED),
	};
	Perfetto__GenericKernelTaskStateEvent event = PERFETTO__GENERIC_KERNEL_TASK_STATE_EVENT__INIT;

	event.has_cpu = event.has_tid = event.has_state = true;
	event.cpu = (int32_t)told->run->cpu;
	event.tid = told->run->tid;
	event.state = (Perfetto__GenericKernelTaskStateEvent__TaskStateEnum)
		states[state_of_block(slice->reason)];
	packet_begin(sched->writer, slice->begin_ns)->generic_kernel_task_state_event = &event;
	return packet_write(sched->writer);
}

/* What the thread was blocked for, of the block that is over at time_ns or is going on then. */
static int put_reason(struct perfetto_sched *sched, const struct thread_run *told, uint64_t time_ns,
		      const char *reason, bool is_disk)
{
	Perfetto__SchedBlockedReasonFtraceEvent blocked = PERFETTO__SCHED_BLOCKED_REASON_FTRACE_EVENT__INIT;
	struct bundle bundle;

	bundle_begin(sched, &bundle, told->run->cpu, time_ns);
	blocked.has_pid = blocked.has_caller = blocked.has_io_wait = true;
	blocked.pid = (int32_t)told->run->tid;
	blocked.caller = packet_kernel_symbol(sched->writer, reason);
	blocked.io_wait = is_disk;
	bundle_add(&bundle, time_ns, 0)->sched_blocked_reason = &blocked;
	return packet_write(sched->writer);
}

/* All zero if it is not known. */
static struct thread_wake wake_at(const struct thread_run *told, uint64_t time_ns)
{
	for (unsigned int i = 0; i < THREAD_WAKE_CNT; i++)
		if (told->wakes[i].time_ns == time_ns)
			return told->wakes[i];
	return (struct thread_wake){ .cpu = TXTRACE_CPU_UNKNOWN, .flags = TXTRACE_WAKE_WAKER_UNKNOWN };
}

/* The thread is runnable from there on. */
static int put_waking(struct perfetto_sched *sched, const struct thread_run *told, uint64_t time_ns)
{
	const struct thread_wake wake = wake_at(told, time_ns);
	bool is_interrupt = wake.flags & TXTRACE_WAKE_INTERRUPT;
	bool is_thread = !(wake.flags & (TXTRACE_WAKE_INTERRUPT | TXTRACE_WAKE_WAKER_UNKNOWN));
	Perfetto__SchedWakingFtraceEvent waking = PERFETTO__SCHED_WAKING_FTRACE_EVENT__INIT;
	Perfetto__FtraceEvent *event;
	struct bundle bundle;
	uint32_t cpu = told->run->cpu;

	if (told->has_before && told->before_ns == time_ns)
		cpu = told->before_cpu < CPU_CNT_MAX ? told->before_cpu : cpu; /* behind that switch */
	else if (wake.cpu < CPU_CNT_MAX)
		cpu = wake.cpu;
	bundle_begin(sched, &bundle, cpu, time_ns);
	event = bundle_add(&bundle, time_ns, is_thread ? wake.waker_tid : 0);
	event->has_common_flags = is_interrupt;
	event->common_flags = wake.flags & TXTRACE_WAKE_SOFTIRQ ? FLAG_SOFTIRQ : FLAG_HARDIRQ;
	waking.has_pid = waking.has_target_cpu = true;
	waking.pid = (int32_t)told->run->tid;
	waking.target_cpu = (int32_t)told->run->cpu;
	event->sched_waking = &waking;
	return packet_write(sched->writer);
}

static int put_wait(struct perfetto_sched *sched, const struct thread_run *told)
{
	const struct state_slice *first = told->slice_cnt > 0 ? &told->slices[0] : NULL;
	bool has_gap = first && told->has_before && first->begin_ns > told->before_ns;
	bool is_blocked = !told->has_before;
	int err = 0;

	if (has_gap) /* the state before it goes on for the viewer, which has none for what is not known */
		err = put_reason(sched, told, first->begin_ns - 1, "unknown", false);
	for (unsigned int i = 0; i < told->slice_cnt && !err; i++) {
		const struct state_slice *slice = &told->slices[i];
		bool is_known = slice->reason < TXTRACE_BLOCK_REASON_COUNT;

		if (slice->state == STATE_BLOCKED) {
			if (has_gap || !told->has_before)
				err = put_block(sched, told, slice);
			if (!err && is_known)
				err = put_reason(sched, told, slice->end_ns,
						 txtrace_block_reason_name(slice->reason),
						 slice->reason == TXTRACE_BLOCK_DISK);
			is_blocked = true;
		} else if (slice->state == STATE_RUNNABLE &&
			   (is_blocked || has_gap || told->is_before_blocked)) {
			err = put_waking(sched, told, slice->begin_ns);
		}
	}
	return err;
}

/* ---- the run ---- */

static int64_t state_of_end(const struct perfetto_sched *sched, const struct txtrace_run *run)
{
	switch (run->left_as) {
	case TXTRACE_LEFT_PREEMPTED:
		return sched->preempted_state;
	case TXTRACE_LEFT_YIELDED:
		return SWITCH_RUNNABLE;
	case TXTRACE_LEFT_BLOCKED:
		return state_of_block(run->reason);
	case TXTRACE_LEFT_DEAD:
		return SWITCH_DEAD;
	default:
		return SWITCH_UNKNOWN;
	}
}

static void set_switch(Perfetto__SchedSwitchFtraceEvent *to, uint32_t before, int64_t state, uint32_t next)
{
	perfetto__sched_switch_ftrace_event__init(to);
	to->has_prev_pid = to->has_prev_state = to->has_next_pid = true;
	to->prev_pid = (int32_t)before;
	to->prev_state = state;
	to->next_pid = (int32_t)next;
}

int perfetto_sched_run(struct perfetto_sched *sched, const struct thread_run *told)
{
	const struct txtrace_run *run = told->run;
	const struct state_slice *running = told->slice_cnt > 0 ? &told->slices[told->slice_cnt - 1] : NULL;
	Perfetto__SchedSwitchFtraceEvent begin, end;
	struct bundle bundle;
	int err;

	if (run->cpu >= CPU_CNT_MAX) {
		sched->no_cpu_cnt++;
		return 0;
	}
	err = put_wait(sched, told);
	if (err || !running || running->state != STATE_RUNNING)
		return err;
	bundle_begin(sched, &bundle, run->cpu, running->begin_ns);
	set_switch(&begin, 0, SWITCH_RUNNABLE, run->tid);
	bundle_add(&bundle, running->begin_ns, 0)->sched_switch = &begin;
	set_switch(&end, run->tid, state_of_end(sched, run), 0);
	bundle_add(&bundle, running->end_ns, run->tid)->sched_switch = &end;
	return packet_write(sched->writer);
}
