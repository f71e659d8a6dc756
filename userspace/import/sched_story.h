/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scheduler events of a whole machine, in the order of time, told as records of
 * a log: threads, their runs, wakeups, and a span for what each thread did while
 * it was seen. docs/formats.md, "perf", has the mapping.
 */
#ifndef SCHED_STORY_H
#define SCHED_STORY_H

#include "base/id_map.h"
#include "import/import.h"
#include "import/sched_line.h"

#define SCHED_THREAD_MAX 500000 /* alive at once; more are not followed */
#define SCHED_OPEN_MAX 64	/* spans of pairs that a thread has open */
#define SCHED_OPEN_ALL 200000	/* that all threads have */
#define SCHED_PAIR_MAX 32

/* Two events that begin and end a span, by their names as they stand in the text. */
struct sched_pair {
	struct txtrace_string begin, end;
	struct txtrace_string label;
};

struct sched_thread;

struct sched_story {
	struct import *import;
	struct id_map threads; /* alive ones: (0, tid) -> struct sched_thread */
	struct sched_pair pairs[SCHED_PAIR_MAX];
	size_t pair_cnt;
	uint64_t cpu_ns[SCHED_CPU_MAX]; /* of the last event there */
	struct {
		uint64_t cnt;
		uint64_t since_ns;
		uint32_t cpu;
	} lost; /* told with the next event */
	uint64_t last_ns;
	uint64_t span_cnt; /* ids that were given out */
	uint64_t loss_cnt; /* times that events were lost */
	size_t open_cnt;   /* spans of pairs, with room that was made for more */
	bool has_begun;
	bool has_pids;	  /* lines tell the process of the thread that they are of */
	bool has_wakings; /* so that sched_wakeup says nothing new */

	uint64_t event_cnt;
	uint64_t no_pid_cnt;	 /* threads whose process is not known */
	uint64_t no_wake_cnt;	 /* sleeps whose end is not known */
	uint64_t guess_cnt;	 /* switches that do not go with those before */
	uint64_t no_room_cnt;	 /* threads that were not followed */
	uint64_t step_back_cnt;	 /* of the time */
	uint64_t lone_end_cnt;	 /* ends of pairs without a begin */
	uint64_t unfinished_cnt; /* spans of pairs */
	uint64_t nobody_cnt;	 /* events of the idle task, or of no known thread */
};

void sched_story_init(struct sched_story *story, struct import *import);
void sched_story_release(struct sched_story *story);

/* BEGIN=END, BEGIN=END, …, which outlives the story. false: it is not such a list, or a long one. */
bool sched_story_set_pairs(struct sched_story *story, const char *pairs);

/* A line of the kinds EVENT and LOST. 0, -ENOMEM, what import_add() failed with; -EBADMSG: bad words. */
int sched_story_add(struct sched_story *story, const struct sched_line *line);

int sched_story_finish(struct sched_story *story);

#endif
