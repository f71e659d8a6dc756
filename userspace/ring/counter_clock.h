/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The counter that programs read at a mark (the time stamp counter, on aarch64
 * the generic timer), and what CLOCK_MONOTONIC showed at the same moment.
 * Between two looks the one follows from the other on a straight line; behind
 * the last one, on the line that led there.
 */
#ifndef COUNTER_CLOCK_H
#define COUNTER_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define COUNTER_CLOCK_JUMP_NS 100000 /* farther from the line than this, and than clocks differ: a jump */
#define COUNTER_CLOCK_LOOKS 64 /* a power of two: what is older follows from the oldest two */

struct counter_look {
	uint64_t counter;
	uint64_t time_ns;
	uint64_t doubt; /* steps of the counter by which they may not belong together */
};

struct counter_clock {
	struct counter_look looks[COUNTER_CLOCK_LOOKS]; /* a ring */
	uint64_t rates[COUNTER_CLOCK_LOOKS]; /* on the line that leads there: ns << 32 for each step */
	uint32_t cnt;			     /* that were ever kept */
};

static inline uint64_t counter_clock_read(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#else
	uint64_t counter;

	__asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(counter) : : "memory");
	return counter;
#endif
}

/* Whether the kernel itself keeps the time by this counter: else marks are not to be timed by it. */
bool counter_clock_is_usable(void);

/* Two looks a moment apart, so that there is a line. */
void counter_clock_init(struct counter_clock *clock);

/*
 * Looks again. Returns the time. Calls that come too soon keep nothing.
 * *has_jumped: the counter is not where the line leads (a virtual machine was
 * moved or suspended): what it showed since the look before has no time.
 */
uint64_t counter_clock_look(struct counter_clock *clock, bool *has_jumped);

/* The same with a look from elsewhere, for tests. Returns has_jumped. */
bool counter_clock_keep(struct counter_clock *clock, const struct counter_look *look);

/* counter: the lowest 56 bits of what was read, not long before the last look or after it. */
uint64_t counter_clock_time_ns(const struct counter_clock *clock, uint64_t counter);

#endif
