/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What makes the slow spans of a label slow: the mean ledger of those at or
 * above a high percentile of wall time, against that of those around the
 * median. Needs two passes over the spans, as the percentiles have to be known
 * first; docs/attribution.md, "Tails", has the definitions.
 *
 *	label_report_add(labels, &record); …            first pass
 *	label_report_sort(labels);
 *	tail = tail_report_new(labels, 0.99);
 *	tail_report_add(tail, &record.span); …          second pass, over the same spans
 *	for (i = 0; i < tail_report_row_count(tail); i++)
 *		use(tail_report_row(tail, i));
 */
#ifndef TAIL_REPORT_H
#define TAIL_REPORT_H

#include "analyze/label/label_report.h"

#define TAIL_MIDDLE_FROM 0.4
#define TAIL_MIDDLE_TO 0.6
#define TAIL_LEAST_SPANS 5 /* at or above the percentile, and in the middle, or nothing is said */

struct tail_band {
	uint64_t from_ns; /* wall times that are in it */
	uint64_t to_ns;
	struct span_sums sums;
};

struct tail_row {
	const struct label_row *label;
	bool has_enough; /* spans for the percentile to mean something: tail_spans_needed() */
	uint64_t median_ns;
	uint64_t high_ns; /* the high percentile */
	struct tail_band middle;
	struct tail_band tail;
};

struct tail_report;

/* labels stays the caller's, and must outlive it. 0 < fraction < 1. NULL: no memory. */
struct tail_report *tail_report_new(const struct label_report *labels, double fraction);
void tail_report_free(struct tail_report *report);

void tail_report_add(struct tail_report *report, const struct txtrace_span *span);

/* In the order of the label report. */
size_t tail_report_row_count(const struct tail_report *report);
const struct tail_row *tail_report_row(const struct tail_report *report, size_t idx);

/* How many spans of a label it takes for there to be enough at or above the percentile. */
uint64_t tail_spans_needed(double fraction);

enum tail_verdict {
	TAIL_TOLD = 0,
	TAIL_TOO_FEW = 1, /* spans */
	TAIL_NONE = 2,    /* the slow ones took no longer: all took about the same */
};

enum tail_verdict tail_verdict(const struct tail_row *row);

/*
 * The mean of a part of the ledger in the tail, less that in the middle; means
 * are rounded down. Parts: the members of the ledger in order.
 */
#define TAIL_PART_COUNT (sizeof(struct txtrace_ledger) / sizeof(uint64_t))
int64_t tail_part_more_ns(const struct tail_row *row, size_t part);
int64_t tail_more_ns(const struct tail_row *row); /* the sum over all parts */
uint64_t tail_mean_ns(const struct tail_band *band, size_t part);

#endif
