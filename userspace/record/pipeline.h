/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What happens to an event behind the rings: merged by time, decoded,
 * attributed, and written to the log. One thread, no privilege, no kernel: fed
 * from anything that has lanes. Whoever else needs an event or a record
 * observes it.
 */
#ifndef PIPELINE_H
#define PIPELINE_H

#include <stdint.h>

#include "attribute/attribution.h"
#include "event/event_decode.h"
#include "event/sched_mode.h"
#include "log/write/log_writer.h"
#include "merge/merge.h"

struct pipeline;

enum observer_moment {
	AT_TICK,       /* now and then */
	AT_FILE_END,   /* the file is about to end: what belongs into it is put now */
	AT_FILE_BEGIN, /* a new file has begun: what is needed to read it alone is put now */
	AT_END,	       /* the recording ends; all spans are told */
	OBSERVER_MOMENT_COUNT
};

#define OBSERVER_MAX 12
#define OBSERVE(kind) (UINT64_C(1) << (kind))
#define OBSERVE_ALL UINT64_MAX

/*
 * One who follows a recording. Each function may be NULL; what it returns is 0
 * or a negative errno, which ends the recording. It may call pipeline_put(),
 * but not from on_record. Observers are called in the order in which they were
 * added.
 */
struct observer {
	void *context;
	/* which events: OBSERVE(EVENT_...) */
	uint64_t event_kinds;
	int (*before_event)(void *context, const struct event *event); /* before it is attributed */
	int (*after_event)(void *context, const struct event *event);
	/* which records: OBSERVE(TXTRACE_RECORD_...) */
	uint64_t record_kinds;
	int (*on_record)(void *context, const struct txtrace_record *record); /* it is in the log */
	int (*at[OBSERVER_MOMENT_COUNT])(void *context, uint64_t time_ns);
};

struct pipeline_options {
	size_t lane_cnt;     /* of the sources; the pipeline has one more for losses */
	uint64_t span_bytes; /* that open spans may take */
	struct label_source labels;
	struct log_writer *log; /* the caller's */
	struct attribution_filter filter;
	enum sched_mode sched; /* what the events are going to lack */
	enum steal_kind steal; /* how they tell what a hypervisor takes */
};

struct pipeline *pipeline_new(const struct pipeline_options *options); /* NULL: no memory */
void pipeline_free(struct pipeline *pipeline);

/* Before pipeline_begin(). The observer is copied; at most OBSERVER_MAX. */
void pipeline_observe(struct pipeline *pipeline, const struct observer *observer);

int pipeline_push(struct pipeline *pipeline, size_t lane, const void *record, size_t size);
int pipeline_push_loss(struct pipeline *pipeline, const struct wire_loss *loss);

/* Lane has told everything up to this time; losses up to this time are told once every lane has. */
void pipeline_set_watermark(struct pipeline *pipeline, size_t lane, uint64_t time_ns);

/*
 * Handles what can be handled, but no more at once than takes some milliseconds: the rings fill meanwhile.
 * Negative errno: final (the log could not be written, no memory).
 */
int pipeline_run(struct pipeline *pipeline);
bool pipeline_has_more(const struct pipeline *pipeline); /* that the next run can handle */

/* Tells the log which spans are open, so that a crash loses no beginning. */
int pipeline_checkpoint(struct pipeline *pipeline, uint64_t time_ns);

/* Once, before the first event. */
int pipeline_begin(struct pipeline *pipeline, uint64_t time_ns);

/* A record that no event makes, straight into the log. */
int pipeline_put(struct pipeline *pipeline, const struct txtrace_record *record);

/* The file that is written is about to end: observers put what belongs into it. */
int pipeline_end_file(struct pipeline *pipeline, uint64_t time_ns);

/* Of a flight recorder, after that: writes what it keeps, and behind it why, and the summary. */
int pipeline_dump(struct pipeline *pipeline, const struct txtrace_record *why,
		  const struct txtrace_record *summary);

/* After that, unless nothing more comes: what the next file needs to be read alone. */
int pipeline_go_on(struct pipeline *pipeline);

/* Handles all that is left; spans that are open are cut off at end_ns. */
int pipeline_finish(struct pipeline *pipeline, uint64_t end_ns);

/* Now and then. */
int pipeline_tick(struct pipeline *pipeline);

struct pipeline_stats {
	struct attribution_stats attribution;
	struct merge_stats merge;
	uint64_t undecodable_cnt;
	uint64_t event_cnt;
};

void pipeline_stats(const struct pipeline *pipeline, struct pipeline_stats *stats);

#endif
