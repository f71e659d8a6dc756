/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/tokio_story.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define TID_RUNTIME 65536u /* of counters that no worker has */
#define TASK_SPACE 0	   /* of the map of tasks */
#define SPAN_SPACE 1	   /* spans of the program */
#define HALF_CLOCK_NS (1000ull << 31)

enum lane_state {
	LANE_UNKNOWN = 0,
	LANE_AWAKE = 1, /* since an unpark */
	LANE_PARKED = 2,
};

struct open_poll {
	uint64_t id; /* 0: no poll is open */
	uint64_t begin_ns;
	uint64_t task; /* id of its span; 0: not known */
	uint64_t task_number;
	uint32_t name;
	bool has_task; /* a number */
};

/* A worker. */
struct tokio_lane {
	uint32_t tid;
	enum lane_state state;
	uint64_t since_ns;
	uint64_t last_ns;
	uint64_t cpu_ns; /* at the unpark */
	bool has_cpu;
	bool has_queue;
	uint64_t queue;
	struct open_poll poll;
};

/* A task, or a span of the program, that has not ended. */
struct tokio_task {
	uint64_t id;
	uint64_t number;
	uint64_t space;
	uint64_t parent; /* of spans: the id of one */
	uint64_t begin_ns;
	uint64_t last_exit_ns;
	uint64_t in_ns; /* workers were in it */
	uint32_t tid;
	uint32_t last_tid;
	uint32_t name;
	uint32_t poll_cnt; /* that are open */
	uint64_t enter_ns; /* of spans */
	uint16_t worker;   /* that is in the span */
	bool is_in;	   /* a worker is */
	bool has_ended;	   /* in a poll that has not */
	bool is_guessed;   /* when it was spawned, or ended */
	bool is_moved;
	bool is_entered;
};

void tokio_story_init(struct tokio_story *story, struct import *import, const struct string_pool *strings)
{
	*story = (struct tokio_story){ .import = import, .strings = strings };
	id_map_init(&story->tasks);
}

void tokio_story_release(struct tokio_story *story)
{
	struct tokio_task *task;

	for (size_t i = 0; i < TOKIO_WORKER_CNT; i++)
		free(story->lanes[i]);
	for (size_t i = 0; (task = id_map_next(&story->tasks, &i));)
		free(task);
	id_map_release(&story->tasks);
}

/* ---- words ---- */

static struct txtrace_string text_of(const char *text)
{
	return (struct txtrace_string){ text, strlen(text) };
}

/* `otherwise` if the event has none. */
static struct txtrace_string name_of(const struct tokio_story *story, uint32_t name, const char *otherwise)
{
	struct txtrace_string string;

	if (name == TOKIO_NO_STRING)
		return text_of(otherwise);
	string.bytes = string_pool_get(story->strings, name, &string.length);
	return string.length > 0 ? string : text_of(otherwise);
}

/* ---- threads and counters ---- */

static int tell_thread(struct tokio_story *story, uint64_t time_ns, uint32_t tid, const char *name)
{
	struct txtrace_record record = { .kind = TXTRACE_RECORD_THREAD };

	record.thread = (struct txtrace_thread){
		.time_ns = time_ns, .tid = tid, .pid = TOKIO_PID, .is_seed = true, .comm = text_of(name)
	};
	return import_add(story->import, &record);
}

static int find_lane(struct tokio_story *story, const struct tokio_event *event, struct tokio_lane **found)
{
	struct tokio_lane *lane = story->lanes[event->worker];
	char name[32];

	*found = lane;
	if (lane)
		return 0;
	lane = calloc(1, sizeof(*lane));
	if (!lane)
		return -ENOMEM;
	story->lanes[event->worker] = *found = lane;
	lane->tid = event->worker + 1u;
	if (event->worker == TOKIO_WORKER_BLOCKING)
		snprintf(name, sizeof(name), "blocking pool");
	else if (event->worker == TOKIO_WORKER_OTHER)
		snprintf(name, sizeof(name), "other");
	else
		snprintf(name, sizeof(name), "worker %u", event->worker);
	return tell_thread(story, event->time_ns, lane->tid, name);
}

static int tell_counter(struct tokio_story *story, uint64_t time_ns, uint32_t tid, const char *name,
			uint64_t value)
{
	struct txtrace_record record = { .kind = TXTRACE_RECORD_COUNTER };

	record.counter = (struct txtrace_counter){ .time_ns = time_ns,
						   .value = value > INT64_MAX ? INT64_MAX : (int64_t)value,
						   .pid = TOKIO_PID,
						   .tid = tid,
						   .name = text_of(name) };
	return import_add(story->import, &record);
}

static int tell_sample(struct tokio_story *story, const struct tokio_event *event)
{
	int err = 0;

	if (!story->is_runtime_told)
		err = tell_thread(story, event->time_ns, TID_RUNTIME, "runtime");
	story->is_runtime_told = true;
	return err ? err : tell_counter(story, event->time_ns, TID_RUNTIME, "global queue", event->queue);
}

/* Where it has changed. */
static int tell_local_queue(struct tokio_story *story, struct tokio_lane *lane,
			    const struct tokio_event *event)
{
	if (!(event->has & TOKIO_HAS_QUEUE) || (lane->has_queue && lane->queue == event->queue))
		return 0;
	lane->has_queue = true;
	lane->queue = event->queue;
	return tell_counter(story, event->time_ns, lane->tid, "local queue", event->queue);
}

/* ---- parked and awake ---- */

static int tell_run(struct tokio_story *story, const struct tokio_lane *lane, const struct txtrace_run *run)
{
	struct txtrace_record record = { .kind = TXTRACE_RECORD_RUN };

	record.run = *run;
	record.run.tid = lane->tid;
	record.run.pid = TOKIO_PID;
	record.run.cpu = TXTRACE_CPU_UNKNOWN;
	record.run.syscall_nr = -2;
	return import_add(story->import, &record);
}

/* false: not known, or the two readings are of different threads. */
static bool cpu_time(const struct tokio_lane *lane, const struct tokio_event *event, uint64_t *cpu_ns)
{
	if (!lane->has_cpu || !(event->has & TOKIO_HAS_CPU))
		return false;
	*cpu_ns = event->cpu_ns - lane->cpu_ns;
	if (event->has & TOKIO_CPU_IS_32_BIT && event->cpu_ns < lane->cpu_ns)
		*cpu_ns += 2 * HALF_CLOCK_NS;
	return *cpu_ns < HALF_CLOCK_NS ||
	       (event->cpu_ns >= lane->cpu_ns && !(event->has & TOKIO_CPU_IS_32_BIT));
}

/*
 * The active period ends. Where in it the thread had a CPU is not known: it is told as the last part, so that
 * the record stands where its time is known.
 */
static int tell_park(struct tokio_story *story, struct tokio_lane *lane, const struct tokio_event *event)
{
	struct txtrace_run run = { .begin_ns = event->time_ns,
				   .end_ns = event->time_ns,
				   .left_as = TXTRACE_LEFT_BLOCKED,
				   .reason = TXTRACE_BLOCK_POLL };
	uint64_t wall_ns = event->time_ns - lane->since_ns, cpu_ns;

	if (lane->state == LANE_AWAKE && cpu_time(lane, event, &cpu_ns)) {
		story->clipped_cnt += cpu_ns > wall_ns;
		cpu_ns = cpu_ns < wall_ns ? cpu_ns : wall_ns;
		run.begin_ns -= cpu_ns;
		run.runnable_ns = wall_ns - cpu_ns;
	} else if (lane->state == LANE_AWAKE) {
		story->no_cpu_cnt++;
	}
	lane->state = LANE_PARKED;
	lane->since_ns = event->time_ns;
	return tell_run(story, lane, &run);
}

/*
 * A run of no length: here the thread had got a CPU. The wait is what the file says, even if the thread was
 * parked for less.
 */
static int tell_unpark(struct tokio_story *story, struct tokio_lane *lane, const struct tokio_event *event)
{
	struct txtrace_run run = { .begin_ns = event->time_ns, .end_ns = event->time_ns };
	uint64_t parked_ns = lane->state == LANE_PARKED ? event->time_ns - lane->since_ns : 0;

	run.runnable_ns = event->wait_ns < event->time_ns ? event->wait_ns : event->time_ns;
	run.blocked_ns = parked_ns > run.runnable_ns ? parked_ns - run.runnable_ns : 0;
	if (lane->state == LANE_PARKED) {
		story->no_wait_cnt += !(event->has & TOKIO_HAS_WAIT);
		story->long_wait_cnt += run.runnable_ns > parked_ns;
	}
	if (event->has & TOKIO_HAS_CPU)
		run.left_as = TXTRACE_LEFT_PREEMPTED;
	lane->state = LANE_AWAKE;
	lane->since_ns = event->time_ns;
	lane->has_cpu = event->has & TOKIO_HAS_CPU;
	lane->cpu_ns = event->cpu_ns;
	return tell_run(story, lane, &run);
}

/* ---- tasks ---- */

/* A task, or a span of the program: made if it is new. *found is NULL if there is no room. */
static int find_task(struct tokio_story *story, const struct tokio_event *event, uint32_t tid,
		     struct tokio_task **found)
{
	uint64_t space = event->kind == TOKIO_SPAN_ENTER ? SPAN_SPACE : TASK_SPACE;
	struct tokio_task *task = id_map_get(&story->tasks, space, event->task);

	*found = task;
	if (task)
		return 0;
	if (story->tasks.cnt >= TOKIO_TASK_MAX) {
		story->no_room_cnt++;
		return 0;
	}
	task = calloc(1, sizeof(*task));
	if (!task || id_map_put(&story->tasks, space, event->task, task)) {
		free(task);
		return -ENOMEM;
	}
	*task = (struct tokio_task){ .id = ++story->span_cnt,
				     .number = event->task,
				     .space = space,
				     .begin_ns = event->time_ns,
				     .last_exit_ns = event->time_ns,
				     .tid = tid,
				     .name = event->name,
				     .is_guessed = event->has & TOKIO_TIME_IS_GUESSED ||
						   event->kind == TOKIO_POLL_START };
	*found = task;
	return 0;
}

static int tell_stay(struct tokio_story *story, struct tokio_task *task, uint32_t tid, uint64_t enter_ns,
		     uint64_t exit_ns)
{
	struct txtrace_record record = { .kind = TXTRACE_RECORD_STAY };

	record.stay = (struct txtrace_stay){ .enter_ns = enter_ns,
					     .exit_ns = exit_ns,
					     .span = task->id,
					     .span_pid = TOKIO_PID,
					     .pid = TOKIO_PID,
					     .tid = tid,
					     .is_keyed = task->space == TASK_SPACE };
	task->in_ns += exit_ns - enter_ns;
	task->is_moved |= task->is_entered && task->last_tid != tid;
	task->is_entered = true;
	task->last_tid = tid;
	if (exit_ns > task->last_exit_ns)
		task->last_exit_ns = exit_ns;
	return import_add(story->import, &record);
}

static int tell_task(struct tokio_story *story, const struct tokio_task *task, uint64_t end_ns,
		     bool is_unfinished)
{
	struct txtrace_record record = { .kind = TXTRACE_RECORD_SPAN };
	uint64_t wall_ns = end_ns > task->begin_ns ? end_ns - task->begin_ns : 0;
	bool is_task = task->space == TASK_SPACE;
	struct txtrace_span *span = &record.span;
	struct text tag = { 0 };
	char number[24];
	int err;

	snprintf(number, sizeof(number), "%" PRIu64, task->number);
	text_append_format(&tag, is_task ? "task=%s" : "span=%s", number);
	if (is_task && task->name != TOKIO_NO_STRING) {
		struct txtrace_string name = name_of(story, task->name, "");

		text_append(&tag, ",spawned=");
		text_append_bytes(&tag, name.bytes, name.length);
	}
	if (tag.err)
		return tag.err;
	*span = (struct txtrace_span){ .id = task->id,
				       .pid = TOKIO_PID,
				       .tid = task->tid,
				       .end_tid = is_unfinished	     ? 0
						  : task->is_entered ? task->last_tid
								     : task->tid,
				       .flags = is_task ? TXTRACE_SPAN_KEYED : 0,
				       .parent = task->parent,
				       .begin_ns = task->begin_ns,
				       .end_ns = task->begin_ns + wall_ns,
				       .work_ns = wall_ns > task->in_ns ? wall_ns : task->in_ns,
				       .label = is_task ? text_of("task")
							: name_of(story, task->name, "span"),
				       .tag = { tag.bytes, tag.length } };
	if (is_task)
		span->key = text_of(number);
	span->flags |= task->parent ? 0 : TXTRACE_SPAN_ROOT;
	span->ledger.unknown_ns = task->in_ns;
	span->ledger.detached_ns = span->work_ns - task->in_ns;
	span->flags |= task->is_moved ? TXTRACE_SPAN_MOVED : 0;
	span->flags |= task->is_guessed || is_unfinished ? TXTRACE_SPAN_LOWER_BOUND : 0;
	span->flags |= is_unfinished ? TXTRACE_SPAN_UNFINISHED : 0;
	err = import_add(story->import, &record);
	text_release(&tag);
	return err;
}

/* Tells of a task that is open no more. */
static int close_task(struct tokio_story *story, struct tokio_task *task, uint64_t end_ns)
{
	int err = tell_task(story, task, end_ns, false);

	id_map_remove(&story->tasks, task->space, task->number);
	free(task);
	return err;
}

static int begin_task(struct tokio_story *story, const struct tokio_event *event)
{
	struct tokio_lane *lane;
	struct tokio_task *task;
	int err = find_lane(story, event, &lane);

	story->guessed_cnt += (event->has & TOKIO_TIME_IS_GUESSED) != 0;
	return err ? err : find_task(story, event, lane->tid, &task);
}

static int end_task(struct tokio_story *story, const struct tokio_event *event)
{
	struct tokio_task *task = id_map_get(&story->tasks, TASK_SPACE, event->task);

	if (!task)
		return 0;
	if (event->has & TOKIO_TIME_IS_GUESSED) {
		story->guessed_cnt++;
		task->is_guessed = true;
	}
	task->has_ended = true; /* mostly in its last poll */
	return task->poll_cnt > 0 ? 0 : close_task(story, task, event->time_ns);
}

/* ---- polls ---- */

static int tell_poll(struct tokio_story *story, struct tokio_lane *lane, uint64_t end_ns, bool is_unfinished)
{
	struct txtrace_record record = { .kind = TXTRACE_RECORD_SPAN };
	struct open_poll *poll = &lane->poll;
	struct txtrace_span *span = &record.span;
	uint64_t wall_ns = end_ns - poll->begin_ns;
	char tag[32];

	snprintf(tag, sizeof(tag), "task=%" PRIu64, poll->task_number);
	*span = (struct txtrace_span){ .id = poll->id,
				       .parent = poll->task,
				       .pid = TOKIO_PID,
				       .tid = lane->tid,
				       .end_tid = is_unfinished ? 0 : lane->tid,
				       .flags = poll->task ? TXTRACE_SPAN_PARENT_KEYED : TXTRACE_SPAN_ROOT,
				       .begin_ns = poll->begin_ns,
				       .end_ns = end_ns,
				       .work_ns = wall_ns,
				       .label = name_of(story, poll->name, "poll") };
	span->ledger.unknown_ns = wall_ns;
	if (poll->has_task)
		span->tag = text_of(tag);
	if (is_unfinished)
		span->flags |= TXTRACE_SPAN_UNFINISHED | TXTRACE_SPAN_LOWER_BOUND;
	poll->id = 0;
	return import_add(story->import, &record);
}

static int end_poll(struct tokio_story *story, struct tokio_lane *lane, uint64_t end_ns, bool is_unfinished)
{
	struct open_poll *poll = &lane->poll;
	struct tokio_task *task = poll->task ? id_map_get(&story->tasks, TASK_SPACE, poll->task_number)
					     : NULL;
	int err = 0;

	if (task && task->id == poll->task)
		err = tell_stay(story, task, lane->tid, poll->begin_ns, end_ns);
	else
		task = NULL;
	err = err ? err : tell_poll(story, lane, end_ns, is_unfinished);
	if (!task)
		return err;
	task->is_guessed |= is_unfinished;
	return --task->poll_cnt == 0 && task->has_ended && !err ? close_task(story, task, end_ns) : err;
}

static int tell_depth_of_poll(struct tokio_story *story, const struct tokio_lane *lane,
			      const struct tokio_event *event)
{
	struct txtrace_record record = { .kind = TXTRACE_RECORD_ATTRIBUTE };

	if (!(event->has & TOKIO_HAS_QUEUE))
		return 0;
	record.attribute = (struct txtrace_attribute){ .time_ns = event->time_ns,
						       .span = lane->poll.id,
						       .pid = TOKIO_PID,
						       .tid = lane->tid,
						       .type = TXTRACE_ATTRIBUTE_UINT,
						       .value = event->queue,
						       .name = text_of("local queue") };
	return import_add(story->import, &record);
}

static int begin_poll(struct tokio_story *story, struct tokio_lane *lane, const struct tokio_event *event)
{
	struct tokio_task *task = NULL;
	int err = 0;

	if (lane->poll.id) {
		story->replaced_cnt++;
		err = end_poll(story, lane, event->time_ns, true);
	}
	if (!err && event->has & TOKIO_HAS_TASK)
		err = find_task(story, event, lane->tid, &task);
	if (err)
		return err;
	if (task && task->name == TOKIO_NO_STRING)
		task->name = event->name;
	if (task)
		task->poll_cnt++;
	lane->poll = (struct open_poll){ .id = ++story->span_cnt,
					 .begin_ns = event->time_ns,
					 .task = task ? task->id : 0,
					 .task_number = event->task,
					 .has_task = event->has & TOKIO_HAS_TASK,
					 .name = event->name };
	return tell_depth_of_poll(story, lane, event);
}

/* ---- spans of the program, and wakeups ---- */

static int enter_span(struct tokio_story *story, const struct tokio_lane *lane,
		      const struct tokio_event *event)
{
	struct tokio_task *span, *parent;
	int err = find_task(story, event, lane->tid, &span);

	if (err || !span || span->is_in)
		return err;
	parent = event->other ? id_map_get(&story->tasks, SPAN_SPACE, event->other) : NULL;
	if (!span->parent && !span->is_entered && parent && parent != span)
		span->parent = parent->id;
	span->is_in = true;
	span->enter_ns = event->time_ns;
	span->worker = event->worker;
	return 0;
}

static int leave_span(struct tokio_story *story, struct tokio_task *span, uint64_t time_ns)
{
	const struct tokio_lane *lane = story->lanes[span->worker];

	if (!span->is_in || !lane)
		return 0;
	span->is_in = false;
	return tell_stay(story, span, lane->tid, span->enter_ns,
			 time_ns > span->enter_ns ? time_ns : span->enter_ns);
}

static int leave_or_close_span(struct tokio_story *story, const struct tokio_event *event)
{
	struct tokio_task *span = id_map_get(&story->tasks, SPAN_SPACE, event->task);
	int err = span ? leave_span(story, span, event->time_ns) : 0;

	if (err || !span || event->kind == TOKIO_SPAN_EXIT)
		return err;
	return close_task(story, span, event->time_ns);
}

static int tell_wake(struct tokio_story *story, const struct tokio_lane *lane,
		     const struct tokio_event *event)
{
	const struct tokio_task *woken = id_map_get(&story->tasks, TASK_SPACE, event->task);
	const struct tokio_task *waker = event->other ? id_map_get(&story->tasks, TASK_SPACE, event->other)
						      : NULL;
	struct txtrace_record record = { .kind = TXTRACE_RECORD_LINK };

	if (!woken || !waker) {
		story->lone_wake_cnt++;
		return 0;
	}
	record.link = (struct txtrace_link){ .time_ns = event->time_ns,
					     .from = waker->id,
					     .to = woken->id,
					     .pid = TOKIO_PID,
					     .tid = lane->tid,
					     .name = text_of("wake") };
	return import_add(story->import, &record);
}

/* ---- all ---- */

static int tell_event(struct tokio_story *story, struct tokio_lane *lane, const struct tokio_event *event)
{
	switch ((enum tokio_kind)event->kind) {
	case TOKIO_POLL_START:
		return begin_poll(story, lane, event);
	case TOKIO_POLL_END:
		if (lane->poll.id)
			return end_poll(story, lane, event->time_ns, false);
		story->stray_end_cnt++;
		return 0;
	case TOKIO_PARK:
		return tell_park(story, lane, event);
	case TOKIO_UNPARK:
		return tell_unpark(story, lane, event);
	case TOKIO_WAKE:
		return tell_wake(story, lane, event);
	case TOKIO_SPAN_ENTER:
		return enter_span(story, lane, event);
	case TOKIO_SAMPLE:
		story->sample_cnt++;
		return 0;
	default:
		return 0;
	}
}

int tokio_story_add(struct tokio_story *story, const struct tokio_event *from)
{
	struct tokio_event event = *from;
	struct tokio_lane *lane;
	int err;

	if (event.time_ns > story->last_ns)
		story->last_ns = event.time_ns;
	if (event.kind == TOKIO_QUEUE_SAMPLE)
		return tell_sample(story, &event);
	if (event.kind == TOKIO_TASK_SPAWN)
		return begin_task(story, &event);
	if (event.kind == TOKIO_TASK_END)
		return end_task(story, &event);
	if (event.kind == TOKIO_SPAN_EXIT || event.kind == TOKIO_SPAN_CLOSE)
		return leave_or_close_span(story, &event);
	err = find_lane(story, &event, &lane);
	if (err)
		return err;
	if (event.time_ns < lane->last_ns) /* it came too late to be put into order */
		event.time_ns = lane->last_ns;
	lane->last_ns = event.time_ns;
	err = tell_local_queue(story, lane, &event);
	return err ? err : tell_event(story, lane, &event);
}

static int finish_tasks(struct tokio_story *story)
{
	struct tokio_task *task;
	int err = 0;

	for (size_t i = 0; !err && (task = id_map_next(&story->tasks, &i));) {
		err = leave_span(story, task, story->last_ns);
		err = err ? err : tell_task(story, task, story->last_ns, true);
	}
	return err;
}

int tokio_story_finish(struct tokio_story *story)
{
	int err = 0;

	for (size_t i = 0; !err && i < TOKIO_WORKER_CNT; i++) {
		struct tokio_lane *lane = story->lanes[i];

		if (lane && lane->poll.id)
			err = end_poll(story, lane, story->last_ns, true);
	}
	return err ? err : finish_tasks(story);
}
