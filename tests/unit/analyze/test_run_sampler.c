/* SPDX-License-Identifier: BSD-2-Clause */
/* A few records by hand, and the figures of a run that they make. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyze/compare/metric.h"
#include "analyze/compare/run_sampler.h"

#define PID 10

static struct txtrace_string string(const char *text)
{
	return (struct txtrace_string){ text, strlen(text) };
}

static struct run_sampler *start(struct run_set *set, uint32_t window_cnt)
{
	struct run_windows windows = { window_cnt, 0, 1000 };
	struct run_sampler *sampler;

	set->is_windowed = window_cnt > 1;
	sampler = run_sampler_new(set, SIDE_NEW, "a", &windows, "6.18.5 x86_64", 0);
	assert_non_null(sampler);
	return sampler;
}

static void add(struct run_sampler *sampler, struct txtrace_record record)
{
	assert_int_equal(run_sampler_add(sampler, &record), 0);
}

static void span(struct run_sampler *sampler, uint64_t id, uint64_t parent, const char *label,
		 uint64_t begin_ns, uint64_t end_ns, struct txtrace_ledger ledger)
{
	add(sampler, (struct txtrace_record){
			     .kind = TXTRACE_RECORD_SPAN,
			     .span = { .id = id,
				       .parent = parent,
				       .pid = PID,
				       .tid = 11,
				       .end_tid = 11,
				       .begin_ns = begin_ns,
				       .end_ns = end_ns,
				       .work_ns = end_ns - begin_ns,
				       .ledger = ledger,
				       .label = string(label) },
		     });
}

static void finish(struct run_sampler *sampler)
{
	static const struct txtrace_log_info info;
	static const struct log_census census;

	assert_int_equal(run_sampler_finish(sampler, &info, &census), 0);
	run_sampler_free(sampler);
}

static void is(double value, double wanted)
{
	if (fabs(value - wanted) > 1e-9)
		fail_msg("%.9g is not %.9g", value, wanted);
}

static double extra(const struct run_set *set, const struct label_unit *unit, enum extra_kind kind,
		    const char *name)
{
	uint32_t key = run_set_find_key(set, kind, string(name));

	return key == STRING_POOL_NONE ? 0 : label_unit_extra(unit, key);
}

/*
 * tx 0-100 on thread 11: outer 10-60, in it inner 20-50, which sleeps 30-40 for the lock that flush holds, on
 * a CPU from 34 on; a second tx has nothing below it.
 */
static void add_figures(struct run_sampler *sampler)
{
	add(sampler, (struct txtrace_record){ .kind = TXTRACE_RECORD_RUN,
					      .run = { .tid = 11,
						       .pid = PID,
						       .end_ns = 30,
						       .left_as = TXTRACE_LEFT_BLOCKED,
						       .reason = TXTRACE_BLOCK_LOCK,
						       .syscall_nr = 202,
						       .object = 0x40 } });
	add(sampler, (struct txtrace_record){ .kind = TXTRACE_RECORD_WAKE,
					      .wake = { .time_ns = 40,
							.tid = 11,
							.pid = PID,
							.waker_tid = 12,
							.waker_pid = PID,
							.waker_comm = string("w"),
							.span = 3,
							.waker_span = 9 } });
	add(sampler,
	    (struct txtrace_record){ .kind = TXTRACE_RECORD_RUN,
				     .run = { .tid = 12, .pid = PID, .begin_ns = 34, .end_ns = 45 } });
	span(sampler, 3, 2, "inner", 20, 50,
	     (struct txtrace_ledger){ .on_cpu_ns = 20, .blocked_ns = { 10 } });
	span(sampler, 9, 0, "flush", 0, 60, (struct txtrace_ledger){ .on_cpu_ns = 60 });
	span(sampler, 2, 1, "outer", 10, 60,
	     (struct txtrace_ledger){ .on_cpu_ns = 40, .blocked_ns = { 10 } });
	span(sampler, 1, 0, "tx", 0, 100, (struct txtrace_ledger){ .on_cpu_ns = 90, .blocked_ns = { 10 } });
	span(sampler, 4, 0, "tx", 100, 300, (struct txtrace_ledger){ .on_cpu_ns = 150, .detached_ns = 50 });
	add(sampler, (struct txtrace_record){ .kind = TXTRACE_RECORD_SPAN,
					      .span = { .id = 5,
							.pid = PID,
							.end_ns = 90000,
							.flags = TXTRACE_SPAN_LOWER_BOUND,
							.label = string("tx") } });
	add(sampler,
	    (struct txtrace_record){
		    .kind = TXTRACE_RECORD_RUN,
		    .run = { .tid = 11, .pid = PID, .begin_ns = 40, .end_ns = 300, .blocked_ns = 10 } });
}

static void test_figures(void **state)
{
	struct run_set set;
	struct run_sampler *sampler;
	const struct label_unit *tx, *outer, *inner;
	const char held_by_flush[] = { TXTRACE_BLOCK_LOCK, PARTY_SPAN, 'f', 'l', 'u', 's', 'h' };
	uint32_t held;

	(void)state;
	assert_int_equal(run_set_init(&set), 0);
	assert_int_equal(run_set_want(&set, SPAN_VALUE_WALL, 0.5), 0);
	sampler = start(&set, 1);
	add_figures(sampler);
	finish(sampler);

	tx = run_set_find_label(&set, string("tx"))->units[SIDE_NEW];
	outer = run_set_find_label(&set, string("outer"))->units[SIDE_NEW];
	inner = run_set_find_label(&set, string("inner"))->units[SIDE_NEW];
	assert_int_equal(tx->cnt, 2);
	assert_int_equal(tx->lower_bound_cnt, 1);
	is(tx->mean[SPAN_VALUE_WALL], 150);
	is(tx->mean[SPAN_VALUE_ON_CPU], 120);
	is(tx->mean[COMPARE_VALUE_SELF], (50 + 150) / 2.0);
	is(tx->mean[COMPARE_VALUE_SELF_ON_CPU], (50 + 150) / 2.0);
	is(outer->mean[COMPARE_VALUE_SELF], 20);
	is(outer->mean[COMPARE_VALUE_SELF_ON_CPU], 20);
	is(inner->mean[COMPARE_VALUE_SELF], 30);
	is(extra(&set, tx, EXTRA_CALLS, "inner"), 0.5);
	is(extra(&set, tx, EXTRA_CHILDREN, "inner"), 0);
	is(extra(&set, outer, EXTRA_CHILDREN, "inner"), 1);
	is(extra(&set, tx, EXTRA_REASON, "lock"), 0.5);
	is(extra(&set, inner, EXTRA_SYSCALL, "futex"), 1);
	is(extra(&set, inner, EXTRA_WAITED, "flush"), 10);
	is(extra(&set, outer, EXTRA_WAITED, "flush"), 0);
	held = run_set_find_key(&set, EXTRA_HELD,
				(struct txtrace_string){ held_by_flush, sizeof(held_by_flush) });
	is(label_unit_extra(inner, held), 6);
	is(label_unit_extra(outer, held), 0);
	assert_true(isnan(tx->percentiles[0])); /* the median of two says nothing */
	assert_int_equal(run_set_find_label(&set, string("inner"))->objects[TXTRACE_BLOCK_LOCK].object.value,
			 0x40);
	run_set_release(&set);
}

/* Four windows of 250 ns: spans belong to where they ended; the whole run is there beside them. */
static void test_windows(void **state)
{
	struct run_set set;
	struct run_sampler *sampler;
	const struct compare_label *label;

	(void)state;
	assert_int_equal(run_set_init(&set), 0);
	sampler = start(&set, 4);
	span(sampler, 1, 0, "a", 0, 100, (struct txtrace_ledger){ .on_cpu_ns = 100 });
	span(sampler, 2, 0, "a", 240, 260, (struct txtrace_ledger){ .on_cpu_ns = 20 });
	span(sampler, 3, 0, "a", 900, 1000, (struct txtrace_ledger){ .on_cpu_ns = 100 });
	span(sampler, 4, 0, "a", 900, 5000, (struct txtrace_ledger){ .on_cpu_ns = 300 });
	finish(sampler);
	label = run_set_find_label(&set, string("a"));
	assert_int_equal(label->unit_cnt[SIDE_NEW], 3);
	assert_int_equal(label->units[SIDE_NEW][0].unit, 0);
	assert_int_equal(label->units[SIDE_NEW][1].unit, 1);
	assert_int_equal(label->units[SIDE_NEW][2].unit, 3);
	is(label->units[SIDE_NEW][2].mean[SPAN_VALUE_ON_CPU], 200);
	assert_int_equal(label->unit_cnt[side_of_runs(&set, SIDE_NEW)], 1);
	is(label->units[side_of_runs(&set, SIDE_NEW)]->mean[SPAN_VALUE_ON_CPU], 130);
	assert_int_equal(label_span_cnt(label, SIDE_NEW), 4);
	run_set_release(&set);
}

/*
 * Of 1,000 spans of 1 to 1,000 ns the median is the 500th, the 99th percentile the 990th, and the slowest
 * hundredth 995.5 long on the mean.
 */
static void test_percentiles(void **state)
{
	struct run_set set;
	struct run_sampler *sampler;
	const struct label_unit *unit;

	(void)state;
	assert_int_equal(run_set_init(&set), 0);
	assert_int_equal(run_set_want(&set, SPAN_VALUE_WALL, 0.5), 0);
	assert_int_equal(run_set_want(&set, SPAN_VALUE_WALL, 0.99), 0);
	assert_int_equal(run_set_want(&set, SPAN_VALUE_ON_CPU, 0.999), 0);
	sampler = start(&set, 1);
	for (uint64_t i = 1; i <= 1000; i++)
		span(sampler, i, 0, "a", 10000, 10000 + i, (struct txtrace_ledger){ .on_cpu_ns = i });
	finish(sampler);
	unit = run_set_find_label(&set, string("a"))->units[SIDE_NEW];
	assert_true(fabs(unit->percentiles[SPAN_VALUE_WALL * 3 + 0] - 500) <= 500 * 0.004);
	assert_true(fabs(unit->percentiles[SPAN_VALUE_WALL * 3 + 1] - 990) <= 990 * 0.004);
	assert_true(isnan(unit->percentiles[SPAN_VALUE_ON_CPU * 3 + 2])); /* 1,000 are too few */
	is(unit->tail[SPAN_VALUE_WALL], 995.5);				  /* 991 to 1,000 */
	assert_int_equal(spans_needed(0.99), 500);
	assert_int_equal(spans_needed(0.999), 5000);
	run_set_release(&set);
}

/*
 * Hostile: parents that never come, a span that is its own parent, children by the thousand of one, more
 * labels than there is room for.
 */
static void test_hostile(void **state)
{
	struct run_set set;
	struct run_sampler *sampler;
	char label[32];

	(void)state;
	assert_int_equal(run_set_init(&set), 0);
	sampler = start(&set, 1);
	span(sampler, 7, 7, "own", 0, 10, (struct txtrace_ledger){ .on_cpu_ns = UINT64_MAX });
	for (uint64_t i = 0; i < 5000; i++) {
		snprintf(label, sizeof(label), "%lu", (unsigned long)i);
		span(sampler, 100 + i, i % 2 ? 3 : 1000000 + i, label, 20, 10,
		     (struct txtrace_ledger){ .blocked_ns = { UINT64_MAX, UINT64_MAX } });
	}
	span(sampler, 3, 0, "all", 0, UINT64_MAX, (struct txtrace_ledger){ 0 });
	finish(sampler);
	assert_int_equal(set.label_cnt, LABELS_MAX);
	assert_int_equal(set.unlabelled_cnt, 5000 + 2 - LABELS_MAX);
	assert_true(set.uncounted_cnt > 1000);
	run_set_release(&set);
}

/* Runs that were recorded in turn are pairs, in whatever order they are given; else they are none. */
static void test_pairs(void **state)
{
	static const struct log_census census;
	static const uint64_t starts[2][3] = { { 50, 10, 30 }, { 20, 60, 40 } };
	struct run_windows windows = { 1, 0, 0 };
	struct run_set set;

	(void)state;
	for (int is_in_turn = 0; is_in_turn < 2; is_in_turn++) {
		assert_int_equal(run_set_init(&set), 0);
		for (int side = 0; side < 2; side++) {
			for (int i = 0; i < 3; i++) {
				struct txtrace_log_info info = { .start_monotonic_ns = starts[side][i] };
				struct run_sampler *sampler = run_sampler_new(&set, (enum compare_side)side,
									      "x", &windows, "", 0);

				if (!is_in_turn && side && i == 0)
					info.start_monotonic_ns = 70;
				span(sampler, 1, 0, "a", 0, starts[side][i], (struct txtrace_ledger){ 0 });
				assert_int_equal(run_sampler_finish(sampler, &info, &census), 0);
				run_sampler_free(sampler);
			}
		}
		assert_int_equal(run_set_pair(&set, false), 0);
		assert_int_equal(set.is_paired, is_in_turn);
		for (int side = 0; side < 2 && is_in_turn; side++) {
			for (size_t i = 0; i < 3; i++) {
				const struct label_unit *unit = &set.by_label[0]->units[side][i];

				/* 10 and 20, 30 and 40, 50 and 60. */
				assert_int_equal(unit->unit,
						 (uint32_t)(unit->mean[SPAN_VALUE_WALL] - 1) / 20);
			}
		}
		run_set_release(&set);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_figures),	    cmocka_unit_test(test_windows),
		cmocka_unit_test(test_percentiles), cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_pairs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
