/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which CPUs traced threads wait for. Only on those does a switch between two
 * untraced tasks say who had the CPU (WIRE_OTHER); on all others it costs the
 * look at one number.
 *
 * A thread that is runnable waits for the CPU in whose queue it is: from the
 * wakeup on for the one that the wakeup chooses, then, if the scheduler moves
 * it, for the other (WIRE_MOVE). Its clock says which one that is, so whatever
 * was missed is set right by its next switch. Who had the CPU is known since
 * the watch began; who has it then was there, as no switch passes unseen.
 *
 * The counts are atomic, the rest is written under the locks that the kernel
 * holds where it tells of these moments.
 */
#ifndef CPU_WATCH_H
#define CPU_WATCH_H

#include "vmlinux.h"
#include "compat.h"
#include "emit.h"
#include "thread_clock.h"

#define CPU_WATCH_UNKNOWN (~0ull)
#define CPU_WATCH_LENGTH_MAX 0xffffffffu

extern struct cpu_watch cpu_watches[WIRE_CPU_MAX + 1];

/* CPUs of higher numbers share the last one, for which nobody ever waits: they are not watched. */
static __always_inline struct cpu_watch *cpu_watch_of(uint32_t cpu)
{
	return &cpu_watches[compat_index(cpu < WIRE_CPU_MAX ? cpu : WIRE_CPU_MAX, WIRE_CPU_MAX + 1)];
}

/* The thread waits for no CPU. */
static __always_inline void cpu_watch_leave(struct thread_clock *clock)
{
	struct cpu_watch *watch;

	if (!clock->waits_on)
		return;
	watch = cpu_watch_of(clock->waits_on - 1);
	clock->waits_on = 0;
	__sync_fetch_and_add(&watch->waiting_cnt, -1);
}

/*
 * The thread waits for this CPU. If a watch begins with it, that is the result,
 * and its since_ns to be set to a time that is read after this: a switch before
 * that time may have been missed, a later one can't be.
 */
static __always_inline struct cpu_watch *cpu_watch_join(struct thread_clock *clock, uint32_t cpu)
{
	struct cpu_watch *watch = cpu_watch_of(cpu);
	bool begins;

	if (clock->waits_on == cpu + 1)
		return 0;
	cpu_watch_leave(clock);
	if (cpu >= WIRE_CPU_MAX)
		return 0;
	begins = !watch->waiting_cnt;
	if (begins)
		watch->since_ns = CPU_WATCH_UNKNOWN;
	clock->waits_on = cpu + 1;
	__sync_fetch_and_add(&watch->waiting_cnt, 1);
	return begins ? watch : 0;
}

/* steal_ns: what the CPU's steal clock shows. */
static __always_inline void cpu_watch_begin(struct cpu_watch *watch, uint64_t now_ns, uint64_t steal_ns)
{
	watch->steal_ns = steal_ns;
	watch->since_ns = now_ns;
}

/* The same of any CPU, whose clock may be about to move on: then all of that counts for the watch. */
static __always_inline void cpu_watch_begin_at(struct cpu_watch *watch, uint32_t cpu, uint64_t now_ns)
{
	if (watch)
		cpu_watch_begin(watch, now_ns, steal_of(cpu));
}

/* For how long the one that leaves now has had the CPU, as far as is known; 0: not at all. */
static __always_inline uint32_t cpu_watch_length(const struct cpu_watch *watch, uint64_t now_ns)
{
	uint64_t since_ns = watch->since_ns;

	if (since_ns >= now_ns)
		return 0;
	return now_ns - since_ns > CPU_WATCH_LENGTH_MAX ? CPU_WATCH_LENGTH_MAX : now_ns - since_ns;
}

/* An untraced task leaves this CPU to another one while a traced thread waits for it. */
int cpu_watch_tell(struct cpu_watch *watch, struct task_struct *prev);

#endif
