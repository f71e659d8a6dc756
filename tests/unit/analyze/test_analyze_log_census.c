/* SPDX-License-Identifier: BSD-2-Clause */
/* What is in a log: every kind is counted, every time seen, every loss added up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyze/log_census.h"

static void each_kind_is_counted_and_its_times_seen(void **state)
{
	static const struct txtrace_record records[] = {
		{ .kind = TXTRACE_RECORD_THREAD, .thread = { .time_ns = 50 } },
		{ .kind = TXTRACE_RECORD_RUN, .run = { .begin_ns = 40, .end_ns = 60 } },
		{ .kind = TXTRACE_RECORD_WAKE, .wake = { .time_ns = 61 } },
		{ .kind = TXTRACE_RECORD_ATTRIBUTE, .attribute = { .time_ns = 62 } },
		{ .kind = TXTRACE_RECORD_INSTANT, .instant = { .time_ns = 63 } },
		{ .kind = TXTRACE_RECORD_COUNTER, .counter = { .time_ns = 64 } },
		{ .kind = TXTRACE_RECORD_LINK, .link = { .time_ns = 65 } },
		{ .kind = TXTRACE_RECORD_OPEN_SPAN, .open_span = { .time_ns = 66, .begin_ns = 30 } },
		{ .kind = TXTRACE_RECORD_SPAN, .span = { .begin_ns = 31, .end_ns = 67 } },
		{ .kind = TXTRACE_RECORD_SUMMARY, .summary = { .time_ns = 70 } },
	};
	struct log_census census = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(records) / sizeof(records[0]); i++)
		log_census_add(&census, &records[i]);
	for (unsigned int kind = TXTRACE_RECORD_SPAN; kind < TXTRACE_RECORD_KIND_COUNT; kind++)
		assert_int_equal(census.record_cnt[kind],
				 kind <= TXTRACE_RECORD_SUMMARY && kind != TXTRACE_RECORD_LOSS);
	assert_int_equal(census.first_ns, 30);
	assert_int_equal(census.last_ns, 70);
	assert_true(log_census_is_complete(&census));
}

static void losses_add_up(void **state)
{
	const struct txtrace_record losses[] = {
		{ .kind = TXTRACE_RECORD_LOSS,
		  .loss = { .first_ns = 20, .last_ns = 30, .span_event_cnt = 1, .sched_event_cnt = 10 } },
		{ .kind = TXTRACE_RECORD_LOSS,
		  .loss = { .first_ns = 15,
			    .last_ns = 25,
			    .cpu = 1,
			    .span_event_cnt = 2,
			    .sched_event_cnt = 20 } },
	};
	const struct txtrace_record more = { .kind = TXTRACE_RECORD_SUMMARY,
					     .summary = {
						     .sent_cnt = 100, .received_cnt = 60, .lost_cnt = 40 } };
	const struct txtrace_record wrong = { .kind = TXTRACE_RECORD_SUMMARY,
					      .summary = {
						      .sent_cnt = 100, .received_cnt = 60, .lost_cnt = 39 } };
	struct log_census census = { 0 };

	(void)state;
	log_census_add(&census, &losses[0]);
	log_census_add(&census, &losses[1]);
	assert_int_equal(census.lost_span_event_cnt, 3);
	assert_int_equal(census.lost_sched_event_cnt, 30);
	assert_int_equal(census.first_lost_ns, 15);
	assert_int_equal(census.last_lost_ns, 30);
	assert_int_equal(log_census_lost_cnt(&census), 33); /* no summary: as far as the log goes */
	assert_true(log_census_is_balanced(&census));
	assert_false(log_census_is_complete(&census));

	log_census_add(&census, &more);
	assert_int_equal(log_census_lost_cnt(&census), 40);
	assert_true(log_census_is_balanced(&census));
	log_census_add(&census, &wrong);
	assert_false(log_census_is_balanced(&census));
}

static void damage_makes_a_log_incomplete(void **state)
{
	const struct txtrace_record summary = { .kind = TXTRACE_RECORD_SUMMARY };
	const struct txtrace_record damage = { .kind = TXTRACE_RECORD_DAMAGE,
					       .damage = { .length_bytes = 100, .record_cnt = 5 } };
	struct log_census census = { 0 };

	(void)state;
	log_census_add(&census, &damage);
	log_census_add(&census, &summary);
	log_census_add(&census, &damage);
	assert_int_equal(census.damaged_bytes, 200);
	assert_int_equal(census.damaged_record_cnt, 10);
	assert_false(log_census_is_complete(&census));
}

static void a_ledger_that_does_not_add_up_is_counted(void **state)
{
	struct txtrace_record balanced = {
		.kind = TXTRACE_RECORD_SPAN,
		.span = { .work_ns = 10,
			  .ledger = { .on_cpu_ns = 4,
				      .runnable_ns = 1,
				      .blocked_ns = { 1, 1 },
				      .detached_ns = 2,
				      .unknown_ns = 1 } },
	};
	struct txtrace_record short_by_one = balanced, lower_bound = balanced, flagged = balanced;
	struct log_census census = { 0 };

	(void)state;
	short_by_one.span.ledger.on_cpu_ns = 3;
	lower_bound.span.ledger.on_cpu_ns = 3;
	lower_bound.span.flags = TXTRACE_SPAN_LOWER_BOUND;
	flagged.span.flags = TXTRACE_SPAN_IMBALANCE;
	log_census_add(&census, &balanced);
	assert_int_equal(census.unbalanced_cnt, 0);
	log_census_add(&census, &short_by_one);
	assert_int_equal(census.unbalanced_cnt, 1);
	log_census_add(&census, &lower_bound);
	assert_int_equal(census.unbalanced_cnt, 1);
	log_census_add(&census, &flagged);
	assert_int_equal(census.unbalanced_cnt, 2);
}

static void hostile_records_do_no_harm(void **state)
{
	const struct txtrace_record stranger = { .kind = 4000000000u };
	const struct txtrace_record loss = { .kind = TXTRACE_RECORD_LOSS,
					     .loss = { .span_event_cnt = UINT64_MAX,
						       .sched_event_cnt = UINT64_MAX } };
	const struct txtrace_record summary = { .kind = TXTRACE_RECORD_SUMMARY,
						.summary = { .received_cnt = UINT64_MAX, .lost_cnt = 5 } };
	struct log_census census = { 0 };

	(void)state;
	log_census_add(&census, &stranger);
	assert_int_equal(census.record_cnt[0], 1);
	log_census_add(&census, &loss);
	log_census_add(&census, &loss);
	assert_true(log_census_lost_cnt(&census) == UINT64_MAX);
	log_census_add(&census, &summary);
	assert_false(log_census_is_balanced(&census));
}

static void an_end_before_its_begin_turns_no_range_around(void **state)
{
	const struct txtrace_record run = { .kind = TXTRACE_RECORD_RUN,
					    .run = { .begin_ns = 20, .end_ns = 10 } };
	struct log_census census = { 0 };

	(void)state;
	log_census_add(&census, &run);
	assert_int_equal(census.first_ns, 10);
	assert_int_equal(census.last_ns, 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kind_is_counted_and_its_times_seen),
		cmocka_unit_test(losses_add_up),
		cmocka_unit_test(damage_makes_a_log_incomplete),
		cmocka_unit_test(a_ledger_that_does_not_add_up_is_counted),
		cmocka_unit_test(hostile_records_do_no_harm),
		cmocka_unit_test(an_end_before_its_begin_turns_no_range_around),
	};

	return cmocka_run_group_tests_name("analyze_log_census", tests, NULL, NULL);
}
