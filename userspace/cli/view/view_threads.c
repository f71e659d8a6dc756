/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/view/view_threads.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/wait/wait_sums.h"
#include "base/array.h"
#include "cli/print/party_print.h"

#define THREAD_MAX 65536
#define FINDER_BYTES (16u << 20)
#define NAMES_BYTES (8u << 20)

int view_threads_init(struct view_threads *threads, struct view_grid *grid, struct string_pool *strings,
		      const char *kernel, size_t segment_room)
{
	int err;

	*threads = (struct view_threads){ .grid = grid, .strings = strings };
	view_longest_init(&threads->segments, sizeof(struct view_segment), segment_room);
	id_map_init(&threads->numbers);
	syscall_table_init(&threads->syscalls, kernel);
	threads->finder = wait_finder_new(FINDER_BYTES, NULL);
	err = threads->finder ? 0 : -ENOMEM;
	err = fd_names_init(&threads->files, NAMES_BYTES) ? -ENOMEM : err;
	return fd_names_init(&threads->futexes, NAMES_BYTES) ? -ENOMEM : err;
}

void view_threads_release(struct view_threads *threads)
{
	for (size_t i = 0; i < threads->thread_cnt; i++)
		free(threads->threads[i]);
	free(threads->threads);
	id_map_release(&threads->numbers);
	view_longest_release(&threads->segments);
	wait_finder_free(threads->finder);
	fd_names_release(&threads->files);
	fd_names_release(&threads->futexes);
	text_release(&threads->text);
}

int view_string(struct string_pool *strings, struct txtrace_string string, uint32_t *number)
{
	size_t length = string.length < VIEW_STRING_MAX ? string.length : VIEW_STRING_MAX;
	int err;

	*number = VIEW_NO_STRING;
	if (length == 0)
		return 0;
	err = string_pool_add(strings, string.bytes, length, number);
	return err == -E2BIG ? 0 : err;
}

/* ---- threads ---- */

/* *thread is NULL where there are too many. */
static int thread_of(struct view_threads *threads, uint32_t pid, uint32_t tid, struct view_thread **thread)
{
	void *grown;

	*thread = id_map_get(&threads->numbers, pid, tid);
	if (*thread)
		return 0;
	if (threads->thread_cnt == THREAD_MAX) {
		threads->left_out_cnt++;
		return 0;
	}
	grown = array_grow(threads->threads, &threads->size, threads->thread_cnt, sizeof(*threads->threads));
	if (!grown)
		return -ENOMEM;
	threads->threads = grown;
	*thread = calloc(1, sizeof(**thread));
	if (!*thread)
		return -ENOMEM;
	(*thread)->number = (uint32_t)threads->thread_cnt;
	(*thread)->pid = pid;
	(*thread)->tid = tid;
	(*thread)->name = VIEW_NO_STRING;
	threads->threads[threads->thread_cnt++] = *thread;
	return id_map_put(&threads->numbers, pid, tid, *thread);
}

int view_threads_number(struct view_threads *threads, uint32_t pid, uint32_t tid, uint32_t *number)
{
	struct view_thread *thread;
	int err = thread_of(threads, pid, tid, &thread);

	*number = !err && thread ? thread->number : VIEW_NO_THREAD;
	return err;
}

static int name_thread(struct view_threads *threads, uint32_t pid, uint32_t tid, struct txtrace_string name)
{
	struct view_thread *thread;
	int err = thread_of(threads, pid, tid, &thread);

	return err || !thread || name.length == 0 ? err : view_string(threads->strings, name, &thread->name);
}

/* ---- segments ---- */

/* Adds it if it is long enough; else *kept is NULL. */
static int add_segment(struct view_threads *threads, const struct view_thread *thread, unsigned int state,
		       uint64_t from_ns, uint64_t to_ns, struct view_segment **kept)
{
	*kept = NULL;
	if (from_ns >= to_ns || !view_longest_wants(&threads->segments, to_ns - from_ns))
		return 0;
	*kept = view_longest_add(&threads->segments, to_ns - from_ns);
	if (!*kept)
		return -ENOMEM;
	(*kept)->from_ns = from_ns;
	(*kept)->thread = thread->number;
	(*kept)->state = (uint8_t)state;
	(*kept)->object = VIEW_NO_STRING;
	(*kept)->waker = VIEW_NO_THREAD;
	return 0;
}

static int describe_wait(struct view_threads *threads, const struct wait *wait, struct view_segment *segment)
{
	struct wait_object object = wait_object_of(&threads->syscalls, wait);
	const struct fd_names *names = object.kind == WAIT_OBJECT_FD	? &threads->files
				       : object.kind == WAIT_OBJECT_FUTEX ? &threads->futexes
									  : NULL;
	const struct txtrace_wake *wake;
	struct view_thread *waker;
	int err;

	if (names)
		object.name = fd_names_get(names, fd_names_find(names, object.pid, object.value));
	text_clear(&threads->text);
	wait_object_append(&threads->text, &object);
	err = threads->text.err;
	if (!err)
		err = view_string(threads->strings,
				  (struct txtrace_string){ threads->text.bytes, threads->text.length },
				  &segment->object);
	if (err || !wait->wake)
		return err;
	wake = &wait->wake->wake;
	segment->has_wake = true;
	segment->is_woken_at_end = wake->time_ns == segment->from_ns + segment->length_ns;
	segment->wake_flags = wake->flags;
	segment->waker_span = wake->waker_span;
	segment->waker_pid = wake->flags & TXTRACE_WAKE_WAKER_SPAN_KEYED ? 0 : wake->waker_pid;
	if (!wake->waker_tid)
		return 0;
	err = thread_of(threads, wake->waker_pid, wake->waker_tid, &waker);
	if (!err && waker) {
		segment->waker = waker->number;
		if (waker->name == VIEW_NO_STRING)
			err = view_string(threads->strings, wake->waker_comm, &waker->name);
	}
	return err;
}

static int add_wait(struct view_threads *threads, const struct view_thread *thread, const struct wait *wait,
		    bool is_open)
{
	unsigned int reason = wait->reason < WAIT_REASON_UNKNOWN ? wait->reason : WAIT_REASON_UNKNOWN;
	struct view_segment *segment;
	int err = view_grid_add_time(threads->grid, thread->number, VIEW_BLOCKED + reason, wait->begin_ns,
				     wait->end_ns);

	if (!err)
		err = add_segment(threads, thread, VIEW_BLOCKED, wait->begin_ns, wait->end_ns, &segment);
	if (err || !segment)
		return err;
	segment->reason = (uint8_t)reason;
	segment->is_open = is_open;
	return describe_wait(threads, wait, segment);
}

static int add_runnable(struct view_threads *threads, const struct view_thread *thread, uint64_t from_ns,
			uint64_t to_ns)
{
	struct view_segment *segment;
	int err = view_grid_add_time(threads->grid, thread->number, VIEW_RUNNABLE, from_ns, to_ns);

	return err ? err : add_segment(threads, thread, VIEW_RUNNABLE, from_ns, to_ns, &segment);
}

static int add_run(struct view_threads *threads, struct view_thread *thread, const struct txtrace_run *run,
		   const struct wait *wait)
{
	uint64_t length_ns = run->end_ns > run->begin_ns ? run->end_ns - run->begin_ns : 0;
	uint64_t stolen_ns = run->stolen_ns < length_ns ? run->stolen_ns : length_ns;
	struct view_segment *segment;
	int err = wait ? add_wait(threads, thread, wait, false) : 0;

	if (!err && run->runnable_ns <= run->begin_ns)
		err = add_runnable(threads, thread, run->begin_ns - run->runnable_ns, run->begin_ns);
	if (!err)
		err = view_grid_add_time(threads->grid, thread->number, VIEW_ON_CPU, run->begin_ns,
					 run->begin_ns + length_ns - stolen_ns);
	if (!err) /* where within the stay it was stolen is not known */
		err = view_grid_add_time(threads->grid, thread->number, VIEW_STOLEN,
					 run->begin_ns + length_ns - stolen_ns, run->begin_ns + length_ns);
	if (!err)
		err = add_segment(threads, thread, VIEW_ON_CPU, run->begin_ns, run->end_ns, &segment);
	if (!err && segment) {
		segment->stolen_ns = stolen_ns;
		segment->cpu = (uint16_t)run->cpu;
	}
	thread->last = *run;
	thread->woken_ns = 0;
	return err;
}

int view_threads_survey(struct view_threads *threads, const struct txtrace_record *record)
{
	return record->kind == TXTRACE_RECORD_OBJECT ? fd_names_add(&threads->futexes, &record->object) : 0;
}

int view_threads_add(struct view_threads *threads, const struct txtrace_record *record)
{
	struct view_thread *thread;
	struct wait wait;
	int result = wait_finder_add(threads->finder, record, &wait), err;

	if (result < 0)
		return result;
	switch (record->kind) {
	case TXTRACE_RECORD_OBJECT:
		return fd_names_add(&threads->files, &record->object);
	case TXTRACE_RECORD_THREAD:
		return name_thread(threads, record->thread.pid, record->thread.tid, record->thread.comm);
	case TXTRACE_RECORD_WAKE:
		thread = id_map_get(&threads->numbers, record->wake.pid, record->wake.tid);
		if (thread && !thread->woken_ns && record->wake.time_ns > thread->last.end_ns)
			thread->woken_ns = record->wake.time_ns;
		return 0;
	case TXTRACE_RECORD_RUN:
		err = thread_of(threads, record->run.pid, record->run.tid, &thread);
		return err || !thread ? err
				      : add_run(threads, thread, &record->run, result > 0 ? &wait : NULL);
	default:
		return 0;
	}
}

/* It left its last CPU blocked, and no stay on one follows: it slept until it was woken, or the log ended. */
static int add_open_end(struct view_threads *threads, struct view_thread *thread, uint64_t end_ns)
{
	const struct txtrace_run *last = &thread->last;
	struct wait wait = { .pid = thread->pid,
			     .tid = thread->tid,
			     .begin_ns = last->end_ns,
			     .end_ns = thread->woken_ns ? thread->woken_ns : end_ns,
			     .reason = last->reason,
			     .syscall_nr = last->syscall_nr,
			     .object = last->object };
	int err;

	if (last->left_as != TXTRACE_LEFT_BLOCKED || last->reason >= TXTRACE_BLOCK_REASON_COUNT)
		return 0;
	err = add_wait(threads, thread, &wait, true);
	return err || !thread->woken_ns ? err : add_runnable(threads, thread, thread->woken_ns, end_ns);
}

int view_threads_finish(struct view_threads *threads, uint64_t end_ns)
{
	int err = 0;

	for (size_t i = 0; !err && i < threads->thread_cnt; i++)
		err = add_open_end(threads, threads->threads[i], end_ns);
	return err;
}
