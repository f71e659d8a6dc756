/* SPDX-License-Identifier: BSD-2-Clause */
/* The live view: windows, blame, open spans, and what it does when there is too much of everything. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "analyze/live/live_view.h"

#define SECOND UINT64_C(1000000000)
#define BEGIN (100 * SECOND) /* of the log */

static struct txtrace_string string(const char *text)
{
	return (struct txtrace_string){ text, strlen(text) };
}

static void add(struct live_view *view, const struct txtrace_record *record)
{
	assert_int_equal(live_view_add(view, record), 0);
}

/* A span that ends at end_ns after the begin of the log, and was on a CPU for all of its wall time. */
static void add_span(struct live_view *view, const char *label, uint64_t id, uint64_t end_ns,
		     uint64_t wall_ns, uint32_t flags)
{
	struct txtrace_record record = { .kind = TXTRACE_RECORD_SPAN };

	record.span = (struct txtrace_span){ .id = id,
					     .pid = 1,
					     .tid = 2,
					     .end_tid = 2,
					     .flags = flags,
					     .begin_ns = BEGIN + end_ns - wall_ns,
					     .end_ns = BEGIN + end_ns,
					     .work_ns = wall_ns,
					     .ledger.on_cpu_ns = wall_ns,
					     .label = string(label) };
	add(view, &record);
}

static void add_open(struct live_view *view, const char *label, uint64_t id, uint64_t begin_ns,
		     uint64_t time_ns)
{
	struct txtrace_record record = { .kind = TXTRACE_RECORD_OPEN_SPAN };

	record.open_span = (struct txtrace_open_span){ .time_ns = BEGIN + time_ns,
						       .id = id,
						       .begin_ns = BEGIN + begin_ns,
						       .pid = 1,
						       .tid = 2,
						       .label = string(label) };
	add(view, &record);
}

static const struct live_row *find(const struct live_rows *rows, const char *name)
{
	for (size_t i = 0; i < rows->cnt; i++)
		if (!rows->rows[i].is_rest && rows->rows[i].name_length == strlen(name) &&
		    !memcmp(rows->rows[i].name, name, strlen(name)))
			return &rows->rows[i];
	return NULL;
}

static uint64_t count_of(struct live_view *view, const char *name, size_t window)
{
	struct live_rows rows;
	const struct live_row *row;
	uint64_t cnt;

	assert_int_equal(live_view_rows(view, LIVE_LABELS, LIVE_WINDOW_COUNT, &rows), 0);
	row = find(&rows, name);
	cnt = row ? row->windows[window].cnt : UINT64_MAX;
	live_rows_release(&rows);
	return cnt;
}

/* The second of the last record is not over yet: it is in no window. */
static void windows_end_with_the_last_whole_second(void **state)
{
	struct live_view *view = live_view_new(BEGIN);

	(void)state;
	for (uint64_t second = 0; second < 100; second++) {
		add_span(view, "tick", second + 1, second * SECOND, 1000, 0);
		add_span(view, "tick", second + 1000, (second + 1) * SECOND - 1, 1000, 0);
	}
	/* the last one is of 99.999 s: windows are of 98, 89 to 98, 39 to 98 */
	assert_int_equal(count_of(view, "tick", 0), 2);
	assert_int_equal(count_of(view, "tick", 1), 20);
	assert_int_equal(count_of(view, "tick", 2), 120);
	add_span(view, "other", 5000, 100 * SECOND, 1, 0);
	assert_int_equal(count_of(view, "tick", 0), 2);
	assert_int_equal(count_of(view, "other", 0), UINT64_MAX); /* no row yet */
	live_view_pass(view, BEGIN + 103 * SECOND + 5);
	assert_int_equal(count_of(view, "tick", 0), 0);
	assert_int_equal(count_of(view, "tick", 1), 14); /* 93 to 102 */
	assert_int_equal(count_of(view, "other", 1), 1);
	live_view_pass(view, BEGIN + 300 * SECOND);
	assert_int_equal(count_of(view, "tick", 2), UINT64_MAX); /* it has no row any more */
	live_view_free(view);
}

/* What comes late counts in its second, and what comes a minute late in none, but never in a wrong one. */
static void late_spans_count_where_they_ended(void **state)
{
	struct live_view *view = live_view_new(BEGIN);

	(void)state;
	add_span(view, "a", 1, 70 * SECOND, 10, 0);
	add_span(view, "a", 2, 69 * SECOND, 10, 0);
	add_span(view, "a", 3, 6 * SECOND, 10, 0); /* the same place as second 70 */
	add_span(view, "a", 4, 5 * SECOND, 10, 0);
	assert_int_equal(count_of(view, "a", 0), 1);
	assert_int_equal(count_of(view, "a", 2), 1);
	live_view_end(view);
	assert_int_equal(count_of(view, "a", 0), 1);
	assert_int_equal(count_of(view, "a", 1), 2);
	assert_int_equal(count_of(view, "a", 2), 2);
	live_view_free(view);
}

static void lower_bounds_have_no_times(void **state)
{
	struct live_view *view = live_view_new(BEGIN);
	struct live_rows rows;
	const struct live_figures *figures;

	(void)state;
	add_span(view, "a", 1, SECOND / 2, 100, 0);
	add_span(view, "a", 2, SECOND / 2, 1000000, TXTRACE_SPAN_LOWER_BOUND);
	assert_int_equal(live_view_rows(view, LIVE_LABELS, LIVE_WINDOW_COUNT, &rows), 0);
	figures = &find(&rows, "a")->windows[0];
	assert_int_equal(figures->cnt, 2);
	assert_int_equal(figures->inexact_cnt, 1);
	assert_int_equal(figures->wall.cnt, 1);
	assert_int_equal(quantile_at(&figures->wall, 0.99), 100);
	assert_int_equal(figures->ledger.on_cpu_ns, 100);
	assert_int_equal(figures->slowest.id, 1);
	live_rows_release(&rows);
	live_view_free(view);
}

/* Five for four places: those for whom was waited most stay, with their own time. */
static void wakers_are_in_the_order_of_their_time(void **state)
{
	struct live_view *view = live_view_new(BEGIN);
	struct txtrace_record wake = { .kind = TXTRACE_RECORD_WAKE }, run = { .kind = TXTRACE_RECORD_RUN };
	static const uint64_t waits[] = { 10, 50, 30, 20, 40 };
	struct live_rows rows;
	const struct live_row *row;

	(void)state;
	for (uint64_t i = 0; i < 5; i++) {
		char name[] = { (char)('p' + i), '\0' };

		wake.wake = (struct txtrace_wake){ .time_ns = BEGIN + i * 1000,
						   .pid = 1,
						   .tid = 2,
						   .waker_pid = 1,
						   .waker_tid = (uint32_t)(10 + i),
						   .waker_comm = string(name),
						   .span = 7 };
		run.run = (struct txtrace_run){ .pid = 1,
						.tid = 2,
						.begin_ns = BEGIN + i * 1000 + 1,
						.end_ns = BEGIN + i * 1000 + 2,
						.blocked_ns = waits[i] };
		add(view, &wake);
		add(view, &run);
		add(view, &run); /* a wakeup ends one wait */
	}
	wake.wake.flags = TXTRACE_WAKE_INTERRUPT; /* nobody that has a name */
	add(view, &wake);
	add(view, &run);
	add_span(view, "waiting", 7, 5000, 5000, 0);
	assert_int_equal(live_view_rows(view, LIVE_LABELS, LIVE_WINDOW_COUNT, &rows), 0);
	row = find(&rows, "waiting");
	for (size_t i = 0; i < 4; i++) {
		static const char order[] = "qtrs";
		struct txtrace_string name = live_view_name(view, row->windows[0].wakers[i].name);

		assert_int_equal(name.length, 1);
		assert_int_equal(name.bytes[0], order[i]);
		assert_int_equal(row->windows[0].wakers[i].ns, waits[order[i] - 'p']);
	}
	live_rows_release(&rows);
	live_view_free(view);
}

static void open_spans_are_known_until_they_end(void **state)
{
	struct live_view *view = live_view_new(BEGIN);
	struct live_open oldest[4];
	struct live_totals totals;

	(void)state;
	for (uint64_t i = 0; i < 10; i++)
		add_open(view, i % 2 ? "odd" : "even", 100 - i, 90 - i, SECOND);
	add_open(view, "even", 100, 90, 2 * SECOND); /* a second checkpoint, of the next file */
	live_view_totals(view, &totals);
	assert_int_equal(totals.open_cnt, 10);
	assert_int_equal(live_view_oldest(view, oldest, 4), 4);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(oldest[i].id, 91 + i);
	assert_int_equal(oldest[0].state, LIVE_STATE_UNKNOWN);
	add_span(view, "odd", 91, 2 * SECOND, 5, 0);
	add_span(view, "odd", 91, 2 * SECOND, 5, 0); /* twice in a hostile log */
	assert_int_equal(live_view_oldest(view, oldest, 4), 4);
	assert_int_equal(oldest[0].id, 92);
	for (uint64_t i = 0; i < 10; i++)
		add_span(view, i % 2 ? "odd" : "even", 100 - i, 2 * SECOND, 5, 0);
	assert_int_equal(live_view_oldest(view, oldest, 4), 0);
	live_view_totals(view, &totals);
	assert_int_equal(totals.open_cnt, 0);
	assert_int_equal(live_view_oldest(view, oldest, 0), 0);
	live_view_free(view);
}

/* Begun where there was no room for its label, and ended where there is. */
static void open_spans_of_the_rest_end_there(void **state)
{
	struct live_view *view = live_view_new(BEGIN);
	struct live_rows rows;
	char label[32];

	(void)state;
	for (uint64_t i = 1; i <= 300; i++) {
		snprintf(label, sizeof(label), "label %u", (unsigned)i);
		add_span(view, label, i, SECOND / 2, i, 0);
	}
	add_open(view, "late", 1000, 1, SECOND / 2);
	assert_int_equal(live_view_rows(view, LIVE_LABELS, LIVE_WINDOW_COUNT, &rows), 0);
	for (size_t i = 0; i < rows.cnt; i++)
		assert_int_equal(rows.rows[i].open_cnt, rows.rows[i].is_rest);
	live_rows_release(&rows);
	add_span(view, "other", 2000, 100 * SECOND, 1, 0); /* a minute later there is room */
	add_span(view, "late", 1000, 100 * SECOND, 1, 0);
	live_view_end(view);
	assert_int_equal(live_view_rows(view, LIVE_LABELS, LIVE_WINDOW_COUNT, &rows), 0);
	assert_int_equal(rows.cnt, 2);
	for (size_t i = 0; i < rows.cnt; i++)
		assert_int_equal(rows.rows[i].open_cnt, 0);
	live_rows_release(&rows);
	live_view_free(view);
}

/* 10,000 labels and 70,000 open spans: nothing is lost of what is counted. */
static void too_much_is_counted_together(void **state)
{
	struct live_view *view = live_view_new(BEGIN);
	struct live_totals totals;
	struct live_rows rows;
	uint64_t cnt = 0, rest_cnt = 0;
	char label[32];

	(void)state;
	for (uint64_t i = 1; i <= 10000; i++) {
		snprintf(label, sizeof(label), "label %u", (unsigned)i);
		add_span(view, label, i, SECOND / 2, i, 0);
	}
	for (uint64_t i = 1; i <= 70000; i++)
		add_open(view, "open", 1000000 + i, i, SECOND / 2);
	live_view_totals(view, &totals);
	assert_int_equal(totals.span_cnt, 10000);
	assert_int_equal(totals.open_cnt, 65536);
	assert_int_equal(live_view_rows(view, LIVE_LABELS, LIVE_WINDOW_COUNT, &rows), 0);
	assert_true(rows.cnt <= 201);
	for (size_t i = 0; i < rows.cnt; i++) {
		cnt += rows.rows[i].windows[0].cnt;
		rest_cnt += rows.rows[i].is_rest;
	}
	assert_int_equal(cnt, 10000);
	assert_int_equal(rest_cnt, 1);
	live_rows_release(&rows);
	/* a minute later the labels from then have made room */
	add_span(view, "new", 20000, 100 * SECOND, 1, 0);
	live_view_end(view);
	assert_int_equal(count_of(view, "new", 0), 1);
	live_view_free(view);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(windows_end_with_the_last_whole_second),
		cmocka_unit_test(late_spans_count_where_they_ended),
		cmocka_unit_test(lower_bounds_have_no_times),
		cmocka_unit_test(wakers_are_in_the_order_of_their_time),
		cmocka_unit_test(open_spans_are_known_until_they_end),
		cmocka_unit_test(open_spans_of_the_rest_end_there),
		cmocka_unit_test(too_much_is_counted_together),
	};

	return cmocka_run_group_tests_name("live_view", tests, NULL, NULL);
}
