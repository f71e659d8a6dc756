/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads come and go, under tids that are used again; processes are there as
 * long as they have threads. And a thread's own event is read: who it is, and
 * what its clocks say. Results are 0, -ENOMEM, or what the sink returned.
 */
#ifndef THREAD_LIFE_H
#define THREAD_LIFE_H

#include "attribute/attribution_state.h"
#include "attribute/span_close.h"

/*
 * A new thread, in an unknown state; NULL: there is no memory. The caller writes
 * the record that tells of it.
 */
struct thread *add_thread(struct attribution *attribution, uint32_t tid, uint32_t tgid, uint64_t time_ns);

/*
 * The thread that an event tells of. One that was not announced is made, in an
 * unknown state, and a record tells of it: the event that should have was lost,
 * or the thread got another tid by exec, and has not told of that yet.
 */
int thread_of_event(struct attribution *attribution, uint32_t tid, uint32_t tgid, uint64_t time_ns,
		    struct thread **thread);

/*
 * It exits: from its spans and its process. With the last one the process has
 * gone, and its spans are cut off.
 */
int retire_thread(struct attribution *attribution, const struct own_event *own);

/*
 * Nothing will be heard of it again; it is freed. If its exit was not heard of,
 * then that was lost: nobody knows when it left its spans.
 */
int forget_thread(struct attribution *attribution, struct thread *thread, uint64_t time_ns);

/*
 * Who did this itself, and its reading; by that the replay of the thread is set
 * right. A mismatch that no loss explains is counted.
 */
int read_own_event(struct attribution *attribution, const struct event *event, struct own_event *own);

/* Only the reading; own->thread is told. */
void read_clocks(struct attribution *attribution, const struct event *event, struct own_event *own);

#endif
