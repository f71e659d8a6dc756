/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * How the state clocks of a thread move. The kernel side runs them at each
 * switch and wakeup (bpf/thread_clock.h); user space runs the same code on the
 * events that it gets (userspace/attribute/thread_table.h), so both come to the
 * same numbers.
 *
 * A thread is on a CPU, runnable, or blocked for a reason. Its switches move it
 * from one state to the next, and add the time in the state before to its
 * clocks. A wakeup only leaves its time: the switch-in that follows splits the
 * sleep there. The caller sees to it that nothing else moves the same thread
 * meanwhile; switches of one task are ordered.
 *
 * Of the time on a CPU, what a hypervisor stole of that CPU is told by the
 * caller, who knows where that is read: it goes to the stolen clock.
 */
#ifndef TXTRACE_STATE_CLOCK_H
#define TXTRACE_STATE_CLOCK_H

#include <txtrace/event.h>

struct state_clock {
	uint64_t since_ns;       /* when the present state began */
	/* of the wakeup that ended its sleep, or the last one; 0: none since it was last switched in */
	uint64_t wake_ns;
	uint64_t late_wake_ns;   /* of one that came after that, and found it running unseen; 0: none */
	uint32_t switch_cnt;     /* also tells a reader that it was interrupted by a switch */
	uint8_t state;           /* enum wire_thread_state; in user space 0 is unknown */
	uint8_t reason;          /* BLOCKED: enum block_reason */
	uint8_t is_seen_running; /* it does something, though its switch-in was not seen */
	/* kernel side: its end was sent. It is here because there it costs no room */
	uint8_t has_ended;
};

#ifdef __bpf__
/*
 * The verifier wants to see the bound. A clock of the kernel that runs
 * backwards is made up for by the next difference.
 */
#define STATE_CLOCK_INDEX(reason) compat_index(reason, BLOCK_REASON_COUNT)
#define STATE_CLOCK_ELAPSED(from_ns, to_ns) ((to_ns) - (from_ns))
#define STATE_CLOCK_INLINE static __always_inline
#else
/* The decoder has checked the reason; nothing in a hostile stream may wrap around. */
#define STATE_CLOCK_INDEX(reason) (reason)
#define STATE_CLOCK_ELAPSED(from_ns, to_ns) ((to_ns) > (from_ns) ? (to_ns) - (from_ns) : 0)
#define STATE_CLOCK_INLINE static inline
#endif

/*
 * When the sleep ended that began at since_ns; 0: unknown. A wakeup can
 * overtake the switch-out that it ends: the waker finds the task asleep while
 * it is still on its way out. Then wake_ns is not after since_ns, and all the
 * time was spent runnable. A wakeup that found the task still running ends no
 * sleep; the one that does comes later and overwrites it. Who is throttled is
 * not asleep: a wakeup finds it running, unseen.
 */
STATE_CLOCK_INLINE uint64_t state_clock_sleep_end(const struct state_clock *clock, uint64_t now_ns)
{
	uint64_t wake_ns = clock->wake_ns;

	if (clock->state != WIRE_THREAD_BLOCKED || clock->reason == BLOCK_THROTTLED || !wake_ns)
		return 0;
	if (wake_ns < clock->since_ns)
		wake_ns = clock->since_ns;
	return wake_ns > now_ns ? now_ns : wake_ns;
}

STATE_CLOCK_INLINE void state_clock_add_blocked(struct wire_clocks *clocks, uint32_t reason,
						uint64_t spent_ns)
{
	if (reason < BLOCK_REASON_COUNT)
		clocks->blocked_ns[STATE_CLOCK_INDEX(reason)] += spent_ns;
}

/* No more can be stolen than there was: what is beyond was stolen before, or comes of another clock. */
STATE_CLOCK_INLINE void state_clock_add_on_cpu(struct wire_clocks *clocks, uint64_t spent_ns,
					       uint64_t stolen_ns)
{
	if (stolen_ns > spent_ns)
		stolen_ns = spent_ns;
	clocks->stolen_ns += stolen_ns;
	clocks->on_cpu_ns += spent_ns - stolen_ns;
}

/*
 * Adds the time up to now_ns, at a moment at which the thread is running; of
 * that stolen_ns were stolen if it was on its CPU all along. If its switch-in
 * was not seen (it was being seeded, or the kernel did not tell: switches away
 * from some tasks are hidden), the time asleep is known, and how the rest
 * divides into runnable and running is not.
 */
STATE_CLOCK_INLINE void state_clock_settle(const struct state_clock *clock, uint64_t now_ns,
					   uint64_t stolen_ns, struct wire_clocks *clocks)
{
	uint64_t since_ns = clock->since_ns, woken_ns;

	if (clock->state == WIRE_THREAD_ON_CPU) {
		state_clock_add_on_cpu(clocks, STATE_CLOCK_ELAPSED(since_ns, now_ns), stolen_ns);
		return;
	}
	woken_ns = state_clock_sleep_end(clock, now_ns);
	if (woken_ns) {
		state_clock_add_blocked(clocks, clock->reason, STATE_CLOCK_ELAPSED(since_ns, woken_ns));
		since_ns = woken_ns;
	}
	clocks->unknown_ns += STATE_CLOCK_ELAPSED(since_ns, now_ns);
}

/*
 * The first wakeup of a sleep ends it. A later one finds the thread running
 * again, and so does one after it was seen to do something, though its
 * switch-in was not seen: such a wakeup can only be one that overtakes the next
 * switch-out.
 */
STATE_CLOCK_INLINE void state_clock_wake(struct state_clock *clock, uint64_t now_ns)
{
	if (clock->is_seen_running ||
	    (clock->state == WIRE_THREAD_BLOCKED &&
	     (clock->wake_ns > clock->since_ns || clock->reason == BLOCK_THROTTLED)))
		clock->late_wake_ns = now_ns;
	else
		clock->wake_ns = now_ns;
}

/* The thread runs, unseen or not: the wakeup that ended its sleep belongs to the past. */
STATE_CLOCK_INLINE void state_clock_forget_wake(struct state_clock *clock)
{
	if (clock->state == WIRE_THREAD_BLOCKED || clock->late_wake_ns)
		clock->wake_ns = clock->late_wake_ns;
	clock->late_wake_ns = 0;
}

/* It is switched out, and is in this state from now on; stolen_ns: as in state_clock_settle(). */
STATE_CLOCK_INLINE void state_clock_leave(struct state_clock *clock, struct wire_clocks *clocks,
					  uint64_t now_ns, uint64_t stolen_ns, uint32_t state,
					  uint32_t reason)
{
	state_clock_settle(clock, now_ns, stolen_ns, clocks);
	state_clock_forget_wake(clock);
	clock->is_seen_running = 0;
	clock->reason = (uint8_t)reason;
	clock->since_ns = now_ns;
	*(volatile uint8_t *)&clock->state = (uint8_t)
		state; /* after the rest: a waker that finds it asleep may change the reason */
	clock->switch_cnt++;
}

/* How the time since it was switched out divides, as far as that is known. */
struct state_absence {
	uint64_t blocked_ns; /* for the reason of the state before */
	uint64_t runnable_ns;
};

/* It is switched in. */
STATE_CLOCK_INLINE struct state_absence state_clock_arrive(struct state_clock *clock,
							   struct wire_clocks *clocks, uint64_t now_ns)
{
	uint64_t since_ns = clock->since_ns, woken_ns = state_clock_sleep_end(clock, now_ns),
		 spent_ns = STATE_CLOCK_ELAPSED(since_ns, now_ns);
	struct state_absence absence = { 0, 0 };

	if (clock->state == WIRE_THREAD_BLOCKED && clock->reason == BLOCK_THROTTLED) {
		absence.blocked_ns = spent_ns; /* nobody wakes it */
		state_clock_add_blocked(clocks, BLOCK_THROTTLED, spent_ns);
	} else if (woken_ns) {
		absence.blocked_ns = STATE_CLOCK_ELAPSED(since_ns, woken_ns);
		absence.runnable_ns = spent_ns - absence.blocked_ns;
		state_clock_add_blocked(clocks, clock->reason, absence.blocked_ns);
		clocks->runnable_ns += absence.runnable_ns;
	} else if (clock->state == WIRE_THREAD_RUNNABLE) {
		absence.runnable_ns = spent_ns;
		clocks->runnable_ns += spent_ns;
	} else {
		clocks->unknown_ns += spent_ns;
	}
	clock->state = WIRE_THREAD_ON_CPU;
	clock->since_ns = now_ns;
	clock->wake_ns = clock->late_wake_ns = 0;
	clock->is_seen_running = 0;
	clock->switch_cnt++;
	return absence;
}

#endif
