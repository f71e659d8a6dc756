/* SPDX-License-Identifier: BSD-2-Clause */
/* Clocks that are wrong by a known time, and requests between them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "analyze/clock_bounds.h"
#include "base/seeded_random.h"

#define START 1000000

/* What a machine's log has of a request: by its own clock, which is ahead by `ahead`. */
struct end {
	unsigned int number;
	bool is_sent;
	int64_t begin, time, end; /* the true times: of the span, and when it was sent */
};

static void add_attribute(struct clock_bounds *bounds, const struct end *end, int64_t ahead)
{
	const char *name = end->is_sent ? "traceparent.sent" : "traceparent";
	char header[64];
	struct txtrace_record record = { .kind = TXTRACE_RECORD_ATTRIBUTE };

	snprintf(header, sizeof(header), "00-0af7651916cd43dd8448eb211c80319c-%016x-01", end->number + 1);
	record.attribute = (struct txtrace_attribute){
		.time_ns = (uint64_t)((end->is_sent ? end->time : end->begin + 1) + ahead),
		.span = end->number + 1,
		.pid = end->is_sent ? 1 : 2,
		.type = TXTRACE_ATTRIBUTE_STRING,
		.name = { name, strlen(name) },
		.string = { header, strlen(header) },
	};
	assert_int_equal(clock_bounds_add(bounds, &record), 0);
}

static void add_span(struct clock_bounds *bounds, const struct end *end, int64_t ahead)
{
	const struct txtrace_record record = {
		.kind = TXTRACE_RECORD_SPAN,
		.span = { .id = end->number + 1,
			  .pid = end->is_sent ? 1 : 2,
			  .begin_ns = (uint64_t)(end->begin + ahead),
			  .end_ns = (uint64_t)(end->end + ahead) },
	};

	assert_int_equal(clock_bounds_add(bounds, &record), 0);
}

static void add(struct clock_bounds *bounds, const struct end *end, int64_t ahead)
{
	add_attribute(bounds, end, ahead);
	add_span(bounds, end, ahead);
}

/*
 * The first machine's clock is right. It asks at 100, the other one works from 130 to 160, and the answer is
 * there by 200.
 */
static void one_request_bounds_both_ways(void **state)
{
	static const int64_t aheads[] = { 0, 5, -20, 1000, -1000 };
	const struct end sent = { 0, true, START + 90, START + 100, START + 200 };
	const struct end got = { 0, false, START + 130, 0, START + 160 };

	(void)state;
	for (size_t i = 0; i < sizeof(aheads) / sizeof(aheads[0]); i++) {
		struct clock_bounds *bounds = clock_bounds_new(2);
		struct clock_bound bound;
		int64_t correction, ahead = aheads[i];

		assert_non_null(bounds);
		clock_bounds_begin_log(bounds, 0, 0);
		add(bounds, &sent, 0);
		clock_bounds_begin_log(bounds, 1, 0);
		add(bounds, &got, ahead);
		assert_int_equal(clock_bounds_finish(bounds), 0);
		clock_bounds_get(bounds, 1, &bound);
		assert_true(bound.has_least && bound.has_most);
		assert_int_equal(bound.request_cnt, 1);
		assert_int_equal(bound.least_ns, -30 - ahead);
		assert_int_equal(bound.most_ns, 40 - ahead);
		correction = clock_bound_correction(&bound);
		if (ahead >= -30 && ahead <= 40)
			assert_int_equal(correction, 0);
		else
			assert_int_equal(correction, 5 - ahead);
		clock_bounds_get(bounds, 0, &bound);
		assert_int_equal(bound.least_ns, 0);
		assert_int_equal(bound.most_ns, 0);
		clock_bounds_free(bounds);
	}
}

/* What a request led to took longer than the span that sent it: nobody waited for the answer. */
static void a_request_that_nobody_waits_for_bounds_one_way(void **state)
{
	const struct end sent = { 0, true, START + 90, START + 100, START + 110 };
	const struct end got = { 0, false, START + 130, 0, START + 160 };
	struct clock_bounds *bounds = clock_bounds_new(2);
	struct clock_bound bound;

	(void)state;
	clock_bounds_begin_log(bounds, 0, 0);
	add(bounds, &sent, 0);
	clock_bounds_begin_log(bounds, 1, 0);
	add(bounds, &got, -50);
	assert_int_equal(clock_bounds_finish(bounds), 0);
	clock_bounds_get(bounds, 1, &bound);
	assert_true(bound.has_least && !bound.has_most);
	assert_int_equal(bound.least_ns, 20);
	assert_int_equal(clock_bound_correction(&bound), 20);
	clock_bounds_free(bounds);
}

/* A log of the same machine says nothing; one whose span was lost neither; a shift counts as the clock. */
static void what_says_nothing(void **state)
{
	const struct end sent = { 0, true, START + 90, START + 100, START + 200 };
	const struct end got = { 0, false, START + 130, 0, START + 160 };
	struct clock_bounds *bounds = clock_bounds_new(2);
	struct clock_bound bound;

	(void)state;
	clock_bounds_begin_log(bounds, 0, 0);
	add(bounds, &sent, 0);
	add(bounds, &got, 0);
	clock_bounds_begin_log(bounds, 1, 0);
	add_attribute(bounds, &got, 0);
	assert_int_equal(clock_bounds_finish(bounds), 0);
	clock_bounds_get(bounds, 1, &bound);
	assert_int_equal(bound.request_cnt, 0);
	assert_false(bound.has_least || bound.has_most);
	assert_int_equal(clock_bound_correction(&bound), 0);
	clock_bounds_free(bounds);

	bounds = clock_bounds_new(2);
	clock_bounds_begin_log(bounds, 0, 0);
	add(bounds, &sent, 0);
	clock_bounds_begin_log(bounds, 1, 1000);
	add(bounds, &got, -1000);
	assert_int_equal(clock_bounds_finish(bounds), 0);
	clock_bounds_get(bounds, 1, &bound);
	assert_int_equal(bound.least_ns, -30);
	assert_int_equal(bound.most_ns, 40);
	clock_bounds_free(bounds);
}

/* A clock was set forward between two requests: none can be right about both. */
static void contradictions_are_found(void **state)
{
	const struct end sent[] = { { 0, true, START, START, START + 50 },
				    { 1, true, START + 100, START + 100, START + 150 } };
	const struct end got[] = { { 0, false, START + 10, 0, START + 20 },
				   { 1, false, START + 110, 0, START + 120 } };
	struct clock_bounds *bounds = clock_bounds_new(2);

	(void)state;
	clock_bounds_begin_log(bounds, 0, 0);
	add(bounds, &sent[0], 0);
	add(bounds, &sent[1], 0);
	clock_bounds_begin_log(bounds, 1, 0);
	add(bounds, &got[0], 0);
	add(bounds, &got[1], 1000);
	assert_int_equal(clock_bounds_finish(bounds), -EDOM);
	clock_bounds_free(bounds);
}

/* Three machines in a row, clocks that are wrong by random times, requests both ways: the truth is within. */
static void the_truth_is_within_the_bounds(void **state)
{
	struct seeded_random random;

	(void)state;
	seeded_random_init(&random, 3);
	for (unsigned int round = 0; round < 200; round++) {
		const int64_t ahead[3] = { 0, (int64_t)seeded_random_below(&random, 4000) - 2000,
					   (int64_t)seeded_random_below(&random, 4000) - 2000 };
		struct clock_bounds *bounds = clock_bounds_new(3);
		struct end ends[2][40];
		unsigned int from[40], to[40];

		for (unsigned int i = 0; i < 40; i++) {
			int64_t begin = START + 1000 * i, sent = begin + seeded_random_below(&random, 100),
				got = sent + seeded_random_below(&random, 300),
				done = got + seeded_random_below(&random, 300),
				end = done + seeded_random_below(&random, 300);
			unsigned int pair = seeded_random_below(&random, 2); /* 0 and 1, or 1 and 2 */
			bool is_back = seeded_random_below(&random, 2);

			from[i] = pair + is_back;
			to[i] = pair + !is_back;
			ends[0][i] = (struct end){ i, true, begin, sent, end };
			ends[1][i] = (struct end){ i, false, got, 0, done };
		}
		for (unsigned int machine = 0; machine < 3; machine++) {
			clock_bounds_begin_log(bounds, machine, 0);
			for (unsigned int i = 0; i < 40; i++) {
				if (from[i] == machine)
					add(bounds, &ends[0][i], ahead[machine]);
				if (to[i] == machine)
					add(bounds, &ends[1][i], ahead[machine]);
			}
		}
		assert_int_equal(clock_bounds_finish(bounds), 0);
		for (size_t machine = 1; machine < 3; machine++) {
			struct clock_bound bound;
			int64_t left;

			clock_bounds_get(bounds, machine, &bound);
			assert_true(bound.has_least && bound.has_most);
			assert_true(bound.least_ns <= -ahead[machine] && -ahead[machine] <= bound.most_ns);
			left = ahead[machine] + clock_bound_correction(&bound);
			assert_true(left >= -(bound.most_ns - bound.least_ns) &&
				    left <= bound.most_ns - bound.least_ns);
		}
		clock_bounds_free(bounds);
	}
}

/* Times of a forged log neither overflow nor bound anything. */
static void forged_times_do_not_matter(void **state)
{
	const struct end sent = { 0, true, 0, INT64_MIN, INT64_MIN + 10 };
	const struct end got = { 0, false, INT64_MAX - 10, 0, INT64_MAX };
	struct clock_bounds *bounds = clock_bounds_new(2);
	struct clock_bound bound;

	(void)state;
	clock_bounds_begin_log(bounds, 0, 0);
	add(bounds, &sent, 0);
	clock_bounds_begin_log(bounds, 1, 0);
	add(bounds, &got, 0);
	assert_int_equal(clock_bounds_finish(bounds), 0);
	clock_bounds_get(bounds, 1, &bound);
	assert_true(!bound.has_most || bound.most_ns > 0);
	clock_bounds_free(bounds);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_request_bounds_both_ways),
		cmocka_unit_test(a_request_that_nobody_waits_for_bounds_one_way),
		cmocka_unit_test(what_says_nothing),
		cmocka_unit_test(contradictions_are_found),
		cmocka_unit_test(the_truth_is_within_the_bounds),
		cmocka_unit_test(forged_times_do_not_matter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
