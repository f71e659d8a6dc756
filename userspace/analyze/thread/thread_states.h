/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From when to when each thread was running, runnable or blocked, as its RUN
 * records tell; behind the last one, as that says how it left the CPU, until
 * the capture ends. A thread that never ran in the capture is in none of them.
 * docs/attribution.md, "Workers".
 *
 *	thread_states_add() for each record, thread_states_finish()
 *
 * Memory follows the live threads, up to THREAD_STATES_MAX; of others only what
 * their records say themselves is told.
 */
#ifndef THREAD_STATES_H
#define THREAD_STATES_H

#include "txtrace/log.h"

#define THREAD_STATES_MAX 100000

enum thread_state {
	THREAD_RUNNING = 0,
	THREAD_RUNNABLE = 1,
	THREAD_BLOCKED = 2,
	THREAD_STATE_COUNT = 3,
};

/* begin < end */
typedef void (*thread_states_take)(void *context, enum thread_state state, uint64_t begin_ns,
				   uint64_t end_ns);

struct thread_states;

struct thread_states *thread_states_new(thread_states_take take, void *context); /* NULL: no memory */
void thread_states_free(struct thread_states *states);

int thread_states_add(struct thread_states *states, const struct txtrace_record *record); /* 0 or -ENOMEM */

/* The capture has ended; what comes behind it is of another one. */
void thread_states_finish(struct thread_states *states);

#endif
