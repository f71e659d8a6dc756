/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Spans added up for Prometheus: by label, a histogram of their wall time and
 * one of each part of their ledgers. Lower bounds are counted and go into no
 * histogram. Memory is bounded: there are SPAN_METRICS_LABEL_MAX labels, and
 * all that come later are one, "(other labels)". Sums saturate.
 */
#ifndef SPAN_METRICS_H
#define SPAN_METRICS_H

#include "base/text.h"
#include "cli/print/ledger_part.h"
#include "txtrace/log.h"

#define SPAN_METRICS_LABEL_MAX 500 /* each is about thirty time series, and up to three hundred */

struct span_metrics;

struct span_metrics *span_metrics_new(void); /* NULL: no memory */
void span_metrics_free(struct span_metrics *metrics);

/* 0 or -ENOMEM; the metrics stay usable. */
int span_metrics_add(struct span_metrics *metrics, const struct txtrace_span *span);

/*
 * In Prometheus' text format 0.0.4: txtrace_span_wall_seconds{label},
 * txtrace_span_part_seconds{label,part},
 * txtrace_span_lower_bounds_total{label}. A part that no span of a label has
 * had so far is left out; once it is there its histogram counts those spans,
 * too.
 */
void span_metrics_append(const struct span_metrics *metrics, struct text *text);

#endif
