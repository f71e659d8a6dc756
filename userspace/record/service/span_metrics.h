/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Spans added up for Prometheus: by label and container, a histogram of their
 * wall time and one of each part of their ledgers. Lower bounds are counted and
 * go into no histogram. Memory is bounded: there are SPAN_METRICS_ROW_MAX of
 * them, and all that come later are one, "(other labels)". Sums saturate.
 */
#ifndef SPAN_METRICS_H
#define SPAN_METRICS_H

#include "attach/process/container_identity.h"
#include "base/text.h"
#include "cli/print/ledger_part.h"
#include "record/service/metrics_sheet.h"
#include "txtrace/log.h"

#define SPAN_METRICS_ROW_MAX 500 /* each is about thirty time series, and up to three hundred */

struct span_metrics;

struct span_metrics *span_metrics_new(void); /* NULL: no memory */
void span_metrics_free(struct span_metrics *metrics);

/* What is said of spans that have not ended. 0 or -ENOMEM. */
int span_metrics_see(struct span_metrics *metrics, const struct txtrace_attribute *attribute);

/* container: where the span's process is; NULL: not known. 0 or -ENOMEM; the metrics stay usable. */
int span_metrics_add(struct span_metrics *metrics, const struct txtrace_span *span,
		     const struct container_identity *container);

/*
 * txtrace_span_wall_seconds{label}, with a native histogram and, as exemplar, the
 * trace of the last span of each bucket; txtrace_span_part_seconds{label,part};
 * txtrace_span_lower_bounds_total{label}. In a container each has the labels
 * `container` and `pod`, too. A part that no span of a row has had so far is left
 * out; once it is there its histogram counts those spans, too. epoch_ns: to be
 * added to the times of spans to get the time since 1970.
 */
void span_metrics_append(const struct span_metrics *metrics, uint64_t epoch_ns, struct metrics_sheet *sheet);

#endif
