/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Spans that the user does not want in the log: of other labels, or too short. They are attributed all the same, as their time is their
 * parents'; only they, and what was said of them, are not written, but counted.
 *
 * How long a span lasts is known at its end. What is said of a young one waits until it is old enough; then all that waited is written, in
 * front of what comes next of it. So nothing is written of a span that turns out too short. Memory: what is said within --min-duration of
 * the begins of open spans; no more than 64 MiB, behind which it is written at once.
 */
#ifndef LEFT_OUT_H
#define LEFT_OUT_H

#include "attribute/attribution_state.h"

/* The label decides at the begin: whether the span is left out. */
bool is_label_left_out(const struct attribution *attribution, const struct event_text *label);

/* The parent that a span is written with: the nearest one above it that is not left out. */
uint64_t written_parent(const struct attribution *attribution, uint32_t tgid, uint64_t parent);

/* A record about an open span, or about none that is open (NULL). */
int put_mark(struct attribution *attribution, struct span *span, const struct txtrace_record *record, uint64_t time_ns);

/* The span has ended: is it to be written? Then all that waited has been. */
int settle_marks(struct attribution *attribution, struct span *span, uint64_t time_ns, bool *is_written);

void release_marks(struct attribution *attribution);

#endif
