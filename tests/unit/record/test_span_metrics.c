/* SPDX-License-Identifier: BSD-2-Clause */
/* Spans as Prometheus sees them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "record/service/span_metrics.h"

static struct txtrace_span span_of(const char *label, uint64_t wall_ns)
{
	return (struct txtrace_span){
		.begin_ns = 1000,
		.end_ns = 1000 + wall_ns,
		.work_ns = wall_ns,
		.label = { label, strlen(label) },
		.ledger.on_cpu_ns = wall_ns,
	};
}

static void append_as(enum metrics_format format, const struct span_metrics *metrics, struct text *text)
{
	struct metrics_sheet sheet;

	metrics_sheet_begin(&sheet, format, text);
	span_metrics_append(metrics, 5000000000, &sheet);
	metrics_sheet_end(&sheet);
}

static void assert_line(const struct text *text, const char *line)
{
	char framed[512];

	snprintf(framed, sizeof(framed), "\n%s\n", line);
	if (!strstr(text_string(text), framed))
		fail_msg("there is no line '%s' in:\n%s", line, text_string(text));
}

static void assert_no(const struct text *text, const char *words)
{
	if (strstr(text_string(text), words))
		fail_msg("there is '%s' in:\n%s", words, text_string(text));
}

/* A bound belongs to what is below it. */
static void a_bound_is_inclusive(void **state)
{
	static const uint64_t wall_ns[] = { 0, 10000, 10001, 20000, 20000000000, 20000000001, 3600000000000 };
	struct span_metrics *metrics = span_metrics_new();
	struct text text = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(wall_ns) / sizeof(wall_ns[0]); i++) {
		struct txtrace_span span = span_of("job", wall_ns[i]);

		assert_int_equal(span_metrics_add(metrics, &span, NULL), 0);
	}
	append_as(METRICS_TEXT, metrics, &text);
	assert_line(&text, "txtrace_span_wall_seconds_bucket{label=\"job\",le=\"1e-05\"} 2");
	assert_line(&text, "txtrace_span_wall_seconds_bucket{label=\"job\",le=\"2e-05\"} 4");
	assert_line(&text, "txtrace_span_wall_seconds_bucket{label=\"job\",le=\"10\"} 4");
	assert_line(&text, "txtrace_span_wall_seconds_bucket{label=\"job\",le=\"20\"} 5");
	assert_line(&text, "txtrace_span_wall_seconds_bucket{label=\"job\",le=\"+Inf\"} 7");
	assert_line(&text, "txtrace_span_wall_seconds_count{label=\"job\"} 7");
	assert_line(&text, "txtrace_span_wall_seconds_sum{label=\"job\"} 3640.000040002");
	text_release(&text);
	span_metrics_free(metrics);
}

/* Two without a lock, one with: the histogram of locks has three spans. */
static void a_part_counts_spans_that_came_before_it(void **state)
{
	struct span_metrics *metrics = span_metrics_new();
	struct txtrace_span span = span_of("job", 5000000);
	struct text text = { 0 };

	(void)state;
	span_metrics_add(metrics, &span, NULL);
	span_metrics_add(metrics, &span, NULL);
	append_as(METRICS_TEXT, metrics, &text);
	assert_no(&text, "blocked_lock");
	span.ledger.on_cpu_ns = 2000000;
	span.ledger.blocked_ns[TXTRACE_BLOCK_LOCK] = 3000000;
	span_metrics_add(metrics, &span, NULL);
	text_clear(&text);
	append_as(METRICS_TEXT, metrics, &text);
	assert_line(&text,
		    "txtrace_span_part_seconds_bucket{label=\"job\",part=\"blocked_lock\",le=\"0.002\"} 2");
	assert_line(&text,
		    "txtrace_span_part_seconds_bucket{label=\"job\",part=\"blocked_lock\",le=\"0.005\"} 3");
	assert_line(&text, "txtrace_span_part_seconds_count{label=\"job\",part=\"blocked_lock\"} 3");
	assert_line(&text, "txtrace_span_part_seconds_sum{label=\"job\",part=\"blocked_lock\"} 0.003000000");
	assert_line(&text, "txtrace_span_part_seconds_sum{label=\"job\",part=\"on_cpu\"} 0.012000000");
	assert_no(&text, "detached");
	text_release(&text);
	span_metrics_free(metrics);
}

static void lower_bounds_are_in_no_histogram(void **state)
{
	struct span_metrics *metrics = span_metrics_new();
	struct txtrace_span span = span_of("job", 5000000);
	struct text text = { 0 };

	(void)state;
	span.flags = TXTRACE_SPAN_LOWER_BOUND;
	span_metrics_add(metrics, &span, NULL);
	append_as(METRICS_TEXT, metrics, &text);
	assert_line(&text, "txtrace_span_lower_bounds_total{label=\"job\"} 1");
	assert_line(&text, "txtrace_span_wall_seconds_count{label=\"job\"} 0");
	assert_no(&text, "part_seconds_count");
	text_release(&text);
	span_metrics_free(metrics);
}

static void labels_of_any_bytes_are_values(void **state)
{
	struct span_metrics *metrics = span_metrics_new();
	struct txtrace_span span = span_of("", 1);
	struct text text = { 0 };

	(void)state;
	span.label = (struct txtrace_string){ "a\"b\\c\nd\xff\0e\x1b\xc3\xa9", 13 };
	span_metrics_add(metrics, &span, NULL);
	append_as(METRICS_TEXT, metrics, &text);
	assert_line(&text, "txtrace_span_wall_seconds_count{label=\"a\\\"b\\\\c\\nd\xef\xbf\xbd\xef\xbf\xbd"
			   "e\xef\xbf\xbd\xc3\xa9\"} 1");
	text_release(&text);
	span_metrics_free(metrics);
}

/* Each container has series of its own; who is in none has no such labels. A label may hold zero bytes. */
static void containers_are_labels(void **state)
{
	static const struct container_identity first = { "c0ffee", "12345678" }, second = { "", "87654321" },
					       none = { "", "" };
	struct span_metrics *metrics = span_metrics_new();
	struct txtrace_span span = span_of("", 1000000);
	struct text text = { 0 };

	(void)state;
	span.label = (struct txtrace_string){ "a\0b", 3 };
	span_metrics_add(metrics, &span, &first);
	span_metrics_add(metrics, &span, &first);
	span_metrics_add(metrics, &span, &second);
	span_metrics_add(metrics, &span, &none);
	span_metrics_add(metrics, &span, NULL);
	append_as(METRICS_TEXT, metrics, &text);
	assert_line(&text, "txtrace_span_wall_seconds_count{label=\"a\xef\xbf\xbd"
			   "b\",container=\"c0ffee\",pod=\"12345678\"} 2");
	assert_line(&text, "txtrace_span_wall_seconds_count{label=\"a\xef\xbf\xbd"
			   "b\",pod=\"87654321\"} 1");
	assert_line(&text, "txtrace_span_wall_seconds_count{label=\"a\xef\xbf\xbd"
			   "b\"} 2");
	assert_line(&text, "txtrace_span_part_seconds_count{label=\"a\xef\xbf\xbd"
			   "b\",container=\"c0ffee\",pod=\"12345678\",part=\"on_cpu\"} 2");
	text_release(&text);
	span_metrics_free(metrics);
}

static void see_parent(struct span_metrics *metrics, uint64_t span, const char *header)
{
	const struct txtrace_attribute attribute = { .span = span,
						     .pid = 7,
						     .type = TXTRACE_ATTRIBUTE_STRING,
						     .name = { "traceparent", 11 },
						     .string = { header, strlen(header) } };

	assert_int_equal(span_metrics_see(metrics, &attribute), 0);
}

static struct txtrace_span span_in(uint64_t id, uint64_t parent, uint64_t wall_ns)
{
	struct txtrace_span span = span_of("job", wall_ns);

	span.pid = 7;
	span.id = id;
	span.parent = parent;
	return span;
}

/* The last one of each bucket: a span with a traceparent, or one below such a span that has not ended. */
static void buckets_have_exemplars(void **state)
{
	static const char first[] = "00-11111111111111111111111111111111-2222222222222222-01",
			  second[] = "00-33333333333333333333333333333333-4444444444444444-01";
	const struct txtrace_span spans[] = { span_in(10, 0, 15000), span_in(21, 20, 40000),
					      span_in(20, 0, 16000), span_in(22, 20, 45000),
					      span_in(30, 0, 17000) };
	struct span_metrics *metrics = span_metrics_new();
	struct text text = { 0 };

	(void)state;
	see_parent(metrics, 10, first);
	see_parent(metrics, 20, second);
	see_parent(metrics, 30, "00-00000000000000000000000000000000-4444444444444444-01"); /* not valid */
	for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++)
		assert_int_equal(span_metrics_add(metrics, &spans[i], NULL), 0);
	append_as(METRICS_OPEN, metrics, &text);
	assert_line(&text, "txtrace_span_wall_seconds_bucket{label=\"job\",le=\"1e-05\"} 0");
	assert_line(&text, "txtrace_span_wall_seconds_bucket{label=\"job\",le=\"2e-05\"} 3 # "
			   "{trace_id=\"33333333333333333333333333333333\"} 0.000016000 5.000017000");
	/* 22 ended after its parent, so its trace is not known any more */
	assert_line(&text, "txtrace_span_wall_seconds_bucket{label=\"job\",le=\"5e-05\"} 5 # "
			   "{trace_id=\"33333333333333333333333333333333\"} 0.000040000 5.000041000");
	assert_line(&text, "txtrace_span_wall_seconds_bucket{label=\"job\",le=\"0.0001\"} 5");
	assert_line(&text, "# TYPE txtrace_span_lower_bounds counter");
	text_clear(&text);
	append_as(METRICS_TEXT, metrics, &text);
	assert_no(&text, "trace_id");
	assert_line(&text, "# TYPE txtrace_span_lower_bounds_total counter");
	text_release(&text);
	span_metrics_free(metrics);
}

/* More spans than there is room for, of which no end comes: the last ones are known. */
static void traces_are_bounded(void **state)
{
	struct span_metrics *metrics = span_metrics_new();
	struct txtrace_span span;
	struct text text = { 0 };

	(void)state;
	for (uint64_t id = 1; id <= 3 * 65536 + 5; id++)
		see_parent(metrics, id, "00-11111111111111111111111111111111-2222222222222222-01");
	span = span_in(1, 0, 15000);
	span_metrics_add(metrics, &span, NULL);
	append_as(METRICS_OPEN, metrics, &text);
	assert_no(&text, "trace_id");
	span = span_in(3 * 65536 + 5, 0, 15000);
	span_metrics_add(metrics, &span, NULL);
	append_as(METRICS_OPEN, metrics, &text);
	assert_non_null(strstr(text_string(&text), "trace_id"));
	text_release(&text);
	span_metrics_free(metrics);
}

/* By definition: the bound of bucket i, 2^(i/8) s, is in it, and what is a little more is in the next. */
static void native_buckets_are_those_of_prometheus(void **state)
{
	static const struct {
		uint64_t ns;
		int bucket;
	} known[] = {
		{ 1000000000, 0 },	     { 1000000001, 1 }, { 2000000000, 8 },  { 2000000001, 9 },
		{ 500000000, -8 },	     { 500000001, -7 }, { 250000000, -16 }, { 1, NATIVE_FIRST },
		{ UINT64_MAX, NATIVE_LAST }, { 1090507732, 1 }, /* 2^(1/8) = 1.0905077326652577 */
		{ 1090507733, 2 },	     { 917004043, -1 },	{ 917004044, 0 },   { 917004042, -1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		assert_int_equal(native_histogram_bucket(known[i].ns), known[i].bucket);
}

static void a_million_labels_are_few(void **state)
{
	struct span_metrics *metrics = span_metrics_new();
	struct text text = { 0 };
	size_t line_cnt = 0;

	(void)state;
	for (unsigned int i = 0; i < 100000; i++) {
		char label[32];
		struct txtrace_span span;

		snprintf(label, sizeof(label), "label %u", i);
		span = span_of(label, 1000000);
		assert_int_equal(span_metrics_add(metrics, &span, NULL), 0);
	}
	append_as(METRICS_TEXT, metrics, &text);
	assert_line(&text, "txtrace_span_wall_seconds_count{label=\"label 499\"} 1");
	assert_line(&text, "txtrace_span_wall_seconds_count{label=\"(other labels)\"} 99500");
	for (const char *at = text_string(&text); (at = strstr(at, "\ntxtrace_span_wall_seconds_count"));
	     at++)
		line_cnt++;
	assert_int_equal(line_cnt, SPAN_METRICS_ROW_MAX + 1);
	text_release(&text);
	span_metrics_free(metrics);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_bound_is_inclusive),
		cmocka_unit_test(a_part_counts_spans_that_came_before_it),
		cmocka_unit_test(lower_bounds_are_in_no_histogram),
		cmocka_unit_test(labels_of_any_bytes_are_values),
		cmocka_unit_test(containers_are_labels),
		cmocka_unit_test(buckets_have_exemplars),
		cmocka_unit_test(traces_are_bounded),
		cmocka_unit_test(native_buckets_are_those_of_prometheus),
		cmocka_unit_test(a_million_labels_are_few),
	};

	return cmocka_run_group_tests_name("span_metrics", tests, NULL, NULL);
}
