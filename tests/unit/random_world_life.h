/* SPDX-License-Identifier: BSD-2-Clause */
/* How a random world lives: what its CPUs, its threads and their programs do. */
#ifndef RANDOM_WORLD_LIFE_H
#define RANDOM_WORLD_LIFE_H

#include "unit/random_world.h"

static const struct event_text world_label = { .bytes = "work", .length = 4 };

static struct event_text world_key(const struct world *world, int key)
{
	static char keys[256][WORLD_KEYS][2];
	char *bytes = keys[(unsigned char)world->options->name][key];

	bytes[0] = world->options->name;
	bytes[1] = '0' + key;
	return (struct event_text){ .bytes = bytes, .length = 2 };
}

/* ---- the scheduler ---- */

/* The thread on the CPU leaves it, and another one (-1: none of ours) gets it. */
static void world_switch(struct world *world, int cpu, uint8_t left_as, uint8_t reason, int next)
{
	int t = world->cpus[cpu];
	struct world_thread *left = t >= 0 ? &world->threads[t] : NULL,
			    *arrived = next >= 0 ? &world->threads[next] : NULL;
	struct event event = world_event_of(left, EVENT_SWITCH);

	event.sched.left_as = left && left->is_traced ? left_as : WIRE_LEFT_UNTRACED;
	event.sched.reason = reason;
	event.sched.syscall_nr = -1;
	event.sched.next_is_traced = arrived && arrived->is_traced;
	if (arrived) {
		event.sched.next_tid = arrived->tid;
		event.sched.next_tgid = arrived->tgid;
	}
	world_pass_time(world);
	if (left && left->is_traced) {
		if (world->run_begin_ns[cpu]) {
			world->runs = world_room(world->runs, world->run_cnt, &world->run_room,
						 sizeof(*world->runs));
			world->runs[world->run_cnt++] = (struct world_run){ left->tid, cpu,
									    world->run_begin_ns[cpu],
									    world->now_ns, left_as };
		}
		world_hear(world, t);
		if (left->clock.state == WIRE_THREAD_BLOCKED && !left->clock.late_wake_ns)
			left->was_woken = false; /* its only wakeup ended the sleep before this stay */
		world_clock_leave(left, world->now_ns,
				  left_as == WIRE_LEFT_BLOCKED ? WIRE_THREAD_BLOCKED : WIRE_THREAD_RUNNABLE,
				  reason);
		left->is_unseen = false;
	}
	if (left)
		world_be_ready(left, world->now_ns, PART_RUNNABLE);
	if (arrived && arrived->is_traced)
		world_clock_arrive(arrived, world->now_ns);
	if ((left && left->is_traced) || (arrived && arrived->is_traced))
		world_send(world, cpu, &event);
	if (arrived) {
		arrived->part = PART_ON_CPU;
		arrived->is_ambiguous = arrived->was_woken = false;
	}
	world->cpus[cpu] = next;
	world->run_begin_ns[cpu] = arrived && arrived->is_traced ? world->now_ns : 0;
}

/* The kernel does not tell of every switch away from tasks that are not ours. */
static void world_arrive_unseen(struct world *world, int cpu, int t)
{
	struct world_thread *thread = &world->threads[t];

	world_pass_time(world);
	thread->part = PART_ON_CPU;
	if (thread->clock.state == WIRE_THREAD_ON_CPU) /* it was taken for running when it was seeded */
		world->doubtful_run_cnt++;
	else
		thread->is_unheard = true;
	world->cpus[cpu] = t;
	world->run_begin_ns[cpu] = 0;
}

static int world_next(struct world *world)
{
	return world_one_in(world, 4) ? -1 : world_pick(world, is_runnable);
}

static void world_push_off(struct world *world, int cpu)
{
	int t = world->cpus[cpu], next = world_next(world);
	struct world_thread *thread = &world->threads[t];

	if (thread->is_traced && world_one_in(world, 4)) { /* its cgroup has used up its time */
		world_switch(world, cpu, WIRE_LEFT_BLOCKED, BLOCK_THROTTLED, next);
		thread->part = PART_THROTTLED;
		world_be_ready(thread, world->now_ns, PART_THROTTLED);
		return;
	}
	world_switch(world, cpu, world_one_in(world, 2) ? WIRE_LEFT_PREEMPTED : WIRE_LEFT_YIELDED, 0, next);
	thread->part = PART_RUNNABLE;
}

/* Woken by the thread that runs on some CPU, or by an interrupt there. */
static void world_send_wake(struct world *world, int wakee)
{
	struct world_thread *thread = &world->threads[wakee];
	int cpu = world_below(world, world->cpu_cnt), waker = world->cpus[cpu];
	struct event event = world_event_of(waker >= 0 ? &world->threads[waker] : NULL, EVENT_WAKE);

	if (waker < 0 || waker == wakee)
		event.flags = WIRE_IN_INTERRUPT;
	event.wake.wakee_tid = thread->tid;
	event.wake.wakee_tgid = thread->tgid;
	world_pass_time(world);
	if (!thread->is_traced)
		return;
	if (thread->clock.is_seen_running ||
	    (thread->clock.state == WIRE_THREAD_BLOCKED &&
	     (thread->clock.wake_ns > thread->clock.since_ns || thread->clock.reason == BLOCK_THROTTLED)))
		thread->clock.late_wake_ns = world->now_ns;
	else
		thread->clock.wake_ns = world->now_ns;
	world_send(world, cpu, &event);
}

static void world_wake(struct world *world, int wakee)
{
	struct world_thread *thread = &world->threads[wakee];

	world_send_wake(world, wakee);
	thread->is_ambiguous = false;
	thread->was_woken = true;
	thread->part = PART_RUNNABLE;
	world_be_ready(thread, world->now_ns, PART_RUNNABLE);
}

/*
 * Falls asleep; or is woken before it has left the CPU, which then is no sleep
 * at all. A wakeup can also find it still running, long before.
 */
static void world_block(struct world *world, int cpu)
{
	int t = world->cpus[cpu], next = world_next(world);
	struct world_thread *thread = &world->threads[t];
	uint8_t reason = world_below(world, BLOCK_THROTTLED);
	bool is_perhaps_asleep = thread->clock.state == WIRE_THREAD_BLOCKED &&
				 thread->clock.wake_ns <= thread->clock.since_ns &&
				 !thread->clock.is_seen_running;
	bool is_overtaken = !is_perhaps_asleep && world_one_in(world, 8);

	/*
	 * If all that is known of it is that it fell asleep, then a wakeup that finds it running would be
	 * taken for the end of that sleep.
	 */
	if (is_overtaken || (!is_perhaps_asleep && world_one_in(world, 8))) {
		world_send_wake(world, t);
		thread->was_woken = true;
	}
	if (!is_overtaken && world_one_in(world, 2) && thread->was_woken)
		return; /* it was about to sleep, and goes on */
	world_switch(world, cpu, WIRE_LEFT_BLOCKED, reason, next);
	thread->part = is_overtaken ? PART_RUNNABLE : PART_BLOCKED + reason;
	thread->is_ambiguous = thread->was_woken;
	thread->asleep_since_ns = world->now_ns;
}

/* ---- threads ---- */

/*
 * The tid that an exec has left free is not used again before the exec is told:
 * real kernels go through all other tids first.
 */
static bool world_tid_is_free(const struct world *world, uint32_t tid)
{
	for (int t = 0; t < WORLD_THREADS; t++) {
		const struct world_thread *thread = &world->threads[t];

		if (thread->is_alive && (thread->tid == tid || thread->tgid == tid || thread->old_tid == tid))
			return false;
	}
	return true;
}

/*
 * A slot for a new thread, with a tid; -1: there is no room. Stays of a slot
 * end with its thread, so the slot is clean.
 */
static int world_new_thread(struct world *world, uint32_t tgid)
{
	uint32_t tid = world->options->first_tid + 1 + world_below(world, WORLD_TIDS);

	for (int t = 0; t < WORLD_THREADS; t++) {
		if (world->threads[t].is_alive || !world_tid_is_free(world, tid))
			continue;
		world->threads[t] = (struct world_thread){
			.is_alive = true, .tid = tid, .tgid = tgid ? tgid : tid, .part = PART_RUNNABLE
		};
		return t;
	}
	return -1;
}

static void world_trace(struct world *world, int t, int cpu, uint8_t state, uint8_t reason, uint16_t flags)
{
	struct world_thread *thread = &world->threads[t];
	struct event event = world_event_of(thread, EVENT_THREAD);

	world_pass_time(world);
	thread->is_traced = true;
	thread->is_unheard = thread->is_ambiguous = false;
	thread->clock.clocks = (struct wire_clocks){ .born_ns = world->now_ns };
	thread->clock.since_ns = world->now_ns;
	thread->clock.state = state;
	thread->clock.reason = reason;
	thread->clock.switch_cnt = 1;
	event.flags = flags;
	event.thread.born_ns = world->now_ns;
	event.thread.comm = (struct event_text){ .bytes = "world", .length = 5 };
	event.thread.state = state;
	event.thread.reason = reason;
	world_send(world, cpu, &event);
}

/*
 * The clocks of a thread on its CPU go along with an event: always, or if they
 * moved. False: they could not be read.
 */
static bool world_send_with_clocks(struct world *world, int cpu, struct event *event, bool is_always)
{
	struct world_thread *thread = &world->threads[world->cpus[cpu]];
	bool has_moved = thread->clock.switch_cnt != thread->clock.reported_cnt ||
			 thread->clock.state != WIRE_THREAD_ON_CPU;
	bool is_failure = has_moved && world_one_in(world, 50);
	struct world_event *sent;

	world_hear(world, world->cpus[cpu]);
	if (thread->clock.state != WIRE_THREAD_ON_CPU)
		event->flags |= WIRE_NOT_ARRIVED;
	if (has_moved || is_always)
		event->flags |= is_failure ? WIRE_HAS_CLOCKS | WIRE_NO_CLOCKS : WIRE_HAS_CLOCKS;
	sent = world_send(world, cpu, event);
	if (!is_failure)
		thread->was_woken = false;
	if (sent && thread->clock.state != WIRE_THREAD_ON_CPU)
		thread->clock.is_seen_running = true;
	if (!sent || is_failure)
		return !is_failure;
	if (has_moved || is_always) {
		world_clock_read(thread, world->now_ns, &sent->clocks);
		sent->has_clocks = true;
		if (event->kind != EVENT_THREAD_EXIT && event->kind != EVENT_EXEC)
			thread->clock.reported_cnt = thread->clock.switch_cnt;
	}
	return true;
}

static bool world_is_last(const struct world *world, int t)
{
	for (int i = 0; i < WORLD_THREADS; i++)
		if (i != t && world->threads[i].is_alive && !world->threads[i].is_exiting &&
		    world->threads[i].tgid == world->threads[t].tgid)
			return false;
	return true;
}

/* From here on it only tidies up, and may be switched out doing so. */
static void world_begin_exit(struct world *world, int cpu)
{
	int t = world->cpus[cpu];
	struct world_thread *thread = &world->threads[t];
	struct event event = world_event_of(thread, EVENT_THREAD_EXIT);
	bool is_known;

	world_pass_time(world);
	is_known = !thread->is_traced || world_send_with_clocks(world, cpu, &event, true);
	world_leave_all(world, t, !is_known);
	thread->is_exiting = true;
	if (thread->is_traced && world_is_last(world, t))
		world_cut_off(world, thread->tgid);
}

static void world_end_exit(struct world *world, int cpu)
{
	int t = world->cpus[cpu];

	world_switch(world, cpu, WIRE_LEFT_DEAD, 0, world_next(world));
	world->threads[t].is_alive = false;
}

static bool world_is_in_span(const struct world *world, int t)
{
	for (size_t i = 0; i < world->span_cnt; i++)
		if (world->spans[i].is_open && world->spans[i].stays[t].depth)
			return true;
	return false;
}

/*
 * exec by a thread that is not the first one of its process, which is dead: it
 * gets that one's tid. True: some time passes before the event tells so.
 */
static bool world_begin_exec(struct world *world, int cpu)
{
	int t = world->cpus[cpu];
	struct world_thread *thread = &world->threads[t];

	if (!thread->is_traced || thread->old_tid || !world_is_last(world, t))
		return true;
	if (thread->tid == thread->tgid)
		return false;
	for (int i = 0; i < WORLD_THREADS; i++)
		if (world->threads[i].is_alive && world->threads[i].tid == thread->tgid)
			return true;
	thread->old_tid = thread->tid;
	thread->tid = thread->tgid;
	world->run_begin_ns[cpu] = 0; /* its stay on the CPU falls apart */
	world->doubtful_run_cnt++;
	return !world_is_in_span(world, t) && world_one_in(world, 2);
}

static void world_end_exec(struct world *world, int cpu)
{
	int t = world->cpus[cpu];
	struct world_thread *thread = &world->threads[t];
	struct event event = world_event_of(thread, EVENT_EXEC);

	event.end.old_tid = thread->old_tid ? thread->old_tid : thread->tid;
	world_pass_time(world);
	world_leave_all(world, t, !world_send_with_clocks(world, cpu, &event, true));
	world_cut_off(world, thread->tgid);
	if (thread->old_tid)
		world->run_begin_ns[cpu] = 0;
	thread->old_tid = 0;
}

static void world_fork(struct world *world, int cpu)
{
	struct world_thread *parent = &world->threads[world->cpus[cpu]];
	bool is_process = !parent->is_traced || world_one_in(world, 4);
	int t = world_new_thread(world, is_process ? 0 : parent->tgid);

	if (t >= 0 && !is_process)
		world_trace(world, t, cpu, WIRE_THREAD_RUNNABLE, 0, 0);
}

/* ---- spans ---- */

/*
 * Which span a program means: mostly one of its own that is open, sometimes one
 * that is not. Ids are alike in all processes.
 */
static uint64_t world_pick_id(struct world *world, uint32_t tgid)
{
	size_t first = world->span_cnt ? world_random(world) % world->span_cnt : 0;

	if (world_one_in(world, 12))
		return world_one_in(world, 2) ? 1 + world_below(world, world->next_id + 1) : UINT64_MAX;
	for (size_t i = 0; i < world->span_cnt; i++) {
		const struct world_span *span = &world->spans[(first + i) % world->span_cnt];

		if (span->is_open && span->key < 0 && span->tgid == tgid)
			return span->id;
	}
	return UINT64_MAX;
}

static struct world_span *world_find_span(struct world *world, uint32_t tgid, uint64_t id, int key)
{
	for (size_t i = world->span_cnt; i > 0; i--) {
		struct world_span *span = &world->spans[i - 1];

		if (span->is_open && span->key == key && (key >= 0 || (span->tgid == tgid && span->id == id)))
			return span;
	}
	return NULL;
}

static void world_enter(struct world *world, struct world_span *span, int t, uint32_t tid, bool is_known)
{
	span->stays[t].depth = 1;
	span->stays[t].turn = ++world->turn;
	span->stays[t].is_unknown = !is_known;
	span->is_moved |= tid != span->tid;
}

/* Its key names another one from here on. */
static void world_replace_span(struct world *world, struct world_span *span, int t, bool is_known)
{
	if (span->stays[t].depth)
		world_leave(span, t, !is_known);
	span->is_unfinished = true;
	world_finish_span(world, span, 0);
}

/* The span, if one with its id or key is open, ends first or is the one that goes on. */
static void world_did_begin(struct world *world, struct world_span *span, int t, const struct event *event,
			    int key, bool is_known, bool is_lost)
{
	if (span) {
		world->anomaly_cnt[TXTRACE_ANOMALY_BEGIN_TWICE]++;
		if (key < 0)
			return;
		world_replace_span(world, span, t, is_known);
	}
	world->spans = world_room(world->spans, world->span_cnt, &world->span_room, sizeof(*world->spans));
	span = &world->spans[world->span_cnt++];
	*span = (struct world_span){ .id = event->span.id,
				     .parent = event->span.parent,
				     .begin_ns = world->now_ns,
				     .tgid = event->tgid,
				     .tid = event->tid,
				     .key = key,
				     .is_open = true,
				     .is_begin_lost = is_lost };
	world_find_parent(world, span, t, event);
	if (event->kind != EVENT_BEGIN_DETACHED)
		world_enter(world, span, t, event->tid, is_known);
}

/* What the event means, in truth. */
static void world_did(struct world *world, int t, const struct event *event, int key, bool is_known,
		      bool is_lost)
{
	static const uint8_t unknown[] = {
		[EVENT_ENTER] = TXTRACE_ANOMALY_ENTER_UNKNOWN,
		[EVENT_KEY_ENTER] = TXTRACE_ANOMALY_ENTER_UNKNOWN,
		[EVENT_LEAVE] = TXTRACE_ANOMALY_EXIT_UNKNOWN,
		[EVENT_KEY_LEAVE] = TXTRACE_ANOMALY_EXIT_UNKNOWN,
		[EVENT_END] = TXTRACE_ANOMALY_END_UNKNOWN,
		[EVENT_KEY_END] = TXTRACE_ANOMALY_END_UNKNOWN,
		[EVENT_KEY_INSTANT] = TXTRACE_ANOMALY_MARK_UNKNOWN,
	};
	struct world_span *span = world_find_span(world, event->tgid, event->span.id, key);

	if (event->kind == EVENT_BEGIN || event->kind == EVENT_BEGIN_DETACHED ||
	    event->kind == EVENT_KEY_BEGIN) {
		world_did_begin(world, span, t, event, key, is_known, is_lost);
		return;
	}
	if (!span) {
		world->anomaly_cnt[unknown[event->kind]]++;
		return;
	}
	switch (event->kind) {
	case EVENT_ENTER:
	case EVENT_KEY_ENTER:
		if (span->stays[t].depth)
			span->stays[t].depth++;
		else
			world_enter(world, span, t, event->tid, is_known);
		break;
	case EVENT_LEAVE:
	case EVENT_KEY_LEAVE:
		if (!span->stays[t].depth)
			world->anomaly_cnt[TXTRACE_ANOMALY_EXIT_UNENTERED]++;
		else if (!--span->stays[t].depth)
			world_leave(span, t, !is_known);
		break;
	case EVENT_END:
	case EVENT_KEY_END:
		if (span->stays[t].depth)
			world_leave(span, t, !is_known);
		world_finish_span(world, span, event->tid);
		break;
	}
}

static void world_span_event(struct world *world, int cpu)
{
	static const uint8_t kinds[] = {
		EVENT_BEGIN,	 EVENT_BEGIN,	  EVENT_BEGIN,	 EVENT_BEGIN_DETACHED,
		EVENT_ENTER,	 EVENT_ENTER,	  EVENT_ENTER,	 EVENT_LEAVE,
		EVENT_LEAVE,	 EVENT_END,	  EVENT_END,	 EVENT_KEY_BEGIN,
		EVENT_KEY_ENTER, EVENT_KEY_LEAVE, EVENT_KEY_END, EVENT_KEY_INSTANT
	};
	int t = world->cpus[cpu], key = -1;
	struct event event = world_event_of(&world->threads[t], kinds[world_below(world, sizeof(kinds))]);
	bool is_begin = event.kind == EVENT_BEGIN || event.kind == EVENT_BEGIN_DETACHED, is_known;
	size_t lost_cnt;

	if (event.kind >= EVENT_KEY_BEGIN) {
		key = world_below(world, WORLD_KEYS);
		event.keyed.key = world_key(world, key);
		if (event.kind == EVENT_KEY_BEGIN || event.kind == EVENT_KEY_INSTANT)
			event.keyed.name = world_label;
	} else {
		event.span.id = is_begin && !world_one_in(world, 20) ? ++world->next_id
								     : world_pick_id(world, event.tgid);
		event.span.parent = is_begin && !world_one_in(world, 2) ? world_pick_id(world, event.tgid)
									: 0;
		if (is_begin)
			event.span.label = world_label;
	}
	if (world->options->is_tidy && is_begin && world_find_span(world, event.tgid, event.span.id, -1))
		return;
	world_pass_time(world);
	lost_cnt = world->lost_cnt;
	is_known = world_send_with_clocks(world, cpu, &event, key >= 0);
	if (key >= 0)
		event.span.id = event.span.parent = 0;
	world_did(world, t, &event, key, is_known, world->lost_cnt != lost_cnt);
}

static void world_mark(struct world *world, int cpu)
{
	static const uint8_t kinds[] = { EVENT_TAG, EVENT_ATTR, EVENT_INSTANT, EVENT_COUNTER, EVENT_LINK };
	struct event event = world_event_of(&world->threads[world->cpus[cpu]],
					    kinds[world_below(world, sizeof(kinds))]);
	bool is_of_span = event.kind != EVENT_COUNTER;

	event.mark.id = world_pick_id(world, event.tgid);
	event.mark.type = ATTR_INT;
	event.mark.name = event.mark.text = world_label;
	world_pass_time(world);
	world_send(world, cpu, &event);
	if (is_of_span && !world_find_span(world, event.tgid, event.mark.id, -1))
		world->anomaly_cnt[TXTRACE_ANOMALY_MARK_UNKNOWN]++;
}

/* ---- life ---- */

static void world_work(struct world *world, int cpu)
{
	struct world_thread *thread = &world->threads[world->cpus[cpu]];
	unsigned int what = world_below(world, 100);

	if (!thread->is_traced) { /* a new process: it is traced from its first probe on */
		world_trace(world, world->cpus[cpu], cpu, WIRE_THREAD_ON_CPU, 0, 0);
		world->run_begin_ns[cpu] = world->now_ns;
	}
	if (what < 70)
		world_span_event(world, cpu);
	else if (what < 80)
		world_mark(world, cpu);
	else if (what < 92)
		world_fork(world, cpu);
	else if (what < 98)
		world_begin_exit(world, cpu);
	else if (!world_begin_exec(world, cpu))
		world_end_exec(world, cpu);
}

static void world_step_of_cpu(struct world *world, int cpu)
{
	struct world_thread *thread = &world->threads[world->cpus[cpu]];
	unsigned int what = world_below(world, 100);

	if (what < 12)
		world_push_off(world, cpu);
	else if (what < 30)
		world_block(world, cpu);
	else if (thread->is_exiting)
		world_end_exit(world, cpu);
	else if (thread->old_tid)
		world_end_exec(world, cpu);
	else
		world_work(world, cpu);
}

static void world_step(struct world *world)
{
	int cpu = world_below(world, world->cpu_cnt), next, sleeper;

	if (world_one_in(world, 4) && (sleeper = world_pick(world, is_asleep)) >= 0)
		world_wake(world, sleeper);
	if (world_one_in(world, 20))
		world_tell_losses(world);
	if (world->cpus[cpu] >= 0) {
		world_step_of_cpu(world, cpu);
		return;
	}
	next = world_pick(world, is_runnable);
	if (next >= 0 && world_one_in(world, 10))
		world_arrive_unseen(world, cpu, next);
	else if (next >= 0)
		world_switch(world, cpu, WIRE_LEFT_UNTRACED, 0, next);
	else if (world_one_in(world, 10))
		world_new_thread(world, 0); /* from somewhere else */
}

/* The tracer comes: it sees what each thread does, or what it did a moment ago. */
static void world_seed(struct world *world, int t)
{
	struct world_thread *thread = &world->threads[t];
	bool is_raced = world_one_in(world, 4);
	uint8_t reason = thread->part >= PART_BLOCKED ? thread->part - PART_BLOCKED : 0;
	uint8_t state = thread->part == PART_ON_CPU	? WIRE_THREAD_ON_CPU
			: thread->part == PART_RUNNABLE ? WIRE_THREAD_RUNNABLE
							: WIRE_THREAD_BLOCKED;
	int cpu = 0;

	if (is_raced && state == WIRE_THREAD_RUNNABLE)
		state = WIRE_THREAD_BLOCKED;
	else if (is_raced && state == WIRE_THREAD_BLOCKED)
		state = WIRE_THREAD_ON_CPU;
	else if (is_raced)
		state = world_one_in(world, 2) ? WIRE_THREAD_BLOCKED : WIRE_THREAD_RUNNABLE;
	for (unsigned int i = 0; i < world->cpu_cnt; i++)
		if (world->cpus[i] == t)
			cpu = i;
	world_trace(world, t, cpu, state, state == WIRE_THREAD_BLOCKED ? reason : 0, WIRE_IS_SEED);
	thread->is_unseen = thread->part == PART_ON_CPU && is_raced;
	if (thread->part == PART_ON_CPU && !is_raced)
		world->run_begin_ns[cpu] = world->now_ns;
}

static void world_begin(struct world *world, const struct world_options *options)
{
	unsigned int thread_cnt;

	*world = (struct world){ .options = options, .random = options->seed, .now_ns = options->first_ns };
	world->cpu_cnt = 1 + world_below(world, WORLD_CPUS);
	for (int cpu = 0; cpu < WORLD_CPUS; cpu++)
		world->cpus[cpu] = -1;
	thread_cnt = 1 + world_below(world, 8);
	for (unsigned int i = 0; i < thread_cnt; i++) {
		int t = world_new_thread(world, i && world_one_in(world, 2) ? world->threads[0].tgid : 0);

		if (t < 0)
			continue;
		if (i < world->cpu_cnt) {
			world->cpus[i] = t;
			world->threads[t].part = PART_ON_CPU;
		} else if (world_one_in(world, 2)) {
			world->threads[t].part = PART_BLOCKED + world_below(world, BLOCK_THROTTLED);
		}
	}
	for (int t = 0; t < WORLD_THREADS; t++)
		if (world->threads[t].is_alive)
			world_seed(world, t);
}

static void world_run(struct world *world, const struct world_options *options)
{
	world_begin(world, options);
	for (unsigned int i = 0; i < options->step_cnt; i++)
		world_step(world);
	world_pass_time(world);
	world_tell_losses(world);
	world_cut_off(world, 0);
	world_sort_events(world);
}

#endif
