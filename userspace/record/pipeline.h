/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What happens to an event behind the rings: merged by time, decoded,
 * attributed, written to the log and added to the report. One thread, no
 * privilege, no kernel: fed from anything that has lanes.
 */
#ifndef PIPELINE_H
#define PIPELINE_H

#include <stdint.h>
#include <stdio.h>

#include "analyze/label/label_report.h"
#include "analyze/thread/worker_report.h"
#include "attribute/attribution.h"
#include "event/event_decode.h"
#include "event/sched_mode.h"
#include "log/write/log_writer.h"
#include "merge/merge.h"
#include "record/stacks/code_stacks.h"
#include "record/flight/flight_recorder.h"
#include "record/targets/object_names.h"
#include "record/service/span_metrics.h"

struct pipeline;

struct pipeline_options {
	size_t lane_cnt;            /* of the sources; the pipeline has one more for losses */
	uint64_t span_bytes;        /* that open spans may take */
	struct label_source labels;
	object_reader read_object;  /* what descriptors refer to; NULL: nobody looks */
	struct code_stacks *stacks; /* the caller's; NULL: no stacks of code come */
	struct log_writer *log;     /* the caller's */
	bool wants_threads;         /* what each thread did is summed up, too */
	struct span_metrics *spans; /* finished spans are added; NULL: nobody asks for metrics */
	/* each event as text, in the order in which it is attributed; NULL: not */
	FILE *stream;

	/*
	 * The process has a new program: what was known of its memory is void. old_tid: that of the thread
	 * that exec'd, until then. May be NULL.
	 */
	void (*on_exec)(void *context, uint32_t tgid, uint32_t old_tid, uint64_t exec_ns);
	int (*on_process)(void *context, const struct event *event); /* EVENT_PROCESS. May be NULL */
	struct attribution_filter filter;
	struct flight_recorder *flight; /* sees the spans that are written; NULL: there is none */
	enum sched_mode sched;      /* what the events are going to lack */
	/* a new file of the log has begun. May be NULL */
	int (*on_turn)(void *context, uint64_t time_ns);
	/* a file may end: what is to be in it is put now. May be NULL */
	int (*before_turn)(void *context, uint64_t time_ns);
	/* At the end, while names of code are waited for: somebody wants an end at once. May be NULL. */
	bool (*is_hurried)(void *context);
	void *context;
};

struct pipeline *pipeline_new(const struct pipeline_options *options); /* NULL: no memory */
void pipeline_free(struct pipeline *pipeline);

int pipeline_push(struct pipeline *pipeline, size_t lane, const void *record, size_t size);
int pipeline_push_loss(struct pipeline *pipeline, const struct wire_loss *loss);

/* Lane has told everything up to this time; losses up to this time are told once every lane has. */
void pipeline_set_watermark(struct pipeline *pipeline, size_t lane, uint64_t time_ns);

/* Handles what can be handled. Negative errno: final (the log could not be written, no memory). */
int pipeline_run(struct pipeline *pipeline);

/* Tells the log which spans are open, so that a crash loses no beginning. */
int pipeline_checkpoint(struct pipeline *pipeline, uint64_t time_ns);

/* Once, before the first event. */
int pipeline_begin(struct pipeline *pipeline, uint64_t time_ns);

/* A record that no event makes, straight into the log and the report. */
int pipeline_put(struct pipeline *pipeline, const struct txtrace_record *record);

/*
 * Of a flight recorder: writes what it keeps, and behind it why, and the
 * summary. The names of the code that it tells of are in it.
 */
int pipeline_dump(struct pipeline *pipeline, const struct txtrace_record *why,
		  const struct txtrace_record *summary);

/* After that, unless nothing more comes: what the next file needs to be read alone. */
int pipeline_go_on(struct pipeline *pipeline);

/* Handles all that is left; spans that are open are cut off at end_ns. */
int pipeline_finish(struct pipeline *pipeline, uint64_t end_ns);

/* Now and then: tells names of code that became known. */
int pipeline_tick(struct pipeline *pipeline);

struct pipeline_stats {
	struct attribution_stats attribution;
	struct merge_stats merge;
	uint64_t undecodable_cnt;
	uint64_t event_cnt;
};

void pipeline_stats(const struct pipeline *pipeline, struct pipeline_stats *stats);

/* What was recorded so far, by label. Owned by the pipeline. */
struct label_report *pipeline_report(struct pipeline *pipeline);

/* What each thread did; NULL: nobody wanted that. Owned by the pipeline. */
struct worker_report *pipeline_workers(struct pipeline *pipeline);

#endif
