/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/span/critical_path.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

#define DEPTH_MAX 256

/* A thread that is walked back to a moment: that of the begin of the wait that it ended. */
struct frame {
	const struct window_thread *thread; /* NULL: nothing is known of it */
	uint32_t pid, tid;
	uint64_t until_ns;
	const struct window_segment *kept;
};

struct walk {
	const struct span_window *window;
	struct critical_path *path;
	struct frame frames[DEPTH_MAX];
	uint32_t depth; /* index of the current frame */
	uint64_t now_ns;
};

static int add_step(struct walk *walk, uint64_t from_ns, enum window_state state,
		    const struct window_segment *wait)
{
	const struct frame *frame = &walk->frames[walk->depth];
	struct critical_path *path = walk->path;
	struct path_step *step;
	uint64_t since_ns;
	struct path_step *grown = array_grow(path->steps, &path->size, path->cnt, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	path->steps = grown;
	step = &path->steps[path->cnt++];
	*step = (struct path_step){ .from_ns = from_ns,
				    .to_ns = walk->now_ns,
				    .pid = frame->pid,
				    .tid = frame->tid,
				    .state = state,
				    .depth = walk->depth,
				    .wait = wait,
				    .kept = frame->kept };
	step->span = span_window_place(walk->window, frame->pid, frame->tid, walk->now_ns, &since_ns);
	if (since_ns > step->from_ns && since_ns < step->to_ns)
		step->from_ns = since_ns; /* it worked for something else before: another step */
	walk->now_ns = step->from_ns;
	return 0;
}

/* A thread that ran when it woke the other; interrupts, and who is not known, lead nowhere. */
static const struct window_thread *waker_of(const struct walk *walk, const struct window_segment *wait)
{
	const struct window_segment *running;
	const struct window_thread *waker;

	if (!wait->has_wake || wait->wake.flags & (TXTRACE_WAKE_INTERRUPT | TXTRACE_WAKE_WAKER_UNKNOWN) ||
	    wait->wake.time_ns != walk->now_ns)
		return NULL;
	waker = span_window_thread(walk->window, wait->wake.waker_pid, wait->wake.waker_tid);
	running = waker ? window_thread_before(waker, walk->now_ns) : NULL;
	return running && running->state == WINDOW_ON_CPU && running->to_ns >= walk->now_ns ? waker : NULL;
}

/* The wait ended when its thread was woken: so what the waker did in that time is what it waited for. */
static int follow(struct walk *walk, const struct window_segment *wait, uint64_t from_ns)
{
	const struct window_thread *waker = waker_of(walk, wait);

	if (waker && walk->depth + 1 == DEPTH_MAX) {
		walk->path->is_cut = true;
		waker = NULL;
	}
	if (!waker)
		return add_step(walk, from_ns, WINDOW_BLOCKED, wait);
	walk->frames[++walk->depth] = (struct frame){ waker, waker->pid, waker->tid, from_ns, wait };
	return 0;
}

/* One step back on the current thread, or on to the one that woke it. */
static int step_back(struct walk *walk)
{
	const struct frame *frame = &walk->frames[walk->depth];
	const struct window_segment *segment = frame->thread
						       ? window_thread_before(frame->thread, walk->now_ns)
						       : NULL;
	uint64_t from_ns;

	if (!segment || segment->to_ns <= frame->until_ns)
		return add_step(walk, frame->until_ns, WINDOW_UNKNOWN, NULL);
	if (segment->to_ns < walk->now_ns)
		return add_step(walk, segment->to_ns, WINDOW_UNKNOWN, NULL);
	from_ns = segment->from_ns > frame->until_ns ? segment->from_ns : frame->until_ns;
	if (segment->state == WINDOW_BLOCKED)
		return follow(walk, segment, from_ns);
	return add_step(walk, from_ns, (enum window_state)segment->state, NULL);
}

/* Who ended it; where nobody did, the thread that was in it at last, or began it. */
static void start(struct walk *walk)
{
	const struct txtrace_span *span = &walk->window->span;
	struct frame *frame = &walk->frames[0];

	*frame = (struct frame){ .pid = span->pid,
				 .tid = span->end_tid ? span->end_tid : span->tid,
				 .until_ns = walk->window->begin_ns };
	for (size_t i = 0; i < walk->window->stay_cnt; i++) {
		const struct window_stay *stay = &walk->window->stays[i];

		if (stay->span == walk->window->self && stay->exit_ns == walk->window->end_ns &&
		    (!span->end_tid || stay->tid == span->end_tid)) {
			frame->pid = stay->pid;
			frame->tid = stay->tid;
		}
	}
	frame->thread = span_window_thread(walk->window, frame->pid, frame->tid);
}

int critical_path_init(struct critical_path *path, const struct span_window *window)
{
	struct walk walk = { .window = window, .path = path, .now_ns = window->end_ns };
	int err = 0;

	*path = (struct critical_path){ .cnt = 0 };
	start(&walk);
	while (!err && walk.now_ns > window->begin_ns) {
		while (walk.depth > 0 && walk.now_ns <= walk.frames[walk.depth].until_ns)
			walk.depth--;
		err = step_back(&walk);
	}
	if (err) {
		critical_path_release(path);
		return err;
	}
	for (size_t i = 0; i < path->cnt / 2; i++) {
		struct path_step step = path->steps[i];

		path->steps[i] = path->steps[path->cnt - 1 - i];
		path->steps[path->cnt - 1 - i] = step;
	}
	return 0;
}

void critical_path_release(struct critical_path *path)
{
	free(path->steps);
	*path = (struct critical_path){ .cnt = 0 };
}
