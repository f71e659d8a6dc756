/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/label/tail_report.h"

#include <math.h>
#include <stdlib.h>

#include "analyze/tree/tree_node.h"
#include "base/saturating.h"
#include "base/string_pool.h"

struct tail_report {
	struct string_pool *labels; /* number of the label -> row */
	struct tail_row *rows;
	size_t row_cnt;
};

static void measure(struct tail_row *row, const struct label_row *label, double fraction)
{
	const struct quantile *wall = &label->exact.wall_ns;

	row->label = label;
	row->has_enough = label->exact.sums.cnt >= tail_spans_needed(fraction);
	row->median_ns = quantile_at(wall, 0.5);
	row->high_ns = quantile_at(wall, fraction);
	row->middle.from_ns = quantile_at(wall, TAIL_MIDDLE_FROM);
	row->middle.to_ns = quantile_at(wall, TAIL_MIDDLE_TO);
	row->tail.from_ns = row->high_ns;
	row->tail.to_ns = wall->max;
}

struct tail_report *tail_report_new(const struct label_report *labels, double fraction)
{
	struct tail_report *report = calloc(1, sizeof(*report));
	size_t cnt = label_report_row_count(labels);
	uint32_t number;
	int err = 0;

	if (!report)
		return NULL;
	report->labels = string_pool_new();
	report->rows = calloc(cnt + 1, sizeof(*report->rows));
	for (size_t i = 0; report->labels && report->rows && i < cnt && !err; i++) {
		const struct label_row *label = label_report_row(labels, i);

		if (label->is_rest)
			continue;
		err = string_pool_add(report->labels, label->label.bytes, label->label.length, &number);
		if (!err)
			measure(&report->rows[report->row_cnt++], label, fraction);
	}
	if (!err && report->labels && report->rows)
		return report;
	tail_report_free(report);
	return NULL;
}

void tail_report_free(struct tail_report *report)
{
	if (!report)
		return;
	string_pool_free(report->labels);
	free(report->rows);
	free(report);
}

static void add_to_band(struct tail_band *band, const struct txtrace_span *span)
{
	uint64_t wall_ns = span_wall_ns(span);

	if (wall_ns < band->from_ns || wall_ns > band->to_ns)
		return;
	band->sums.cnt++;
	increase(&band->sums.wall_ns, wall_ns);
	increase(&band->sums.work_ns, span->work_ns);
	ledger_add(&band->sums.ledger, &span->ledger);
}

void tail_report_add(struct tail_report *report, const struct txtrace_span *span)
{
	uint32_t number = string_pool_find(report->labels, span->label.bytes, span->label.length);

	if (number == STRING_POOL_NONE || (span->flags & TXTRACE_SPAN_LOWER_BOUND))
		return;
	add_to_band(&report->rows[number].middle, span);
	add_to_band(&report->rows[number].tail, span);
}

size_t tail_report_row_count(const struct tail_report *report)
{
	return report->row_cnt;
}

const struct tail_row *tail_report_row(const struct tail_report *report, size_t idx)
{
	return &report->rows[idx];
}

uint64_t tail_spans_needed(double fraction)
{
	/* 5 / (1 - 0.99) is a bit more than 500. */
	return (uint64_t)ceil(TAIL_LEAST_SPANS / (1 - fraction) - 1e-6);
}

uint64_t tail_mean_ns(const struct tail_band *band, size_t part)
{
	return band->sums.cnt ? ((const uint64_t *)&band->sums.ledger)[part] / band->sums.cnt : 0;
}

/* Hostile logs: no more than 2^59, so that all parts together still fit. */
static int64_t clamp(uint64_t ns)
{
	return ns < 1ull << 59 ? (int64_t)ns : (int64_t)(1ull << 59);
}

int64_t tail_part_more_ns(const struct tail_row *row, size_t part)
{
	return clamp(tail_mean_ns(&row->tail, part)) - clamp(tail_mean_ns(&row->middle, part));
}

int64_t tail_more_ns(const struct tail_row *row)
{
	int64_t sum_ns = 0;

	for (size_t part = 0; part < TAIL_PART_COUNT; part++)
		sum_ns += tail_part_more_ns(row, part);
	return sum_ns;
}

enum tail_verdict tail_verdict(const struct tail_row *row)
{
	if (!row->has_enough || row->middle.sums.cnt < TAIL_LEAST_SPANS ||
	    row->tail.sums.cnt < TAIL_LEAST_SPANS)
		return TAIL_TOO_FEW;
	return row->tail.from_ns > row->middle.to_ns && tail_more_ns(row) > 0 ? TAIL_TOLD : TAIL_NONE;
}
