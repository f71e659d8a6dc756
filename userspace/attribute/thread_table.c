/* SPDX-License-Identifier: BSD-2-Clause */
#include "attribute/thread_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "attribute/clocks.h"

void thread_table_init(struct thread_table *table)
{
	id_map_init(&table->threads);
}

void thread_table_release(struct thread_table *table)
{
	struct thread *thread;

	for (size_t i = 0; (thread = id_map_next(&table->threads, &i));)
		free(thread);
	id_map_release(&table->threads);
}

struct thread *thread_table_get(const struct thread_table *table, uint32_t tid)
{
	return id_map_get(&table->threads, 0, tid);
}

struct thread *thread_table_add(struct thread_table *table, uint32_t tid, uint32_t tgid, uint64_t time_ns)
{
	struct thread *thread = calloc(1, sizeof(*thread));

	if (!thread)
		return NULL;
	thread->tid = tid;
	thread->tgid = tgid;
	thread->since_ns = time_ns;
	if (id_map_put(&table->threads, 0, tid, thread)) {
		free(thread);
		return NULL;
	}
	return thread;
}

void thread_table_remove(struct thread_table *table, struct thread *thread)
{
	id_map_remove(&table->threads, 0, thread->tid);
	free(thread);
}

int thread_table_rename(struct thread_table *table, struct thread *thread, uint32_t new_tid)
{
	int err = id_map_put(&table->threads, 0, new_tid, thread);

	if (err)
		return err;
	id_map_remove(&table->threads, 0, thread->tid);
	thread->tid = new_tid;
	return 0;
}

void thread_name(struct thread *thread, const struct event_text *comm)
{
	thread->comm_length = (uint8_t)(comm->length < sizeof(thread->comm) ? comm->length : sizeof(thread->comm));
	if (thread->comm_length)
		memcpy(thread->comm, comm->bytes, thread->comm_length);
	thread->is_told = true;
}

void thread_start(struct thread *thread, const struct event *event)
{
	thread->clocks = (struct wire_clocks){ .born_ns = event->thread.born_ns };
	thread->since_ns = event->thread.born_ns;
	thread->state = event->thread.state;
	thread->reason = event->thread.reason;
	thread->is_synced = true;
	if (thread->state == THREAD_ON_CPU) {
		thread->run_begin_ns = thread->since_ns;
		thread->run_cpu = event->cpu;
	}
}

/* thread_clock_sleep_end() of bpf/thread_clock.h: 0 is unknown. */
static uint64_t sleep_end_ns(const struct thread *thread, uint64_t time_ns)
{
	uint64_t wake_ns = thread->wake_ns > thread->since_ns ? thread->wake_ns : thread->since_ns;

	if (thread->state != THREAD_BLOCKED || !thread->wake_ns)
		return 0;
	return wake_ns < time_ns ? wake_ns : time_ns;
}

/* thread_clock_settle(): the thread is running at time_ns. */
static void settle(const struct thread *thread, uint64_t time_ns, struct wire_clocks *clocks)
{
	uint64_t since_ns = thread->since_ns, woken_ns = sleep_end_ns(thread, time_ns);

	if (thread->state == THREAD_ON_CPU) {
		clocks->on_cpu_ns += elapsed_ns(since_ns, time_ns);
		return;
	}
	if (woken_ns) {
		clocks->blocked_ns[thread->reason] += elapsed_ns(since_ns, woken_ns);
		since_ns = woken_ns;
	}
	clocks->unknown_ns += elapsed_ns(since_ns, time_ns);
}

/* thread_clock_wake(). In an unknown state it runs, or nobody can tell: no sleep is ended. */
void thread_wake(struct thread *thread, uint64_t time_ns)
{
	if (thread->state == THREAD_BLOCKED && thread->wake_ns > thread->since_ns)
		thread->late_wake_ns = time_ns;
	else
		thread->wake_ns = time_ns;
}

/* It runs, unseen, and what woke it belongs to the sleep before. */
static void forget_wake(struct thread *thread)
{
	if (thread->state == THREAD_BLOCKED)
		thread->wake_ns = thread->late_wake_ns;
	thread->late_wake_ns = 0;
}

void thread_leave(struct thread *thread, uint64_t time_ns, uint8_t state, uint8_t reason)
{
	settle(thread, time_ns, &thread->clocks);
	forget_wake(thread);
	thread->state = state;
	thread->reason = reason;
	thread->since_ns = time_ns;
}

void thread_arrive(struct thread *thread, uint64_t time_ns, uint32_t cpu)
{
	uint64_t spent_ns = elapsed_ns(thread->since_ns, time_ns), woken_ns = sleep_end_ns(thread, time_ns);

	thread->run_blocked_ns = thread->run_runnable_ns = 0;
	if (woken_ns) {
		thread->run_blocked_ns = elapsed_ns(thread->since_ns, woken_ns);
		thread->run_runnable_ns = spent_ns - thread->run_blocked_ns;
		thread->clocks.blocked_ns[thread->reason] += thread->run_blocked_ns;
	} else if (thread->state == THREAD_RUNNABLE) {
		thread->run_runnable_ns = spent_ns;
	} else {
		thread->clocks.unknown_ns += spent_ns;
	}
	thread->clocks.runnable_ns += thread->run_runnable_ns;
	thread->state = THREAD_ON_CPU;
	thread->since_ns = time_ns;
	thread->wake_ns = thread->late_wake_ns = 0;
	thread->run_begin_ns = time_ns;
	thread->run_cpu = cpu;
}

/*
 * A wakeup before it fell asleep may have ended this sleep, having overtaken the switch-out, or may have found it still running: only the switch-in
 * will tell. One before its own last event surely found it running.
 */
static bool is_perhaps_awake(const struct thread *thread)
{
	return thread->wake_ns > thread->reading_ns && thread->wake_ns <= thread->since_ns;
}

void thread_clocks_at(const struct thread *thread, uint64_t time_ns, struct wire_clocks *clocks)
{
	uint64_t spent_ns = elapsed_ns(thread->since_ns, time_ns), asleep_ns = spent_ns;

	*clocks = thread->clocks;
	if (thread->state == THREAD_ON_CPU) {
		clocks->on_cpu_ns += spent_ns;
	} else if (thread->state == THREAD_RUNNABLE) {
		clocks->runnable_ns += spent_ns;
	} else if (thread->state == THREAD_BLOCKED && !is_perhaps_awake(thread)) {
		if (thread->wake_ns > thread->since_ns)
			asleep_ns = elapsed_ns(thread->since_ns, sleep_end_ns(thread, time_ns));
		clocks->blocked_ns[thread->reason] += asleep_ns;
		clocks->runnable_ns += spent_ns - asleep_ns;
	} else {
		clocks->unknown_ns += spent_ns;
	}
}

/* It runs, and the kernel side has not noticed. */
static void run_unnoticed(struct thread *thread, uint64_t time_ns)
{
	settle(thread, time_ns, &thread->clocks);
	forget_wake(thread);
	thread->state = THREAD_UNKNOWN;
	thread->since_ns = time_ns;
}

bool thread_read_own(struct thread *thread, const struct event *event, struct wire_clocks *clocks, bool *is_mismatch)
{
	struct wire_clocks replayed;
	bool is_unnoticed = event->flags & WIRE_HAS_CLOCKS && event->flags & WIRE_NOT_ARRIVED;

	*is_mismatch = false;
	if (event->clocks) {
		*clocks = *event->clocks;
	} else if (thread->has_reading && !(event->flags & WIRE_NO_CLOCKS)) {
		*clocks = thread->reading;
		clocks->on_cpu_ns += elapsed_ns(thread->reading_ns, event->time_ns);
	} else {
		if (is_unnoticed)
			run_unnoticed(thread, event->time_ns);
		return false;
	}
	replayed = thread->clocks;
	settle(thread, event->time_ns, &replayed);
	*is_mismatch = thread->is_synced && (replayed.born_ns != clocks->born_ns || !clocks_equal(&replayed, clocks));
	thread->reading = thread->clocks = *clocks;
	thread->reading_ns = thread->since_ns = event->time_ns;
	thread->has_reading = thread->is_synced = true;
	if (is_unnoticed) {
		forget_wake(thread);
		thread->state = THREAD_UNKNOWN;
	} else if (thread->state != THREAD_ON_CPU) {
		thread->state = THREAD_ON_CPU;
		thread->run_begin_ns = event->time_ns;
		thread->run_cpu = event->cpu;
		thread->run_blocked_ns = thread->run_runnable_ns = 0;
	}
	return true;
}
