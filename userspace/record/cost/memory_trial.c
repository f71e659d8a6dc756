/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/cost/memory_trial.h"

#include <stddef.h>

#include "base/clock.h"
#include "ring/counter_clock.h"
#include "txtrace/mark_ring.h"

#define ROUNDS 16
#define MARKS 8192

static struct mark_slot slots[MARK_CHUNK_SLOTS];
static uint64_t position;

/* As include/txtrace.h does it: takes a slot, reads the time, fills it, and says last that it is there. */
static __attribute__((noinline)) void mark(uint64_t id, uint64_t name)
{
	uint64_t taken;

#if defined(__x86_64__)
	taken = 1;
	__asm__ volatile("xadd %0, %1" : "+r"(taken), "+m"(position) : : "cc");
#else
	taken = __atomic_fetch_add(&position, 1, __ATOMIC_RELAXED);
#endif
	struct mark_slot *slot = &slots[taken % MARK_CHUNK_SLOTS];

	taken = counter_clock_read() & MARK_TIME_MASK;
	*(volatile uint64_t *)&slot->id = id;
	*(volatile uint64_t *)&slot->name = name;
	*(volatile uint64_t *)&slot->value = 0;
	__atomic_store_n(&slot->commit, (uint64_t)MARK_BEGIN << MARK_KIND_SHIFT | taken, __ATOMIC_RELEASE);
}

uint64_t memory_trial_ps(uint64_t *run_cnt)
{
	uint64_t best_ns = UINT64_MAX;

	for (int round = 0; round < ROUNDS; round++) {
		uint64_t begin_ns = clock_now_ns(), took_ns;

		for (uint64_t i = 0; i < MARKS; i++)
			mark(i, i);
		took_ns = clock_now_ns() - begin_ns;
		best_ns = took_ns < best_ns ? took_ns : best_ns;
	}
	*run_cnt = (uint64_t)ROUNDS * MARKS;
	return best_ns * 1000 / MARKS;
}
