/* SPDX-License-Identifier: BSD-2-Clause */
/* Stays and spans that come by turns, and are forgotten. Times are Unix times. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "analyze/span/context_join.h"

#define TO_UNIX 1000

static struct txtrace_string string(const char *text)
{
	return (struct txtrace_string){ text, strlen(text) };
}

static void say(struct context_join *join, uint64_t id, uint64_t time_ns, const char *name, const char *text,
		uint64_t value)
{
	struct txtrace_record record = {
		.kind = TXTRACE_RECORD_ATTRIBUTE,
		.attribute = { .time_ns = time_ns - TO_UNIX,
			       .pid = 7,
			       .tid = 8,
			       .span = id,
			       .name = string(name) },
	};

	record.attribute.type = text ? TXTRACE_ATTRIBUTE_STRING : TXTRACE_ATTRIBUTE_UINT;
	if (text)
		record.attribute.string = string(text);
	else
		record.attribute.value = value;
	assert_int_equal(context_join_record(join, &record, TO_UNIX), 0);
}

static void stay_blocked(struct context_join *join, uint64_t id, uint64_t trace, uint64_t span,
			 uint64_t begin_ns, uint64_t end_ns, uint64_t between_ns, uint64_t blocked_ns)
{
	struct txtrace_record record = {
		.kind = TXTRACE_RECORD_SPAN,
		.span = { .id = id,
			  .pid = 7,
			  .tid = 8,
			  .label = string("otel"),
			  .begin_ns = begin_ns - TO_UNIX,
			  .end_ns = end_ns - TO_UNIX,
			  .ledger = { .on_cpu_ns = end_ns - begin_ns - blocked_ns,
				      .blocked_ns = { blocked_ns } } },
	};
	char header[64];

	snprintf(header, sizeof(header), "00-%032lx-%016lx-01", trace, span);
	say(join, id, begin_ns, "traceparent", header, 0);
	say(join, id, begin_ns, "otel.before_ns", NULL, between_ns);
	say(join, id, end_ns, "otel.after_ns", NULL, between_ns);
	assert_int_equal(context_join_record(join, &record, TO_UNIX), 0);
}

/* All of it on a CPU, and that much before its begin and at its end is not known to be its own. */
static void stay(struct context_join *join, uint64_t id, uint64_t trace, uint64_t span, uint64_t begin_ns,
		 uint64_t end_ns, uint64_t between_ns)
{
	stay_blocked(join, id, trace, span, begin_ns, end_ns, between_ns, 0);
}

static struct context_span span_of(uint64_t trace, uint64_t span, uint64_t parent, uint64_t begin_ns,
				   uint64_t end_ns)
{
	struct context_span made = { .process = 1, .begin_ns = begin_ns, .end_ns = end_ns };

	for (int i = 0; i < 8; i++) {
		made.trace_id[8 + i] = (uint8_t)(trace >> (56 - 8 * i));
		made.span_id[i] = (uint8_t)(span >> (56 - 8 * i));
		made.parent_id[i] = (uint8_t)(parent >> (56 - 8 * i));
	}
	return made;
}

static int ask(struct context_join *join, const struct context_span *span, struct context_sums *sums)
{
	assert_int_equal(context_join_span(join, span), 0);
	return context_join_get(join, span, sums);
}

static struct context_join *new_join(void)
{
	struct context_join *join = context_join_new();

	assert_non_null(join);
	context_join_begin(join, 1000);
	return join;
}

/* The child comes first, the parent in a later request has both; between the two nothing is uncertain. */
static void by_turns(void **state)
{
	struct context_span parent = span_of(5, 1, 0, 2000, 3000), child = span_of(5, 2, 1, 2400, 2600);
	struct context_join *join = new_join();
	struct context_join_stats stats;
	struct context_sums sums;

	(void)state;
	assert_int_equal(ask(join, &child, &sums), 0);
	stay(join, 1, 5, 1, 2000, 2400, 10);
	stay(join, 2, 5, 2, 2400, 2600, 10);
	assert_int_equal(ask(join, &child, &sums), 1);
	assert_int_equal(sums.ledger.on_cpu_ns, 190);
	assert_int_equal(sums.between_ns, 20);
	stay(join, 3, 5, 1, 2600, 3000, 10);
	assert_int_equal(ask(join, &parent, &sums), 1);
	assert_int_equal(sums.ledger.on_cpu_ns, 990);
	assert_int_equal(sums.between_ns, 20);
	assert_int_equal(sums.work_ns, 1000);
	assert_false(sums.is_lower_bound);
	assert_int_equal(sums.ledger.unknown_ns, 0);
	context_join_stats(join, &stats);
	assert_int_equal(stats.stay_cnt, 3);
	assert_int_equal(stats.context_cnt, 2);
	assert_int_equal(stats.unknown_cnt, 0);
	assert_int_equal(stats.late_cnt, 0);
	stay(join, 4, 5, 2, 3000, 3100, 0);
	context_join_stats(join, &stats);
	assert_int_equal(stats.late_cnt, 1);
	context_join_free(join);
}

/*
 * The thread is on a CPU for 10 ms in which the span begins, is seen in it at the end of that, and again for
 * 10 ms in which it ends.
 */
static void own_times_narrow(void **state)
{
	static const struct {
		uint64_t begin_ns, end_ns, on_cpu_ns, between_ns;
	} cases[] = {
		/* the span's own times are not known to be near: of both pieces nothing is certain */
		{ 1000001, 99000001, 0, 20000000 },
		/* it began 2 ms before it was seen */
		{ 18000001, 99000001, 0, 2049999 + 10000000 },
		/* it ended 3 ms after the last piece began */
		{ 1000001, 33000000, 2950000, 10000000 + 100000 },
		{ 18000001, 33000000, 2950000, 2049999 + 100000 },
		/* by a clock of milliseconds */
		{ 18000000, 33000000, 2000000, 3000000 + 2000000 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct context_span span = span_of(5, 1, 0, cases[i].begin_ns, cases[i].end_ns);
		struct context_join *join = new_join();
		struct context_sums sums;

		/* blocked until 30 ms, then 10 ms on a CPU */
		stay_blocked(join, 1, 5, 1, 20000000, 40000000, 10000000, 10000000);
		assert_int_equal(ask(join, &span, &sums), 1);
		assert_int_equal(sums.ledger.on_cpu_ns, cases[i].on_cpu_ns);
		assert_int_equal(sums.between_ns, cases[i].between_ns);
		context_join_free(join);
	}
}

/* What was forgotten is never taken for time in which nobody worked. */
static void forgotten_by_time(void **state)
{
	struct context_span old = span_of(5, 1, 0, 2000, 9000), young = span_of(6, 1, 0, 7000, 9000);
	struct context_join *join = new_join();
	struct context_sums sums;

	(void)state;
	stay(join, 1, 5, 1, 2000, 3000, 0);
	stay(join, 2, 6, 1, 7000, 8000, 0);
	context_join_forget(join, 5000, SIZE_MAX);
	stay(join, 3, 5, 1, 8500, 9000, 0);
	assert_int_equal(ask(join, &old, &sums), 1);
	assert_int_equal(sums.ledger.on_cpu_ns, 500);
	assert_true(sums.is_lower_bound);
	assert_int_equal(sums.ledger.unknown_ns,
			 1000); /* until 3000, when the trace that was forgotten was heard of */
	assert_int_equal(sums.ledger.detached_ns, 5500);
	assert_int_equal(ask(join, &young, &sums), 1);
	assert_false(sums.is_lower_bound);
	assert_int_equal(sums.ledger.detached_ns, 1000);
	context_join_free(join);
}

/* The one that nothing was heard of for the longest time goes first. */
static void forgotten_by_number(void **state)
{
	struct context_join *join = new_join();
	struct context_join_stats stats;
	struct context_sums sums;
	struct context_span span;

	(void)state;
	for (uint64_t i = 1; i <= 1000; i++) {
		stay(join, i, i, 1, 1000 + 10 * i, 1010 + 10 * i, 0);
		span = span_of(1, 1, 0, 1010, 1020); /* it is heard of again and again */
		assert_int_equal(context_join_span(join, &span), 0);
		context_join_forget(join, 0, 20);
	}
	for (uint64_t i = 1; i <= 1000; i++) {
		span = span_of(i, 1, 0, 1000 + 10 * i, 1010 + 10 * i);
		assert_int_equal(context_join_get(join, &span, &sums), i == 1 || i > 991);
	}
	context_join_stats(join, &stats);
	assert_int_equal(stats.crowded_cnt, 990);
	assert_int_equal(stats.stay_cnt, 1000);
	context_join_free(join);
}

/* Another log: its threads have nothing to do with those of the one before. */
static void another_log(void **state)
{
	struct context_span span = span_of(5, 1, 0, 3500, 5000);
	struct context_join *join = new_join();
	struct context_sums sums;

	(void)state;
	stay(join, 1, 5, 1, 3000, 3700, 10);
	context_join_begin(join, 4000);
	stay(join, 2, 5, 1, 4000, 5000, 10);
	assert_int_equal(ask(join, &span, &sums), 1);
	assert_int_equal(sums.between_ns, 40);
	assert_true(sums.is_lower_bound);
	assert_int_equal(sums.ledger.unknown_ns, 300); /* from 3700 to 4000 */
	context_join_free(join);
}

/* A checkpoint is written at once; spans that ended before it come later. */
static void checkpoints_are_ahead(void **state)
{
	const struct txtrace_record checkpoint = {
		.kind = TXTRACE_RECORD_OPEN_SPAN,
		.open_span = { .time_ns = 9000 - TO_UNIX, .begin_ns = 2000 - TO_UNIX },
	};
	struct context_join *join = new_join();

	(void)state;
	stay(join, 1, 5, 1, 2000, 3000, 0);
	assert_int_equal(context_join_record(join, &checkpoint, TO_UNIX), 0);
	assert_int_equal(context_join_until_ns(join), 3000);
	context_join_free(join);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_turns),	     cmocka_unit_test(own_times_narrow),
		cmocka_unit_test(forgotten_by_time), cmocka_unit_test(forgotten_by_number),
		cmocka_unit_test(another_log),	     cmocka_unit_test(checkpoints_are_ahead),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
