/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A sound log has no problem; each thing that may be wrong with one is one, of the right check, with its
 * place.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/files/log_check.h"

#define MEMORY (1 << 20)
#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))
#define THREAD(tid_, time)                                                                         \
	{                                                                                          \
		.kind = TXTRACE_RECORD_THREAD, .thread = {.time_ns = time, .pid = 7, .tid = tid_ } \
	}
/* All of its work was on a CPU. */
#define ANY_SPAN(id_, tid_, end_tid_, begin, end, work, ...)						\
	{ .kind = TXTRACE_RECORD_SPAN,									\
	  .span = { .id = id_, .pid = 7, .tid = tid_, .end_tid = end_tid_, .begin_ns = begin, .end_ns = end, \
	  .work_ns = work, \
		    .ledger.on_cpu_ns = work, ##__VA_ARGS__ } }
#define SPAN(id, begin, end, ...) ANY_SPAN(id, 8, 8, begin, end, (end) - (begin), ##__VA_ARGS__)
#define SUMMARY(time, ...) { .kind = TXTRACE_RECORD_SUMMARY, .summary = { .time_ns = time, ##__VA_ARGS__ } }
#define PARENT(id_) .parent = id_

static struct log_check *check_all(const struct txtrace_record *records, size_t cnt, bool is_slice)
{
	struct log_check *check = log_check_new(MEMORY, 10, is_slice);

	for (size_t i = 0; i < cnt; i++)
		log_check_add(check, &records[i]);
	log_check_finish(check);
	return check;
}

/* The log has exactly this problem, which speaks against it, and none else. */
static void assert_problem(const struct txtrace_record *records, size_t cnt, enum log_check_kind kind,
			   uint64_t record, const char *what)
{
	struct log_check *check = check_all(records, cnt, false);
	const struct log_check_problem *problem = log_check_problem(check, 0);

	assert_false(log_check_is_sound(check));
	assert_non_null(problem);
	assert_string_equal(problem->what, what);
	assert_int_equal(problem->kind, kind);
	assert_int_equal(problem->record_number, record);
	assert_null(log_check_problem(check, 1));
	assert_int_equal(log_check_result(check, kind)->problem_cnt, 1);
	assert_null(log_check_result(check, kind)->excuse);
	log_check_free(check);
}

/* The log has such problems, and a reason for them. */
static void assert_excused(const struct txtrace_record *records, size_t cnt, enum log_check_kind kind,
			   const char *excuse)
{
	struct log_check *check = check_all(records, cnt, false);

	assert_true(log_check_is_sound(check));
	assert_int_equal(log_check_result(check, kind)->problem_cnt, 1);
	assert_string_equal(log_check_result(check, kind)->excuse, excuse);
	log_check_free(check);
}

static void a_sound_log(void **state)
{
	const struct txtrace_record records[] = {
		THREAD(8, 10),
		{ .kind = TXTRACE_RECORD_OPEN_SPAN,
		  .open_span = { .id = 9, .pid = 7, .tid = 8, .begin_ns = 20, .time_ns = 500 } },
		{ .kind = TXTRACE_RECORD_RUN, .run = { .pid = 7, .tid = 8, .begin_ns = 20, .end_ns = 60 } },
		{ .kind = TXTRACE_RECORD_LOSS,
		  .loss = { .first_ns = 61, .last_ns = 400, .cpu = 1, .sched_event_cnt = 2 } },
		{ .kind = TXTRACE_RECORD_WAKE,
		  .wake = { .pid = 7, .tid = 8, .time_ns = 70, .waker_tid = 99 } },
		{ .kind = TXTRACE_RECORD_ATTRIBUTE,
		  .attribute = { .pid = 7, .tid = 8, .time_ns = 80, .span = 1 } },
		{ .kind = TXTRACE_RECORD_INSTANT,
		  .instant = { .pid = 7, .tid = 8, .time_ns = 80, .span = 1 } },
		{ .kind = TXTRACE_RECORD_INSTANT,
		  .instant = { .pid = 7, .tid = 8, .time_ns = 80, .span = 0 } },
		{ .kind = TXTRACE_RECORD_COUNTER, .counter = { .pid = 7, .tid = 8, .time_ns = 85 } },
		SPAN(2, 70, 90, PARENT(1)),
		SPAN(1, 50, 100, PARENT(9), .key = { "k", 1 }, .flags = TXTRACE_SPAN_KEYED),
		{ .kind = TXTRACE_RECORD_LINK,
		  .link = { .pid = 7, .tid = 8, .time_ns = 110, .from = 2, .to = 9 } },
		SPAN(3, 100, 200, .flags = TXTRACE_SPAN_MOVED),
		SPAN(9, 20, 300, .flags = TXTRACE_SPAN_LOWER_BOUND | TXTRACE_SPAN_LOSS),
		SUMMARY(290, .sent_cnt = 12, .received_cnt = 10, .lost_cnt = 2),
	};
	static const uint64_t checked[LOG_CHECK_COUNT] = {
		[LOG_CHECK_DAMAGE] = 15, [LOG_CHECK_BALANCE] = 3, [LOG_CHECK_WORK] = 3,
		[LOG_CHECK_FLAGS] = 4,	 [LOG_CHECK_TIMES] = 7,	  [LOG_CHECK_ORDER] = 12,
		[LOG_CHECK_PARENTS] = 2, [LOG_CHECK_MARKS] = 3,	  [LOG_CHECK_THREADS] = 6,
		[LOG_CHECK_SUMMARY] = 1,
	};
	struct log_check *check = check_all(records, LENGTH(records), false);

	(void)state;
	assert_null(log_check_problem(check, 0));
	assert_true(log_check_is_sound(check));
	for (unsigned int kind = 0; kind < LOG_CHECK_COUNT; kind++) {
		assert_int_equal(log_check_result(check, kind)->checked_cnt, checked[kind]);
		assert_int_equal(log_check_result(check, kind)->problem_cnt, 0);
		assert_null(log_check_result(check, kind)->unchecked);
	}
	log_check_free(check);
}

static void what_may_be_wrong_with_a_span(void **state)
{
	static const struct {
		struct txtrace_record span;
		enum log_check_kind kind;
		const char *what;
	} cases[] = {
		{ SPAN(1, 100, 200, .ledger.runnable_ns = 1), LOG_CHECK_BALANCE,
		  "span 1 of process 7: its ledger sums up to 101 ns, its work is 100 ns" },
		{ SPAN(1, 100, 200, .flags = TXTRACE_SPAN_IMBALANCE | TXTRACE_SPAN_LOWER_BOUND),
		  LOG_CHECK_BALANCE,
		  "span 1 of process 7: the recorder found that its ledger does not add up" },
		{ ANY_SPAN(1, 8, 8, 100, 200, 90), LOG_CHECK_WORK,
		  "span 1 of process 7: its work is 90 ns, less than its wall time of 100 ns" },
		{ ANY_SPAN(1, 8, 8, 100, 200, 110), LOG_CHECK_WORK,
		  "span 1 of process 7: one thread worked for it, 110 ns in a wall time of 100 ns" },
		{ ANY_SPAN(1, 8, 8, 100, 200, 90, .flags = TXTRACE_SPAN_MOVED), LOG_CHECK_WORK,
		  "span 1 of process 7: its work is 90 ns, less than its wall time of 100 ns" },
		{ ANY_SPAN(1, 8, 0, 100, 200, 100, .flags = TXTRACE_SPAN_UNFINISHED), LOG_CHECK_FLAGS,
		  "span 1 of process 7: it is unfinished and not marked as a lower bound" },
		{ SPAN(1, 100, 200, .flags = TXTRACE_SPAN_LOSS), LOG_CHECK_FLAGS,
		  "span 1 of process 7: losses touched it and it is not marked as a lower bound" },
		{ SPAN(1, 100, 200, .flags = TXTRACE_SPAN_UNFINISHED | TXTRACE_SPAN_LOWER_BOUND),
		  LOG_CHECK_FLAGS, "span 1 of process 7: it is unfinished and thread 8 ended it" },
		{ ANY_SPAN(1, 8, 0, 100, 200, 100), LOG_CHECK_FLAGS,
		  "span 1 of process 7: no thread ended it and it is not marked as unfinished" },
		{ SPAN(1, 100, 200, .key = { "k", 1 }), LOG_CHECK_FLAGS,
		  "span 1 of process 7: it has a key and is not marked as keyed" },
		{ ANY_SPAN(1, 8, 8, 205, 200, 0), LOG_CHECK_TIMES,
		  "a record of kind span ends 5 ns before it begins" },
		{ SPAN(1, 5, 9), LOG_CHECK_ORDER, "a record of kind span stands 1 ns too late" },
		{ ANY_SPAN(1, 6, 8, 100, 200, 100), LOG_CHECK_THREADS,
		  "thread 6 of process 7 begins a span, but no earlier record names it" },
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(cases); i++) {
		const struct txtrace_record records[] = { THREAD(8, 10), cases[i].span, SUMMARY(900) };

		assert_problem(records, 3, cases[i].kind, 2, cases[i].what);
	}
}

/*
 * A lower bound need not balance, and one for which several threads worked at once may have more work than
 * wall.
 */
static void what_a_span_may_be(void **state)
{
	const struct txtrace_record records[] = {
		THREAD(8, 10),
		SPAN(1, 100, 200, .ledger.runnable_ns = 5, .flags = TXTRACE_SPAN_LOWER_BOUND),
		ANY_SPAN(2, 8, 8, 100, 200, 150, .flags = TXTRACE_SPAN_MOVED),
		ANY_SPAN(3, 8, 0, 100, 200, 100, .flags = TXTRACE_SPAN_UNFINISHED | TXTRACE_SPAN_LOWER_BOUND),
		SPAN(4, 200, 200),
		SUMMARY(900),
	};
	struct log_check *check = check_all(records, LENGTH(records), false);

	(void)state;
	assert_true(log_check_is_sound(check));
	assert_null(log_check_problem(check, 0));
	log_check_free(check);
}

static void other_times_and_threads(void **state)
{
	const struct txtrace_record runs[] = {
		{ .kind = TXTRACE_RECORD_RUN, .run = { .pid = 7, .tid = 8, .begin_ns = 20, .end_ns = 60 } },
		{ .kind = TXTRACE_RECORD_RUN, .run = { .pid = 7, .tid = 8, .begin_ns = 70, .end_ns = 80 } },
		SUMMARY(900)
	};
	const struct txtrace_record wakes[] = { THREAD(9, 10),
						{ .kind = TXTRACE_RECORD_WAKE,
						  .wake = { .pid = 7, .tid = 8, .time_ns = 60 } },
						SUMMARY(900) };
	const struct txtrace_record losses[] = {
		{ .kind = TXTRACE_RECORD_LOSS, .loss = { .first_ns = 20, .last_ns = 10 } }, SUMMARY(900)
	};
	const struct txtrace_record late[] = { THREAD(8, 50), THREAD(9, 40), THREAD(10, 50), SUMMARY(900) };
	const struct txtrace_record late_and_counted[] = { THREAD(8, 50), THREAD(9, 40),
							   SUMMARY(900, .late_cnt = 1) };

	(void)state;
	/* once */
	assert_problem(runs, LENGTH(runs), LOG_CHECK_THREADS, 1,
		       "thread 8 of process 7 runs, but no earlier record names it");
	assert_problem(wakes, LENGTH(wakes), LOG_CHECK_THREADS, 2,
		       "thread 8 of process 7 is woken, but no earlier record names it");
	assert_problem(losses, LENGTH(losses), LOG_CHECK_TIMES, 1,
		       "a record of kind loss ends 10 ns before it begins");
	assert_problem(late, LENGTH(late), LOG_CHECK_ORDER, 2,
		       "a record of kind thread stands 10 ns too late");
	assert_excused(late_and_counted, LENGTH(late_and_counted), LOG_CHECK_ORDER,
		       "events came late, as the summary counts");
}

static void the_summary(void **state)
{
	const struct txtrace_record none[] = { THREAD(8, 50) };
	const struct txtrace_record two[] = { SUMMARY(900), SUMMARY(901) };
	const struct txtrace_record early[] = { SUMMARY(900), THREAD(8, 50) };
	const struct txtrace_record wrong[] = { SUMMARY(900, .sent_cnt = 10, .received_cnt = 5,
							.lost_cnt = 4) };
	const struct txtrace_record damaged[] = {
		{ .kind = TXTRACE_RECORD_DAMAGE,
		  .damage = { .offset_bytes = 17,
			      .length_bytes = 99,
			      .reason = "the checksum of a batch is wrong" } },
		SUMMARY(900),
	};

	(void)state;
	assert_problem(none, LENGTH(none), LOG_CHECK_SUMMARY, 0,
		       "there is none: recording did not end cleanly, or is still going on");
	assert_problem(two, LENGTH(two), LOG_CHECK_SUMMARY, 2, "there is more than one summary");
	assert_problem(early, LENGTH(early), LOG_CHECK_SUMMARY, 2,
		       "a record of kind thread follows the summary");
	assert_problem(wrong, LENGTH(wrong), LOG_CHECK_SUMMARY, 1,
		       "10 events were sent, 5 received and 4 lost: that does not add up");
	assert_problem(damaged, LENGTH(damaged), LOG_CHECK_DAMAGE, 1,
		       "at byte 17: the checksum of a batch is wrong; 99 bytes are skipped");
}

#define MARK(kind_, member, ...)                                                                            \
	{                                                                                                   \
		.kind = TXTRACE_RECORD_##kind_, .member = {.pid = 7, .tid = 8, .time_ns = 20, __VA_ARGS__ } \
	}

static void spans_that_are_not_there(void **state)
{
	static const struct {
		struct txtrace_record record;
		enum log_check_kind kind;
		const char *what;
	} cases[] = {
		{ SPAN(1, 100, 200, PARENT(5)), LOG_CHECK_PARENTS,
		  "span 5 of process 7 is a parent, and is not in the log" },
		{ MARK(ATTRIBUTE, attribute, .span = 5), LOG_CHECK_MARKS,
		  "span 5 of process 7 is named by an attribute, and is not in the log" },
		{ MARK(INSTANT, instant, .span = 5), LOG_CHECK_MARKS,
		  "span 5 of process 7 is named by an instant, and is not in the log" },
		{ MARK(LINK, link, .from = 5, .to = 2), LOG_CHECK_MARKS,
		  "span 5 of process 7 is named by a link, and is not in the log" },
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(cases); i++) {
		const struct txtrace_record records[] = { THREAD(8, 10), cases[i].record, SPAN(2, 200, 300),
							  SUMMARY(900) };
		const struct txtrace_record lossy[] = {
			THREAD(8, 10),
			cases[i].record,
			SPAN(2, 200, 300),
			SUMMARY(900, .sent_cnt = 2, .received_cnt = 1, .lost_cnt = 1),
		};
		const struct txtrace_record strange[] = {
			THREAD(8, 10),
			cases[i].record,
			SPAN(2, 200, 300),
			SUMMARY(900, .anomaly_cnt = { [TXTRACE_ANOMALY_MARK_UNKNOWN] = 1 }),
		};
		/* told when it became known, ahead of what follows */
		const struct txtrace_record dropped[] = {
			THREAD(8, 10),
			{ .kind = TXTRACE_RECORD_DROPPED,
			  .dropped = { .time_ns = 400, .last_ns = 400, .batch_cnt = 1 } },
			cases[i].record,
			SPAN(2, 200, 300),
			SUMMARY(900),
		};
		struct log_check *check = check_all(records, 4, true);

		assert_problem(records, 4, cases[i].kind, 0, cases[i].what);
		assert_excused(dropped, 5, cases[i].kind,
			       "the disk did not keep up, and records were dropped");
		assert_excused(lossy, 4, cases[i].kind, "events were lost");
		assert_excused(strange, 4, cases[i].kind,
			       "the program named spans that were not open, as the summary counts");
		assert_true(log_check_is_sound(check));
		assert_string_equal(log_check_result(check, cases[i].kind)->excuse,
				    "it is a slice: they may have been skipped on purpose");
		log_check_free(check);
	}
}

/* A child that fork made goes on with the span of its parent; a checkpoint is enough to be known. */
static void spans_that_are_there_all_the_same(void **state)
{
	const struct txtrace_record records[] = {
		THREAD(8, 10),
		{ .kind = TXTRACE_RECORD_OPEN_SPAN,
		  .open_span = { .id = 0x7777, .pid = 6, .tid = 6, .begin_ns = 20, .time_ns = 30 } },
		SPAN(1, 100, 200, PARENT(0x7777)),
		SUMMARY(900),
	};
	struct log_check *check = check_all(records, LENGTH(records), false);

	(void)state;
	assert_null(log_check_problem(check, 0));
	log_check_free(check);
}

/* 64 KiB hold some 1,500 spans: with more nothing can be said of references, and that is said. */
static void more_spans_than_memory(void **state)
{
	struct log_check *check = log_check_new(1 << 16, 10, false);
	const struct txtrace_record thread = THREAD(8, 10), summary = SUMMARY(99999);

	(void)state;
	log_check_add(check, &thread);
	for (uint64_t i = 1; i <= 10000; i++) {
		const struct txtrace_record span = SPAN(i, 10 + i, 20 + i, PARENT(i + 1));

		log_check_add(check, &span);
	}
	log_check_add(check, &summary);
	log_check_finish(check);
	assert_true(log_check_is_sound(check));
	assert_int_equal(log_check_result(check, LOG_CHECK_PARENTS)->problem_cnt, 0);
	assert_string_equal(log_check_result(check, LOG_CHECK_PARENTS)->unchecked,
			    "there are more than fit into memory, --max-memory allows more");
	assert_non_null(log_check_result(check, LOG_CHECK_MARKS)->unchecked);
	assert_null(log_check_result(check, LOG_CHECK_THREADS)->unchecked);
	assert_int_equal(log_check_result(check, LOG_CHECK_BALANCE)->checked_cnt, 10000);
	log_check_free(check);
}

static void the_first_few_are_kept(void **state)
{
	struct log_check *check = log_check_new(MEMORY, 2, false);
	const struct txtrace_record thread = THREAD(8, 10);

	(void)state;
	log_check_add(check, &thread);
	for (uint64_t i = 1; i <= 5; i++) {
		const struct txtrace_record span = SPAN(i, 10 + i, 20 + i, PARENT(100 - i),
							.flags = TXTRACE_SPAN_LOSS);

		log_check_add(check, &span);
	}
	log_check_finish(check);
	assert_int_equal(log_check_result(check, LOG_CHECK_FLAGS)->problem_cnt, 5);
	assert_int_equal(log_check_problem(check, 0)->record_number, 2);
	assert_int_equal(log_check_problem(check, 1)->record_number, 3);
	assert_string_equal(log_check_problem(check, 2)->what,
			    "span 95 of process 7 is a parent, and is not in the log");
	assert_string_equal(log_check_problem(check, 3)->what,
			    "span 96 of process 7 is a parent, and is not in the log");
	assert_int_equal(log_check_problem(check, 4)->kind, LOG_CHECK_SUMMARY);
	assert_null(log_check_problem(check, 5));
	log_check_free(check);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sound_log),
		cmocka_unit_test(what_may_be_wrong_with_a_span),
		cmocka_unit_test(what_a_span_may_be),
		cmocka_unit_test(other_times_and_threads),
		cmocka_unit_test(the_summary),
		cmocka_unit_test(spans_that_are_not_there),
		cmocka_unit_test(spans_that_are_there_all_the_same),
		cmocka_unit_test(more_spans_than_memory),
		cmocka_unit_test(the_first_few_are_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
