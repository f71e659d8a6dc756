/* SPDX-License-Identifier: BSD-2-Clause */
/* Sums that stop at the largest number instead of starting again at 0. */
#ifndef SATURATING_H
#define SATURATING_H

#include <stdint.h>

static inline uint64_t add_saturating(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static inline void increase(uint64_t *sum, uint64_t by)
{
	*sum = add_saturating(*sum, by);
}

#endif
