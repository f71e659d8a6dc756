/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The state clocks of a thread, in its task storage or, before 5.13, in a
 * table: how long it has been on a CPU, runnable, blocked for each reason. They
 * run from the moment it is traced; a thread is traced exactly if it has them.
 * How they move is in state_clock.h. Only the scheduler's switch moves them, so
 * they need no lock.
 */
#ifndef THREAD_CLOCK_H
#define THREAD_CLOCK_H

#include "vmlinux.h"
#include "compat.h"
#include "emit.h"
#include "steal.h"
#include "txtrace/state_clock.h"

#include <bpf/bpf_helpers.h>

enum wait_kind {
	WAIT_NONE = 0,  /* the switch-out has told all */
	WAIT_EPOLL = 1,
	WAIT_POLL = 2,  /* poll, select */
	WAIT_RING = 3,  /* io_uring */
};

#define WAIT_FD_MAX 6

/* A wait in poll, select, epoll or io_uring, of which only the end tells what it was for: see wait_end.h. */
struct open_wait { /* small: whoever starts a thread's clocks has them in its frame */
	uint64_t object;     /* as in struct block; from its wakeup on what ended it */
	union {
		uint64_t on; /* EPOLL: its struct eventpoll; RING: its struct io_ring_ctx; 0: not known */
		int32_t fds[WAIT_FD_MAX]; /* POLL: the first of those that are watched */
	};
	uint8_t kind;        /* enum wait_kind */
	uint8_t fd_cnt;
	uint8_t reads;       /* which of the fds are to be read from, a bit for each */
	uint8_t is_whole;    /* these are all that are watched */
	/* enum block_reason + 1, for waits from now on, whatever ends them; 0: none is told */
	uint8_t told_reason;
	uint8_t padding[3];
};

enum lanes_known {
	LANES_NONE = 0,
	LANES_KNOWN = 1,
	LANES_UNKNOWN = 2, /* there are some, and no memory to note which */
};

struct thread_clock { /* small, too: 5.10 has 512 bytes for the frames of a program and all that it calls */
	struct wire_clocks clocks; /* up to now.since_ns */
	struct state_clock now;
	uint32_t reported_cnt;     /* now.switch_cnt when a span event last took the clocks along */
	uint16_t waits_on;         /* number of the CPU that it waits for + 1, see cpu_watch.h; 0: none */
	uint16_t cpu;              /* that it was last on, or put on */
	struct open_wait wait;
	uint64_t steal_ns;         /* what its CPU's steal clock showed at now.since_ns, while it is on one */
	uint32_t reported_steal;   /* its lowest bits when the clocks were last taken along */
	/* there was a mark in this stay on a CPU, and the steal clock is late, or the mark did not read it */
	uint8_t is_stolen_shared;
	uint8_t lanes;             /* enum lanes_known: in which it marks, see mark_ring.h */
	uint8_t padding[2];
};

_Static_assert(sizeof(struct thread_clock) == 232, "with 64 bytes more, on_begin does not load on 5.10");

struct thread_clocks_map {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread_clock);
};

extern struct thread_clocks_map thread_clocks SEC(".maps");

/*
 * Before 5.13: by the address of the task_struct, which names one thread from
 * its fork to its last switch. All of it is allocated when the recorder starts,
 * since nothing can be where the scheduler works; a thread that finds no room
 * has no clocks and is counted.
 */
struct table_clocks_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, uint64_t);
	__type(value, struct thread_clock);
};

extern struct table_clocks_map table_clocks SEC(".maps");

/* NULL: not traced. */
static __always_inline struct thread_clock *thread_clock_of(struct task_struct *task)
{
	uint64_t key = (uint64_t)task;

	if (!compat_has_task_storage())
		return bpf_map_lookup_elem(&table_clocks, &key);
	return bpf_task_storage_get(&thread_clocks, task, 0, 0);
}

/*
 * The same for programs that meet all tasks of the machine, most of which are
 * not traced: those that nobody has stored anything for are known without a
 * call. Elsewhere the look would not pay; and for each place where such a
 * pointer is loaded the verifier searches the kernel's types four times.
 */
static __always_inline struct thread_clock *thread_clock_if_any(struct task_struct *task)
{
	return compat_has_task_storage() && !compat_has_storage(task) ? 0 : thread_clock_of(task);
}

/* The task is gone, or new: what the table holds at its address is not of it. */
static __always_inline void thread_clock_forget(struct task_struct *task)
{
	uint64_t key = (uint64_t)task;

	if (!compat_has_task_storage())
		bpf_map_delete_elem(&table_clocks, &key);
}

/* The task lives on and is not traced any more. */
static __always_inline void thread_clock_drop(struct task_struct *task)
{
	if (compat_has_task_storage())
		bpf_task_storage_delete(&thread_clocks, task);
	else
		thread_clock_forget(task);
}

/*
 * Starts the clocks of a thread that has none, in this state, and sends a
 * WIRE_THREAD with these flags. NULL: no memory, counted.
 */
struct thread_clock *thread_clock_start(struct task_struct *task, uint32_t state, uint32_t reason,
					uint32_t flags);

/* Sends a WIRE_THREAD with the new name. */
void thread_clock_rename(struct task_struct *task, const struct thread_clock *clock, const char *comm);

/* The thread does something: to be said before its clocks are read. */
static __always_inline void thread_clock_see_running(struct thread_clock *clock)
{
	if (clock->now.state != WIRE_THREAD_ON_CPU)
		clock->now.is_seen_running = 1;
}

/*
 * What was stolen since the thread got its CPU, as the steal clock shows now.
 * Where that is late and there were marks, nobody knows whose it is.
 */
static __always_inline uint64_t thread_clock_stolen(const struct thread_clock *clock, uint64_t steal_ns)
{
	return clock->is_stolen_shared ? 0 : steal_between(clock->steal_ns, steal_ns);
}

/* The clocks at now_ns of the current thread; steal_ns: from steal_and_time(). */
static __always_inline void thread_clock_read(struct thread_clock *clock, uint64_t now_ns, uint64_t steal_ns,
					      struct wire_clocks *reading)
{
	if (steal_is_told() && cfg_steal_is_late)
		clock->is_stolen_shared = 1;
	*reading = clock->clocks;
	state_clock_settle(&clock->now, now_ns, thread_clock_stolen(clock, steal_ns), reading);
}

/* It is switched out, or in, with what steal_and_time() told. */
static __always_inline void thread_clock_leave(struct thread_clock *clock, uint64_t now_ns, uint64_t steal_ns,
					       uint32_t state, uint32_t reason)
{
	state_clock_leave(&clock->now, &clock->clocks, now_ns, thread_clock_stolen(clock, steal_ns), state,
			  reason);
}

static __always_inline void thread_clock_arrive(struct thread_clock *clock, uint64_t now_ns,
						uint64_t steal_ns)
{
	state_clock_arrive(&clock->now, &clock->clocks, now_ns);
	clock->steal_ns = steal_ns;
	clock->is_stolen_shared = 0;
}

/* Goes with a reading: what it is worth. */
static __always_inline uint16_t thread_clock_flags(const struct thread_clock *clock, bool is_whole)
{
	uint16_t flags = WIRE_HAS_CLOCKS;

	if (!is_whole || !cfg_has_clocks)
		flags |= WIRE_NO_CLOCKS;
	if (clock->now.state != WIRE_THREAD_ON_CPU && cfg_has_clocks)
		flags |= WIRE_NOT_ARRIVED;
	return flags;
}

#endif
