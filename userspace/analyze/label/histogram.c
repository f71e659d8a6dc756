/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/label/histogram.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/saturating.h"
#include "base/string_pool.h"

struct histogram {
	unsigned int value;
	uint64_t memory_max_bytes;
	struct string_pool *labels; /* label -> index in by_label */
	struct histogram_row **by_label;
	struct histogram_row **sorted; /* NULL before histogram_sort() */
	size_t row_cnt;                /* without rest */
	size_t row_size;
	struct histogram_row *rest;
};

uint64_t histogram_bucket_begin_ns(size_t idx)
{
	static const uint64_t steps[] = { 1, 2, 5 };
	uint64_t power = 1;

	if (idx == 0)
		return 0;
	for (size_t i = 0; i < (idx - 1) / 3; i++)
		power *= 10;
	return power * steps[(idx - 1) % 3];
}

size_t histogram_bucket_of(uint64_t ns)
{
	size_t low = 0, high = HISTOGRAM_BUCKET_COUNT - 1;

	while (low < high) {
		size_t middle = (low + high + 1) / 2;

		if (histogram_bucket_begin_ns(middle) <= ns)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

struct histogram *histogram_new(unsigned int value, uint64_t memory_max_bytes)
{
	struct histogram *histogram = calloc(1, sizeof(*histogram));

	if (!histogram)
		return NULL;
	histogram->value = value;
	histogram->memory_max_bytes = memory_max_bytes ? memory_max_bytes : HISTOGRAM_MEMORY_BYTES;
	histogram->labels = string_pool_new();
	if (!histogram->labels) {
		free(histogram);
		return NULL;
	}
	return histogram;
}

void histogram_free(struct histogram *histogram)
{
	if (!histogram)
		return;
	for (size_t i = 0; i < histogram->row_cnt; i++)
		free(histogram->by_label[i]);
	free(histogram->by_label);
	free(histogram->sorted);
	free(histogram->rest);
	string_pool_free(histogram->labels);
	free(histogram);
}

static int grow(struct histogram *histogram)
{
	struct histogram_row **grown = array_grow(histogram->by_label, &histogram->row_size,
						  histogram->row_cnt, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	histogram->by_label = grown;
	return 0;
}

static int make_row(struct histogram *histogram, const struct txtrace_string *label,
		    struct histogram_row **row)
{
	uint32_t number;
	int err = grow(histogram);

	*row = err ? NULL : calloc(1, sizeof(**row));
	if (!*row)
		return -ENOMEM;
	if (string_pool_add(histogram->labels, label->bytes, label->length, &number)) {
		free(*row);
		return -ENOMEM;
	}
	(*row)->label.bytes = string_pool_get(histogram->labels, number, &(*row)->label.length);
	histogram->by_label[histogram->row_cnt++] = *row; /* its index is number: both count up from 0 */
	return 0;
}

static int find_row(struct histogram *histogram, const struct txtrace_string *label,
		    struct histogram_row **row)
{
	uint32_t number = string_pool_find(histogram->labels, label->bytes, label->length);
	size_t used_bytes = histogram->row_cnt * (sizeof(**row) + 2 * sizeof(*row)) +
			    string_pool_bytes(histogram->labels);

	if (number != STRING_POOL_NONE) {
		*row = histogram->by_label[number];
		return 0;
	}
	if (used_bytes < histogram->memory_max_bytes)
		return make_row(histogram, label, row);
	if (!histogram->rest) {
		histogram->rest = calloc(1, sizeof(**row));
		if (!histogram->rest)
			return -ENOMEM;
		histogram->rest->is_rest = true;
	}
	*row = histogram->rest;
	return 0;
}

int histogram_add(struct histogram *histogram, const struct txtrace_span *span)
{
	uint64_t ns = span_value_ns(span, histogram->value);
	struct histogram_row *row;
	int err = find_row(histogram, &span->label, &row);

	if (err)
		return err;
	if (span->flags & TXTRACE_SPAN_LOWER_BOUND) {
		row->lower_bound_cnt++;
		return 0;
	}
	row->cnt++;
	increase(&row->sum_ns, ns);
	row->bucket_cnt[histogram_bucket_of(ns)]++;
	return 0;
}

static int compare_rows(const void *a, const void *b)
{
	const struct histogram_row *x = *(struct histogram_row *const *)a,
				   *y = *(struct histogram_row *const *)b;
	size_t shorter = x->label.length < y->label.length ? x->label.length : y->label.length;
	int order;

	if (x->sum_ns != y->sum_ns)
		return (x->sum_ns < y->sum_ns) - (x->sum_ns > y->sum_ns);
	order = shorter ? memcmp(x->label.bytes, y->label.bytes, shorter) : 0;
	return order ? order : (x->label.length > y->label.length) - (x->label.length < y->label.length);
}

void histogram_sort(struct histogram *histogram)
{
	struct histogram_row **sorted = reallocarray(histogram->sorted, histogram->row_cnt + 1,
						     sizeof(*sorted));

	if (!sorted) /* then they stay in the order in which they came */
		return;
	if (histogram->row_cnt > 0)
		memcpy(sorted, histogram->by_label, histogram->row_cnt * sizeof(*sorted));
	qsort(sorted, histogram->row_cnt, sizeof(*sorted), compare_rows);
	histogram->sorted = sorted;
}

size_t histogram_row_count(const struct histogram *histogram)
{
	return histogram->row_cnt + !!histogram->rest;
}

const struct histogram_row *histogram_row(const struct histogram *histogram, size_t idx)
{
	if (idx == histogram->row_cnt)
		return histogram->rest;
	return histogram->sorted ? histogram->sorted[idx] : histogram->by_label[idx];
}
