/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/service/span_metrics.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/label/histogram.h"
#include "base/saturating.h"
#include "base/string_pool.h"
#include "record/service/span_traces.h"

/*
 * The bounds: 10 µs, 20 µs, 50 µs, …, 20 s, and none. More would be more series without being more to look
 * at.
 */
#define FIRST_BOUND 13 /* as histogram_bucket_begin_ns() numbers them */
#define BOUND_COUNT 20
#define BUCKET_COUNT (BOUND_COUNT + 1)

struct bucket_sums {
	uint64_t bucket_cnt[BUCKET_COUNT];
	uint64_t sum_ns;
	uint64_t cnt; /* of a part: spans that had it */
};

struct row_metrics {
	struct bucket_sums wall;
	/* of wall; of the last span of each bucket that was in a trace, and when it ended */
	struct metrics_exemplar exemplars[BUCKET_COUNT];
	struct native_histogram native; /* likewise */
	struct bucket_sums parts[LEDGER_PART_COUNT];
	uint64_t lower_bound_cnt;
};

struct span_metrics {
	struct string_pool *names; /* LABEL, CONTAINER and POD, with a zero byte between them */
	struct text name;
	struct span_traces *traces;
	/* by the name's number; the last is that of all others */
	struct row_metrics *rows[SPAN_METRICS_ROW_MAX + 1];
};

struct span_metrics *span_metrics_new(void)
{
	struct span_metrics *metrics = calloc(1, sizeof(*metrics));

	if (!metrics)
		return NULL;
	metrics->names = string_pool_new();
	metrics->traces = span_traces_new();
	if (metrics->names && metrics->traces)
		return metrics;
	span_metrics_free(metrics);
	return NULL;
}

void span_metrics_free(struct span_metrics *metrics)
{
	if (!metrics)
		return;
	for (size_t i = 0; i <= SPAN_METRICS_ROW_MAX; i++)
		free(metrics->rows[i]);
	string_pool_free(metrics->names);
	span_traces_free(metrics->traces);
	text_release(&metrics->name);
	free(metrics);
}

/* ---- adding ---- */

/* A bound belongs to what is below it, unlike that of a histogram for people. */
static size_t bucket_of(uint64_t ns)
{
	size_t bucket = ns ? histogram_bucket_of(ns - 1) : 0;

	bucket = bucket < FIRST_BOUND ? 0 : bucket - FIRST_BOUND + 1;
	return bucket < BOUND_COUNT ? bucket : BOUND_COUNT;
}

static void add_to(struct bucket_sums *sums, uint64_t ns)
{
	increase(&sums->bucket_cnt[bucket_of(ns)], 1);
	increase(&sums->sum_ns, ns);
	increase(&sums->cnt, 1);
}

static int row_of(struct span_metrics *metrics, const struct txtrace_string *label,
		  const struct container_identity *container, struct row_metrics **row)
{
	struct text *name = &metrics->name;
	uint32_t number;
	int err;

	text_clear(name);
	text_append_bytes(name, label->bytes, label->length);
	text_append_bytes(name, "", 1);
	text_append(name, container ? container->container : "");
	text_append_bytes(name, "", 1);
	text_append(name, container ? container->pod : "");
	if (name->err)
		return name->err;
	number = string_pool_find(metrics->names, text_string(name), name->length);
	if (number == STRING_POOL_NONE) {
		number = SPAN_METRICS_ROW_MAX;
		if (string_pool_count(metrics->names) < SPAN_METRICS_ROW_MAX) {
			err = string_pool_add(metrics->names, text_string(name), name->length, &number);
			if (err)
				return err;
		}
	}
	if (!metrics->rows[number])
		metrics->rows[number] = calloc(1, sizeof(**metrics->rows));
	*row = metrics->rows[number];
	return *row ? 0 : -ENOMEM;
}

int span_metrics_see(struct span_metrics *metrics, const struct txtrace_attribute *attribute)
{
	return span_traces_see(metrics->traces, attribute);
}

int span_metrics_add(struct span_metrics *metrics, const struct txtrace_span *span,
		     const struct container_identity *container)
{
	uint64_t wall_ns = span->end_ns - span->begin_ns;
	struct metrics_exemplar exemplar = { .ns = wall_ns, .time_ns = span->end_ns };
	struct row_metrics *row;
	int err = row_of(metrics, &span->label, container, &row);

	exemplar.is_there = span_traces_take(metrics->traces, span, exemplar.trace_id);
	if (err)
		return err;
	if (span->flags & TXTRACE_SPAN_LOWER_BOUND) {
		increase(&row->lower_bound_cnt, 1);
		return 0;
	}
	add_to(&row->wall, wall_ns);
	native_histogram_add(&row->native, wall_ns);
	if (exemplar.is_there)
		row->exemplars[bucket_of(wall_ns)] = exemplar;
	for (size_t part = 0; part < LEDGER_PART_COUNT; part++) {
		uint64_t ns = ledger_part_ns(&span->ledger, part);

		if (ns)
			add_to(&row->parts[part], ns);
	}
	return 0;
}

/* ---- writing ---- */

/* "on-CPU" is on_cpu, the block reasons are blocked_lock and so on. */
static void append_part(struct text *text, const struct ledger_part *part)
{
	if (part->is_blocked) {
		text_append(text, "blocked_");
		text_append(text, txtrace_block_reason_name(
					  (unsigned int)((part->offset -
							  offsetof(struct txtrace_ledger, blocked_ns)) /
							 sizeof(uint64_t))));
		return;
	}
	for (const char *letter = part->title; *letter; letter++)
		text_append_format(text, "%c", *letter == '-' ? '_' : tolower((unsigned char)*letter));
}

static void add_labels(const struct span_metrics *metrics, size_t number, struct metrics_labels *labels)
{
	const char *name = "(other labels)\0", *pod, *container;
	size_t length = strlen(name) + 2;

	if (number < SPAN_METRICS_ROW_MAX)
		name = string_pool_get(metrics->names, (uint32_t)number, &length);
	pod = (const char *)memrchr(name, 0, length) + 1;
	container = (const char *)memrchr(name, 0, (size_t)(pod - 1 - name)) + 1;
	metrics_labels_add(labels, "label", name, (size_t)(container - 1 - name));
	if (pod - 1 > container)
		metrics_labels_add(labels, "container", container, (size_t)(pod - 1 - container));
	if (pod < name + length)
		metrics_labels_add(labels, "pod", pod, (size_t)(name + length - pod));
}

static void fill_bounds(uint64_t bounds_ns[BOUND_COUNT])
{
	for (size_t i = 0; i < BOUND_COUNT; i++)
		bounds_ns[i] = histogram_bucket_begin_ns(FIRST_BOUND + i);
}

static void append_wall(const struct row_metrics *row, const struct metrics_labels *labels, uint64_t epoch_ns,
			struct metrics_sheet *sheet)
{
	struct metrics_exemplar exemplars[BUCKET_COUNT];
	uint64_t bounds_ns[BOUND_COUNT];
	const struct metrics_histogram histogram = {
		.bound_cnt = BOUND_COUNT,
		.bounds_ns = bounds_ns,
		.bucket_cnts = row->wall.bucket_cnt,
		.sum_ns = row->wall.sum_ns,
		.exemplars = exemplars,
		.native = &row->native,
	};

	fill_bounds(bounds_ns);
	memcpy(exemplars, row->exemplars, sizeof(exemplars));
	for (size_t i = 0; i < BUCKET_COUNT; i++)
		exemplars[i].time_ns += epoch_ns;
	metrics_sheet_histogram(sheet, labels, &histogram);
}

static void append_parts(const struct row_metrics *row, const struct metrics_labels *labels,
			 struct text *part_name, struct metrics_sheet *sheet)
{
	uint64_t bounds_ns[BOUND_COUNT];

	fill_bounds(bounds_ns);
	for (size_t part = 0; part < LEDGER_PART_COUNT; part++) {
		const struct bucket_sums *sums = &row->parts[part];
		struct metrics_labels of_part = *labels;
		/* what spans had nothing of it, nobody added */
		const struct metrics_histogram histogram = {
			.bound_cnt = BOUND_COUNT,
			.bounds_ns = bounds_ns,
			.bucket_cnts = sums->bucket_cnt,
			.absent_cnt = row->wall.cnt - sums->cnt,
			.sum_ns = sums->sum_ns,
		};

		if (!sums->cnt)
			continue;
		text_clear(part_name);
		append_part(part_name, &ledger_parts[part]);
		metrics_labels_add(&of_part, "part", text_string(part_name), part_name->length);
		metrics_sheet_histogram(sheet, &of_part, &histogram);
	}
}

/* Each of the families has all rows. */
enum family { WALL, PARTS, LOWER_BOUNDS };

static void append_family(const struct span_metrics *metrics, enum family family, uint64_t epoch_ns,
			  struct text *part_name, struct metrics_sheet *sheet)
{
	for (size_t i = 0; i <= SPAN_METRICS_ROW_MAX; i++) {
		const struct row_metrics *row = metrics->rows[i];
		struct metrics_labels labels = { .cnt = 0 };

		if (!row)
			continue;
		add_labels(metrics, i, &labels);
		if (family == WALL)
			append_wall(row, &labels, epoch_ns, sheet);
		else if (family == PARTS)
			append_parts(row, &labels, part_name, sheet);
		else
			metrics_sheet_count(sheet, &labels, row->lower_bound_cnt);
	}
}

void span_metrics_append(const struct span_metrics *metrics, uint64_t epoch_ns, struct metrics_sheet *sheet)
{
	struct text part_name = { 0 };

	metrics_sheet_family(sheet, "txtrace_span_wall_seconds", METRICS_HISTOGRAM,
			     "From the begin of a span to its end.");
	append_family(metrics, WALL, epoch_ns, &part_name, sheet);
	metrics_sheet_family(sheet, "txtrace_span_part_seconds", METRICS_HISTOGRAM,
			     "Where the time of a span went.");
	append_family(metrics, PARTS, epoch_ns, &part_name, sheet);
	metrics_sheet_family(sheet, "txtrace_span_lower_bounds_total", METRICS_COUNTER,
			     "Spans whose ledger is incomplete; they are in no histogram.");
	append_family(metrics, LOWER_BOUNDS, epoch_ns, &part_name, sheet);
	if (part_name.err)
		sheet->text->err = part_name.err;
	text_release(&part_name);
}
