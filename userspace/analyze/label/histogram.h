/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A histogram of one of the times of spans for each label. Buckets are 0, then
 * [1, 2), [2, 5), [5, 10), [10, 20), … ns. Spans in, rows out. Memory is
 * bounded: labels that come when it is used up are counted together.
 */
#ifndef HISTOGRAM_H
#define HISTOGRAM_H

#include <stdbool.h>
#include <stddef.h>

#include "analyze/span_value.h"
#include "txtrace/log.h"

#define HISTOGRAM_BUCKET_COUNT 59 /* the last begins at 10^19 */
#define HISTOGRAM_MEMORY_BYTES (256ull << 20)

struct histogram_row {
	struct txtrace_string label; /* owned by the histogram; empty: unknown, or is_rest */
	bool is_rest;                /* all labels for which there was no memory */
	uint64_t cnt;                /* of exact spans; lower bounds are in no bucket */
	uint64_t lower_bound_cnt;
	uint64_t sum_ns;
	uint64_t bucket_cnt[HISTOGRAM_BUCKET_COUNT];
};

struct histogram;

/* value: enum span_value. memory_max_bytes: 0 for HISTOGRAM_MEMORY_BYTES. NULL: no memory. */
struct histogram *histogram_new(unsigned int value, uint64_t memory_max_bytes);
void histogram_free(struct histogram *histogram);

int histogram_add(struct histogram *histogram, const struct txtrace_span *span); /* 0 or -ENOMEM */

/* Puts the rows in order: the largest sum first. */
void histogram_sort(struct histogram *histogram);
size_t histogram_row_count(const struct histogram *histogram);
const struct histogram_row *histogram_row(const struct histogram *histogram, size_t idx);

/*
 * Bucket idx holds times from begin(idx) up to, but not including, begin(idx +
 * 1); the last one all from its begin on.
 */
uint64_t histogram_bucket_begin_ns(size_t idx);
size_t histogram_bucket_of(uint64_t ns);

#endif
