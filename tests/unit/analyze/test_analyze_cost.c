/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What tracing cost: a thread's history against a plain list of its events, and prices from records that can
 * be worked out by hand or are absurd.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/cost/cost_history.h"
#include "analyze/cost/cost_report.h"
#include "analyze/cost/cost_sums.h"

#define STRING(literal) { .bytes = literal, .length = sizeof(literal) - 1 }

static uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

struct event {
	uint64_t time_ns;
	unsigned int class;
};

static void count_plainly(const struct event *events, size_t cnt, uint64_t from_ns, uint64_t to_ns,
			  uint64_t cnts[COST_HISTORY_CLASSES])
{
	for (size_t i = 0; i < cnt; i++)
		if (events[i].time_ns >= from_ns && events[i].time_ns <= to_ns)
			cnts[events[i].class]++;
}

/* Some come late, some at the same time, some are taken back. */
static void few_events_are_counted_one_by_one(void **state)
{
	struct cost_history history = { 0 };
	struct event events[1500];
	uint64_t seed = 7;
	size_t cnt = 0;

	(void)state;
	for (unsigned int i = 0; i < 1500; i++) {
		struct event event = { 100 * i + 1000 - next_random(&seed) % 900,
				       (unsigned int)(next_random(&seed) % COST_HISTORY_CLASSES) };
		uint64_t from_ns = next_random(&seed) % 150000, to_ns = from_ns + next_random(&seed) % 50000;
		uint64_t wanted[COST_HISTORY_CLASSES] = { 0 }, is[COST_HISTORY_CLASSES] = { 0 };

		if (cnt > 3 && next_random(&seed) % 8 == 0) {
			event = events[--cnt];
			assert_int_equal(cost_history_add(&history, event.time_ns, event.class, -1,
							  COST_HISTORY_LIMIT),
					 0);
		} else {
			events[cnt++] = event;
			assert_int_equal(cost_history_add(&history, event.time_ns, event.class, 1,
							  COST_HISTORY_LIMIT),
					 0);
		}
		count_plainly(events, cnt, from_ns, to_ns, wanted);
		cost_history_count(&history, from_ns, to_ns, is);
		assert_memory_equal(is, wanted, sizeof(is));
	}
	cost_history_release(&history);
}

/*
 * An event every 10 ns. Whatever the limit, it holds; and a stretch of n events is counted to within 1 + n /
 * 100.
 */
static void many_events_are_counted_nearly(void **state)
{
	static const size_t limits[] = { 4096, 1024, 0 };

	(void)state;
	for (size_t l = 0; l < 3; l++) {
		struct cost_history history = { 0 };
		uint64_t seed = 3, worst_in_1000 = 0;

		for (uint64_t i = 1; i <= 300000; i++) {
			assert_int_equal(cost_history_add(&history, 10 * i, (unsigned int)(i % 2), 1,
							  limits[l]),
					 0);
			if (i % 1000)
				continue;
			for (unsigned int back = 0; back < 20; back++) {
				uint64_t age = next_random(&seed) % i + 1, cnts[COST_HISTORY_CLASSES] = { 0 },
					 is;

				cost_history_count(&history, 10 * (i - age + 1), 10 * i, cnts);
				is = cnts[0] + cnts[1];
				assert_true(is >= age);
				if (is - age > 1 && (is - age) * 1000 / age > worst_in_1000)
					worst_in_1000 = (is - age) * 1000 / age;
			}
		}
		assert_true(history.capacity <= (limits[l] ? limits[l] : 64));
		print_message("limit %zu: off by %llu of 1000 at most\n", limits[l],
			      (unsigned long long)worst_in_1000);
		if (limits[l] == COST_HISTORY_LIMIT)
			assert_in_range(worst_in_1000, 0, 10);
		cost_history_release(&history);
	}
}

static void add_cost(struct cost_sums *sums, struct txtrace_cost cost)
{
	cost_sums_add(sums, &cost);
}

/* 10 runs of 40 found nothing: 4000 - 10 * 50 - 30 * 20 = 2900 ns for 30 events. */
static void a_run_is_what_timing_says_less_what_it_says_of_nothing(void **state)
{
	struct cost_sums sums = { 0 };
	struct cost_price price;

	(void)state;
	add_cost(&sums, (struct txtrace_cost){ .event = STRING("switch"),
					       .event_cnt = 300,
					       .timed_event_cnt = 30,
					       .timed_run_cnt = 40,
					       .timed_run_ns = 4000,
					       .entry_ps = 25000,
					       .empty_run_ps = 20000,
					       .idle_run_ps = 50000 });
	price = cost_sums_price(&sums, COST_SWITCH);
	assert_true(price.has_entry && price.has_body);
	assert_int_equal(price.entry_ps, 25000);
	assert_int_equal(price.body_ps, 2900000 / 30);
	assert_int_equal(cost_sums_cost_ps(&sums, COST_SWITCH, 3), 3 * (25000 + 2900000 / 30));
	assert_int_equal(cost_sums_total_ns(&sums), (300 * (uint64_t)(25000 + 2900000 / 30)) / 1000);
	assert_true(cost_sums_is_whole(&sums));
}

/*
 * Of what was idle, nothing is known: as an empty run. What timing says of nothing may be more than what it
 * says of a program.
 */
static void what_is_not_known_is_not_guessed(void **state)
{
	struct cost_sums sums = { 0 };

	(void)state;
	add_cost(&sums, (struct txtrace_cost){ .event = STRING("wake"),
					       .event_cnt = 5,
					       .timed_event_cnt = 5,
					       .timed_run_cnt = 10,
					       .timed_run_ns = 1000,
					       .empty_run_ps = 50000 });
	assert_int_equal(cost_sums_price(&sums, COST_WAKE).body_ps, (1000000 - 10 * 50000) / 5);
	assert_false(cost_sums_price(&sums, COST_WAKE).has_entry);
	assert_false(cost_sums_is_whole(&sums));
	add_cost(&sums, (struct txtrace_cost){ .event = STRING("attr"),
					       .event_cnt = 5,
					       .timed_event_cnt = 5,
					       .timed_run_cnt = 5,
					       .timed_run_ns = 1,
					       .empty_run_ps = 50000,
					       .entry_ps = 1000 });
	assert_int_equal(cost_sums_price(&sums, COST_TEXT).body_ps, 0);
	assert_false(cost_sums_price(&sums, COST_KEY).has_body);
	assert_int_equal(cost_sums_cost_ps(&sums, COST_KEY, 7), 0);
}

/* Kinds that later versions bring are counted, and cost whatever they say. */
static void events_that_are_not_known_are_others(void **state)
{
	struct cost_sums sums = { 0 };

	(void)state;
	add_cost(&sums,
		 (struct txtrace_cost){ .event = STRING("teleport"), .event_cnt = 2, .entry_ps = 3000 });
	add_cost(&sums, (struct txtrace_cost){ .event = STRING("begi"), .event_cnt = 3, .entry_ps = 3000 });
	assert_int_equal(sums.classes[COST_OTHER].event_cnt, 5);
	assert_int_equal(cost_sums_total_ns(&sums), 15);
}

static void absurd_numbers_saturate(void **state)
{
	const struct txtrace_cost absurd = { UINT64_MAX, 0,	     STRING("begin"), UINT64_MAX, UINT64_MAX,
					     UINT64_MAX, UINT64_MAX, UINT64_MAX,      UINT64_MAX, UINT64_MAX,
					     UINT64_MAX, UINT64_MAX, UINT64_MAX,      UINT64_MAX, 255 };
	struct txtrace_cost recorder = absurd, backwards = { .time_ns = 5, .since_ns = 9 };
	struct cost_sums sums = { 0 };

	(void)state;
	recorder.event.length = 0;
	for (unsigned int i = 0; i < 3; i++) {
		cost_sums_add(&sums, &absurd);
		cost_sums_add(&sums, &recorder);
		cost_sums_add(&sums, &backwards);
	}
	assert_true(cost_sums_total_ns(&sums) == UINT64_MAX / 1000);
	assert_true(sums.cpu_ns == UINT64_MAX && sums.observed_ns == UINT64_MAX);
}

/* Spans whose ends come before their begins, stays of nobody, ids that are used again. */
static void senseless_records_do_no_harm(void **state)
{
	struct cost_report *report = cost_report_new(1 << 20);
	uint64_t seed = 11, span_cnt = 0, row_cnt = 0;

	(void)state;
	for (unsigned int i = 0; i < 200000; i++) {
		struct txtrace_record record = { .kind = (uint32_t)(next_random(&seed) %
								    TXTRACE_RECORD_KIND_COUNT) };
		uint64_t a = next_random(&seed) % 2000,
			 b = next_random(&seed) % 8 ? next_random(&seed) % 2000 : UINT64_MAX;

		if (record.kind == TXTRACE_RECORD_SPAN)
			record.span = (struct txtrace_span){ .id = a % 50,
							     .pid = 1,
							     .tid = (uint32_t)(b % 5),
							     .end_tid = (uint32_t)(a % 5),
							     .begin_ns = a,
							     .end_ns = b,
							     .flags = (uint32_t)next_random(&seed) % 64,
							     .ledger.detached_ns = b,
							     .label = STRING("x"),
							     .tag = STRING("t") };
		if (record.kind == TXTRACE_RECORD_STAY)
			record.stay = (struct txtrace_stay){ .enter_ns = b,
							     .exit_ns = a,
							     .span = a % 50,
							     .span_pid = 1,
							     .tid = (uint32_t)(b % 5) };
		if (record.kind == TXTRACE_RECORD_THREAD)
			record.thread = (struct txtrace_thread){ .tid = (uint32_t)(a % 5), .is_exit = b % 2 };
		span_cnt += record.kind == TXTRACE_RECORD_SPAN &&
			    !(record.span.flags & TXTRACE_SPAN_LOWER_BOUND);
		assert_int_equal(cost_report_add(report, &record, true), 0);
	}
	cost_report_sort(report);
	for (size_t i = 0; i < cost_report_row_cnt(report); i++)
		row_cnt += cost_report_row(report, i)->span_cnt;
	assert_int_equal(row_cnt, span_cnt);
	cost_report_free(report);
	cost_report_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few_events_are_counted_one_by_one),
		cmocka_unit_test(many_events_are_counted_nearly),
		cmocka_unit_test(a_run_is_what_timing_says_less_what_it_says_of_nothing),
		cmocka_unit_test(what_is_not_known_is_not_guessed),
		cmocka_unit_test(events_that_are_not_known_are_others),
		cmocka_unit_test(absurd_numbers_saturate),
		cmocka_unit_test(senseless_records_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
