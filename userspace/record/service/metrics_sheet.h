/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes metrics in the formats that Prometheus reads.
 *
 *	metrics_sheet_begin(&sheet, METRICS_OPEN, &text);
 *	metrics_sheet_family(&sheet, "a_total", METRICS_COUNTER, "What it is.");
 *	metrics_sheet_count(&sheet, &labels, 42);         each series of that family
 *	metrics_sheet_end(&sheet);
 *
 * Names and helps are ours; values of labels may be any bytes, and become UTF-8.
 * Errors stick in text->err.
 */
#ifndef METRICS_SHEET_H
#define METRICS_SHEET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/trace_context.h"
#include "base/text.h"
#include "record/service/native_histogram.h"

enum metrics_format {
	METRICS_TEXT = 0, /* Prometheus' text format 0.0.4 */
	METRICS_OPEN = 1, /* OpenMetrics 1.0: with exemplars, and without _total in the names of families */
	METRICS_PROTOBUF = 2, /* io.prometheus.client.MetricFamily, with native histograms */
};

#define METRICS_FORMATS 3

enum metrics_type { /* as the protobuf format numbers them */
		    METRICS_COUNTER = 0,
		    METRICS_GAUGE = 1,
		    METRICS_HISTOGRAM = 4,
};

struct metrics_label {
	const char *name;
	const char *bytes;
	size_t length;
};

#define METRICS_LABEL_MAX 4

struct metrics_labels {
	struct metrics_label labels[METRICS_LABEL_MAX];
	size_t cnt;
};

void metrics_labels_add(struct metrics_labels *labels, const char *name, const char *bytes, size_t length);

/* One observation of a bucket. */
struct metrics_exemplar {
	uint8_t trace_id[TRACE_ID_BYTES];
	uint64_t ns;
	uint64_t time_ns; /* since 1970 */
	bool is_there;
};

struct metrics_histogram {
	size_t bound_cnt;
	const uint64_t *bounds_ns;
	const uint64_t *bucket_cnts; /* up to each bound, and one more: beyond all */
	uint64_t absent_cnt;	     /* of 0 ns, in no bucket */
	uint64_t sum_ns;
	const struct metrics_exemplar *exemplars; /* for each bucket; NULL: none */
	const struct native_histogram *native;	  /* NULL: none */
};

struct metrics_sheet {
	struct text *text;
	enum metrics_format format;
	const char *name; /* of the family; NULL: none has begun */
	enum metrics_type type;
	struct text family; /* PROTOBUF: as far as it goes */
};

void metrics_sheet_begin(struct metrics_sheet *sheet, enum metrics_format format, struct text *text);
void metrics_sheet_family(struct metrics_sheet *sheet, const char *name, enum metrics_type type,
			  const char *help);

/* labels: NULL: none. */
void metrics_sheet_count(struct metrics_sheet *sheet, const struct metrics_labels *labels, uint64_t value);
void metrics_sheet_seconds(struct metrics_sheet *sheet, const struct metrics_labels *labels, uint64_t ns);
void metrics_sheet_histogram(struct metrics_sheet *sheet, const struct metrics_labels *labels,
			     const struct metrics_histogram *histogram);

void metrics_sheet_end(struct metrics_sheet *sheet);

#endif
