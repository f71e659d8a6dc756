/* SPDX-License-Identifier: BSD-2-Clause */
#include "attribute/thread_table.h"

#include <string.h>

#include "attribute/clocks.h"

_Static_assert(offsetof(struct thread, reading_ns) == 64, "lines of the cache");

void thread_table_init(struct thread_table *table)
{
	*table = (struct thread_table){ .seed = (uintptr_t)table * 0x2545f4914f6cdd1dULL,
					.is_replayed = true };
	pool_init(&table->threads, sizeof(struct thread));
	pool_init(&table->readings, sizeof(struct thread_reading));
	hash_index_init(&table->by_tid);
}

void thread_table_release(struct thread_table *table)
{
	hash_index_release(&table->by_tid);
	pool_release(&table->threads);
	pool_release(&table->readings);
}

static uint32_t hash_of_tid(const struct thread_table *table, uint32_t tid)
{
	return hash_of_pair(table->seed, 0, tid);
}

struct thread *thread_table_find(struct thread_table *table, uint32_t tid)
{
	uint32_t hash = hash_of_tid(table, tid);

	HASH_INDEX_EACH(&table->by_tid, hash, slot, number) {
		struct thread *thread = pool_item(&table->threads, number);

		/* its events will need all of it: at once, not one after the other */
		for (size_t line = 64; line < sizeof(*thread); line += 64)
			__builtin_prefetch((const char *)thread + line);
		if (thread->tid == tid) {
			table->recent[tid % THREAD_RECENT] = (struct recent_thread){ .thread = thread,
										     .tid = tid };
			return thread;
		}
	}
	return NULL;
}

void thread_reading_fetch(const struct thread_reading *reading)
{
	for (size_t line = 0; line < sizeof(*reading); line += 64)
		__builtin_prefetch((const char *)reading + line);
}

/* The first with the hash, which is mostly it. */
static const struct thread *probably(const struct thread_table *table, uint32_t tid)
{
	uint32_t hash = hash_of_tid(table, tid);

	HASH_INDEX_EACH(&table->by_tid, hash, slot, number)
		return pool_item(&table->threads, number);
	return NULL;
}

void thread_table_fetch_slot(const struct thread_table *table, uint32_t tid)
{
	__builtin_prefetch(&table->by_tid.slots[hash_of_tid(table, tid) & table->by_tid.mask]);
}

void thread_table_fetch(const struct thread_table *table, uint32_t tid)
{
	const struct thread *thread = probably(table, tid);

	for (size_t line = 0; thread && line < sizeof(*thread); line += 64)
		__builtin_prefetch((const char *)thread + line);
}

void thread_table_fetch_reading(const struct thread_table *table, uint32_t tid)
{
	const struct thread *thread = probably(table, tid);

	if (thread && thread->reading)
		thread_reading_fetch(thread->reading);
}

/* Its tid is no longer its own. */
static void leave_tid(struct thread_table *table, struct thread *thread)
{
	struct recent_thread *recent = &table->recent[thread->tid % THREAD_RECENT];

	if (recent->thread == thread)
		recent->thread = NULL;
	hash_index_remove(&table->by_tid, hash_of_tid(table, thread->tid), thread->number);
}

struct thread *thread_table_next(const struct thread_table *table, size_t *position)
{
	while (*position <= table->by_tid.mask) {
		uint32_t item = table->by_tid.slots[(*position)++].item;

		if (item)
			return pool_item(&table->threads, item - 1);
	}
	return NULL;
}

struct thread *thread_table_add(struct thread_table *table, uint32_t tid, uint32_t tgid, uint64_t time_ns)
{
	uint32_t number;
	struct thread *thread = pool_take(&table->threads, &number);

	if (!thread)
		return NULL;
	*thread = (struct thread){ .tid = tid, .tgid = tgid, .number = number, .now.since_ns = time_ns };
	if (hash_index_put(&table->by_tid, hash_of_tid(table, tid), number)) {
		pool_give_back(&table->threads, number);
		return NULL;
	}
	return thread;
}

void thread_table_remove(struct thread_table *table, struct thread *thread)
{
	if (thread->reading)
		thread_table_let_go(table, thread->reading);
	leave_tid(table, thread);
	pool_give_back(&table->threads, thread->number);
}

int thread_table_rename(struct thread_table *table, struct thread *thread, uint32_t new_tid)
{
	int err = hash_index_put(&table->by_tid, hash_of_tid(table, new_tid), thread->number);

	if (err)
		return err;
	leave_tid(table, thread);
	thread->tid = new_tid;
	return 0;
}

void thread_table_let_go(struct thread_table *table, struct thread_reading *reading)
{
	if (!--reading->user_cnt)
		pool_give_back(&table->readings, reading->number);
}

/* A reading with new clocks: the one that the thread has, if no stay needs it. */
static bool keep_reading(struct thread_table *table, struct thread *thread, const struct event *event)
{
	struct thread_reading *reading = thread->reading;
	uint32_t number;

	if (!reading || reading->user_cnt > 1) {
		reading = pool_take(&table->readings, &number);
		if (!reading)
			return false;
		reading->number = number;
		reading->user_cnt = 1;
		if (thread->reading)
			thread_table_let_go(table, thread->reading);
		thread->reading = reading;
	}
	reading->clocks = *event->clocks;
	reading->time_ns = event->time_ns;
	reading->shared_ns = thread->shared_ns;
	reading->unsplit_from_ns = table->steal == STEAL_LATE ? thread->run_begin_ns : 0;
	return true;
}

void thread_name(struct thread *thread, const struct event_text *comm)
{
	thread->comm_length = (uint8_t)(comm->length < sizeof(thread->comm) ? comm->length
									    : sizeof(thread->comm));
	if (thread->comm_length)
		memcpy(thread->comm, comm->bytes, thread->comm_length);
	thread->is_told = true;
}

void thread_start(struct thread *thread, const struct event *event)
{
	thread->clocks = (struct wire_clocks){ .born_ns = event->thread.born_ns };
	thread->now.since_ns = event->thread.born_ns;
	thread->now.state = event->thread.state;
	thread->now.reason = event->thread.reason;
	thread->is_synced = true;
	thread->run_stolen_ns = 0;
	if (thread->now.state == THREAD_ON_CPU) {
		thread->run_begin_ns = thread->now.since_ns;
		thread->run_cpu = event->cpu;
	}
}

/*
 * wait_ends() of bpf/wait_end.h. A wakeup that finds another state here was lost its switch, or comes to a
 * thread that runs unseen: it changes nothing.
 */
void thread_end_wait(struct thread *thread, uint8_t reason, uint64_t object)
{
	if (thread->now.state != THREAD_BLOCKED || thread->now.wake_ns > thread->now.since_ns ||
	    thread->now.reason == BLOCK_THROTTLED)
		return;
	thread->now.reason = reason;
	thread->wait_object = object;
	thread->is_wait_told = true;
}

uint64_t thread_run_stolen(const struct thread *thread, uint64_t end_ns, const struct event *left)
{
	uint64_t length_ns = elapsed_ns(thread->run_begin_ns, end_ns),
		 stolen_ns = left ? left->sched.stolen_ns : thread->run_stolen_ns;

	if (thread->run_stolen_ns == UINT64_MAX)
		return 0;
	return stolen_ns < length_ns ? stolen_ns : length_ns;
}

/* Of what was stolen in the stay, own events of the thread have told a part. */
void thread_leave(struct thread *thread, const struct event *event)
{
	uint64_t stolen_ns = elapsed_ns(thread->run_stolen_ns, event->sched.stolen_ns);

	if (event->sched.is_stolen_shared) {
		thread->shared_ns += thread_run_stolen(thread, event->time_ns, event);
		stolen_ns = 0;
	}
	state_clock_leave(&thread->now, &thread->clocks, event->time_ns, stolen_ns,
			  event->sched.left_as == WIRE_LEFT_BLOCKED ? THREAD_BLOCKED : THREAD_RUNNABLE,
			  event->sched.reason);
	thread->is_wait_told = false;
}

void thread_arrive(struct thread *thread, uint64_t time_ns, uint32_t cpu)
{
	struct state_absence absence;

	thread->run_has_wait_end = thread->now.state == THREAD_BLOCKED && thread->is_wait_told;
	thread->run_wait_reason = thread->now.reason;
	thread->run_wait_object = thread->wait_object;
	absence = state_clock_arrive(&thread->now, &thread->clocks, time_ns);
	thread->run_blocked_ns = absence.blocked_ns;
	thread->run_runnable_ns = absence.runnable_ns;
	thread->run_idle_ns = thread->run_idle_stolen_ns = thread->run_stolen_ns = 0;
	thread->run_begin_ns = time_ns;
	thread->run_cpu = cpu;
}

/* If the CPU was idle for longer than the thread waited, the least that was stolen of its wait is known. */
void thread_found_idle(struct thread *thread, uint64_t idle_ns, uint64_t stolen_ns)
{
	if (stolen_ns > idle_ns)
		stolen_ns = idle_ns;
	thread->run_idle_ns = idle_ns < thread->run_runnable_ns ? idle_ns : thread->run_runnable_ns;
	thread->run_idle_stolen_ns = elapsed_ns(idle_ns - thread->run_idle_ns, stolen_ns);
}

uint64_t thread_stolen_doubt(const struct thread_table *table, const struct thread_reading *from,
			     const struct thread_reading *to, uint64_t to_ns, uint64_t on_cpu_ns)
{
	uint64_t doubt_ns = 0;

	if (table->steal == STEAL_NOT_TOLD || !from || !to)
		return 0;
	if (table->steal == STEAL_LATE && (from == to || !table->is_replayed || table->has_losses))
		return on_cpu_ns;
	if (table->steal == STEAL_LATE)
		doubt_ns = elapsed_ns(from->shared_ns, to->shared_ns);
	if (to->unsplit_from_ns)
		doubt_ns += elapsed_ns(to->unsplit_from_ns, to_ns);
	return doubt_ns < on_cpu_ns ? doubt_ns : on_cpu_ns;
}

/*
 * A wakeup before it fell asleep may have ended this sleep, having overtaken the switch-out, or may have
 * found it still running: only the switch-in will tell. One before its own last event surely found it
 * running.
 */
static bool is_perhaps_awake(const struct thread *thread)
{
	return thread->now.reason != BLOCK_THROTTLED && thread->now.wake_ns > thread->reading_ns &&
	       thread->now.wake_ns <= thread->now.since_ns;
}

void thread_replay_at(const struct thread_table *table, const struct thread *thread, uint64_t time_ns,
		      struct thread_reading *reading)
{
	uint64_t spent_ns = elapsed_ns(thread->now.since_ns, time_ns), asleep_ns = spent_ns;
	struct wire_clocks *clocks = &reading->clocks;

	reading->time_ns = time_ns;
	reading->shared_ns = thread->shared_ns;
	reading->unsplit_from_ns = 0;
	*clocks = thread->clocks;
	if (!table->is_replayed) {
		clocks->unknown_ns += spent_ns;
	} else if (thread->now.state == THREAD_ON_CPU) {
		clocks->on_cpu_ns += spent_ns;
		reading->unsplit_from_ns = table->steal == STEAL_LATE ? thread->run_begin_ns
								      : thread->now.since_ns;
	} else if (thread->now.state == THREAD_RUNNABLE) {
		clocks->runnable_ns += spent_ns;
	} else if (thread->now.state == THREAD_BLOCKED && !is_perhaps_awake(thread)) {
		if (thread->now.wake_ns > thread->now.since_ns)
			asleep_ns = elapsed_ns(thread->now.since_ns,
					       state_clock_sleep_end(&thread->now, time_ns));
		clocks->blocked_ns[thread->now.reason] += asleep_ns;
		clocks->runnable_ns += spent_ns - asleep_ns;
	} else {
		clocks->unknown_ns += spent_ns;
	}
}

/* It runs, and the kernel side has not noticed. */
static void run_unnoticed(struct thread *thread, uint64_t time_ns)
{
	state_clock_settle(&thread->now, time_ns, 0, &thread->clocks);
	state_clock_forget_wake(&thread->now);
	thread->now.state = THREAD_UNKNOWN;
	thread->now.since_ns = time_ns;
}

/* It has said nothing new, and has been nowhere since it last said something: only time has passed. */
static bool is_in_step(const struct thread *thread, const struct event *event)
{
	return !event->clocks && !(event->flags & (WIRE_NO_CLOCKS | WIRE_HAS_CLOCKS)) && thread->reading &&
	       thread->is_synced && thread->now.state == THREAD_ON_CPU &&
	       thread->now.since_ns == thread->reading_ns;
}

/* Where the clocks of the reading have come to at the event. */
static void set_right(struct thread *thread, const struct event *event)
{
	thread->clocks = thread->reading->clocks;
	thread->clocks.on_cpu_ns += elapsed_ns(thread->reading->time_ns, event->time_ns);
	thread->reading_ns = thread->now.since_ns = event->time_ns;
	thread->is_synced = true;
}

static void appear(struct thread *thread, const struct event *event)
{
	thread->now.state = THREAD_ON_CPU;
	thread->run_begin_ns = event->time_ns;
	thread->run_cpu = event->cpu;
	thread->run_blocked_ns = thread->run_runnable_ns = 0;
	thread->run_idle_ns = thread->run_idle_stolen_ns = 0;
	thread->run_stolen_ns = UINT64_MAX;
	thread->run_has_wait_end = false;
}

struct thread_reading *thread_read_own(struct thread_table *table, struct thread *thread,
				       const struct event *event, bool *is_mismatch)
{
	struct wire_clocks replayed;
	uint64_t stolen_ns;
	bool is_unnoticed = event->flags & WIRE_HAS_CLOCKS && event->flags & WIRE_NOT_ARRIVED, was_synced;

	*is_mismatch = false;
	if (is_in_step(thread, event)) {
		thread->clocks.on_cpu_ns += elapsed_ns(thread->now.since_ns, event->time_ns);
		thread->reading_ns = thread->now.since_ns = event->time_ns;
		return thread->reading;
	}
	if (event->clocks ? !keep_reading(table, thread, event)
			  : !thread->reading || event->flags & WIRE_NO_CLOCKS) {
		if (is_unnoticed)
			run_unnoticed(thread, event->time_ns);
		return NULL;
	}
	was_synced = thread->is_synced;
	state_clock_settle(&thread->now, event->time_ns, 0, &thread->clocks);
	replayed = thread->clocks;
	set_right(thread, event);
	stolen_ns = elapsed_ns(replayed.stolen_ns, thread->clocks.stolen_ns);
	if (was_synced && thread->run_stolen_ns != UINT64_MAX)
		thread->run_stolen_ns += stolen_ns;
	*is_mismatch = table->is_replayed && was_synced &&
		       (replayed.born_ns != thread->clocks.born_ns ||
			!clocks_equal(&replayed, &thread->clocks));
	if (is_unnoticed) {
		state_clock_forget_wake(&thread->now);
		thread->now.state = THREAD_UNKNOWN;
	} else if (thread->now.state != THREAD_ON_CPU) {
		appear(thread, event);
	}
	return thread->reading;
}
