/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/thread/thread_states.h"

#include <errno.h>
#include <stdlib.h>

#include "base/id_map.h"

/* How it left the CPU the last time. */
struct left_thread {
	uint64_t left_ns;
	uint64_t woken_ns; /* since then; 0: not */
	bool is_blocked;   /* or it waits for a CPU */
};

struct thread_states {
	thread_states_take take;
	void *context;
	struct id_map threads; /* by pid and tid: struct left_thread */
	uint64_t last_ns;      /* of what the capture has told */
};

struct thread_states *thread_states_new(thread_states_take take, void *context)
{
	struct thread_states *states = calloc(1, sizeof(*states));

	if (!states)
		return NULL;
	states->take = take;
	states->context = context;
	id_map_init(&states->threads);
	return states;
}

static void forget_all(struct thread_states *states)
{
	struct left_thread *thread;

	for (size_t i = 0; (thread = id_map_next(&states->threads, &i));)
		free(thread);
	id_map_release(&states->threads);
	id_map_init(&states->threads);
}

void thread_states_free(struct thread_states *states)
{
	if (!states)
		return;
	forget_all(states);
	free(states);
}

static void tell(const struct thread_states *states, enum thread_state state, uint64_t begin_ns,
		 uint64_t end_ns)
{
	if (begin_ns < end_ns)
		states->take(states->context, state, begin_ns, end_ns);
}

static void see(struct thread_states *states, uint64_t time_ns)
{
	if (time_ns > states->last_ns)
		states->last_ns = time_ns;
}

static void forget(struct thread_states *states, uint32_t pid, uint32_t tid)
{
	free(id_map_remove(&states->threads, pid, tid));
}

static int note_left(struct thread_states *states, const struct txtrace_run *run)
{
	struct left_thread *thread = id_map_get(&states->threads, run->pid, run->tid);

	if (!thread && states->threads.cnt < THREAD_STATES_MAX) {
		thread = calloc(1, sizeof(*thread));
		if (!thread)
			return -ENOMEM;
		if (id_map_put(&states->threads, run->pid, run->tid, thread)) {
			free(thread);
			return -ENOMEM;
		}
	}
	if (thread)
		*thread = (struct left_thread){ .left_ns = run->end_ns,
						.is_blocked = run->left_as == TXTRACE_LEFT_BLOCKED };
	return 0;
}

/* Times that cannot be, in a log that says anything, tell nothing. */
static int add_run(struct thread_states *states, const struct txtrace_run *run)
{
	uint64_t runnable_from_ns = run->begin_ns - run->runnable_ns;

	see(states, run->end_ns);
	tell(states, THREAD_RUNNING, run->begin_ns, run->end_ns);
	if (run->runnable_ns <= run->begin_ns) {
		tell(states, THREAD_RUNNABLE, runnable_from_ns, run->begin_ns);
		if (run->blocked_ns <= runnable_from_ns)
			tell(states, THREAD_BLOCKED, runnable_from_ns - run->blocked_ns, runnable_from_ns);
	}
	if (run->left_as != TXTRACE_LEFT_DEAD && run->left_as != TXTRACE_LEFT_UNKNOWN)
		return note_left(states, run);
	forget(states, run->pid, run->tid);
	return 0;
}

static void add_wake(struct thread_states *states, const struct txtrace_wake *wake)
{
	struct left_thread *thread = id_map_get(&states->threads, wake->pid, wake->tid);

	see(states, wake->time_ns);
	if (thread && !thread->woken_ns && wake->time_ns > thread->left_ns)
		thread->woken_ns = wake->time_ns;
}

int thread_states_add(struct thread_states *states, const struct txtrace_record *record)
{
	switch (record->kind) {
	case TXTRACE_RECORD_RUN:
		return add_run(states, &record->run);
	case TXTRACE_RECORD_WAKE:
		add_wake(states, &record->wake);
		return 0;
	case TXTRACE_RECORD_THREAD:
		see(states, record->thread.time_ns);
		if (record->thread.is_exit)
			forget(states, record->thread.pid, record->thread.tid);
		return 0;
	case TXTRACE_RECORD_SUMMARY:
		see(states, record->summary.time_ns);
		return 0;
	default:
		return 0;
	}
}

void thread_states_finish(struct thread_states *states)
{
	struct left_thread *thread;

	for (size_t i = 0; (thread = id_map_next(&states->threads, &i));) {
		uint64_t until_ns = thread->woken_ns ? thread->woken_ns : states->last_ns;

		if (thread->is_blocked) {
			tell(states, THREAD_BLOCKED, thread->left_ns, until_ns);
			tell(states, THREAD_RUNNABLE, until_ns, states->last_ns);
		} else {
			tell(states, THREAD_RUNNABLE, thread->left_ns, states->last_ns);
		}
	}
	forget_all(states);
	states->last_ns = 0;
}
