/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The threads of the stream and their states: the kernel's state clocks
 * (state_clock.h) replayed from the switches and wakeups, and set right by
 * every reading that a span event carries. By the thread's own events its
 * clocks are exact whatever was lost; between them, asked from outside, they
 * are as good as the switches that came through.
 */
#ifndef THREAD_TABLE_H
#define THREAD_TABLE_H

#include <stdbool.h>

#include "base/hash_index.h"
#include "base/pool.h"
#include "event/event.h"
#include "txtrace/log.h"
#include "txtrace/state_clock.h"

struct cover;
struct stay;
struct process;

enum thread_state {
	THREAD_UNKNOWN = 0,
	THREAD_ON_CPU = WIRE_THREAD_ON_CPU,
	THREAD_RUNNABLE = WIRE_THREAD_RUNNABLE,
	THREAD_BLOCKED = WIRE_THREAD_BLOCKED,
};

/*
 * What a thread said of its clocks. Until it has been switched, its later
 * readings are this one with more time on the CPU: they share it.
 */
struct thread_reading {
	struct wire_clocks clocks;
	uint64_t time_ns;
	uint64_t unsplit_from_ns; /* time on a CPU from here to that moment may have been stolen; 0: none */
	uint64_t shared_ns;       /* thread.shared_ns */
	uint32_t user_cnt; /* the thread while it is its last one, and stays that began with it */
	uint32_t number;   /* in the pool */
};

/* What every event asks for is on the first line of the cache, what switches need on the next two. */
struct thread {
	uint32_t tid;
	uint32_t tgid;
	struct state_clock now; /* its reason: that of a poll is known when it ends */
	uint64_t top_span;     /* id of the span that it has entered last, of those that it is in; 0: none */
	struct stay *stays;    /* the spans that it is in, the last entered first */
	struct thread_reading *reading; /* the last that came with clocks; NULL: none */

	uint64_t reading_ns; /* of its last event whose clocks are known, if only by that reading */
	bool is_synced;  /* clocks are the kernel's numbers, not only differences */
	/* it is in no span and no process any more, and will be switched out for the last time */
	bool has_exited;
	bool is_top_span_keyed;
	bool is_top_hidden; /* the span that it has entered last is left out: top_span is one below */

	/* The stay on a CPU that goes on now, or the last. */
	uint64_t run_begin_ns;
	uint64_t run_blocked_ns;
	uint64_t run_runnable_ns;
	uint64_t run_idle_ns; /* of that, at its end, the CPU was idle */
	uint64_t run_idle_stolen_ns;
	/* of the stay that goes on, as much as is in clocks; UINT64_MAX: its begin was not seen */
	uint64_t run_stolen_ns;
	uint64_t run_wait_object; /* with run_has_wait_end: what the block before it was for */
	bool run_has_wait_end;
	uint8_t run_wait_reason;
	bool is_wait_told;        /* the wakeup that ended its sleep has set reason and wait_object */
	uint32_t run_cpu;
	uint32_t block_stack; /* of the sleep that goes on; 0: not known */

	uint32_t number; /* in the pool */
	uint64_t wait_object;
	uint64_t shared_ns; /* stolen in stays with marks, where the steal clock is late; it only grows */
	struct wire_clocks clocks; /* up to now.since_ns */
	struct process *process;
	/* of the spans without a parent that it is in, the last entered: see top_level.h; NULL: none */
	struct stay *root_stay;
	struct cover *covers;   /* of the others, the last entered first */
	char comm[16];
	uint8_t comm_length;
	bool is_told; /* a record tells of it, with the name in comm; without one, if no event announced it */
} __attribute__((aligned(64)));

#define THREAD_RECENT 256

/* A thread that was asked for lately: what a few threads do is told without a look into the index. */
struct recent_thread {
	struct thread *thread; /* NULL: none */
	uint32_t tid;          /* told here, so that no other thread is read in vain */
};

struct thread_table {
	struct recent_thread recent[THREAD_RECENT]; /* by tid, modulo that number */
	struct hash_index by_tid;
	struct pool threads;
	struct pool readings;
	uint64_t seed;
	/*
	 * the stream has the switches and wakeups; else nobody knows what a thread does between its own
	 * events
	 */
	bool is_replayed;
	uint8_t steal;   /* enum steal_kind */
	bool has_losses; /* of switches: what was stolen meanwhile is not told */
};

void thread_table_init(struct thread_table *table);
void thread_table_release(struct thread_table *table); /* the stays are the span table's */

/* Visits all, in no order: for (size_t i = 0; (thread = thread_table_next(table, &i));). */
struct thread *thread_table_next(const struct thread_table *table, size_t *position);

/* It will be asked for soon: fetches its place in the index; itself, once that is here; its reading then. */
void thread_table_fetch_slot(const struct thread_table *table, uint32_t tid);
void thread_table_fetch(const struct thread_table *table, uint32_t tid);
void thread_reading_fetch(const struct thread_reading *reading);
void thread_table_fetch_reading(const struct thread_table *table, uint32_t tid);

/* unknown state; NULL: no memory */
struct thread *thread_table_add(struct thread_table *table, uint32_t tid, uint32_t tgid, uint64_t time_ns);
/* frees it; it is in no span any more */
void thread_table_remove(struct thread_table *table, struct thread *thread);
/* an exec'ing thread takes the leader's tid */
int thread_table_rename(struct thread_table *table, struct thread *thread, uint32_t new_tid);

void thread_name(struct thread *thread, const struct event_text *comm);

/* A stay that holds a reading is over. */
void thread_table_let_go(struct thread_table *table, struct thread_reading *reading);

/* What the kernel side does at the same moments; a wakeup is state_clock_wake(). */
void thread_start(struct thread *thread, const struct event *event); /* THREAD */
/* before that: the wakeup tells what the wait was for */
void thread_end_wait(struct thread *thread, uint8_t reason, uint64_t object);
void thread_leave(struct thread *thread, const struct event *event); /* SWITCH */
void thread_arrive(struct thread *thread, uint64_t time_ns, uint32_t cpu);

/* After that: the CPU was idle for so long before, of which so much was stolen. */
void thread_found_idle(struct thread *thread, uint64_t idle_ns, uint64_t stolen_ns);

/* Of the stay on a CPU that ends with this SWITCH, or for the replay goes on (NULL). */
uint64_t thread_run_stolen(const struct thread *thread, uint64_t end_ns, const struct event *left);

/*
 * Between two readings of a thread it was on its CPU for on_cpu_ns: how much of
 * that may have been stolen.
 */
uint64_t thread_stolen_doubt(const struct thread_table *table, const struct thread_reading *from,
			     const struct thread_reading *to, uint64_t to_ns, uint64_t on_cpu_ns);

/* The clocks at time_ns, as replayed: a reading that nobody holds. What is not replayed is unknown. */
void thread_replay_at(const struct thread_table *table, const struct thread *thread, uint64_t time_ns,
		      struct thread_reading *reading);

/*
 * The reading that an event of the thread itself goes on from, and the replay
 * set right by it. *is_mismatch: it differs from the replay although that was
 * in step: events were lost, or there is a bug. NULL: the event tells nothing
 * and nothing came before it (or there is no memory to keep it); the account is
 * unknown here.
 */
struct thread_reading *thread_read_own(struct thread_table *table, struct thread *thread,
				       const struct event *event, bool *is_mismatch);

/*
 * NULL: not there. To find one takes a look into the index; to get it that only
 * if nobody has asked for it lately.
 */
struct thread *thread_table_find(struct thread_table *table, uint32_t tid);

static inline struct thread *thread_table_get(struct thread_table *table, uint32_t tid)
{
	struct recent_thread *recent = &table->recent[tid % THREAD_RECENT];

	return recent->thread && recent->tid == tid ? recent->thread : thread_table_find(table, tid);
}

#endif
