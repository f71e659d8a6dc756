/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A sample of what the kernel's scheduler accounts, as sched_account writes
 * them to its file, one after the other. tests/e2e/sched_account.py reads them:
 * sizes and offsets are the same there. All but HIDDEN are of the family.
 */
#ifndef SCHED_ACCOUNT_H
#define SCHED_ACCOUNT_H

enum account_kind {
	ACCOUNT_SWITCH = 1, /* the CPU goes from one thread to the next */
	ACCOUNT_WAKING = 2, /* someone wakes a thread, or has made it */
	ACCOUNT_TICK = 3,   /* a timer, once each millisecond; only if removed_ns or steal_ns has changed */
	/* of a SWITCH or SLEEP: the programs at the tracepoint that were attached after ours have run */
	ACCOUNT_SWITCHED = 4,
	/* a SWITCH; who leaves goes to sleep, and comes back only when somebody wakes it */
	ACCOUNT_SLEEP = 6,
	/*
	 * from since_ns to time_ns, somebody's program may have run behind the one that says SWITCHED, or
	 * WOKEN of a new thread
	 */
	ACCOUNT_UNORDERED = 7,
	/*
	 * the thread is in a queue: all programs at the tracepoint of its waking, or of its making and its
	 * first waking, have run
	 */
	ACCOUNT_WOKEN = 5,
	/*
	 * between since_ns and time_ns the CPU was switched unseen: its queue counted more switches than the
	 * tracepoint told
	 */
	ACCOUNT_HIDDEN = 8,
	/* a thread goes to the queue of another CPU */
	ACCOUNT_MOVED = 9,
};

/*
 * removed_ns is what the scheduler has taken out of the clock by which it counts
 * CPU time: what the hypervisor stole and, on kernels with
 * CONFIG_IRQ_TIME_ACCOUNTING, what interrupts took. It only grows; a sample that
 * says more than a later one was read while another CPU changed the clocks. A
 * CPU's samples are in order, and both change at none but those.
 *
 * The kernel may remove less than was stolen: while a CPU is stolen another one
 * may bring its clock up to date, which takes that time for the thread's. Since
 * late 2024 it is not removed later either. So the hypervisor's own clock is
 * there, too. Between removed_ns and steal_ns lies what a ledger may have.
 */
struct account_sample {
	uint64_t time_ns;    /* CLOCK_MONOTONIC */
	/*
	 * when it was last looked at on this CPU: until then, removed_ns and steal_ns were what the CPU's
	 * previous sample says
	 */
	uint64_t since_ns;
	uint64_t removed_ns; /* of this CPU, since it was started */
	/* SWITCH: how long the next thread has waited for CPUs in its life, this time included (schedstat) */
	uint64_t delay_ns;
	/*
	 * SWITCH: how often the next thread has come onto a CPU before, as the scheduler counts: one left out
	 * is a hidden switch
	 */
	uint32_t arrival_cnt;
	uint32_t cpu;
	uint32_t kind;
	uint32_t tid;      /* SWITCH: who leaves; WAKING, WOKEN: who is woken; MOVED: who goes; 0: idle */
	uint32_t next_tid; /* SWITCH: who comes; else 0 */
	/*
	 * SWITCH: 1: the scheduler counts this time, and the wait; not so if the thread was preempted while
	 * it was about to sleep
	 */
	uint32_t is_counted;
	uint64_t steal_ns; /* the steal clock of this CPU; removed_ns where there is none */
	uint64_t clock_ns; /* SWITCH: the queue's clock, by which the next thread's wait ends; else 0 */
};

#endif
