/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/service/span_metrics.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/label/histogram.h"
#include "base/saturating.h"
#include "base/string_pool.h"
#include "base/utf8.h"
#include "record/service/span_traces.h"

/*
 * The bounds: 10 µs, 20 µs, 50 µs, …, 20 s, and none. More would be more series without being more to look
 * at.
 */
#define FIRST_BOUND 13 /* as histogram_bucket_begin_ns() numbers them */
#define BOUND_COUNT 20
#define BUCKET_COUNT (BOUND_COUNT + 1)

#define NS_PER_SECOND 1000000000u

struct bucket_sums {
	uint64_t bucket_cnt[BUCKET_COUNT];
	uint64_t sum_ns;
	uint64_t cnt; /* of a part: spans that had it */
};

/* The last span of a bucket that was in a trace. */
struct exemplar {
	uint8_t trace_id[TRACE_ID_BYTES];
	uint64_t ns;
	bool is_there;
};

struct row_metrics {
	struct bucket_sums wall;
	struct exemplar exemplars[BUCKET_COUNT]; /* of wall */
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
	struct exemplar exemplar = { .ns = wall_ns };
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

void metrics_begin_family(struct text *text, enum metrics_format format, const char *name, const char *type,
			  const char *help)
{
	static const char total[] = "_total";
	int length = (int)strlen(name);

	if (format == METRICS_OPEN && strcmp(type, "counter") == 0)
		length -= (int)strlen(total);
	text_append_format(text, "# HELP %.*s %s\n# TYPE %.*s %s\n", length, name, help, length, name, type);
}

/*
 * Any bytes become a value between quotes: UTF-8, with \\, \" and \n escaped, without other control
 * characters.
 */
static void append_value(struct text *text, const char *bytes, size_t length)
{
	for (size_t i = 0, step; i < length; i += step) {
		uint32_t point;

		step = utf8_decode(bytes + i, length - i, &point);
		if (point == '\n') {
			text_append(text, "\\n");
		} else if (point == UTF8_INVALID || point < ' ') {
			text_append(text, "\xef\xbf\xbd");
		} else {
			if (point == '"' || point == '\\')
				text_append(text, "\\");
			text_append_bytes(text, bytes + i, step);
		}
	}
}

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

static void append_pair(struct text *text, const char *name, const char *bytes, size_t length)
{
	text_append_format(text, "%s=\"", name);
	append_value(text, bytes, length);
	text_append(text, "\"");
}

/* `label="…"`, and `,container="…"`, `,pod="…"` and `,part="…"` if there is one. */
static void append_labels(const struct span_metrics *metrics, struct text *text, size_t number,
			  const struct ledger_part *part)
{
	const char *name = "(other labels)\0", *pod, *container;
	size_t length = strlen(name) + 2, label_length;

	if (number < SPAN_METRICS_ROW_MAX)
		name = string_pool_get(metrics->names, (uint32_t)number, &length);
	pod = (const char *)memrchr(name, 0, length) + 1;
	container = (const char *)memrchr(name, 0, (size_t)(pod - 1 - name)) + 1;
	label_length = (size_t)(container - 1 - name);
	append_pair(text, "label", name, label_length);
	if (pod - 1 > container)
		append_pair(text, ",container", container, (size_t)(pod - 1 - container));
	if (pod < name + length)
		append_pair(text, ",pod", pod, (size_t)(name + length - pod));
	if (!part)
		return;
	text_append(text, ",part=\"");
	append_part(text, part);
	text_append(text, "\"");
}

static void append_seconds(struct text *text, uint64_t ns)
{
	text_append_format(text, "%llu.%09llu", (unsigned long long)(ns / NS_PER_SECOND),
			   (unsigned long long)(ns % NS_PER_SECOND));
}

static void end_bucket(const struct exemplar *exemplar, struct text *text)
{
	char digits[TRACE_ID_DIGITS + 1];

	if (exemplar && exemplar->is_there) {
		trace_id_format(digits, exemplar->trace_id);
		text_append_format(text, " # {trace_id=\"%s\"} ", digits);
		append_seconds(text, exemplar->ns);
	}
	text_append(text, "\n");
}

/* absent_cnt: spans that had nothing of it, which nobody added. exemplars: NULL: none are wanted. */
static void append_histogram(const struct bucket_sums *sums, uint64_t absent_cnt,
			     const struct exemplar *exemplars, const char *name, const char *labels,
			     struct text *text)
{
	uint64_t cnt = absent_cnt;

	for (size_t i = 0; i < BOUND_COUNT; i++) {
		cnt = add_saturating(cnt, sums->bucket_cnt[i]);
		text_append_format(text, "%s_bucket{%s,le=\"%g\"} %llu", name, labels,
				   (double)histogram_bucket_begin_ns(FIRST_BOUND + i) / NS_PER_SECOND,
				   (unsigned long long)cnt);
		end_bucket(exemplars ? &exemplars[i] : NULL, text);
	}
	cnt = add_saturating(cnt, sums->bucket_cnt[BOUND_COUNT]);
	text_append_format(text, "%s_bucket{%s,le=\"+Inf\"} %llu", name, labels, (unsigned long long)cnt);
	end_bucket(exemplars ? &exemplars[BOUND_COUNT] : NULL, text);
	text_append_format(text, "%s_sum{%s} ", name, labels);
	append_seconds(text, sums->sum_ns);
	text_append_format(text, "\n%s_count{%s} %llu\n", name, labels, (unsigned long long)cnt);
}

static void append_parts(const struct span_metrics *metrics, size_t number, struct text *labels,
			 struct text *text)
{
	const struct row_metrics *row = metrics->rows[number];

	for (size_t part = 0; part < LEDGER_PART_COUNT; part++) {
		if (!row->parts[part].cnt)
			continue;
		text_clear(labels);
		append_labels(metrics, labels, number, &ledger_parts[part]);
		append_histogram(&row->parts[part], row->wall.cnt - row->parts[part].cnt, NULL,
				 "txtrace_span_part_seconds", text_string(labels), text);
	}
}

void span_metrics_append(const struct span_metrics *metrics, enum metrics_format format, struct text *text)
{
	struct text labels = { 0 };

	metrics_begin_family(text, format, "txtrace_span_wall_seconds", "histogram",
			     "From the begin of a span to its end.");
	for (size_t i = 0; i <= SPAN_METRICS_ROW_MAX; i++) {
		if (!metrics->rows[i])
			continue;
		text_clear(&labels);
		append_labels(metrics, &labels, i, NULL);
		append_histogram(&metrics->rows[i]->wall, 0,
				 format == METRICS_OPEN ? metrics->rows[i]->exemplars : NULL,
				 "txtrace_span_wall_seconds", text_string(&labels), text);
	}
	metrics_begin_family(text, format, "txtrace_span_part_seconds", "histogram",
			     "Where the time of a span went.");
	for (size_t i = 0; i <= SPAN_METRICS_ROW_MAX; i++)
		if (metrics->rows[i])
			append_parts(metrics, i, &labels, text);
	metrics_begin_family(text, format, "txtrace_span_lower_bounds_total", "counter",
			     "Spans whose ledger is incomplete; they are in no histogram.");
	for (size_t i = 0; i <= SPAN_METRICS_ROW_MAX; i++) {
		if (!metrics->rows[i])
			continue;
		text_append(text, "txtrace_span_lower_bounds_total{");
		append_labels(metrics, text, i, NULL);
		text_append_format(text, "} %llu\n", (unsigned long long)metrics->rows[i]->lower_bound_cnt);
	}
	if (labels.err)
		text->err = labels.err;
	text_release(&labels);
}
