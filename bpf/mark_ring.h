/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Marks that a program writes into memory that it shares with the recorder
 * (include/txtrace.h) carry no clocks. A thread that has marked there in one of
 * its last stays on a CPU tells its clocks when it leaves its CPU, as they were
 * when it came: of what it marked meanwhile they differ by the time on
 * the CPU alone.
 * Of a thread that does not leave it, the recorder asks on its CPU.
 *
 * Whether it has marked, the positions of its lanes tell, which lie in its own
 * memory. From 5.13 on: what is kept of a thread is in its task storage.
 */
#ifndef MARK_RING_H
#define MARK_RING_H

#include "vmlinux.h"
#include "thread_clock.h"

extern const volatile bool cfg_has_mark_rings;

/*
 * The current thread has a lane with its position at that address. If there is
 * no memory to note that, it tells its clocks at each switch.
 */
void mark_ring_add_lane(struct thread_clock *clock, uint64_t address);

/* Its memory is gone with its program. */
void mark_ring_forget(struct task_struct *task);

#define MARK_RING_NOW 0xffffffffffffffffull
#define MARK_RING_GOES_ON 0

/*
 * Sends its clocks, if the thread has marked: those that hold for its marks up to
 * end_ns; NOW: it leaves its CPU; GOES_ON: it may mark more. Not inlined: their
 * room is not in the caller's frame.
 */
int mark_ring_tell(struct task_struct *task, struct thread_clock *clock, uint64_t end_ns);

/* Before its clocks move. */
static __always_inline void mark_ring_leave(struct task_struct *task, struct thread_clock *clock,
					    uint64_t end_ns)
{
	if (cfg_has_mark_rings && clock->lanes)
		mark_ring_tell(task, clock, end_ns);
}

#endif
