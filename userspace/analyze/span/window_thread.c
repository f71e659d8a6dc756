/* SPDX-License-Identifier: BSD-2-Clause */
/* Pass 3: what threads did. */
#include <errno.h>
#include <stdlib.h>

#include "analyze/span/window_internal.h"

static int thread_of(struct span_window *window, uint32_t pid, uint32_t tid, struct window_thread **thread)
{
	int err;

	*thread = id_map_get(&window->threads, pid, tid);
	if (*thread || !window->wants_all_threads ||
	    !window_take(window, sizeof(**thread) + 4 * sizeof(struct id_map_slot)))
		return 0;
	*thread = calloc(1, sizeof(**thread));
	if (!*thread)
		return -ENOMEM;
	(*thread)->pid = pid;
	(*thread)->tid = tid;
	err = id_map_put(&window->threads, pid, tid, *thread);
	if (err) {
		free(*thread);
		*thread = NULL;
	}
	return err;
}

/* Clipped to the window and to what is there already: a forged log may say anything. */
static int add_segment(struct span_window *window, struct window_thread *thread,
		       const struct window_segment *segment)
{
	uint64_t done_ns = thread->cnt > 0 ? thread->segments[thread->cnt - 1].to_ns : 0;
	struct window_segment clipped = *segment, *kept;

	clipped.from_ns = clipped.from_ns < window->begin_ns ? window->begin_ns : clipped.from_ns;
	clipped.from_ns = clipped.from_ns < done_ns ? done_ns : clipped.from_ns;
	clipped.to_ns = clipped.to_ns > window->end_ns ? window->end_ns : clipped.to_ns;
	if (clipped.from_ns >= clipped.to_ns || !window_take(window, 2 * sizeof(clipped)))
		return 0;
	kept = window_one_more((void **)&thread->segments, &thread->cnt, &thread->size, sizeof(clipped));
	if (!kept)
		return -ENOMEM;
	*kept = clipped;
	return clipped.has_wake ? window_own(window, &kept->wake.waker_comm) : 0;
}

static struct wait_object object_of(const struct span_window *window, const struct wait *wait)
{
	struct wait_object object = wait_object_of(&window->syscalls, wait);

	if (object.kind == WAIT_OBJECT_FD)
		object.name = fd_names_get(&window->names,
					   fd_names_find(&window->names, object.pid, object.value));
	return object;
}

static int add_wait(struct span_window *window, struct window_thread *thread, const struct wait *wait)
{
	struct window_segment segment = { .from_ns = wait->begin_ns,
					  .to_ns = wait->end_ns,
					  .state = WINDOW_BLOCKED,
					  .object = object_of(window, wait),
					  .has_wake = wait->wake };

	if (wait->wake)
		segment.wake = wait->wake->wake;
	return add_segment(window, thread, &segment);
}

static int add_run(struct span_window *window, struct window_thread *thread, const struct txtrace_run *run,
		   const struct wait *wait)
{
	struct window_segment segment = { .from_ns = run->begin_ns - run->runnable_ns,
					  .to_ns = run->begin_ns,
					  .state = WINDOW_RUNNABLE };
	int err = wait ? add_wait(window, thread, wait) : 0;

	if (!err && run->runnable_ns <= run->begin_ns)
		err = add_segment(window, thread, &segment);
	segment = (struct window_segment){
		.from_ns = run->begin_ns, .to_ns = run->end_ns, .state = WINDOW_ON_CPU, .cpu = run->cpu
	};
	if (!err)
		err = add_segment(window, thread, &segment);
	thread->last = *run;
	thread->woken_ns = 0;
	return err;
}

int span_window_add_threads(struct span_window *window, const struct txtrace_record *record)
{
	struct window_thread *thread;
	struct wait wait;
	int result = wait_finder_add(window->finder, record, &wait), err;

	if (result < 0)
		return result;
	if (record->kind == TXTRACE_RECORD_OBJECT)
		return fd_names_add(&window->names, &record->object);
	if (record->kind == TXTRACE_RECORD_WAKE) {
		thread = id_map_get(&window->threads, record->wake.pid, record->wake.tid);
		if (thread && !thread->woken_ns && record->wake.time_ns > thread->last.end_ns)
			thread->woken_ns = record->wake.time_ns;
		return 0;
	}
	if (record->kind != TXTRACE_RECORD_RUN)
		return 0;
	err = thread_of(window, record->run.pid, record->run.tid, &thread);
	return err || !thread ? err : add_run(window, thread, &record->run, result > 0 ? &wait : NULL);
}

/* It left its last CPU blocked, and no stay on one follows: it slept until it was woken, or the log ended. */
static int add_open_end(struct span_window *window, struct window_thread *thread)
{
	const struct txtrace_run *last = &thread->last;
	struct wait wait = { .pid = thread->pid,
			     .tid = thread->tid,
			     .begin_ns = last->end_ns,
			     .reason = last->reason,
			     .syscall_nr = last->syscall_nr,
			     .object = last->object };
	struct window_segment segment = { .from_ns = last->end_ns, .state = WINDOW_BLOCKED, .is_open = true };
	int err;

	if (last->left_as != TXTRACE_LEFT_BLOCKED || last->reason >= TXTRACE_BLOCK_REASON_COUNT)
		return 0;
	segment.object = object_of(window, &wait);
	segment.to_ns = thread->woken_ns ? thread->woken_ns : window->end_ns;
	err = add_segment(window, thread, &segment);
	if (err || !thread->woken_ns)
		return err;
	segment = (struct window_segment){ .from_ns = thread->woken_ns,
					   .to_ns = window->end_ns,
					   .state = WINDOW_RUNNABLE };
	return add_segment(window, thread, &segment);
}

/* The first wait for a futex may be told of behind waits for it. */
static void name_futexes(const struct span_window *window, struct window_thread *thread)
{
	for (size_t i = 0; i < thread->cnt; i++) {
		struct wait_object *object = &thread->segments[i].object;

		if (thread->segments[i].state == WINDOW_BLOCKED && object->kind == WAIT_OBJECT_FUTEX)
			object->name = fd_names_get(&window->names, fd_names_find(&window->names, object->pid,
										  object->value));
	}
}

int span_window_finish(struct span_window *window)
{
	struct window_thread *thread;
	int err = 0;

	for (size_t i = 0; !err && (thread = id_map_next(&window->threads, &i));) {
		err = add_open_end(window, thread);
		name_futexes(window, thread);
	}
	return err ? err : window_make_places(window);
}

const struct window_thread *span_window_thread(const struct span_window *window, uint32_t pid, uint32_t tid)
{
	return id_map_get(&window->threads, pid, tid);
}

const struct window_segment *window_thread_before(const struct window_thread *thread, uint64_t time_ns)
{
	size_t low = 0, high = thread->cnt;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (thread->segments[middle].from_ns < time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 ? &thread->segments[low - 1] : NULL;
}
