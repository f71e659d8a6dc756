/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a hypervisor has stolen of each CPU: a clock that the kernel has for
 * each, in ns. Which one, and where it lies from the CPU's struct rq on, the
 * recorder finds (userspace/attach/probes/steal_source.h):
 *
 * - KVM writes its clock into memory of the guest before the CPU goes on, so it
 *   is exact at any moment.
 * - Elsewhere there is rq.prev_steal_time_rq, which the scheduler sets whenever
 *   it updates the queue's clock: exact at a switch, late between two
 *   (cfg_steal_is_late). Then what was stolen in a stay on a CPU is known when
 *   it ends; if marks were made in it, it is not known which spans were hit,
 *   and it stays on-CPU.
 */
#ifndef STEAL_H
#define STEAL_H

#include "vmlinux.h"
#include "compat.h"
#include "txtrace/event.h"

#include <bpf/bpf_helpers.h>

#define STEAL_UNKNOWN (~0ull)
#define STEAL_TRIES 3

/* As KVM has it; of the scheduler's clock only the first member counts. */
struct steal_reading {
	uint64_t stolen_ns;
	uint32_t version; /* odd: being written, which only another CPU can see */
	uint32_t flags;
};

/* CPUs of higher numbers have none. */
extern struct steal_clock steal_clocks[WIRE_CPU_MAX];

/* From the CPU's struct rq, in bytes; 0: there is none. */
extern const volatile int64_t cfg_steal_offset;
extern const volatile bool cfg_steal_is_late;

/* Of the CPU that the task is on. */
uint64_t steal_address(struct task_struct *task);

static __always_inline bool steal_is_told(void)
{
	return cfg_steal_offset != 0;
}

static __always_inline bool steal_is_exact(void)
{
	return cfg_steal_offset && !cfg_steal_is_late;
}

static __always_inline uint64_t steal_read_at(uint64_t address, uint64_t otherwise_ns)
{
	struct steal_reading now;

	if (!address || bpf_probe_read_kernel(&now, sizeof(now), (const void *)address) ||
	    (!cfg_steal_is_late && now.version & 1))
		return otherwise_ns;
	return now.stolen_ns;
}

/*
 * The time, and what was stolen of this CPU up to then. The two belong together
 * if nothing was stolen while they were read; if the clock has moved since it
 * was last read here, that is seen by another look.
 */
static __always_inline uint64_t steal_and_time(struct task_struct *current_task, uint32_t cpu,
					       uint64_t *now_ns)
{
	struct steal_clock *clock;
	uint64_t stolen_ns = 0;

	*now_ns = bpf_ktime_get_ns();
	if (!steal_is_told() || cpu >= WIRE_CPU_MAX)
		return 0;
	clock = &steal_clocks[compat_index(cpu, WIRE_CPU_MAX)];
	if (!clock->address)
		clock->address = steal_address(current_task);
#pragma unroll
	for (int i = 0; i < STEAL_TRIES; i++) {
		stolen_ns = steal_read_at(clock->address, clock->seen_ns);
		if (stolen_ns == clock->seen_ns)
			break;
		clock->seen_ns = stolen_ns;
		*now_ns = bpf_ktime_get_ns();
	}
	return stolen_ns;
}

/* What a CPU's clock shows, without a time; STEAL_UNKNOWN: nobody has read it there yet. */
static __always_inline uint64_t steal_of(uint32_t cpu)
{
	if (!steal_is_told() || cpu >= WIRE_CPU_MAX)
		return STEAL_UNKNOWN;
	return steal_read_at(steal_clocks[compat_index(cpu, WIRE_CPU_MAX)].address, STEAL_UNKNOWN);
}

static __always_inline uint64_t steal_between(uint64_t from_ns, uint64_t to_ns)
{
	return from_ns < to_ns && to_ns != STEAL_UNKNOWN ? to_ns - from_ns : 0;
}

#endif
