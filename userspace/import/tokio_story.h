/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events of a Tokio runtime, in the order of time, told as records of a log:
 * a thread for each worker, a run for each active period, a span for each poll
 * and each task, counters for the queues. docs/formats.md, "tokio", has the
 * mapping.
 */
#ifndef TOKIO_STORY_H
#define TOKIO_STORY_H

#include "base/id_map.h"
#include "base/string_pool.h"
#include "import/import.h"
#include "import/tokio_event.h"

#define TOKIO_PID 1	      /* the formats have no pid */
#define TOKIO_TASK_MAX 500000 /* open at once; polls of more have no task */

struct tokio_lane;

struct tokio_story {
	struct import *import;
	const struct string_pool *strings; /* of events' names */
	struct tokio_lane *lanes[TOKIO_WORKER_CNT];
	struct id_map tasks; /* open ones: (0, number) -> struct tokio_task; (1, number): spans */
	uint64_t span_cnt;   /* ids that were given out */
	uint64_t last_ns;
	bool is_runtime_told;
	uint64_t stray_end_cnt; /* of polls that had not started */
	uint64_t replaced_cnt;	/* polls that had not ended when the next one of the worker started */
	uint64_t no_cpu_cnt;	/* active periods of which the CPU time is not known */
	uint64_t no_wait_cnt;	/* parked times that may have a wait for a CPU in them */
	uint64_t long_wait_cnt; /* waits for a CPU that are longer than the parked time they ended */
	uint64_t clipped_cnt;	/* active periods in which the CPU time was more than the time */
	uint64_t no_room_cnt;	/* tasks that were not followed */
	uint64_t sample_cnt;	/* CPU samples */
	uint64_t lone_wake_cnt; /* of a task, or by one, that is not open */
	uint64_t guessed_cnt;	/* tasks whose spawn, or end, has no time */
};

void tokio_story_init(struct tokio_story *story, struct import *import, const struct string_pool *strings);
void tokio_story_release(struct tokio_story *story);

/* 0, -ENOMEM, or what import_add() failed with. */
int tokio_story_add(struct tokio_story *story, const struct tokio_event *event);

/* What is open is told as unfinished. */
int tokio_story_finish(struct tokio_story *story);

#endif
