/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/sched_story.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/saturating.h"

#define COMM_BYTES 32

enum thread_state {
	STATE_UNKNOWN = 0, /* before its first switch or wakeup */
	STATE_RUNNING = 1,
	STATE_RUNNABLE = 2,
	STATE_BLOCKED = 3,
};

struct open_pair {
	size_t pair;
	uint64_t id;
	uint64_t begin_ns;
	struct txtrace_ledger at_begin;
	uint64_t loss_cnt;
};

struct sched_thread {
	uint32_t tid, pid;
	bool has_pid;
	bool is_told;	 /* the log has its record */
	bool is_new;	 /* it began here */
	bool is_lossy;	 /* some of its time is unknown because events were lost */
	bool is_doubted; /* since its last change it was in another state than this one */
	bool is_woken;	 /* while it ran: it may not sleep */
	char comm[COMM_BYTES];
	size_t comm_length;
	enum thread_state state;
	uint8_t reason;			  /* BLOCKED: enum txtrace_block_reason */
	uint32_t cpu;			  /* RUNNING */
	uint64_t since_ns;		  /* the state holds */
	uint64_t loss_cnt;		  /* of the story, then */
	uint64_t run_ns;		  /* when it got its CPU */
	uint64_t blocked_ns, runnable_ns; /* since its last run */
	struct txtrace_ledger ledger;	  /* since begin_ns */
	uint64_t begin_ns;
	uint64_t span;		/* id */
	struct open_pair *open; /* the innermost last */
	size_t open_cnt, open_size;
};

void sched_story_init(struct sched_story *story, struct import *import)
{
	*story = (struct sched_story){ .import = import };
	id_map_init(&story->threads);
}

static void free_thread(struct sched_story *story, struct sched_thread *thread)
{
	story->open_cnt -= thread->open_size;
	free(thread->open);
	free(thread);
}

void sched_story_release(struct sched_story *story)
{
	struct sched_thread *thread;

	for (size_t i = 0; (thread = id_map_next(&story->threads, &i));)
		free_thread(story, thread);
	id_map_release(&story->threads);
}

bool sched_story_set_pairs(struct sched_story *story, const char *pairs)
{
	while (*pairs) {
		size_t length = strcspn(pairs, ",");
		const char *equals = memchr(pairs, '=', length), *colon;
		struct sched_pair *pair = &story->pairs[story->pair_cnt];

		if (!equals || equals == pairs || story->pair_cnt == SCHED_PAIR_MAX)
			return false;
		pair->begin = pair->label = (struct txtrace_string){ pairs, (size_t)(equals - pairs) };
		pair->end = (struct txtrace_string){ equals + 1, length - pair->begin.length - 1 };
		colon = memchr(pair->begin.bytes, ':', pair->begin.length);
		if (colon) {
			pair->label.length -= (size_t)(colon + 1 - pair->label.bytes);
			pair->label.bytes = colon + 1;
		}
		if (pair->end.length == 0)
			return false;
		story->pair_cnt++;
		pairs += length + (pairs[length] == ',');
	}
	return story->pair_cnt > 0;
}

/* ---- the log ---- */

static int begin(struct sched_story *story, uint64_t time_ns)
{
	const struct txtrace_log_info info = { .start_monotonic_ns = time_ns };

	if (story->has_begun)
		return 0;
	story->has_begun = true;
	return import_begin(story->import, &info);
}

static struct txtrace_string comm_of(const struct sched_thread *thread)
{
	return (struct txtrace_string){ thread->comm, thread->comm_length };
}

static void set_pid(struct sched_thread *thread, uint32_t pid)
{
	if (pid == 0 || thread->has_pid || thread->is_told)
		return;
	thread->pid = pid;
	thread->has_pid = true;
}

/* From here on its process is what is known of it now: else itself. */
static int tell_thread(struct sched_story *story, struct sched_thread *thread, uint64_t time_ns, bool is_exit)
{
	struct txtrace_record record = { .kind = TXTRACE_RECORD_THREAD };

	if (!thread->is_told && !thread->has_pid)
		story->no_pid_cnt++;
	record.thread = (struct txtrace_thread){ .time_ns = time_ns,
						 .tid = thread->tid,
						 .pid = thread->pid,
						 .is_seed = !thread->is_told && !thread->is_new,
						 .is_exit = is_exit,
						 .comm = comm_of(thread) };
	thread->is_told = true;
	return import_add(story->import, &record);
}

static int need_told(struct sched_story *story, struct sched_thread *thread, uint64_t time_ns)
{
	return thread->is_told ? 0 : tell_thread(story, thread, time_ns, false);
}

static int set_comm(struct sched_story *story, struct sched_thread *thread, struct txtrace_string comm,
		    uint64_t time_ns)
{
	if (comm.length >= COMM_BYTES)
		comm.length = COMM_BYTES - 1;
	if (comm.length == 0 ||
	    (comm.length == thread->comm_length && memcmp(comm.bytes, thread->comm, comm.length) == 0))
		return 0;
	memcpy(thread->comm, comm.bytes, comm.length);
	thread->comm_length = comm.length;
	return thread->is_told ? tell_thread(story, thread, time_ns, false) : 0;
}

static int tell_loss(struct sched_story *story, uint64_t time_ns)
{
	struct txtrace_record record = { .kind = TXTRACE_RECORD_LOSS };

	if (story->lost.cnt == 0)
		return 0;
	record.loss = (struct txtrace_loss){ .first_ns = story->lost.since_ns < time_ns ? story->lost.since_ns
											: time_ns,
					     .last_ns = time_ns,
					     .cpu = story->lost.cpu,
					     .sched_event_cnt = story->lost.cnt };
	if (story->lost.since_ns == 0)
		record.loss.first_ns = time_ns;
	story->lost.cnt = 0;
	return import_add(story->import, &record);
}

/* ---- threads ---- */

/* Made if it is new; NULL: the idle one, or there is no room. */
static int find_thread(struct sched_story *story, uint32_t tid, struct sched_thread **found)
{
	struct sched_thread *thread = id_map_get(&story->threads, 0, tid);

	*found = thread;
	if (thread || tid == 0)
		return 0;
	if (story->threads.cnt >= SCHED_THREAD_MAX) {
		story->no_room_cnt++;
		return 0;
	}
	thread = calloc(1, sizeof(*thread));
	if (!thread || id_map_put(&story->threads, 0, tid, thread)) {
		free(thread);
		return -ENOMEM;
	}
	thread->tid = thread->pid = tid;
	*found = thread;
	return 0;
}

/*
 * The time since its last change goes where its state says; if events were lost, to the unknown. From
 * its first change on it has a span.
 */
static void advance(struct sched_story *story, struct sched_thread *thread, uint64_t time_ns)
{
	uint64_t passed_ns = time_ns - thread->since_ns;
	struct txtrace_ledger *ledger = &thread->ledger;

	if (thread->state == STATE_UNKNOWN) {
		thread->begin_ns = time_ns;
		thread->span = ++story->span_cnt;
	} else if (thread->loss_cnt != story->loss_cnt || thread->is_doubted) {
		ledger->unknown_ns += passed_ns;
		thread->is_lossy |= thread->loss_cnt != story->loss_cnt;
		thread->blocked_ns = thread->runnable_ns = 0;
	} else if (thread->state == STATE_RUNNING) {
		ledger->on_cpu_ns += passed_ns;
	} else if (thread->state == STATE_RUNNABLE) {
		ledger->runnable_ns += passed_ns;
		thread->runnable_ns += passed_ns;
	} else {
		ledger->blocked_ns[thread->reason] += passed_ns;
		thread->blocked_ns += passed_ns;
	}
	thread->since_ns = time_ns;
	thread->loss_cnt = story->loss_cnt;
	thread->is_doubted = false;
}

/* The state that it should have had is another one: what passed is unknown. */
static void doubt(struct sched_story *story, struct sched_thread *thread)
{
	if (thread->state == STATE_UNKNOWN)
		return;
	if (thread->loss_cnt == story->loss_cnt)
		story->guess_cnt++;
	thread->is_doubted = true;
}

/* ---- spans ---- */

static void subtract(struct txtrace_ledger *ledger, const struct txtrace_ledger *before)
{
	ledger->on_cpu_ns -= before->on_cpu_ns;
	ledger->runnable_ns -= before->runnable_ns;
	ledger->unknown_ns -= before->unknown_ns;
	for (unsigned int i = 0; i < TXTRACE_BLOCK_REASON_COUNT; i++)
		ledger->blocked_ns[i] -= before->blocked_ns[i];
}

static int tell_pair(struct sched_story *story, struct sched_thread *thread, const struct open_pair *open,
		     uint64_t parent, uint64_t time_ns, bool is_unfinished)
{
	struct txtrace_record record = { .kind = TXTRACE_RECORD_SPAN };
	struct txtrace_span *span = &record.span;

	*span = (struct txtrace_span){ .id = open->id,
				       .parent = parent,
				       .pid = thread->pid,
				       .tid = thread->tid,
				       .end_tid = is_unfinished ? 0 : thread->tid,
				       .begin_ns = open->begin_ns,
				       .end_ns = time_ns,
				       .work_ns = time_ns - open->begin_ns,
				       .ledger = thread->ledger,
				       .label = story->pairs[open->pair].label };
	subtract(&span->ledger, &open->at_begin);
	if (is_unfinished)
		span->flags |= TXTRACE_SPAN_UNFINISHED | TXTRACE_SPAN_LOWER_BOUND;
	if (open->loss_cnt != story->loss_cnt)
		span->flags |= TXTRACE_SPAN_LOSS | TXTRACE_SPAN_LOWER_BOUND;
	story->unfinished_cnt += is_unfinished;
	return import_add(story->import, &record);
}

/* Closes the spans of pairs above `keep` of them, the innermost first. */
static int close_pairs(struct sched_story *story, struct sched_thread *thread, size_t keep, uint64_t time_ns,
		       bool is_unfinished)
{
	int err = 0;

	while (!err && thread->open_cnt > keep) {
		struct open_pair *open = &thread->open[--thread->open_cnt];
		uint64_t parent = thread->open_cnt > 0 ? thread->open[thread->open_cnt - 1].id : thread->span;

		/* what another one has cut off has not ended */
		err = tell_pair(story, thread, open, parent, time_ns,
				is_unfinished || thread->open_cnt > keep);
	}
	return err;
}

static int tell_life(struct sched_story *story, struct sched_thread *thread, uint64_t time_ns, bool is_exit)
{
	struct txtrace_record record = { .kind = TXTRACE_RECORD_SPAN };
	struct txtrace_span *span = &record.span;
	int err = need_told(story, thread, time_ns);

	err = err ? err : close_pairs(story, thread, 0, time_ns, true);
	if (err)
		return err;
	*span = (struct txtrace_span){ .id = thread->span,
				       .pid = thread->pid,
				       .tid = thread->tid,
				       .end_tid = thread->tid,
				       .flags = TXTRACE_SPAN_ROOT,
				       .begin_ns = thread->begin_ns,
				       .end_ns = time_ns,
				       .work_ns = time_ns - thread->begin_ns,
				       .ledger = thread->ledger,
				       .label = comm_of(thread) };
	if (thread->is_lossy)
		span->flags |= TXTRACE_SPAN_LOSS | TXTRACE_SPAN_LOWER_BOUND;
	err = import_add(story->import, &record);
	return err || !is_exit ? err : tell_thread(story, thread, time_ns, true);
}

/* ---- switches and wakeups ---- */

static uint8_t reason_of(char state)
{
	return state == 'T' || state == 't' ? TXTRACE_BLOCK_STOPPED : TXTRACE_BLOCK_OTHER;
}

static int tell_run(struct sched_story *story, struct sched_thread *thread, uint64_t time_ns,
		    enum txtrace_left_as left_as)
{
	struct txtrace_record record = { .kind = TXTRACE_RECORD_RUN };
	int err = need_told(story, thread, time_ns);

	record.run = (struct txtrace_run){ .tid = thread->tid,
					   .pid = thread->pid,
					   .cpu = thread->cpu,
					   .begin_ns = thread->run_ns,
					   .end_ns = time_ns,
					   .blocked_ns = thread->blocked_ns,
					   .runnable_ns = thread->runnable_ns,
					   .left_as = (uint8_t)left_as,
					   .syscall_nr = -2 };
	if (left_as == TXTRACE_LEFT_BLOCKED)
		record.run.reason = thread->reason;
	thread->blocked_ns = thread->runnable_ns = 0;
	return err ? err : import_add(story->import, &record);
}

static int die(struct sched_story *story, struct sched_thread *thread, uint64_t time_ns)
{
	int err = tell_life(story, thread, time_ns, true);

	id_map_remove(&story->threads, 0, thread->tid);
	free_thread(story, thread);
	return err;
}

static int switch_out(struct sched_story *story, struct sched_thread *thread, const struct sched_line *line,
		      const struct sched_switch *change)
{
	enum txtrace_left_as left_as = TXTRACE_LEFT_BLOCKED;
	bool had_run = thread->state == STATE_RUNNING && thread->loss_cnt == story->loss_cnt &&
		       thread->cpu == line->cpu;
	int err = 0;

	set_pid(thread, line->pid);
	if (thread->state != STATE_RUNNING || thread->cpu != line->cpu)
		doubt(story, thread);
	advance(story, thread, line->time_ns);
	thread->reason = reason_of(change->state);
	thread->state = STATE_BLOCKED;
	thread->cpu = line->cpu;
	/* it may run for a while after it has exited */
	if (change->state == 'X' || change->state == 'Z' || change->state == 'x') {
		left_as = TXTRACE_LEFT_DEAD;
	} else if (change->state == 'R') {
		left_as = TXTRACE_LEFT_PREEMPTED;
		thread->state = STATE_RUNNABLE;
	}
	if (had_run)
		err = tell_run(story, thread, line->time_ns, left_as);
	err = err ? err : set_comm(story, thread, change->prev_comm, line->time_ns);
	if (err || left_as != TXTRACE_LEFT_DEAD)
		return err;
	return die(story, thread, line->time_ns);
}

static int switch_in(struct sched_story *story, struct sched_thread *thread, const struct sched_line *line,
		     struct txtrace_string comm)
{
	if (thread->state == STATE_RUNNING)
		doubt(story, thread);
	/* nobody woke it since: but somebody did when it was about to sleep */
	if (thread->state == STATE_BLOCKED && thread->is_woken)
		thread->state = STATE_RUNNABLE;
	else if (thread->state == STATE_BLOCKED && thread->loss_cnt == story->loss_cnt)
		story->no_wake_cnt++;
	advance(story, thread, line->time_ns);
	thread->state = STATE_RUNNING;
	thread->is_woken = false;
	thread->cpu = line->cpu;
	thread->run_ns = line->time_ns;
	return set_comm(story, thread, comm, line->time_ns);
}

static int add_switch(struct sched_story *story, const struct sched_line *line)
{
	struct sched_switch change;
	struct sched_thread *thread;
	int err;

	if (!sched_switch_parse(line->words, &change))
		return -EBADMSG;
	err = find_thread(story, change.prev_tid, &thread);
	if (!err && thread)
		err = switch_out(story, thread, line, &change);
	err = err ? err : find_thread(story, change.next_tid, &thread);
	return err || !thread ? err : switch_in(story, thread, line, change.next_comm);
}

/* Who ran there did it, or was interrupted by what did. */
static int tell_wake(struct sched_story *story, struct sched_thread *thread, const struct sched_line *line)
{
	struct txtrace_record record = { .kind = TXTRACE_RECORD_WAKE };
	struct sched_thread *waker = id_map_get(&story->threads, 0, line->tid);
	bool is_interrupt = line->is_interrupt || (line->tid == 0 && !line->is_tid_unknown);
	int err;

	if (waker)
		set_pid(waker, line->pid);
	if (story->has_pids && !thread->has_pid) /* the next line of it tells */
		return 0;
	err = need_told(story, thread, line->time_ns);
	record.wake = (struct txtrace_wake){ .time_ns = line->time_ns,
					     .tid = thread->tid,
					     .pid = thread->pid,
					     .cpu = line->cpu,
					     .span = thread->span };
	if (is_interrupt) {
		record.wake.flags = TXTRACE_WAKE_INTERRUPT | (line->is_softirq ? TXTRACE_WAKE_SOFTIRQ : 0);
	} else {
		record.wake.waker_tid = line->tid;
		record.wake.waker_pid = waker ? waker->pid : line->tid;
		record.wake.waker_comm = line->comm;
		record.wake.waker_span = waker ? waker->span : 0;
		record.wake.flags = line->has_context ? 0 : TXTRACE_WAKE_WAKER_UNKNOWN;
	}
	return err ? err : import_add(story->import, &record);
}

static int add_waking(struct sched_story *story, const struct sched_line *line)
{
	struct txtrace_string comm;
	struct sched_thread *thread;
	uint32_t tid;
	int err;

	if (!sched_waking_parse(line->words, &comm, &tid))
		return -EBADMSG;
	err = find_thread(story, tid, &thread);
	if (err || !thread)
		return err;
	if (sched_string_is(line->name, "sched_wakeup_new"))
		thread->is_new |= !thread->is_told;
	if (thread->state == STATE_RUNNING) {
		thread->is_woken = true;
		return 0;
	}
	if (thread->state == STATE_RUNNABLE && thread->loss_cnt == story->loss_cnt)
		return 0; /* the second event of one wakeup */
	advance(story, thread, line->time_ns);
	thread->state = STATE_RUNNABLE;
	err = set_comm(story, thread, comm, line->time_ns);
	return err ? err : tell_wake(story, thread, line);
}

/* ---- other events ---- */

static int add_fork(struct sched_story *story, const struct sched_line *line)
{
	struct sched_thread *thread;
	uint32_t tid;
	int err;

	if (!sched_words_number(line->words, "child_pid", &tid))
		return -EBADMSG;
	thread = id_map_get(&story->threads, 0, tid);
	if (thread && thread->state != STATE_UNKNOWN) { /* another one had its tid, whose end was not seen */
		advance(story, thread, line->time_ns);
		err = die(story, thread, line->time_ns);
		if (err)
			return err;
	}
	err = find_thread(story, tid, &thread);
	if (!err && thread)
		thread->is_new = !thread->is_told;
	return err;
}

/* perf's records of tasks: "(PID:TID):(…)", ": COMM:PID/TID". Those that it made itself have the time 0. */
static int add_task_record(struct sched_story *story, const struct sched_line *line)
{
	struct txtrace_string words = line->words;
	bool is_comm = sched_string_is(line->name, "PERF_RECORD_COMM");
	struct sched_thread *thread;
	uint64_t numbers[2] = { 0, 0 };
	size_t at = words.length, cnt = 0;
	int err;

	if (is_comm) { /* from the end: a name may have anything in it */
		while (at > 0 && words.bytes[at - 1] != ':')
			at--;
	} else {
		for (at = 0; at < words.length && words.bytes[at] != '(';)
			at++;
		at++;
	}
	for (; cnt < 2 && at < words.length; at++) {
		if (words.bytes[at] >= '0' && words.bytes[at] <= '9' && numbers[cnt] < UINT32_MAX)
			numbers[cnt] = numbers[cnt] * 10 + (uint64_t)(words.bytes[at] - '0');
		else
			cnt++;
	}
	if (numbers[0] > INT32_MAX || numbers[1] > INT32_MAX)
		return -EBADMSG;
	err = find_thread(story, (uint32_t)numbers[1], &thread);
	if (err || !thread)
		return err;
	story->has_pids = true;
	set_pid(thread, (uint32_t)numbers[0]);
	if (sched_string_is(line->name, "PERF_RECORD_FORK") && line->time_ns > 0)
		thread->is_new = !thread->is_told;
	return is_comm ? set_comm(story, thread, line->comm, line->time_ns) : 0;
}

static bool is_same(struct txtrace_string a, struct txtrace_string b)
{
	return a.length == b.length && memcmp(a.bytes, b.bytes, a.length) == 0;
}

static int begin_pair(struct sched_story *story, struct sched_thread *thread, size_t pair, uint64_t time_ns)
{
	size_t size = thread->open_size ? 2 * thread->open_size : 1;
	struct open_pair *open;

	if (thread->open_cnt == thread->open_size) {
		if (size > SCHED_OPEN_MAX || story->open_cnt >= SCHED_OPEN_ALL) {
			story->no_room_cnt++;
			return 0;
		}
		open = reallocarray(thread->open, size, sizeof(*open));
		if (!open)
			return -ENOMEM;
		story->open_cnt += size - thread->open_size;
		thread->open = open;
		thread->open_size = size;
	}
	advance(story, thread, time_ns);
	thread->open[thread->open_cnt++] = (struct open_pair){ .pair = pair,
							       .id = ++story->span_cnt,
							       .begin_ns = time_ns,
							       .at_begin = thread->ledger,
							       .loss_cnt = story->loss_cnt };
	return 0;
}

static int end_pair(struct sched_story *story, struct sched_thread *thread, size_t pair, uint64_t time_ns)
{
	size_t at = thread->open_cnt;

	while (at > 0 && thread->open[at - 1].pair != pair)
		at--;
	if (at == 0) {
		story->lone_end_cnt++;
		return 0;
	}
	advance(story, thread, time_ns);
	return close_pairs(story, thread, at - 1, time_ns, false);
}

/* 1: the event was one of a pair. */
static int add_pair(struct sched_story *story, struct sched_thread *thread, const struct sched_line *line)
{
	for (size_t i = 0; i < story->pair_cnt; i++) {
		bool is_begin = is_same(line->event, story->pairs[i].begin);
		int err = 0;

		if (is_begin)
			err = begin_pair(story, thread, i, line->time_ns);
		else if (is_same(line->event, story->pairs[i].end))
			err = end_pair(story, thread, i, line->time_ns);
		else
			continue;
		return err ? err : 1;
	}
	return 0;
}

static int add_other(struct sched_story *story, const struct sched_line *line)
{
	struct txtrace_record record = { .kind = TXTRACE_RECORD_INSTANT };
	struct sched_thread *thread;
	int result = find_thread(story, line->tid, &thread);

	if (!result && thread) {
		/* what runs is on a CPU, whether its switch was seen or not */
		if (thread->state == STATE_UNKNOWN && !line->is_interrupt && story->pair_cnt > 0) {
			advance(story, thread, line->time_ns);
			thread->state = STATE_RUNNING;
			thread->cpu = line->cpu;
			thread->run_ns = line->time_ns;
		}
		set_pid(thread, line->pid);
		result = set_comm(story, thread, line->comm, line->time_ns);
		result = result ? result : need_told(story, thread, line->time_ns);
		if (!result && thread->state != STATE_UNKNOWN)
			result = add_pair(story, thread, line);
	}
	story->nobody_cnt += !result && !thread;
	if (result || !thread)
		return result < 0 ? result : 0;
	record.instant = (struct txtrace_instant){ .time_ns = line->time_ns,
						   .span = thread->span,
						   .pid = thread->pid,
						   .tid = thread->tid,
						   .name = line->event };
	return import_add(story->import, &record);
}

/* ---- all ---- */

static int add_event(struct sched_story *story, const struct sched_line *line)
{
	if (sched_string_is(line->name, "sched_switch"))
		return add_switch(story, line);
	if (sched_string_is(line->name, "sched_waking")) {
		story->has_wakings = true;
		return add_waking(story, line);
	}
	if (sched_string_is(line->name, "sched_wakeup_new"))
		return add_waking(story, line);
	if (sched_string_is(line->name, "sched_wakeup"))
		return story->has_wakings ? 0 : add_waking(story, line);
	if (sched_string_is(line->name, "sched_process_fork"))
		return add_fork(story, line);
	return add_other(story, line);
}

static int add_lost(struct sched_story *story, const struct sched_line *line)
{
	uint64_t since_ns = line->cpu < SCHED_CPU_MAX ? story->cpu_ns[line->cpu] : 0;

	if (story->lost.cnt == 0 || since_ns < story->lost.since_ns)
		story->lost.since_ns = since_ns ? since_ns : story->last_ns;
	story->lost.cpu = story->lost.cnt == 0 || story->lost.cpu == line->cpu ? line->cpu
									       : TXTRACE_CPU_UNKNOWN;
	increase(&story->lost.cnt, line->lost_cnt);
	story->loss_cnt++;
	return 0;
}

int sched_story_add(struct sched_story *story, const struct sched_line *from)
{
	struct sched_line line = *from;
	int err;

	if (line.kind == SCHED_LINE_LOST)
		return add_lost(story, &line);
	if (sched_string_is(line.name, "PERF_RECORD_COMM") ||
	    sched_string_is(line.name, "PERF_RECORD_FORK") ||
	    sched_string_is(line.name, "PERF_RECORD_EXIT")) {
		if (line.time_ns < story->last_ns)
			line.time_ns = story->last_ns;
		if (story->has_begun)
			story->last_ns = line.time_ns;
		return add_task_record(story, &line);
	}
	if (line.time_ns < story->last_ns) {
		story->step_back_cnt++;
		line.time_ns = story->last_ns;
	}
	story->event_cnt++;
	story->last_ns = line.time_ns;
	story->has_pids |= line.pid != 0;
	err = begin(story, line.time_ns);
	err = err ? err : tell_loss(story, line.time_ns);
	err = err ? err : add_event(story, &line);
	if (line.cpu < SCHED_CPU_MAX)
		story->cpu_ns[line.cpu] = line.time_ns;
	return err;
}

/* The recording ends, and the thread lives on. */
static int leave(struct sched_story *story, struct sched_thread *thread)
{
	bool is_running = thread->state == STATE_RUNNING && thread->loss_cnt == story->loss_cnt;
	int err = 0;

	if (thread->state == STATE_UNKNOWN)
		return 0;
	advance(story, thread, story->last_ns);
	if (is_running)
		err = tell_run(story, thread, story->last_ns, TXTRACE_LEFT_UNKNOWN);
	return err ? err : tell_life(story, thread, story->last_ns, false);
}

static int compare_tids(const void *a, const void *b)
{
	const struct sched_thread *first = *(struct sched_thread *const *)a;
	const struct sched_thread *second = *(struct sched_thread *const *)b;

	return first->tid < second->tid ? -1 : first->tid > second->tid;
}

/* In an order of their own: the map has one that changes. */
static int leave_all(struct sched_story *story)
{
	struct sched_thread **threads = calloc(story->threads.cnt + 1, sizeof(*threads)), *thread;
	size_t cnt = 0;
	int err = 0;

	if (!threads)
		return -ENOMEM;
	for (size_t i = 0; (thread = id_map_next(&story->threads, &i));)
		threads[cnt++] = thread;
	qsort(threads, cnt, sizeof(*threads), compare_tids);
	for (size_t i = 0; !err && i < cnt; i++)
		err = leave(story, threads[i]);
	free(threads);
	return err;
}

int sched_story_finish(struct sched_story *story)
{
	int err = begin(story, 0); /* there are no events */

	err = err ? err : tell_loss(story, story->last_ns);
	return err ? err : leave_all(story);
}
