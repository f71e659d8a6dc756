/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/service/metrics_sheet.h"

#include <math.h>
#include <string.h>

#include "base/protobuf.h"
#include "base/saturating.h"
#include "base/utf8.h"

#define NS_PER_SECOND 1000000000u
#define TRACE_LABEL "trace_id"

void metrics_labels_add(struct metrics_labels *labels, const char *name, const char *bytes, size_t length)
{
	labels->labels[labels->cnt++] = (struct metrics_label){ name, bytes, length };
}

/*
 * UTF-8 without control characters; between quotes \\ and \" are escaped, and the newline, which is kept.
 */
static void append_value(struct text *text, const struct metrics_label *label, bool is_quoted)
{
	for (size_t i = 0, step; i < label->length; i += step) {
		const char *at = label->bytes + i;
		uint32_t point;

		step = utf8_decode(at, label->length - i, &point);
		if (point == UTF8_INVALID || (point < ' ' && point != '\n')) {
			text_append(text, "\xef\xbf\xbd");
		} else if (point == '\n') {
			text_append(text, is_quoted ? "\\n" : "\n");
		} else {
			if (is_quoted && (point == '"' || point == '\\'))
				text_append(text, "\\");
			text_append_bytes(text, at, step);
		}
	}
}

/* ---- as text ---- */

static void append_seconds(struct text *text, uint64_t ns)
{
	text_append_format(text, "%llu.%09llu", (unsigned long long)(ns / NS_PER_SECOND),
			   (unsigned long long)(ns % NS_PER_SECOND));
}

/* {a="1",b="2"}, and le, if it is not NULL. */
static void append_labels(struct text *text, const struct metrics_labels *labels, const char *le)
{
	size_t cnt = labels ? labels->cnt : 0;

	if (!cnt && !le)
		return;
	for (size_t i = 0; i < cnt; i++) {
		text_append_format(text, "%s%s=\"", i ? "," : "{", labels->labels[i].name);
		append_value(text, &labels->labels[i], true);
		text_append(text, "\"");
	}
	if (le)
		text_append_format(text, "%sle=\"%s\"", cnt ? "," : "{", le);
	text_append(text, "}");
}

static void append_series(const struct metrics_sheet *sheet, const char *suffix,
			  const struct metrics_labels *labels, const char *le)
{
	text_append(sheet->text, sheet->name);
	text_append(sheet->text, suffix);
	append_labels(sheet->text, labels, le);
	text_append(sheet->text, " ");
}

static void append_count(struct text *text, uint64_t value)
{
	text_append_format(text, "%llu", (unsigned long long)value);
}

static void append_exemplar(const struct metrics_sheet *sheet, const struct metrics_exemplar *exemplar)
{
	char digits[TRACE_ID_DIGITS + 1];

	if (sheet->format != METRICS_OPEN || !exemplar || !exemplar->is_there)
		return;
	trace_id_format(digits, exemplar->trace_id);
	text_append_format(sheet->text, " # {" TRACE_LABEL "=\"%s\"} ", digits);
	append_seconds(sheet->text, exemplar->ns);
	text_append(sheet->text, " ");
	append_seconds(sheet->text, exemplar->time_ns);
}

static void append_histogram(const struct metrics_sheet *sheet, const struct metrics_labels *labels,
			     const struct metrics_histogram *histogram)
{
	uint64_t cnt = histogram->absent_cnt;

	for (size_t i = 0; i <= histogram->bound_cnt; i++) {
		char le[32] = "+Inf";

		if (i < histogram->bound_cnt)
			snprintf(le, sizeof(le), "%g", (double)histogram->bounds_ns[i] / NS_PER_SECOND);
		cnt = add_saturating(cnt, histogram->bucket_cnts[i]);
		append_series(sheet, "_bucket", labels, le);
		append_count(sheet->text, cnt);
		append_exemplar(sheet, histogram->exemplars ? &histogram->exemplars[i] : NULL);
		text_append(sheet->text, "\n");
	}
	append_series(sheet, "_sum", labels, NULL);
	append_seconds(sheet->text, histogram->sum_ns);
	text_append(sheet->text, "\n");
	append_series(sheet, "_count", labels, NULL);
	append_count(sheet->text, cnt);
	text_append(sheet->text, "\n");
}

/* ---- as protobuf: metrics.proto of Prometheus' client_model ---- */

enum { FAMILY_NAME = 1, FAMILY_HELP, FAMILY_TYPE, FAMILY_METRIC };
enum { METRIC_LABEL = 1, METRIC_GAUGE, METRIC_COUNTER, METRIC_HISTOGRAM = 7 };
enum { LABEL_NAME = 1, LABEL_VALUE };
enum { NUMBER_VALUE = 1 };
enum {
	HISTOGRAM_COUNT = 1,
	HISTOGRAM_SUM = 2,
	HISTOGRAM_BUCKET = 3,
	HISTOGRAM_SCHEMA = 5,
	HISTOGRAM_ZERO_THRESHOLD = 6,
	HISTOGRAM_ZERO_COUNT = 7,
	HISTOGRAM_SPAN = 12,
	HISTOGRAM_DELTA = 13,
};
enum { BUCKET_COUNT = 1, BUCKET_BOUND, BUCKET_EXEMPLAR };
enum { EXEMPLAR_LABEL = 1, EXEMPLAR_VALUE, EXEMPLAR_TIME };
enum { TIME_SECONDS = 1, TIME_NS };
enum { SPAN_OFFSET = 1, SPAN_LENGTH };

#define ZERO_THRESHOLD 0x1p-128 /* seconds: as the client libraries of Prometheus have it */

static uint64_t zigzag(int64_t value)
{
	return (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0);
}

static double seconds_of(uint64_t ns)
{
	return (double)ns / NS_PER_SECOND;
}

static void pack_label(struct text *text, unsigned int field, const struct metrics_label *label)
{
	size_t at = protobuf_begin(text, field), value;

	protobuf_bytes(text, LABEL_NAME, label->name, strlen(label->name));
	value = protobuf_begin(text, LABEL_VALUE);
	append_value(text, label, false);
	protobuf_end(text, value);
	protobuf_end(text, at);
}

static size_t begin_metric(struct metrics_sheet *sheet, const struct metrics_labels *labels)
{
	size_t at = protobuf_begin(&sheet->family, FAMILY_METRIC);

	for (size_t i = 0; labels && i < labels->cnt; i++)
		pack_label(&sheet->family, METRIC_LABEL, &labels->labels[i]);
	return at;
}

static void pack_number(struct metrics_sheet *sheet, const struct metrics_labels *labels, double value)
{
	size_t metric = begin_metric(sheet, labels);
	size_t number = protobuf_begin(&sheet->family,
				       sheet->type == METRICS_COUNTER ? METRIC_COUNTER : METRIC_GAUGE);

	protobuf_double(&sheet->family, NUMBER_VALUE, value);
	protobuf_end(&sheet->family, number);
	protobuf_end(&sheet->family, metric);
}

static void pack_exemplar(struct text *text, const struct metrics_exemplar *exemplar)
{
	char digits[TRACE_ID_DIGITS + 1];
	const struct metrics_label label = { TRACE_LABEL, digits, TRACE_ID_DIGITS };
	size_t at = protobuf_begin(text, BUCKET_EXEMPLAR), time;

	trace_id_format(digits, exemplar->trace_id);
	pack_label(text, EXEMPLAR_LABEL, &label);
	protobuf_double(text, EXEMPLAR_VALUE, seconds_of(exemplar->ns));
	time = protobuf_begin(text, EXEMPLAR_TIME);
	protobuf_u64(text, TIME_SECONDS, exemplar->time_ns / NS_PER_SECOND);
	protobuf_u64(text, TIME_NS, exemplar->time_ns % NS_PER_SECOND);
	protobuf_end(text, time);
	protobuf_end(text, at);
}

static void pack_span(struct text *text, int offset, uint32_t length)
{
	size_t at = protobuf_begin(text, HISTOGRAM_SPAN);

	protobuf_u64(text, SPAN_OFFSET, zigzag(offset));
	protobuf_u64(text, SPAN_LENGTH, length);
	protobuf_end(text, at);
}

/* Buckets that are next to each other are a span; a span says how many are empty before it. */
static void pack_native(struct text *text, const struct native_histogram *native)
{
	int behind = 0; /* the last span */
	int64_t before = 0;

	protobuf_u64(text, HISTOGRAM_SCHEMA, zigzag(NATIVE_SCHEMA));
	protobuf_double(text, HISTOGRAM_ZERO_THRESHOLD, ZERO_THRESHOLD);
	protobuf_u64(text, HISTOGRAM_ZERO_COUNT, native->zero_cnt);
	for (int i = 0; i < NATIVE_COUNT; i++) {
		int first = i;

		while (i < NATIVE_COUNT && native->cnts[i])
			i++;
		if (i == first)
			continue;
		pack_span(text, first + NATIVE_FIRST - behind, (uint32_t)(i - first));
		behind = i + NATIVE_FIRST;
	}
	for (int i = 0; i < NATIVE_COUNT; i++) {
		if (!native->cnts[i])
			continue;
		protobuf_u64(text, HISTOGRAM_DELTA, zigzag((int64_t)native->cnts[i] - before));
		before = (int64_t)native->cnts[i];
	}
}

static void pack_histogram(struct metrics_sheet *sheet, const struct metrics_labels *labels,
			   const struct metrics_histogram *histogram)
{
	struct text *text = &sheet->family;
	size_t metric = begin_metric(sheet, labels), at = protobuf_begin(text, METRIC_HISTOGRAM), bucket;
	uint64_t cnt = histogram->absent_cnt;

	for (size_t i = 0; i <= histogram->bound_cnt; i++) {
		cnt = add_saturating(cnt, histogram->bucket_cnts[i]);
		bucket = protobuf_begin(text, HISTOGRAM_BUCKET);
		protobuf_u64(text, BUCKET_COUNT, cnt);
		protobuf_double(text, BUCKET_BOUND,
				i < histogram->bound_cnt ? seconds_of(histogram->bounds_ns[i])
							 : (double)INFINITY);
		if (histogram->exemplars && histogram->exemplars[i].is_there)
			pack_exemplar(text, &histogram->exemplars[i]);
		protobuf_end(text, bucket);
	}
	protobuf_u64(text, HISTOGRAM_COUNT, cnt);
	protobuf_double(text, HISTOGRAM_SUM, seconds_of(histogram->sum_ns));
	if (histogram->native)
		pack_native(text, histogram->native);
	protobuf_end(text, at);
	protobuf_end(text, metric);
}

static void end_family(struct metrics_sheet *sheet)
{
	if (sheet->format != METRICS_PROTOBUF || !sheet->name)
		return;
	protobuf_delimited(sheet->text, text_string(&sheet->family), sheet->family.length);
	if (sheet->family.err)
		sheet->text->err = sheet->family.err;
	text_clear(&sheet->family);
}

/* ---- as either ---- */

void metrics_sheet_begin(struct metrics_sheet *sheet, enum metrics_format format, struct text *text)
{
	*sheet = (struct metrics_sheet){ .text = text, .format = format };
}

static const char *name_of(enum metrics_type type)
{
	switch (type) {
	case METRICS_COUNTER:
		return "counter";
	case METRICS_GAUGE:
		return "gauge";
	case METRICS_HISTOGRAM:
		break;
	}
	return "histogram";
}

void metrics_sheet_family(struct metrics_sheet *sheet, const char *name, enum metrics_type type,
			  const char *help)
{
	static const char total[] = "_total";
	int length = (int)strlen(name);

	end_family(sheet);
	sheet->name = name;
	sheet->type = type;
	if (sheet->format == METRICS_PROTOBUF) {
		protobuf_bytes(&sheet->family, FAMILY_NAME, name, strlen(name));
		protobuf_bytes(&sheet->family, FAMILY_HELP, help, strlen(help));
		protobuf_u64(&sheet->family, FAMILY_TYPE, type);
		return;
	}
	if (sheet->format == METRICS_OPEN && type == METRICS_COUNTER)
		length -= (int)strlen(total);
	text_append_format(sheet->text, "# HELP %.*s %s\n# TYPE %.*s %s\n", length, name, help, length, name,
			   name_of(type));
}

void metrics_sheet_count(struct metrics_sheet *sheet, const struct metrics_labels *labels, uint64_t value)
{
	if (sheet->format == METRICS_PROTOBUF) {
		pack_number(sheet, labels, (double)value);
		return;
	}
	append_series(sheet, "", labels, NULL);
	append_count(sheet->text, value);
	text_append(sheet->text, "\n");
}

void metrics_sheet_seconds(struct metrics_sheet *sheet, const struct metrics_labels *labels, uint64_t ns)
{
	if (sheet->format == METRICS_PROTOBUF) {
		pack_number(sheet, labels, seconds_of(ns));
		return;
	}
	append_series(sheet, "", labels, NULL);
	append_seconds(sheet->text, ns);
	text_append(sheet->text, "\n");
}

void metrics_sheet_histogram(struct metrics_sheet *sheet, const struct metrics_labels *labels,
			     const struct metrics_histogram *histogram)
{
	if (sheet->format == METRICS_PROTOBUF)
		pack_histogram(sheet, labels, histogram);
	else
		append_histogram(sheet, labels, histogram);
}

void metrics_sheet_end(struct metrics_sheet *sheet)
{
	end_family(sheet);
	if (sheet->format == METRICS_OPEN)
		text_append(sheet->text, "# EOF\n");
	text_release(&sheet->family);
}
