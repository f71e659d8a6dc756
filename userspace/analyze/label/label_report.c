/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/label/label_report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/span_programs.h"
#include "analyze/root_overlap.h"
#include "analyze/tree/tree_node.h"
#include "base/array.h"
#include "base/saturating.h"
#include "base/string_pool.h"

/* Itself, its place in both arrays, and what malloc adds to it and to the list of its quantiles. */
#define ROW_BYTES (sizeof(struct label_row) + 2 * sizeof(struct label_row *) + 2 * 16)

/* A power of 2. Labels stand at the same place as long as their batch is read. */
#define RECENT_CNT 256

struct label_report {
	uint64_t memory_max_bytes;
	size_t row_bytes;          /* rows, their pointers and their quantiles; the pool counts its own */
	struct string_pool *pool;  /* label -> index in by_label */
	struct label_row **by_label;
	struct label_row **sorted; /* the same rows; made by label_report_sort() */
	size_t row_cnt;            /* without rest */
	size_t row_size;
	struct label_row *rest;
	/* by the label's place in memory: a guess, which saves the search */
	struct label_row *recent[RECENT_CNT];
	struct log_census census;
	struct span_sums top_level[2];
	struct root_overlap overlap;
	struct span_programs programs;
};

struct label_report *label_report_new(uint64_t memory_max_bytes)
{
	struct label_report *report = calloc(1, sizeof(*report));

	if (!report)
		return NULL;
	report->memory_max_bytes = memory_max_bytes ? memory_max_bytes : LABEL_REPORT_MEMORY_BYTES;
	report->pool = string_pool_new();
	if (!report->pool) {
		free(report);
		return NULL;
	}
	span_programs_init(&report->programs);
	return report;
}

static void free_row(struct label_row *row)
{
	if (!row)
		return;
	quantile_release(&row->exact.wall_ns);
	if (row->lower_bounds)
		quantile_release(&row->lower_bounds->wall_ns);
	free(row->lower_bounds);
	free(row);
}

void label_report_free(struct label_report *report)
{
	if (!report)
		return;
	for (size_t i = 0; i < report->row_cnt; i++)
		free_row(report->by_label[i]);
	free_row(report->rest);
	free(report->by_label);
	free(report->sorted);
	string_pool_free(report->pool);
	span_programs_release(&report->programs);
	free(report);
}

static void add_sums(struct span_sums *sums, const struct span_sums *others)
{
	sums->cnt += others->cnt;
	increase(&sums->wall_ns, others->wall_ns);
	increase(&sums->work_ns, others->work_ns);
	ledger_add(&sums->ledger, &others->ledger);
}

static void add_span(struct span_sums *sums, const struct txtrace_span *span)
{
	sums->cnt++;
	increase(&sums->wall_ns, span_wall_ns(span));
	increase(&sums->work_ns, span->work_ns);
	ledger_add(&sums->ledger, &span->ledger);
}

static bool has_memory(const struct label_report *report)
{
	return report->row_bytes + string_pool_bytes(report->pool) < report->memory_max_bytes;
}

/* The row of all labels for which there is no memory. */
static int find_rest(struct label_report *report, struct label_row **row)
{
	if (!report->rest) {
		report->rest = calloc(1, sizeof(*report->rest));
		if (!report->rest)
			return -ENOMEM;
		report->rest->is_rest = true;
	}
	*row = report->rest;
	return 0;
}

static int grow_rows(struct label_report *report)
{
	struct label_row **grown = array_grow(report->by_label, &report->row_size, report->row_cnt,
					      sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	report->by_label = grown;
	return 0;
}

static int make_row(struct label_report *report, const struct txtrace_string *label, struct label_row **row)
{
	uint32_t number;
	int err = grow_rows(report);

	*row = err ? NULL : calloc(1, sizeof(**row));
	if (!*row)
		return -ENOMEM;
	err = string_pool_add(report->pool, label->bytes, label->length, &number);
	if (err) {
		free(*row);
		return -ENOMEM;
	}
	(*row)->label.bytes = string_pool_get(report->pool, number, &(*row)->label.length);
	report->by_label[report->row_cnt++] = *row; /* its index is number: both count up from 0 */
	report->row_bytes += ROW_BYTES;
	return 0;
}

static struct label_row **recent_row(struct label_report *report, const struct txtrace_string *label)
{
	return &report->recent[((uintptr_t)label->bytes ^ (uintptr_t)label->bytes >> 8) % RECENT_CNT];
}

static int search_row(struct label_report *report, const struct txtrace_string *label, struct label_row **row)
{
	uint32_t number = string_pool_find(report->pool, label->bytes, label->length);
	int err = 0;

	if (number != STRING_POOL_NONE)
		*row = report->by_label[number];
	else if (has_memory(report))
		err = make_row(report, label, row);
	else
		return find_rest(report, row);
	if (!err)
		*recent_row(report, label) = *row;
	return err;
}

static int find_row(struct label_report *report, const struct txtrace_string *label, struct label_row **row)
{
	*row = *recent_row(report, label);
	if (*row && label->length && (*row)->label.length == label->length &&
	    !memcmp((*row)->label.bytes, label->bytes, label->length))
		return 0;
	return search_row(report, label, row);
}

static int find_figures(struct label_report *report, struct label_row *row, bool is_lower_bound,
			struct span_figures **figures)
{
	*figures = &row->exact;
	if (!is_lower_bound)
		return 0;
	if (!row->lower_bounds) {
		row->lower_bounds = calloc(1, sizeof(*row->lower_bounds));
		if (!row->lower_bounds)
			return -ENOMEM;
		report->row_bytes += sizeof(*row->lower_bounds);
	}
	*figures = row->lower_bounds;
	return 0;
}

static int add_to_rows(struct label_report *report, const struct txtrace_span *span)
{
	bool is_lower_bound = span->flags & TXTRACE_SPAN_LOWER_BOUND;
	struct span_figures *figures;
	struct txtrace_span alone;
	struct label_row *row;
	int err = find_row(report, &span->label, &row);

	if (!err)
		err = find_figures(report, row, is_lower_bound, &figures);
	if (!err)
		err = quantile_add(&figures->wall_ns, span_wall_ns(span), has_memory(report),
				   &report->row_bytes);
	if (err)
		return err;
	add_span(&figures->sums, span);
	row->programs |= span_programs_of(&report->programs, span->pid);
	if (span->parent == 0)
		add_span(&report->top_level[is_lower_bound],
			 root_overlap_take_off(&report->overlap, span, &alone));
	return 0;
}

int label_report_begin_capture(struct label_report *report, const char *command)
{
	if (report->census.has_time)
		log_census_begin_capture(&report->census);
	return span_programs_begin_capture(&report->programs, command);
}

int label_report_add(struct label_report *report, const struct txtrace_record *record)
{
	log_census_add(&report->census, record);
	root_overlap_see(&report->overlap, record);
	if (record->kind == TXTRACE_RECORD_PROCESS)
		return span_programs_see(&report->programs, &record->process);
	return record->kind == TXTRACE_RECORD_SPAN ? add_to_rows(report, &record->span) : 0;
}

/* ---- reading ---- */

static uint64_t row_work_ns(const struct label_row *row)
{
	return add_saturating(row->exact.sums.work_ns,
			      row->lower_bounds ? row->lower_bounds->sums.work_ns : 0);
}

static int compare_labels(const struct txtrace_string *a, const struct txtrace_string *b)
{
	size_t shorter = a->length < b->length ? a->length : b->length;
	int order = shorter ? memcmp(a->bytes, b->bytes, shorter) : 0;

	return order ? order : (a->length > b->length) - (a->length < b->length);
}

static int compare_rows(const void *a, const void *b)
{
	const struct label_row *x = *(struct label_row *const *)a, *y = *(struct label_row *const *)b;
	uint64_t x_ns = row_work_ns(x), y_ns = row_work_ns(y);

	return x_ns != y_ns ? (x_ns < y_ns) - (x_ns > y_ns) : compare_labels(&x->label, &y->label);
}

void label_report_sort(struct label_report *report)
{
	struct label_row **sorted = reallocarray(report->sorted, report->row_cnt + 1, sizeof(*sorted));

	if (!sorted) /* then they stay in the order in which they came */
		return;
	if (report->row_cnt > 0)
		memcpy(sorted, report->by_label, report->row_cnt * sizeof(*sorted));
	qsort(sorted, report->row_cnt, sizeof(*sorted), compare_rows);
	report->sorted = sorted;
}

size_t label_report_row_count(const struct label_report *report)
{
	return report->row_cnt + !!report->rest;
}

const struct label_row *label_report_row(const struct label_report *report, size_t idx)
{
	if (idx == report->row_cnt)
		return report->rest;
	return report->sorted ? report->sorted[idx] : report->by_label[idx];
}

const struct log_census *label_report_census(const struct label_report *report)
{
	return &report->census;
}

/* Counted when they are asked for: each span would cost as much again. */
void label_report_totals(const struct label_report *report, struct span_sums totals[2])
{
	memset(totals, 0, 2 * sizeof(*totals));
	for (size_t i = 0; i < label_report_row_count(report); i++) {
		const struct label_row *row = label_report_row(report, i);

		add_sums(&totals[0], &row->exact.sums);
		if (row->lower_bounds)
			add_sums(&totals[1], &row->lower_bounds->sums);
	}
}

const struct span_sums *label_report_top_level(const struct label_report *report)
{
	return report->top_level;
}

const struct span_programs *label_report_programs(const struct label_report *report)
{
	return &report->programs;
}

uint64_t label_report_rest_count(const struct label_report *report)
{
	const struct label_row *rest = report->rest;

	return rest ? rest->exact.sums.cnt + (rest->lower_bounds ? rest->lower_bounds->sums.cnt : 0) : 0;
}

bool label_report_is_coarse(const struct label_report *report)
{
	for (size_t i = 0; i < label_report_row_count(report); i++) {
		const struct label_row *row = i == report->row_cnt ? report->rest : report->by_label[i];

		if (row->exact.wall_ns.is_coarse ||
		    (row->lower_bounds && row->lower_bounds->wall_ns.is_coarse))
			return true;
	}
	return false;
}
