/* SPDX-License-Identifier: BSD-2-Clause */
/* For how long threads are running, runnable and blocked, from records made by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyze/thread/concurrency.h"

struct sums {
	uint64_t ns[THREAD_STATE_COUNT];
};

static void take(void *context, enum thread_state state, uint64_t begin_ns, uint64_t end_ns)
{
	struct sums *sums = context;

	assert_true(begin_ns < end_ns);
	sums->ns[state] += end_ns - begin_ns;
}

static struct txtrace_record run_record(uint32_t tid, uint64_t begin_ns, uint64_t end_ns, uint8_t left_as)
{
	return (struct txtrace_record){
		.kind = TXTRACE_RECORD_RUN,
		.run = { .pid = 1, .tid = tid, .begin_ns = begin_ns, .end_ns = end_ns, .left_as = left_as }
	};
}

static void add(struct thread_states *states, struct txtrace_record record)
{
	assert_int_equal(thread_states_add(states, &record), 0);
}

static void expect(const struct sums *sums, uint64_t running_ns, uint64_t runnable_ns, uint64_t blocked_ns)
{
	assert_int_equal(sums->ns[THREAD_RUNNING], running_ns);
	assert_int_equal(sums->ns[THREAD_RUNNABLE], runnable_ns);
	assert_int_equal(sums->ns[THREAD_BLOCKED], blocked_ns);
}

static void a_run_tells_of_itself_and_what_was_before(void **state)
{
	struct sums sums = { { 0 } };
	struct thread_states *states = thread_states_new(take, &sums);
	struct txtrace_record record = run_record(1, 1000, 1400, TXTRACE_LEFT_DEAD);

	(void)state;
	record.run.runnable_ns = 100;
	record.run.blocked_ns = 300;
	add(states, record);
	thread_states_finish(states);
	expect(&sums, 400, 100, 300);
	thread_states_free(states);
}

static void what_has_not_ended_goes_on_until_the_end(void **state)
{
	struct sums sums = { { 0 } };
	struct thread_states *states = thread_states_new(take, &sums);

	(void)state;
	add(states, run_record(1, 0, 100, TXTRACE_LEFT_BLOCKED));   /* and is never woken */
	add(states, run_record(2, 0, 100, TXTRACE_LEFT_BLOCKED));   /* is woken, and gets no CPU */
	add(states, run_record(3, 0, 100, TXTRACE_LEFT_PREEMPTED));
	add(states, run_record(4, 0, 100, TXTRACE_LEFT_DEAD));
	add(states, run_record(5, 0, 100, TXTRACE_LEFT_BLOCKED));   /* is killed */
	add(states, (struct txtrace_record){ .kind = TXTRACE_RECORD_WAKE,
					     .wake = { .pid = 1, .tid = 2, .time_ns = 600 } });
	add(states,
	    (struct txtrace_record){ .kind = TXTRACE_RECORD_THREAD,
				     .thread = { .pid = 1, .tid = 5, .time_ns = 700, .is_exit = true } });
	add(states,
	    (struct txtrace_record){ .kind = TXTRACE_RECORD_SUMMARY, .summary = { .time_ns = 1100 } });
	thread_states_finish(states);
	expect(&sums, 500, 500 + 1000, 1000 + 500);
	thread_states_finish(states); /* what has ended is not told again */
	expect(&sums, 500, 500 + 1000, 1000 + 500);
	thread_states_free(states);
}

static void nonsense_tells_nothing(void **state)
{
	struct sums sums = { { 0 } };
	struct thread_states *states = thread_states_new(take, &sums);
	struct txtrace_record record = run_record(1, 1000, 10, TXTRACE_LEFT_DEAD);

	(void)state;
	record.run.runnable_ns = UINT64_MAX;
	record.run.blocked_ns = UINT64_MAX;
	add(states, record);
	record.run.runnable_ns = 10;
	add(states, record);
	thread_states_finish(states);
	expect(&sums, 0, 10, 0);
	thread_states_free(states);
}

/* Two threads: means over two halves of the time. */
static void means_are_over_parts_of_the_time(void **state)
{
	struct concurrency *concurrency = concurrency_new(0, 1000, 2);
	const struct txtrace_record first = run_record(1, 0, 1000, TXTRACE_LEFT_DEAD);
	struct txtrace_record second = run_record(2, 750, 1000, TXTRACE_LEFT_DEAD);

	(void)state;
	second.run.runnable_ns = 250;
	second.run.blocked_ns = 500;
	assert_int_equal(concurrency_add_threads(concurrency, &first), 0);
	assert_int_equal(concurrency_add_threads(concurrency, &second), 0);
	concurrency_finish(concurrency);
	assert_int_equal(concurrency_series_count(concurrency), THREAD_STATE_COUNT);
	for (size_t i = 0; i < THREAD_STATE_COUNT; i++)
		assert_int_equal(concurrency_series(concurrency, i)->state, i);
	assert_true(concurrency_series(concurrency, THREAD_RUNNING)->means[0] == 1 &&
		    concurrency_series(concurrency, THREAD_RUNNING)->means[1] == 1.5);
	assert_true(concurrency_series(concurrency, THREAD_RUNNABLE)->means[0] == 0 &&
		    concurrency_series(concurrency, THREAD_RUNNABLE)->means[1] == 0.5);
	assert_true(concurrency_series(concurrency, THREAD_BLOCKED)->means[0] == 1 &&
		    concurrency_series(concurrency, THREAD_BLOCKED)->means[1] == 0);
	concurrency_free(concurrency);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_run_tells_of_itself_and_what_was_before),
		cmocka_unit_test(what_has_not_ended_goes_on_until_the_end),
		cmocka_unit_test(nonsense_tells_nothing),
		cmocka_unit_test(means_are_over_parts_of_the_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
