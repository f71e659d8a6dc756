/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which row a span is drawn on, and how runs become states. A viewer is simulated: what it would show must be
 * what was meant.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "export/timeline.h"

static struct nest_budget plenty = { .left = 1000000 };

struct placed {
	uint64_t begin_ns;
	uint64_t end_ns;
	int expected; /* 1: on the thread's row */
};

static void expect_places(const struct placed *spans, size_t cnt)
{
	struct nest_row row;

	nest_row_init(&row, &plenty);
	for (size_t i = 0; i < cnt; i++) {
		int got = nest_row_take(&row, spans[i].begin_ns, spans[i].end_ns);

		if (got != spans[i].expected)
			fail_msg("span %zu [%llu, %llu]: got %d, expected %d", i,
				 (unsigned long long)spans[i].begin_ns, (unsigned long long)spans[i].end_ns,
				 got, spans[i].expected);
	}
	nest_row_release(&row);
	assert_int_equal(plenty.left, 1000000);
}

#define EXPECT_PLACES(...) \
	expect_places((const struct placed[]){ __VA_ARGS__ }, \
		sizeof((const struct placed[]){ __VA_ARGS__ }) / sizeof(struct placed))

static void spans_that_nest_share_the_row(void **state)
{
	(void)state;
	EXPECT_PLACES({ 10, 20, 1 }, { 30, 40, 1 }, { 5, 50, 1 }, { 60, 70, 1 }, { 0, 100, 1 });
}

static void a_span_that_crosses_one_goes_elsewhere(void **state)
{
	(void)state;
	EXPECT_PLACES({ 10, 20, 1 }, { 15, 25, 0 }, { 5, 30, 1 }, { 29, 31, 0 }, { 30, 40, 1 });
	EXPECT_PLACES({ 10, 20, 1 }, { 30, 40, 1 }, { 15, 50, 0 }, { 25, 50, 1 });
}

static void spans_that_end_together_nest_behind_what_ended_before(void **state)
{
	(void)state;
	EXPECT_PLACES({ 12, 14, 1 }, { 10, 30, 1 }, { 14, 30, 1 }, { 20, 30, 1 }, { 10, 30, 1 });
	EXPECT_PLACES({ 12, 14, 1 }, { 10, 30, 1 }, { 13, 30, 0 }, { 5, 30, 1 });
}

/* A viewer takes the one whose begin comes first in the file for the outer one, and that is the shorter. */
static void of_spans_that_begin_together_only_the_first_stays(void **state)
{
	(void)state;
	EXPECT_PLACES({ 10, 20, 1 }, { 10, 30, 0 }, { 5, 30, 1 });
}

static void a_span_of_no_length_disturbs_nobody(void **state)
{
	(void)state;
	EXPECT_PLACES({ 10, 10, 1 }, { 10, 20, 1 }, { 20, 20, 1 }, { 20, 20, 1 }, { 20, 30, 1 },
		      { 10, 30, 0 }, { 9, 30, 1 });
}

static void what_can_not_be_told_goes_elsewhere(void **state)
{
	(void)state;
	EXPECT_PLACES({ 10, 20, 1 }, { 12, 18, 0 }, { 21, 15, 0 }, { 0, UINT64_MAX, 1 });
}

static void a_long_row_forgets_its_beginning_and_says_so(void **state)
{
	struct nest_budget budget = { .left = 10 };
	struct nest_row row;

	(void)state;
	nest_row_init(&row, &budget);
	for (uint64_t i = 0; i < 1000; i++)
		assert_int_equal(nest_row_take(&row, 10 * i + 1, 10 * i + 5), 1);
	assert_in_range(row.cnt, 1, 16);
	assert_int_equal(nest_row_take(&row, 0, 10000), 0); /* it may cross one that is forgotten */
	assert_int_equal(nest_row_take(&row, 9986, 10000), 1);
	nest_row_release(&row);
	assert_int_equal(budget.left, 10);
}

/* ---- a viewer ---- */

struct edge {
	uint64_t time_ns;
	size_t order; /* in the file */
	size_t span;
	bool is_end;
};

static int compare_edges(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

#define SPAN_CNT 40

struct interval {
	uint64_t begin_ns;
	uint64_t end_ns;
};

static int compare_ends(const void *a, const void *b)
{
	const struct interval *x = a, *y = b;

	return x->end_ns < y->end_ns ? -1 : x->end_ns > y->end_ns;
}

/* Sorts the edges by time, keeping the file's order among equals; each end ends the innermost slice. */
static void expect_viewer_shows(const struct interval *drawn, size_t cnt)
{
	struct edge edges[2 * SPAN_CNT];
	uint64_t stack[SPAN_CNT], shown[SPAN_CNT], meant[SPAN_CNT];
	size_t depth = 0, shown_cnt = 0;

	for (size_t i = 0; i < cnt; i++) {
		edges[2 * i] = (struct edge){ drawn[i].begin_ns, 2 * i, i, false };
		edges[2 * i + 1] = (struct edge){ drawn[i].end_ns, 2 * i + 1, i, true };
		meant[i] = drawn[i].begin_ns << 32 | drawn[i].end_ns;
	}
	qsort(edges, 2 * cnt, sizeof(edges[0]), compare_edges);
	for (size_t i = 0; i < 2 * cnt; i++) {
		if (!edges[i].is_end) {
			stack[depth++] = edges[i].time_ns;
			continue;
		}
		assert_true(depth > 0);
		shown[shown_cnt++] = stack[--depth] << 32 | edges[i].time_ns;
	}
	assert_int_equal(depth, 0);
	for (size_t i = 0; i < cnt; i++) { /* the same intervals, each as often */
		size_t shown_often = 0, meant_often = 0;

		for (size_t j = 0; j < cnt; j++) {
			shown_often += shown[j] == meant[i];
			meant_often += meant[j] == meant[i];
		}
		assert_int_equal(shown_often, meant_often);
	}
}

static void a_viewer_shows_every_span_as_long_as_it_was(void **state)
{
	unsigned int seed = 1;
	size_t drawn_cnt = 0;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		struct interval spans[SPAN_CNT], drawn[SPAN_CNT];
		unsigned int range = 4 + (unsigned int)round % 60; /* few different times: many meet */
		struct nest_row row;
		size_t cnt = 0;

		for (size_t i = 0; i < SPAN_CNT; i++) {
			spans[i].begin_ns = (unsigned int)rand_r(&seed) % range;
			spans[i].end_ns = spans[i].begin_ns +
					  (unsigned int)rand_r(&seed) % range / (1 + i % 4);
		}
		qsort(spans, SPAN_CNT, sizeof(spans[0]), compare_ends);
		nest_row_init(&row, &plenty);
		for (size_t i = 0; i < SPAN_CNT; i++) {
			if (nest_row_take(&row, spans[i].begin_ns, spans[i].end_ns) == 1)
				drawn[cnt++] = spans[i];
		}
		nest_row_release(&row);
		expect_viewer_shows(drawn, cnt);
		drawn_cnt += cnt;
	}
	assert_true(drawn_cnt > 20000 * SPAN_CNT / 8); /* it did not make it easy for itself */
}

/* ---- whose row ---- */

static void only_the_work_of_one_thread_is_on_its_row(void **state)
{
	const struct txtrace_span plain = { .tid = 7, .end_tid = 7 };
	struct txtrace_span span = plain;

	(void)state;
	assert_true(span_is_of_thread(&span));
	span.end_tid = 0; /* nobody ended it */
	assert_true(span_is_of_thread(&span));
	span.end_tid = 8;
	assert_false(span_is_of_thread(&span));
	span = plain;
	span.flags = TXTRACE_SPAN_MOVED;
	assert_false(span_is_of_thread(&span));
	span = plain;
	span.ledger.detached_ns = 1;
	assert_false(span_is_of_thread(&span));
}

/* ---- lanes ---- */

static void slices_that_overlap_get_lanes_of_their_own(void **state)
{
	static const struct {
		uint64_t begin_ns, end_ns, row;
		bool is_new;
	} cases[] = {
		{ 0, 10, 100, true },
		{ 5, 12, 101, true },
		{ 10, 20, 100, false }, /* the first is free again */
		{ 12, 21, 101, false },
		{ 3, 22, 104, true },
		{ 22, 23, 104, false }, /* of those that are free the one that is free last */
	};
	struct lane_set set = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool is_new;

		assert_int_equal(lane_set_take(&set, cases[i].begin_ns, cases[i].end_ns, 100 + i, &is_new),
				 cases[i].row);
		assert_int_equal(is_new, cases[i].is_new);
	}
}

static void more_slices_at_once_than_lanes_are_drawn_all_the_same(void **state)
{
	struct lane_set set = { 0 };
	bool is_new;

	(void)state;
	for (uint64_t i = 0; i < 1000; i++) {
		assert_int_equal(lane_set_take(&set, 5, 100 + i, 1 + i, &is_new), 1 + i);
		assert_true(is_new);
	}
	assert_int_equal(set.cnt, LANE_CNT);
}

/* ---- states ---- */

static void expect_slice(const struct state_slice *slice, const char *name, uint64_t begin_ns,
			 uint64_t end_ns)
{
	assert_string_equal(state_name(slice->state, slice->reason), name);
	assert_int_equal(slice->begin_ns, begin_ns);
	assert_int_equal(slice->end_ns, end_ns);
}

static void a_run_tells_the_wait_before_it(void **state)
{
	struct state_slice slices[STATE_COUNT];
	struct state_row row = { 0 };
	struct txtrace_run run = { .begin_ns = 1000,
				   .end_ns = 1500,
				   .left_as = TXTRACE_LEFT_BLOCKED,
				   .reason = TXTRACE_BLOCK_DISK,
				   .syscall_nr = 74,
				   .object = 9 };

	(void)state;
	assert_int_equal(state_row_run(&row, &run, slices), 1);
	expect_slice(&slices[0], "running", 1000, 1500);

	run = (struct txtrace_run){ .begin_ns = 2000,
				    .end_ns = 2100,
				    .blocked_ns = 450,
				    .runnable_ns = 50,
				    .left_as = TXTRACE_LEFT_PREEMPTED };
	assert_int_equal(state_row_run(&row, &run, slices), 3);
	expect_slice(&slices[0], "blocked: disk", 1500, 1950);
	assert_int_equal(slices[0].syscall_nr, 74);
	assert_int_equal(slices[0].object, 9);
	expect_slice(&slices[1], "runnable", 1950, 2000);
	expect_slice(&slices[2], "running", 2000, 2100);

	run = (struct txtrace_run){ .begin_ns = 2300, .end_ns = 2400, .runnable_ns = 200 };
	assert_int_equal(state_row_run(&row, &run, slices), 2);
	expect_slice(&slices[0], "runnable", 2100, 2300);
	expect_slice(&slices[1], "running", 2300, 2400);
}

static void what_is_not_known_is_not_drawn(void **state)
{
	struct state_slice slices[STATE_COUNT];
	struct state_row row = { 0 };
	struct txtrace_run run = { .begin_ns = 1000, .end_ns = 1100, .blocked_ns = 100 };

	(void)state;
	/* The first run: blocked before it, nobody saw why. */
	assert_int_equal(state_row_run(&row, &run, slices), 2);
	expect_slice(&slices[0], "blocked", 900, 1000);
	/* Runs between were lost: a gap stays. */
	run = (struct txtrace_run){ .begin_ns = 5000, .end_ns = 5100, .runnable_ns = 10 };
	assert_int_equal(state_row_run(&row, &run, slices), 2);
	expect_slice(&slices[0], "runnable", 4990, 5000);
}

static void states_never_overlap_whatever_the_log_says(void **state)
{
	struct state_slice slices[STATE_COUNT];
	struct state_row row = { 0 };
	struct txtrace_run runs[] = {
		{ .begin_ns = 1000, .end_ns = 2000 },
		/* longer than there is room */
		{ .begin_ns = 2100, .end_ns = 2200, .blocked_ns = UINT64_MAX, .runnable_ns = 1100 },
		/* begins in the run before */
		{ .begin_ns = 1500, .end_ns = 2300 },
		/* ends before it begins */
		{ .begin_ns = 2400, .end_ns = 2350, .runnable_ns = 10 },
		{ .begin_ns = UINT64_MAX, .end_ns = UINT64_MAX, .runnable_ns = 5 },
	};
	uint64_t end_ns = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
		unsigned int cnt = state_row_run(&row, &runs[i], slices);

		for (unsigned int j = 0; j < cnt; j++) {
			assert_true(slices[j].begin_ns >= end_ns);
			assert_true(slices[j].end_ns > slices[j].begin_ns);
			end_ns = slices[j].end_ns;
		}
	}
	assert_true(end_ns == UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spans_that_nest_share_the_row),
		cmocka_unit_test(a_span_that_crosses_one_goes_elsewhere),
		cmocka_unit_test(spans_that_end_together_nest_behind_what_ended_before),
		cmocka_unit_test(of_spans_that_begin_together_only_the_first_stays),
		cmocka_unit_test(a_span_of_no_length_disturbs_nobody),
		cmocka_unit_test(what_can_not_be_told_goes_elsewhere),
		cmocka_unit_test(a_long_row_forgets_its_beginning_and_says_so),
		cmocka_unit_test(a_viewer_shows_every_span_as_long_as_it_was),
		cmocka_unit_test(only_the_work_of_one_thread_is_on_its_row),
		cmocka_unit_test(slices_that_overlap_get_lanes_of_their_own),
		cmocka_unit_test(more_slices_at_once_than_lanes_are_drawn_all_the_same),
		cmocka_unit_test(a_run_tells_the_wait_before_it),
		cmocka_unit_test(what_is_not_known_is_not_drawn),
		cmocka_unit_test(states_never_overlap_whatever_the_log_says),
	};

	return cmocka_run_group_tests_name("export_timeline", tests, NULL, NULL);
}
