/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Attribution: from the ordered stream of events to the records of the log. A
 * pure function: no I/O, no clock, no globals; memory follows the open spans,
 * up to a limit, and the live threads. docs/attribution.md defines what comes
 * out.
 */
#ifndef ATTRIBUTION_H
#define ATTRIBUTION_H

#include <stdbool.h>

#include "event/event.h"
#include "event/event_decode.h"
#include "txtrace/log.h"

struct attribution;

/*
 * Takes each record as it is finished; its strings live until the call returns.
 * A non-zero return stops the feed and is its result.
 */
typedef int (*attribution_sink)(void *context, const struct txtrace_record *record);

/* What is not to be written, though it is attributed. All zero: all is. */
struct attribution_filter {
	uint64_t min_duration_ns; /* spans that end sooner, unless they are cut off */
	uint64_t sample_rate;     /* of transactions one of so many is written; 0, 1: all are */
	/* others are left out; NULL: none are */
	bool (*wants_label)(void *context, const struct event_text *label);
	void *context;
};

struct attribution *attribution_new(attribution_sink sink, void *context); /* NULL: no memory */
void attribution_free(struct attribution *attribution);

/* Before the first event. */
void attribution_set_filter(struct attribution *attribution, const struct attribution_filter *filter);

#define ATTRIBUTION_SPAN_BYTES (UINT64_C(2) << 30)

/*
 * All open spans together may take so many bytes; without this call it is the
 * above. What one process may take of it, and what happens beyond it:
 * attribute/span_budget.h. To be called before anything is fed.
 */
void attribution_limit_spans(struct attribution *attribution, uint64_t bytes);

/*
 * Events in the order of their times (equal times: in the order in which they
 * happened). 0, -ENOMEM, or what the sink returned.
 */
int attribution_feed(struct attribution *attribution, const struct event *event);

/*
 * The event that comes so many events later is about this: what it needs lies in
 * memory that no cache foresees if there are many threads or open spans, and is
 * fetched meanwhile. Changes nothing, and costs more than it saves while all is
 * near the processor.
 */
#define ATTRIBUTION_AHEAD 16
bool attribution_wants_expectations(const struct attribution *attribution);
void attribution_expect(struct attribution *attribution, const struct event_subject *subject);

/*
 * Writes an OPEN_SPAN record for each span that is open at time_ns and has had
 * no checkpoint yet, and LOSS records for events that were refused.
 */
int attribution_checkpoint(struct attribution *attribution, uint64_t time_ns);

/*
 * Writes again what a reader needs who knows nothing of the records before: a
 * THREAD for each thread that lives and was told of, as one that ran before,
 * and an OPEN_SPAN for each span that is open; all at the time of the last
 * event. Not from within the sink.
 */
int attribution_restate(struct attribution *attribution);

/* The stream has ended: what is open is written as unfinished, ended at end_ns. Feed nothing after this. */
int attribution_finish(struct attribution *attribution, uint64_t end_ns);

struct attribution_stats {
	uint64_t span_cnt; /* finished, the unfinished ones included */
	uint64_t lower_bound_cnt;
	uint64_t open_span_cnt; /* now */
	uint64_t span_bytes;    /* that they take now: attribution_limit_spans() */
	uint64_t thread_cnt;    /* live now */
	uint64_t refused_cnt;   /* events for which the open spans left no room: they are lost */
	uint64_t anomaly_cnt[TXTRACE_ANOMALY_COUNT];
	uint64_t left_out_cnt[TXTRACE_LEFT_OUT_COUNT]; /* by the filter; they are in span_cnt */
};

void attribution_stats(const struct attribution *attribution, struct attribution_stats *stats);

#endif
