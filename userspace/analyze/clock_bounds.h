/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How wrong the clocks of several machines can be against each other, by the
 * requests that went between them: none arrives before it was sent, and none is
 * answered before it was dealt with. What went where is told by traceparents
 * (analyze/trace_context.h).
 *
 *	struct clock_bounds *bounds = clock_bounds_new(machine_cnt);
 *
 *	clock_bounds_begin_log(bounds, machine, shift_ns);  for each log
 *	clock_bounds_add(bounds, &record);                  and each of its records, in its order
 *	clock_bounds_finish(bounds);
 *	clock_bounds_get(bounds, machine, &bound);          of each machine, against the first
 *
 * A span that sent a request is taken to end after the answer, unless what the
 * request led to took longer than that. Memory: about 200 bytes for each request
 * that a log tells of; those beyond CLOCK_REQUEST_MAX are not looked at, which
 * leaves the bounds right.
 */
#ifndef CLOCK_BOUNDS_H
#define CLOCK_BOUNDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "txtrace/log.h"

#define CLOCK_REQUEST_MAX (1u << 22)

struct clock_bounds;

/* What would have to be added to the times of a machine to make them right: from `least` to `most`. */
struct clock_bound {
	int64_t least_ns, most_ns;
	bool has_least, has_most;
	uint64_t request_cnt; /* that this machine sent or got, from or to any other */
};

struct clock_bounds *clock_bounds_new(size_t machine_cnt); /* NULL: no memory */
void clock_bounds_free(struct clock_bounds *bounds);

/* The records that follow are of this machine; shift_ns is added to their times, modulo 2^64. */
void clock_bounds_begin_log(struct clock_bounds *bounds, size_t machine, uint64_t shift_ns);
int clock_bounds_add(struct clock_bounds *bounds, const struct txtrace_record *record); /* 0 or -ENOMEM */

/*
 * 0; -ENOMEM; -EDOM: the requests contradict each other, as when a clock was
 * set between them; then there are no bounds.
 */
int clock_bounds_finish(struct clock_bounds *bounds);
void clock_bounds_get(const struct clock_bounds *bounds, size_t machine, struct clock_bound *bound);

/*
 * What to add to the times of the machine: nothing if they may be right; else
 * the middle of the bounds, or the only one.
 */
int64_t clock_bound_correction(const struct clock_bound *bound);

#endif
