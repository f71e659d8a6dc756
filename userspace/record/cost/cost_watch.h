/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Warns of what tracing costs: before recording, of functions that are
 * single-stepped; while it records, once, when tracing takes more than a tenth
 * of the CPU time of the traced processes.
 *
 * The CPU time is that of the processes' clocks, read five times a second. What
 * a process used between the last reading and its end is not known: it is taken
 * to have had one CPU all that time, so the share is rather too small than too
 * large.
 */
#ifndef COST_WATCH_H
#define COST_WATCH_H

#include <stdint.h>

#include "attach/unmodified/foreign_plan.h"
#include "record/cost/cost_meter.h"
#include "record/messages/messages.h"
#include "record/targets/target_set.h"

struct cost_watch;

struct cost_watch_options {
	struct cost_meter *meter;
	const struct foreign_plan *plan; /* NULL: no foreign probes */
	const struct target_set *targets;
	const struct messages *messages;
};

struct cost_watch *cost_watch_new(const struct cost_watch_options *options); /* NULL: no memory */
void cost_watch_free(struct cost_watch *watch);                              /* NULL is allowed */

/* Says once that functions are single-stepped, and what that costs. */
void cost_watch_steps(struct cost_watch *watch);

/* Recording begins: what processes have used before does not count. */
void cost_watch_begin(struct cost_watch *watch, uint64_t now_ns);

/* Looks, if it is time, and warns. */
void cost_watch_tick(struct cost_watch *watch, uint64_t now_ns);

/* Of what was used since the begin. */
struct cost_share {
	uint64_t tracing_ns; /* as the meter estimates it */
	uint64_t cpu_ns;     /* all of it; 0: not known */
};

/* Before the targets are forgotten: looks once more. */
void cost_watch_end(struct cost_watch *watch, uint64_t now_ns, struct cost_share *share);

#endif
