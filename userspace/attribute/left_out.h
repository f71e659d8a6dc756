/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Spans that the user does not want in the log: of other labels, too short, or
 * of transactions that are not sampled.
 * They are attributed all the same, as their time is their parents'; only they,
 * and what was said of them, are not written, but counted.
 *
 * How long a span lasts is known at its end. What is said of a young one waits
 * until it is old enough; then all that waited is written, in front of what
 * comes next of it. So nothing is written of a span that turns out too short.
 * Memory: what is said within --min-duration of the begins of open spans; no
 * more than 64 MiB, behind which it is written at once.
 */
#ifndef LEFT_OUT_H
#define LEFT_OUT_H

#include "attribute/attribution_state.h"

void release_marks(struct attribution *attribution);

/* ---- the same for each event, which takes nothing as long as nothing is to be left out ---- */

int put_filtered_mark(struct attribution *attribution, struct span *span, const struct txtrace_record *record,
		      uint64_t time_ns);
int settle_filtered(struct attribution *attribution, struct span *span, uint64_t time_ns, bool *is_written);

static inline bool leaves_out(const struct attribution_filter *filter)
{
	return filter->wants_label || filter->min_duration_ns || filter->sample_rate > 1;
}

/* The label decides at the begin: whether the span is left out. */
static inline bool is_label_left_out(const struct attribution *attribution, const struct event_text *label)
{
	const struct attribution_filter *filter = &attribution->filter;

	return filter->wants_label && !filter->wants_label(filter->context, label);
}

/* A record about an open span, or about none that is open (NULL). */
static inline int put_mark(struct attribution *attribution, struct span *span,
			   const struct txtrace_record *record, uint64_t time_ns)
{
	return leaves_out(&attribution->filter) ? put_filtered_mark(attribution, span, record, time_ns)
						: put_record(attribution, record);
}

/* The span has ended: is it to be written? Then all that waited has been. */
static inline int settle_marks(struct attribution *attribution, struct span *span, uint64_t time_ns,
			       bool *is_written)
{
	*is_written = true;
	return leaves_out(&attribution->filter) ? settle_filtered(attribution, span, time_ns, is_written) : 0;
}

#endif
