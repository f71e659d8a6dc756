/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One counter of the program over time, such as the length of its queue, in
 * each process: a step function, of which the last QUEUE_HISTORY_POINTS steps
 * are known.
 */
#ifndef QUEUE_HISTORY_H
#define QUEUE_HISTORY_H

#include "txtrace/log.h"

#define QUEUE_HISTORY_POINTS 65536
#define QUEUE_HISTORY_PROCESSES 256 /* counters of more are left out */

struct queue_history;

/* of the counter; must outlive it. NULL: no memory */
struct queue_history *queue_history_new(const char *name);
void queue_history_free(struct queue_history *history);

/* A counter of any name, in the order of time. 0 or -ENOMEM. */
int queue_history_add(struct queue_history *history, const struct txtrace_counter *counter);

uint64_t queue_history_count(const struct queue_history *history); /* of the counter with this name */

/*
 * For how long it was above 0 between two times, of which the later one is not
 * before the last step; *mean_depth: its mean while it was. Before the first
 * step that is known, it is taken for 0.
 */
uint64_t queue_history_positive_ns(const struct queue_history *history, uint32_t pid, uint64_t from_ns,
				   uint64_t to_ns, double *mean_depth);

#endif
