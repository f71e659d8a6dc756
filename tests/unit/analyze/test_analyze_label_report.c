/* SPDX-License-Identifier: BSD-2-Clause */
/* A few spans by hand, and the report that they must make. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "analyze/label/label_report.h"

#define MS 1000000u

static struct txtrace_string string(const char *text)
{
	return (struct txtrace_string){ text, strlen(text) };
}

/* A span of wall_ns that was on a CPU all the time; tests move parts of it elsewhere. */
static struct txtrace_record span(const char *label, uint64_t parent, uint64_t wall_ns)
{
	return (struct txtrace_record){
		.kind = TXTRACE_RECORD_SPAN,
		.span = { .id = 7,
			  .parent = parent,
			  .pid = 1,
			  .tid = 2,
			  .begin_ns = 1000,
			  .end_ns = 1000 + wall_ns,
			  .work_ns = wall_ns,
			  .ledger = { .on_cpu_ns = wall_ns },
			  .label = string(label) },
	};
}

static void add(struct label_report *report, struct txtrace_record record)
{
	assert_int_equal(label_report_add(report, &record), 0);
}

static const struct label_row *find(const struct label_report *report, const char *label)
{
	for (size_t i = 0; i < label_report_row_count(report); i++) {
		const struct label_row *row = label_report_row(report, i);

		if (!row->is_rest && row->label.length == strlen(label) &&
		    memcmp(row->label.bytes, label, row->label.length) == 0)
			return row;
	}
	fail_msg("no row '%s'", label);
	return NULL;
}

static struct span_sums totals(const struct label_report *report, unsigned int is_lower_bound)
{
	struct span_sums both[2];

	label_report_totals(report, both);
	return both[is_lower_bound];
}

/* A reader uses its memory again: another label of the same length stands where one was. */
static void labels_may_take_each_others_place(void **state)
{
	static const char *const labels[] = { "get", "put", "get", "putty", "", "put", "get" };
	struct label_report *report = label_report_new(0);
	char place[8] = "";
	struct txtrace_record record = span(place, 0, 100);

	(void)state;
	for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++) {
		record.span.label.length = strlen(labels[i]);
		memcpy(place, labels[i], strlen(labels[i]));
		add(report, record);
	}
	assert_int_equal(label_report_row_count(report), 4);
	assert_int_equal(find(report, "get")->exact.sums.cnt, 3);
	assert_int_equal(find(report, "put")->exact.sums.cnt, 2);
	assert_int_equal(find(report, "putty")->exact.sums.cnt, 1);
	assert_int_equal(find(report, "")->exact.sums.cnt, 1);
	assert_int_equal(totals(report, 0).cnt, 7);
	label_report_free(report);
}

static void labels_are_counted_apart_and_the_most_work_comes_first(void **state)
{
	struct label_report *report = label_report_new(0);
	struct txtrace_record commit = span("commit", 7, 10 * MS);

	(void)state;
	commit.span.ledger = (struct txtrace_ledger){ .on_cpu_ns = 1 * MS,
						      .runnable_ns = 2 * MS,
						      .detached_ns = 3 * MS };
	commit.span.ledger.blocked_ns[TXTRACE_BLOCK_DISK] = 4 * MS;
	for (uint64_t i = 1; i <= 100; i++)
		add(report, span("tx", 0, i * 100));
	add(report, commit);
	add(report, commit);
	label_report_sort(report);

	assert_int_equal(label_report_row_count(report), 2);
	assert_ptr_equal(label_report_row(report, 0), find(report, "commit"));
	assert_int_equal(find(report, "commit")->exact.sums.cnt, 2);
	assert_int_equal(find(report, "commit")->exact.sums.wall_ns, 20 * MS);
	assert_int_equal(find(report, "commit")->exact.sums.ledger.blocked_ns[TXTRACE_BLOCK_DISK], 8 * MS);
	assert_int_equal(find(report, "commit")->exact.sums.ledger.blocked_ns[TXTRACE_BLOCK_LOCK], 0);
	assert_int_equal(find(report, "commit")->exact.sums.ledger.detached_ns, 6 * MS);
	assert_int_equal(find(report, "tx")->exact.sums.cnt, 100);
	assert_int_equal(find(report, "tx")->exact.wall_ns.max, 10000);
	assert_int_equal(find(report, "tx")->exact.sums.work_ns, 505000);
	assert_in_range(quantile_at(&find(report, "tx")->exact.wall_ns, 0.5), 5000 - 20, 5000 + 20);
	assert_null(find(report, "tx")->lower_bounds);

	assert_int_equal(totals(report, 0).cnt, 102);
	assert_int_equal(totals(report, 0).work_ns, 20 * MS + 505000);
	assert_int_equal(label_report_top_level(report)[0].cnt, 100);
	assert_int_equal(label_report_top_level(report)[0].work_ns, 505000);
	label_report_free(report);
}

static void lower_bounds_touch_no_figure_of_the_exact_spans(void **state)
{
	struct label_report *report = label_report_new(0);
	struct txtrace_record cut = span("tx", 0, 500 * MS), only = span("flush", 0, 3 * MS);

	(void)state;
	cut.span.flags = TXTRACE_SPAN_LOWER_BOUND | TXTRACE_SPAN_UNFINISHED;
	only.span.flags = TXTRACE_SPAN_LOWER_BOUND | TXTRACE_SPAN_LOSS;
	add(report, span("tx", 0, 1 * MS));
	add(report, cut);
	add(report, only);

	assert_int_equal(find(report, "tx")->exact.sums.cnt, 1);
	assert_int_equal(find(report, "tx")->exact.wall_ns.max, 1 * MS);
	assert_int_equal(find(report, "tx")->lower_bounds->sums.cnt, 1);
	assert_int_equal(find(report, "tx")->lower_bounds->wall_ns.max, 500 * MS);
	assert_int_equal(find(report, "flush")->exact.sums.cnt, 0);
	assert_int_equal(find(report, "flush")->lower_bounds->sums.ledger.on_cpu_ns, 3 * MS);
	assert_int_equal(totals(report, 0).cnt, 1);
	assert_int_equal(totals(report, 1).cnt, 2);
	assert_int_equal(label_report_census(report)->lower_bound_cnt, 2);
	assert_int_equal(label_report_census(report)->unfinished_cnt, 1);
	assert_int_equal(label_report_census(report)->touched_by_loss_cnt, 1);
	label_report_free(report);
}

static void spans_without_a_label_have_a_row(void **state)
{
	struct label_report *report = label_report_new(0);
	struct txtrace_record nameless = span("", 0, 5);

	(void)state;
	nameless.span.label = (struct txtrace_string){ NULL, 0 };
	add(report, nameless);
	assert_int_equal(label_report_row_count(report), 1);
	assert_int_equal(label_report_row(report, 0)->label.length, 0);
	assert_false(label_report_row(report, 0)->is_rest);
	label_report_free(report);
}

static void nothing_makes_an_empty_report(void **state)
{
	struct label_report *report = label_report_new(0);

	(void)state;
	label_report_sort(report);
	assert_int_equal(label_report_row_count(report), 0);
	assert_int_equal(totals(report, 0).cnt, 0);
	assert_false(label_report_is_coarse(report));
	label_report_free(report);
}

static void hostile_numbers_stop_at_the_largest(void **state)
{
	struct label_report *report = label_report_new(0);
	struct txtrace_record huge = span("x", 0, 0), backwards = span("y", 0, 0);

	(void)state;
	huge.span.begin_ns = 0;
	huge.span.end_ns = UINT64_MAX;
	huge.span.work_ns = UINT64_MAX;
	huge.span.ledger.on_cpu_ns = UINT64_MAX;
	backwards.span.begin_ns = 10;
	backwards.span.end_ns = 5;
	add(report, huge);
	add(report, huge);
	add(report, backwards);
	assert_true(find(report, "x")->exact.sums.wall_ns == UINT64_MAX);
	assert_true(find(report, "x")->exact.sums.ledger.on_cpu_ns == UINT64_MAX);
	assert_true(quantile_at(&find(report, "x")->exact.wall_ns, 0.99) == UINT64_MAX);
	assert_int_equal(find(report, "y")->exact.sums.wall_ns, 0);
	label_report_free(report);
}

static void labels_beyond_the_memory_are_counted_together(void **state)
{
	enum { LABELS = 10000 };
	struct label_report *report = label_report_new(256 << 10);
	uint64_t own_cnt = 0;

	(void)state;
	for (unsigned int i = 0; i < 2 * LABELS; i++) {
		char label[32];

		snprintf(label, sizeof(label), "label-%u", i % LABELS);
		add(report, span(label, 0, 1000 + i));
	}
	label_report_sort(report);
	assert_true(label_report_row_count(report) > 100);
	assert_true(label_report_row_count(report) < 1500); /* 256 KiB hold no more */
	for (size_t i = 0; i + 1 < label_report_row_count(report); i++) {
		assert_false(label_report_row(report, i)->is_rest);
		assert_int_equal(label_report_row(report, i)->exact.sums.cnt, 2);
		own_cnt += 2;
	}
	assert_true(label_report_row(report, label_report_row_count(report) - 1)->is_rest);
	assert_int_equal(own_cnt + label_report_rest_count(report), 2 * LABELS); /* nobody is missing */
	assert_int_equal(totals(report, 0).cnt, 2 * LABELS);
	assert_true(label_report_is_coarse(report));
	label_report_free(report);
}

static void equal_work_is_ordered_by_name(void **state)
{
	struct label_report *report = label_report_new(0);

	(void)state;
	add(report, span("b", 0, 5));
	add(report, span("ab", 0, 5));
	add(report, span("a", 0, 5));
	label_report_sort(report);
	assert_ptr_equal(label_report_row(report, 0), find(report, "a"));
	assert_ptr_equal(label_report_row(report, 1), find(report, "ab"));
	assert_ptr_equal(label_report_row(report, 2), find(report, "b"));
	label_report_free(report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(labels_may_take_each_others_place),
		cmocka_unit_test(labels_are_counted_apart_and_the_most_work_comes_first),
		cmocka_unit_test(lower_bounds_touch_no_figure_of_the_exact_spans),
		cmocka_unit_test(spans_without_a_label_have_a_row),
		cmocka_unit_test(nothing_makes_an_empty_report),
		cmocka_unit_test(hostile_numbers_stop_at_the_largest),
		cmocka_unit_test(labels_beyond_the_memory_are_counted_together),
		cmocka_unit_test(equal_work_is_ordered_by_name),
	};

	return cmocka_run_group_tests_name("analyze_label_report", tests, NULL, NULL);
}
