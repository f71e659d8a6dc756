/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A small machine with a known truth: threads of several processes on a few
 * CPUs, which run, sleep, are woken, begin and end spans, all at random from a
 * seed. It keeps two accounts that know nothing of each other:
 *   - the truth: at every step each open span is charged what each of its threads was really doing;
 *   - the events that the BPF programs would have sent (bpf/thread_clock.h, bpf/sched.bpf.c, bpf/span.bpf.c),
 *   each with the clocks only if they
 *     would have been sent along, and some of them lost if asked for.
 * What the attribution makes of the events must be the truth. Here is what the
 * world is made of; random_world_life.h lets it live.
 */
#ifndef RANDOM_WORLD_H
#define RANDOM_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "event/event.h"
#include "event/event_decode.h"
#include "txtrace/log.h"

#define WORLD_THREADS 20
#define WORLD_CPUS 4
#define WORLD_TIDS 30 /* few, so that they are used again soon */
#define WORLD_KEYS 3

/* Where time can go. */
enum part {
	PART_ON_CPU,
	PART_RUNNABLE,
	PART_DETACHED,
	PART_UNKNOWN,
	PART_BLOCKED, /* + reason */
	PART_THROTTLED = PART_BLOCKED + BLOCK_THROTTLED,
	PART_COUNT = PART_BLOCKED + BLOCK_REASON_COUNT,
};

struct world_options {
	uint64_t seed;
	unsigned int step_cnt;
	uint32_t lost_kinds;      /* bit per kind of event that can be lost */
	unsigned int loss_chance; /* one of so many is lost; 0: none */
	bool is_tidy;             /* programs forge no id of a span that is open already */
	uint64_t first_ns;        /* when it begins */
	uint32_t first_tid;       /* tids are first_tid + 1 … + WORLD_TIDS */
	char name;                /* keys begin with it */
};

/* What a thread does in truth, and its clocks as the BPF programs keep them. */
struct world_thread {
	bool is_alive;  /* until it is switched out for the last time */
	bool is_traced; /* has clocks */
	bool is_exiting;
	/*
	 * runs, and its clocks do not know: it was being switched in when it was seeded, or the kernel did
	 * not tell
	 */
	bool is_unseen;
	bool is_unheard;    /* likewise, and it has done nothing yet that would show it: it looks runnable */
	/* sleeps, and was woken shortly before: whether that woke it up only its switch-in tells */
	bool is_ambiguous;
	uint8_t part;       /* what it does: ON_CPU, RUNNABLE or BLOCKED + reason */
	uint32_t tid, tgid;
	uint32_t old_tid; /* in exec, and under the process' tid already: what it had before; else 0 */
	uint64_t asleep_since_ns;
	uint64_t ready_since_ns; /* could go on since then, … */
	uint8_t ready_part;      /* … and is RUNNABLE or THROTTLED */
	struct {
		struct wire_clocks clocks;
		uint64_t since_ns, wake_ns, late_wake_ns;
		uint32_t switch_cnt, reported_cnt;
		uint8_t state, reason;
		bool is_seen_running;
	} clock;
	bool was_woken; /* since it was switched in, and not run a span event since */
};

struct world_stay {
	unsigned int depth; /* 0: not in the span */
	uint64_t turn;      /* the greater, the later it entered */
	bool is_unknown;
	uint64_t parts_ns[PART_COUNT];
};

#define WORLD_INSIDE_MAX 64

struct world_span {
	uint64_t id, parent, begin_ns, end_ns;
	/* of the one that its thread was in, as it named none; 0: it named one, or is a root */
	uint64_t parent_begin_ns;
	uint64_t inside_begin_ns[WORLD_INSIDE_MAX]; /* of all that its thread was in then */
	size_t inside_cnt;
	uint64_t overlap_ns; /* in which its threads were in roots that they had entered later */
	bool names_none;
	uint32_t tgid, tid, end_tid;
	int key; /* -1: none */
	bool is_open, is_unfinished, is_moved;
	bool is_begin_lost;
	bool was_left_from_outside; /* a stay ended by somebody else's event */
	uint64_t work_ns;
	uint64_t parts_ns[PART_COUNT];
	struct world_stay stays[WORLD_THREADS];
};

struct world_event {
	struct event event; /* .clocks is set when the world has ended */
	struct wire_clocks clocks;
	bool has_clocks;
};

/* A stay on a CPU from end to end. */
struct world_run {
	uint32_t tid, cpu;
	uint64_t begin_ns, end_ns;
	uint8_t left_as;
};

struct world {
	const struct world_options *options;
	uint64_t random, now_ns;
	struct world_thread threads[WORLD_THREADS];
	int cpus[WORLD_CPUS]; /* who runs there; -1: nobody of ours */
	unsigned int cpu_cnt;
	uint64_t run_begin_ns[WORLD_CPUS]; /* 0: the beginning was not seen */
	uint64_t next_id;
	uint64_t turn; /* how often a span was entered */

	struct world_span *spans;
	size_t span_cnt, span_room;
	struct world_event *events; /* in the order of time */
	size_t event_cnt, event_room;
	struct world_run *runs;
	size_t run_cnt, run_room;
	size_t doubtful_run_cnt; /* whose beginning the tracer has to guess */

	struct {
		uint64_t span_cnt, sched_cnt, kinds, first_ns, last_ns;
	} losses[WORLD_CPUS];
	size_t lost_cnt;
	uint64_t anomaly_cnt[TXTRACE_ANOMALY_COUNT];
};

/* ---- chance and time ---- */

static uint64_t world_random(struct world *world)
{
	uint64_t z = world->random += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static unsigned int world_below(struct world *world, unsigned int limit)
{
	return world_random(world) % limit;
}

static bool world_one_in(struct world *world, unsigned int chances)
{
	return world_below(world, chances) == 0;
}

/* What a thread does, as far as anybody can know. */
static inline void world_be_ready(struct world_thread *thread, uint64_t now_ns, uint8_t part)
{
	thread->ready_since_ns = now_ns;
	thread->ready_part = part;
}

static enum part world_part(const struct world_thread *thread)
{
	if (thread->is_unheard)
		return thread->ready_part;
	return thread->is_unseen ? PART_UNKNOWN : thread->part;
}

/* The truth: time passes, and each open span is charged what its threads do, or that it has none. */
static bool world_is_root(const struct world_span *span)
{
	return !span->parent && !span->parent_begin_ns;
}

/* A thread is in several roots: what passes is that one's which it entered last. Others have it in common. */
static void world_overlap(struct world *world, uint64_t passed_ns)
{
	for (int t = 0; t < WORLD_THREADS; t++) {
		uint64_t last_turn = 0;

		for (size_t i = 0; i < world->span_cnt; i++) {
			struct world_span *span = &world->spans[i];

			if (span->is_open && span->stays[t].depth && world_is_root(span) &&
			    span->stays[t].turn > last_turn)
				last_turn = span->stays[t].turn;
		}
		for (size_t i = 0; i < world->span_cnt; i++) {
			struct world_span *span = &world->spans[i];

			if (span->is_open && span->stays[t].depth && span->stays[t].turn < last_turn)
				span->overlap_ns += passed_ns;
		}
	}
}

static void world_pass_time(struct world *world)
{
	uint64_t passed_ns = 2 + world_below(world, world_one_in(world, 10) ? 100000 : 300);

	world->now_ns += passed_ns;
	world_overlap(world, passed_ns);
	for (size_t i = 0; i < world->span_cnt; i++) {
		struct world_span *span = &world->spans[i];
		bool is_detached = true;

		if (!span->is_open)
			continue;
		for (int t = 0; t < WORLD_THREADS; t++) {
			const struct world_thread *thread = &world->threads[t];

			if (!span->stays[t].depth)
				continue;
			is_detached = false;
			span->stays[t].parts_ns[world_part(thread)] += passed_ns;
			span->work_ns += passed_ns;
		}
		if (is_detached) {
			span->parts_ns[PART_DETACHED] += passed_ns;
			span->work_ns += passed_ns;
		}
	}
}

static void *world_room(void *items, size_t cnt, size_t *room, size_t size)
{
	if (cnt < *room)
		return items;
	*room = *room ? *room * 2 : 64;
	items = realloc(items, *room * size);
	if (!items)
		abort();
	return items;
}

/* ---- threads ---- */

/* A thread that satisfies this, by chance; -1: there is none. */
static int world_pick(struct world *world, bool (*is_wanted)(const struct world_thread *thread))
{
	unsigned int first = world_below(world, WORLD_THREADS);

	for (unsigned int i = 0; i < WORLD_THREADS; i++) {
		int t = (first + i) % WORLD_THREADS;

		if (world->threads[t].is_alive && is_wanted(&world->threads[t]))
			return t;
	}
	return -1;
}

static bool is_runnable(const struct world_thread *thread)
{
	return thread->part == PART_RUNNABLE || thread->part == PART_THROTTLED;
}

static bool is_asleep(const struct world_thread *thread)
{
	return thread->part >= PART_BLOCKED && thread->part != PART_THROTTLED;
}

static struct event world_event_of(const struct world_thread *thread, uint8_t kind)
{
	return (struct event){ .kind = kind,
			       .tid = thread ? thread->tid : 0,
			       .tgid = thread ? thread->tgid : 0 };
}

/* ---- the truth about spans ---- */

/* What its thread is in: of a span that names no parent, the one entered last is it. */
static void world_find_parent(struct world *world, struct world_span *span, int t, const struct event *event)
{
	const struct world_span *last = NULL;

	span->names_none = event->kind == EVENT_BEGIN && !event->span.parent;
	if (event->kind == EVENT_KEY_BEGIN || event->span.parent == WIRE_PARENT_ROOT)
		span->parent = 0;
	for (size_t i = 0; i < world->span_cnt; i++) {
		const struct world_span *other = &world->spans[i];

		if (other == span || !other->is_open || !other->stays[t].depth)
			continue;
		if (span->inside_cnt == WORLD_INSIDE_MAX)
			abort();
		span->inside_begin_ns[span->inside_cnt++] = other->begin_ns;
		if (!last || other->stays[t].turn > last->stays[t].turn)
			last = other;
	}
	if (!span->names_none || !last)
		return;
	span->parent_begin_ns = last->begin_ns;
	span->parent = last->key < 0 ? last->id : 0;
}

static void world_leave(struct world_span *span, int t, bool is_unknown)
{
	struct world_stay *stay = &span->stays[t];
	uint64_t sum_ns = 0;

	for (int part = 0; part < PART_COUNT; part++) {
		sum_ns += stay->parts_ns[part];
		if (!is_unknown && !stay->is_unknown)
			span->parts_ns[part] += stay->parts_ns[part];
	}
	if (is_unknown || stay->is_unknown)
		span->parts_ns[PART_UNKNOWN] += sum_ns;
	memset(stay, 0, sizeof(*stay));
}

/*
 * Somebody else ends the stay of a thread. If that thread sleeps and it is open
 * yet whether it was woken already, then what it did since it fell asleep
 * cannot be known.
 */
static void world_leave_from_outside(struct world *world, struct world_span *span, int t)
{
	struct world_thread *thread = &world->threads[t];
	uint64_t asleep_ns = world->now_ns - thread->asleep_since_ns;

	if (thread->is_ambiguous) {
		span->stays[t].parts_ns[world_part(thread)] -= asleep_ns;
		span->stays[t].parts_ns[PART_UNKNOWN] += asleep_ns;
	}
	span->was_left_from_outside = true;
	world_leave(span, t, false);
}

static void world_finish_span(struct world *world, struct world_span *span, uint32_t end_tid)
{
	for (int t = 0; t < WORLD_THREADS; t++)
		if (span->stays[t].depth)
			world_leave_from_outside(world, span, t);
	span->is_open = false;
	span->end_ns = world->now_ns;
	span->end_tid = end_tid;
}

/*
 * It shows that a thread has been running, since when nobody knows: what it did
 * since it was ready to run was not all waiting.
 */
static void world_hear(struct world *world, int t)
{
	struct world_thread *thread = &world->threads[t];

	if (!thread->is_unheard)
		return;
	for (size_t i = 0; i < world->span_cnt; i++) {
		struct world_stay *stay = &world->spans[i].stays[t];

		if (!world->spans[i].is_open || !stay->depth)
			continue;
		stay->parts_ns[thread->ready_part] -= world->now_ns - thread->ready_since_ns;
		stay->parts_ns[PART_UNKNOWN] += world->now_ns - thread->ready_since_ns;
	}
	thread->is_unheard = thread->is_ambiguous = false;
	thread->is_unseen = true;
}

static void world_leave_all(struct world *world, int t, bool is_unknown)
{
	for (size_t i = 0; i < world->span_cnt; i++)
		if (world->spans[i].is_open && world->spans[i].stays[t].depth)
			world_leave(&world->spans[i], t, is_unknown);
}

/* The process has gone or has a new program. */
static void world_cut_off(struct world *world, uint32_t tgid)
{
	for (size_t i = 0; i < world->span_cnt; i++) {
		struct world_span *span = &world->spans[i];

		if (!span->is_open || (tgid && (span->key >= 0 || span->tgid != tgid)))
			continue;
		span->is_unfinished = true;
		world_finish_span(world, span, 0);
		world->anomaly_cnt[TXTRACE_ANOMALY_UNFINISHED] += tgid != 0;
	}
}

/* ---- the clocks, as in include/txtrace/state_clock.h, written a second time to check it ---- */

/* When its sleep ended; 0: unknown, or it does not sleep. */
static uint64_t world_clock_sleep_end(const struct world_thread *thread)
{
	uint64_t wake_ns = thread->clock.wake_ns;

	if (thread->clock.state != WIRE_THREAD_BLOCKED || thread->clock.reason == BLOCK_THROTTLED || !wake_ns)
		return 0;
	return wake_ns < thread->clock.since_ns ? thread->clock.since_ns : wake_ns;
}

static void world_clock_settle(const struct world_thread *thread, uint64_t now_ns, struct wire_clocks *clocks)
{
	uint64_t since_ns = thread->clock.since_ns, woken_ns = world_clock_sleep_end(thread);

	if (thread->clock.state == WIRE_THREAD_ON_CPU) {
		clocks->on_cpu_ns += now_ns - since_ns;
		return;
	}
	if (woken_ns) {
		clocks->blocked_ns[thread->clock.reason] += woken_ns - since_ns;
		since_ns = woken_ns;
	}
	clocks->unknown_ns += now_ns - since_ns;
}

static void world_clock_leave(struct world_thread *thread, uint64_t now_ns, uint8_t state, uint8_t reason)
{
	world_clock_settle(thread, now_ns, &thread->clock.clocks);
	if (thread->clock.state == WIRE_THREAD_BLOCKED || thread->clock.late_wake_ns)
		thread->clock.wake_ns = thread->clock.late_wake_ns;
	thread->clock.late_wake_ns = 0;
	thread->clock.is_seen_running = false;
	thread->clock.state = state;
	thread->clock.reason = reason;
	thread->clock.since_ns = now_ns;
	thread->clock.switch_cnt++;
}

static void world_clock_arrive(struct world_thread *thread, uint64_t now_ns)
{
	uint64_t since_ns = thread->clock.since_ns, woken_ns = world_clock_sleep_end(thread);

	if (thread->clock.state == WIRE_THREAD_BLOCKED && thread->clock.reason == BLOCK_THROTTLED) {
		thread->clock.clocks.blocked_ns[BLOCK_THROTTLED] += now_ns - since_ns;
	} else if (woken_ns) {
		thread->clock.clocks.blocked_ns[thread->clock.reason] += woken_ns - since_ns;
		thread->clock.clocks.runnable_ns += now_ns - woken_ns;
	} else if (thread->clock.state == WIRE_THREAD_RUNNABLE) {
		thread->clock.clocks.runnable_ns += now_ns - since_ns;
	} else {
		thread->clock.clocks.unknown_ns += now_ns - since_ns;
	}
	thread->clock.state = WIRE_THREAD_ON_CPU;
	thread->clock.since_ns = now_ns;
	thread->clock.wake_ns = thread->clock.late_wake_ns = 0;
	thread->clock.is_seen_running = false;
	thread->clock.switch_cnt++;
}

static void world_clock_read(const struct world_thread *thread, uint64_t now_ns, struct wire_clocks *reading)
{
	*reading = thread->clock.clocks;
	world_clock_settle(thread, now_ns, reading);
}

/* ---- the events ---- */

static bool world_is_lost(struct world *world, uint8_t kind)
{
	const struct world_options *options = world->options;

	return options->loss_chance && options->lost_kinds >> kind & 1 &&
	       world_one_in(world, options->loss_chance);
}

/*
 * Sends an event at the present moment, from this CPU, or loses it: then the
 * CPU's counters know, as of the moment before.
 */
static struct world_event *world_send(struct world *world, int cpu, const struct event *event)
{
	struct world_event *sent;

	if (world_is_lost(world, event->kind)) {
		if (!world->losses[cpu].span_cnt && !world->losses[cpu].sched_cnt)
			world->losses[cpu].first_ns = world->now_ns - 1;
		world->losses[cpu].last_ns = world->now_ns - 1;
		world->losses[cpu].kinds |= UINT64_C(1) << event->kind;
		if (wire_kind_is_span(event->kind))
			world->losses[cpu].span_cnt++;
		else
			world->losses[cpu].sched_cnt++;
		world->lost_cnt++;
		return NULL;
	}
	world->events = world_room(world->events, world->event_cnt, &world->event_room,
				   sizeof(*world->events));
	sent = &world->events[world->event_cnt++];
	*sent = (struct world_event){ .event = *event };
	sent->event.time_ns = world->now_ns;
	sent->event.cpu = cpu;
	return sent;
}

/* The reader of the rings looks at the counters; what they tell goes into the stream as of the first loss. */
static void world_tell_losses(struct world *world)
{
	for (unsigned int cpu = 0; cpu < world->cpu_cnt; cpu++) {
		struct event event = {
			.kind = EVENT_LOSS,
			.loss = {
				.last_ns = world->losses[cpu].last_ns,
				.span_event_cnt = world->losses[cpu].span_cnt,
				.sched_event_cnt = world->losses[cpu].sched_cnt,
				.kinds = world->losses[cpu].kinds,
			},
		};

		if (!event.loss.span_event_cnt && !event.loss.sched_event_cnt)
			continue;
		world->events = world_room(world->events, world->event_cnt, &world->event_room,
					   sizeof(*world->events));
		event.time_ns = world->losses[cpu].first_ns;
		event.cpu = cpu;
		world->events[world->event_cnt++] = (struct world_event){ .event = event };
		memset(&world->losses[cpu], 0, sizeof(world->losses[cpu]));
	}
}

static int world_compare_times(const void *a, const void *b)
{
	const struct world_event *left = a, *right = b;

	return (left->event.time_ns > right->event.time_ns) - (left->event.time_ns < right->event.time_ns);
}

static void world_sort_events(struct world *world)
{
	qsort(world->events, world->event_cnt, sizeof(*world->events), world_compare_times);
	for (size_t i = 0; i < world->event_cnt; i++)
		if (world->events[i].has_clocks)
			world->events[i].event.clocks = &world->events[i].clocks;
}

static void world_release(struct world *world)
{
	free(world->spans);
	free(world->events);
	free(world->runs);
}

#endif
