/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Arithmetic on readings of a thread's state clocks (struct wire_clocks), and
 * how their differences go into a ledger.
 */
#ifndef CLOCKS_H
#define CLOCKS_H

#include <stdbool.h>

#include "txtrace/event.h"
#include "txtrace/log.h"

/* to - from, or 0 if that would be negative: nothing in a hostile stream may wrap around. */
static inline uint64_t elapsed_ns(uint64_t from_ns, uint64_t to_ns)
{
	return to_ns > from_ns ? to_ns - from_ns : 0;
}

/*
 * Do both readings show the same, apart from when they were born, and from how
 * the time on a CPU divides? What of that interrupts took no event tells, and
 * what was stolen only the end of the stay on the CPU.
 */
bool clocks_equal(const struct wire_clocks *a, const struct wire_clocks *b);

/*
 * Adds what passed between two readings to the ledger, which must come to
 * wall_ns in sum. From each reading the thread was on its CPU for another
 * on_cpu ns: that is the moment which is meant. If the sum is another (a clock
 * ran backwards, or the readings belong to different threads), nothing is known
 * of that time: all of it goes to unknown, and the result is false.
 */
bool ledger_add_clocks(struct txtrace_ledger *ledger, const struct wire_clocks *from, uint64_t from_on_cpu_ns,
		       const struct wire_clocks *to, uint64_t to_on_cpu_ns, uint64_t wall_ns);

#endif
