/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What holders of locks did while others waited for them: of each wait of a
 * span for a lock, how long the thread that ended it was on a CPU while it
 * lasted. A wait is long because the section is (that is the code's), or
 * because its holder had to wait itself, for a CPU as a rule (that is the
 * machine's); this is the first part, and hardly depends on what else the
 * machine does.
 *
 *	struct lock_holds *holds = lock_holds_new(max_bytes);
 *
 *	err = lock_holds_add(holds, &record);                  each record
 *	err = lock_holds_finish(holds);
 *	while (lock_holds_next(holds, &position, &hold))
 *		use(&hold);
 *
 * A wait is told when the stay on a CPU in which its end lies is: what the
 * holder did is known then. Labels come later still. Memory follows the
 * threads, the open spans and what was waited for, up to a budget; waits beyond
 * it, and those in which the holder left the CPU more than LOCK_HOLDS_STAYS
 * times, are counted as left out. Of a holder whose stays are not in the log
 * nothing is told.
 */
#ifndef LOCK_HOLDS_H
#define LOCK_HOLDS_H

#include "analyze/wait/wait_sums.h"

#define LOCK_HOLDS_STAYS 64

struct lock_hold {
	struct party waiter; /* a span */
	struct party holder; /* a span, or a thread in none */
	uint64_t cnt;        /* waits */
	uint64_t on_cpu_ns;
};

struct lock_holds;

struct lock_holds *lock_holds_new(size_t max_bytes); /* NULL: no memory */
void lock_holds_free(struct lock_holds *holds);

/* any; 0 or -ENOMEM, as below */
int lock_holds_add(struct lock_holds *holds, const struct txtrace_record *record);
int lock_holds_begin_capture(struct lock_holds *holds); /* ids and threads begin anew */
int lock_holds_finish(struct lock_holds *holds);        /* nothing comes after it */

/* All of them, in no order; *position: 0 at first. */
bool lock_holds_next(const struct lock_holds *holds, size_t *position, struct lock_hold *hold);

uint64_t lock_holds_left_out(const struct lock_holds *holds);

#endif
