/* SPDX-License-Identifier: BSD-2-Clause */
/* How much is told of what the scheduler does: --sched. */
#ifndef SCHED_MODE_H
#define SCHED_MODE_H

enum sched_mode {
	SCHED_TIMELINE = 0, /* every switch and wakeup of a traced thread is an event */
	SCHED_LEDGER = 1,   /* none is; the clocks run, and come with the events of spans */
	SCHED_NONE = 2,     /* --sched off: nobody watches the scheduler, and no event has clocks */
	SCHED_MODE_COUNT = 3,
};

/* As the option says it: "timeline", "ledger", "off"; ends with NULL. */
extern const char *const sched_mode_names[];

#endif
