/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/wait/wait_finder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/id_map.h"

struct waiting_thread {
	/* Its last stay on a CPU. */
	uint64_t left_ns;
	uint64_t object;
	int32_t syscall_nr;
	uint8_t reason;
	bool has_left;
	bool is_blocked; /* so it left */

	/*
	 * Wakeups since: the first one after it left, which ends a block, and the last one, which does if the
	 * thread was on a CPU meanwhile unseen.
	 */
	bool has_first, has_last;
	struct wait_wake first, last;
};

#define THREAD_BYTES (sizeof(struct waiting_thread) + 4 * sizeof(struct id_map_slot))

struct wait_finder {
	struct id_map threads; /* by process and thread */
	size_t max_threads;
	struct wait_keeper keeper;
	bool is_full;
	struct wait_wake found, found_last; /* of the wait that was told last */
	bool has_found, has_found_last;
};

struct wait_finder *wait_finder_new(size_t max_bytes, const struct wait_keeper *keeper)
{
	struct wait_finder *finder = calloc(1, sizeof(*finder));

	if (!finder)
		return NULL;
	id_map_init(&finder->threads);
	finder->max_threads = max_bytes / THREAD_BYTES;
	if (keeper)
		finder->keeper = *keeper;
	return finder;
}

static void drop(struct wait_finder *finder, struct wait_wake *wake, bool *has)
{
	if (*has && finder->keeper.drop)
		finder->keeper.drop(finder->keeper.context, wake);
	*has = false;
}

static void drop_found(struct wait_finder *finder)
{
	drop(finder, &finder->found, &finder->has_found);
	drop(finder, &finder->found_last, &finder->has_found_last);
}

static void drop_thread(struct wait_finder *finder, struct waiting_thread *thread)
{
	drop(finder, &thread->first, &thread->has_first);
	drop(finder, &thread->last, &thread->has_last);
	free(thread);
}

void wait_finder_free(struct wait_finder *finder)
{
	struct waiting_thread *thread;

	if (!finder)
		return;
	drop_found(finder);
	for (size_t i = 0; (thread = id_map_next(&finder->threads, &i));)
		drop_thread(finder, thread);
	id_map_release(&finder->threads);
	free(finder);
}

/* *thread: NULL if there is no room. */
static int thread_of(struct wait_finder *finder, uint32_t pid, uint32_t tid, struct waiting_thread **thread)
{
	int err;

	*thread = id_map_get(&finder->threads, pid, tid);
	if (*thread)
		return 0;
	if (finder->threads.cnt >= finder->max_threads) {
		finder->is_full = true;
		return 0;
	}
	*thread = calloc(1, sizeof(**thread));
	if (!*thread)
		return -ENOMEM;
	err = id_map_put(&finder->threads, pid, tid, *thread);
	if (err) {
		free(*thread);
		*thread = NULL;
	}
	return err;
}

static int keep(struct wait_finder *finder, const struct txtrace_wake *wake, struct wait_wake *to, bool *has)
{
	size_t length = wake->waker_comm.length < WAIT_COMM_MAX ? wake->waker_comm.length : WAIT_COMM_MAX;
	int err = 0;

	drop(finder, to, has);
	to->wake = *wake;
	if (length > 0)
		memcpy(to->comm, wake->waker_comm.bytes, length);
	to->wake.waker_comm = (struct txtrace_string){ NULL, length };
	to->waiter = to->waker = 0;
	if (finder->keeper.keep)
		err = finder->keeper.keep(finder->keeper.context, to);
	*has = !err;
	return err;
}

static int add_wake(struct wait_finder *finder, const struct txtrace_wake *wake)
{
	struct waiting_thread *thread;
	int err = thread_of(finder, wake->pid, wake->tid, &thread);

	if (err || !thread)
		return err;
	if (!thread->has_first && (!thread->has_left || wake->time_ns > thread->left_ns))
		return keep(finder, wake, &thread->first, &thread->has_first);
	return keep(finder, wake, &thread->last, &thread->has_last);
}

/* The wakeups become those of the wait that is told, which keeps them until the next record. */
static void move_found(struct wait_finder *finder, struct waiting_thread *thread)
{
	if (thread->has_first)
		finder->found = thread->first;
	if (thread->has_last)
		finder->found_last = thread->last;
	finder->has_found = thread->has_first;
	finder->has_found_last = thread->has_last;
	thread->has_first = thread->has_last = false;
}

static struct wait_wake *wake_at(struct wait_finder *finder, uint64_t time_ns)
{
	struct wait_wake *wake = NULL;

	if (finder->has_found && finder->found.wake.time_ns == time_ns)
		wake = &finder->found;
	else if (finder->has_found_last && finder->found_last.wake.time_ns == time_ns)
		wake = &finder->found_last;
	if (wake)
		wake->wake.waker_comm.bytes = wake->comm;
	return wake;
}

static void describe(struct wait_finder *finder, const struct txtrace_run *run,
		     const struct waiting_thread *thread, struct wait *wait)
{
	bool is_sane = run->runnable_ns <= run->begin_ns &&
		       run->blocked_ns <= run->begin_ns - run->runnable_ns;

	*wait = (struct wait){
		.pid = run->pid,
		.tid = run->tid,
		.end_ns = run->runnable_ns <= run->begin_ns ? run->begin_ns - run->runnable_ns : 0,
		.blocked_ns = run->blocked_ns,
		.reason = WAIT_REASON_UNKNOWN,
	};
	wait->begin_ns = is_sane ? wait->end_ns - run->blocked_ns : 0;
	if (!is_sane || !thread)
		return;
	wait->wake = wake_at(finder, wait->end_ns);
	if (thread->has_left && thread->is_blocked && thread->left_ns == wait->begin_ns) {
		wait->reason = thread->reason < TXTRACE_BLOCK_REASON_COUNT ? thread->reason
									   : WAIT_REASON_UNKNOWN;
		wait->syscall_nr = thread->syscall_nr;
		wait->object = thread->object;
		if (run->has_wait_end && run->wait_reason < TXTRACE_BLOCK_REASON_COUNT) {
			wait->reason = run->wait_reason;
			wait->object = run->wait_object;
		}
	}
}

static int add_run(struct wait_finder *finder, const struct txtrace_run *run, struct wait *wait)
{
	struct waiting_thread *thread;
	int err = thread_of(finder, run->pid, run->tid, &thread);

	if (err)
		return err;
	if (thread)
		move_found(finder, thread);
	if (run->blocked_ns > 0)
		describe(finder, run, thread, wait);
	if (thread && run->left_as == TXTRACE_LEFT_DEAD) {
		id_map_remove(&finder->threads, run->pid, run->tid);
		drop_thread(finder, thread);
	} else if (thread) {
		thread->left_ns = run->end_ns;
		thread->has_left = true;
		thread->is_blocked = run->left_as == TXTRACE_LEFT_BLOCKED;
		thread->reason = run->reason;
		thread->syscall_nr = run->syscall_nr;
		thread->object = run->object;
	}
	return run->blocked_ns > 0;
}

int wait_finder_add(struct wait_finder *finder, const struct txtrace_record *record, struct wait *wait)
{
	drop_found(finder);
	if (record->kind == TXTRACE_RECORD_WAKE)
		return add_wake(finder, &record->wake);
	if (record->kind == TXTRACE_RECORD_RUN)
		return add_run(finder, &record->run, wait);
	return 0;
}

bool wait_finder_is_full(const struct wait_finder *finder)
{
	return finder->is_full;
}
