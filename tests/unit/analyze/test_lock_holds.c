/* SPDX-License-Identifier: BSD-2-Clause */
/* Two or three threads by hand: how long a lock's holder was on a CPU while another waited for it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "analyze/compare/lock_holds.h"

#define PID 10
#define WAITER 1
#define HOLDER 2

static struct txtrace_string string(const char *text)
{
	return (struct txtrace_string){ text, strlen(text) };
}

static struct lock_holds *new_holds(void)
{
	struct lock_holds *holds = lock_holds_new(1 << 20);

	assert_non_null(holds);
	return holds;
}

static void add(struct lock_holds *holds, struct txtrace_record record)
{
	assert_int_equal(lock_holds_add(holds, &record), 0);
}

/* A stay on a CPU; afterwards the thread waits for a lock, or is preempted. */
static void stay(struct lock_holds *holds, uint32_t tid, uint64_t begin_ns, uint64_t end_ns,
		 enum txtrace_left_as left_as)
{
	add(holds, (struct txtrace_record){
			   .kind = TXTRACE_RECORD_RUN,
			   .run = { .tid = tid,
				    .pid = PID,
				    .begin_ns = begin_ns,
				    .end_ns = end_ns,
				    .left_as = left_as,
				    .reason = TXTRACE_BLOCK_LOCK },
		   });
}

static void wake_with(struct lock_holds *holds, uint64_t time_ns, uint64_t span, uint64_t holder_span,
		      uint32_t flags)
{
	add(holds, (struct txtrace_record){
			   .kind = TXTRACE_RECORD_WAKE,
			   .wake = { .time_ns = time_ns,
				     .tid = WAITER,
				     .pid = PID,
				     .waker_tid = HOLDER,
				     .waker_pid = PID,
				     .waker_comm = string("helper"),
				     .span = span,
				     .waker_span = holder_span,
				     .flags = flags },
		   });
}

static void wake(struct lock_holds *holds, uint64_t time_ns, uint64_t span, uint64_t holder_span)
{
	wake_with(holds, time_ns, span, holder_span, 0);
}

static void end(struct lock_holds *holds, uint64_t id, const char *label)
{
	add(holds, (struct txtrace_record){ .kind = TXTRACE_RECORD_SPAN,
					    .span = { .id = id, .pid = PID, .label = string(label) } });
}

static void expect_one(struct lock_holds *holds, const char *waiter, enum party_kind kind, const char *holder,
		       uint64_t cnt, uint64_t on_cpu_ns)
{
	struct lock_hold hold;
	size_t position = 0;

	assert_int_equal(lock_holds_finish(holds), 0);
	assert_true(lock_holds_next(holds, &position, &hold));
	assert_int_equal(hold.waiter.kind, PARTY_SPAN);
	assert_int_equal(hold.waiter.name.length, strlen(waiter));
	assert_memory_equal(hold.waiter.name.bytes, waiter, strlen(waiter));
	assert_int_equal(hold.holder.kind, kind);
	assert_int_equal(hold.holder.name.length, strlen(holder));
	assert_memory_equal(hold.holder.name.bytes, holder, strlen(holder));
	assert_int_equal(hold.cnt, cnt);
	assert_int_equal(hold.on_cpu_ns, on_cpu_ns);
	assert_false(lock_holds_next(holds, &position, &hold));
	lock_holds_free(holds);
}

static void expect_none(struct lock_holds *holds, uint64_t left_out_cnt)
{
	struct lock_hold hold;
	size_t position = 0;

	assert_int_equal(lock_holds_finish(holds), 0);
	assert_false(lock_holds_next(holds, &position, &hold));
	assert_int_equal(lock_holds_left_out(holds), left_out_cnt);
	lock_holds_free(holds);
}

/* It waits from 100 to 160. The holder has the CPU until 130, and again from 150, and lets go at 160. */
static void what_the_holder_ran_counts_and_what_it_waited_does_not(void **state)
{
	struct lock_holds *holds = new_holds();

	(void)state;
	stay(holds, WAITER, 90, 100, TXTRACE_LEFT_BLOCKED);
	stay(holds, HOLDER, 50, 130, TXTRACE_LEFT_PREEMPTED);
	wake(holds, 160, 7, 8);
	stay(holds, WAITER, 165, 170, TXTRACE_LEFT_PREEMPTED);
	end(holds, 7, "waiter"); /* before it is known what the holder did */
	stay(holds, HOLDER, 150, 190, TXTRACE_LEFT_PREEMPTED);
	end(holds, 8, "holder");
	expect_one(holds, "waiter", PARTY_SPAN, "holder", 1, 30 + 10);
}

static void waits_of_the_same_labels_are_added_up(void **state)
{
	struct lock_holds *holds = new_holds();

	(void)state;
	for (uint64_t i = 0; i < 1000; i++) {
		uint64_t at = 1000 * i;

		stay(holds, WAITER, at + 90, at + 100, TXTRACE_LEFT_BLOCKED);
		wake(holds, at + 300, 2 * i + 1, 2 * i + 2);
		stay(holds, HOLDER, at + 200, at + 400, TXTRACE_LEFT_BLOCKED);
		end(holds, 2 * i + 2, "holder");
		end(holds, 2 * i + 1, "waiter");
	}
	expect_one(holds, "waiter", PARTY_SPAN, "holder", 1000, 1000 * 100);
}

static void a_holder_in_no_span_goes_by_its_name(void **state)
{
	struct lock_holds *holds = new_holds();

	(void)state;
	stay(holds, WAITER, 90, 100, TXTRACE_LEFT_BLOCKED);
	wake(holds, 160, 7, 0);
	stay(holds, HOLDER, 150, 190, TXTRACE_LEFT_PREEMPTED);
	end(holds, 7, "waiter");
	expect_one(holds, "waiter", PARTY_THREAD, "helper", 1, 10);
}

static void who_is_no_thread_and_who_is_in_no_span_holds_up_nobody(void **state)
{
	struct lock_holds *holds = new_holds();

	(void)state;
	stay(holds, WAITER, 90, 100, TXTRACE_LEFT_BLOCKED);
	wake_with(holds, 110, 7, 0, TXTRACE_WAKE_INTERRUPT | TXTRACE_WAKE_TIMER);
	stay(holds, WAITER, 190, 200, TXTRACE_LEFT_BLOCKED);
	wake_with(holds, 210, 7, 8, TXTRACE_WAKE_WAKER_UNKNOWN);
	stay(holds, WAITER, 290, 300, TXTRACE_LEFT_BLOCKED);
	wake(holds, 310, 0, 8);
	stay(holds, WAITER, 390, 400, TXTRACE_LEFT_PREEMPTED); /* it does not wait */
	wake(holds, 410, 7, 8);
	stay(holds, HOLDER, 50, 500, TXTRACE_LEFT_BLOCKED);
	end(holds, 7, "waiter");
	end(holds, 8, "holder");
	expect_none(holds, 0);
}

/*
 * Stays of 2 within a wait that began at 100, each 10 after the other, and one more: 5 of it, then the wait
 * is over.
 */
static void add_stays(struct lock_holds *holds, uint64_t cnt)
{
	stay(holds, WAITER, 90, 100, TXTRACE_LEFT_BLOCKED);
	for (uint64_t i = 0; i < cnt; i++)
		stay(holds, HOLDER, 110 + 10 * i, 112 + 10 * i, TXTRACE_LEFT_PREEMPTED);
	wake(holds, 115 + 10 * cnt, 7, 8);
	stay(holds, HOLDER, 110 + 10 * cnt, 119 + 10 * cnt, TXTRACE_LEFT_PREEMPTED);
	end(holds, 7, "waiter");
	end(holds, 8, "holder");
}

static void a_holder_with_many_stays_is_known_as_long_as_they_are(void **state)
{
	struct lock_holds *holds = new_holds();

	(void)state;
	add_stays(holds, LOCK_HOLDS_STAYS);
	expect_one(holds, "waiter", PARTY_SPAN, "holder", 1, 2 * LOCK_HOLDS_STAYS + 5);
	holds = new_holds();
	add_stays(holds, LOCK_HOLDS_STAYS + 1);
	expect_none(holds, 1);
}

static void what_the_log_does_not_tell_of_the_holder_is_not_told(void **state)
{
	struct lock_holds *holds = new_holds();

	(void)state;
	stay(holds, WAITER, 90, 100, TXTRACE_LEFT_BLOCKED);
	wake(holds, 160, 7, 8);
	stay(holds, HOLDER, 170, 190, TXTRACE_LEFT_PREEMPTED); /* not the stay in which it let go */
	end(holds, 7, "waiter");
	end(holds, 8, "holder");
	expect_none(holds, 0);
}

static void stays_that_overlap_are_no_more_than_the_wait(void **state)
{
	struct lock_holds *holds = new_holds();

	(void)state;
	stay(holds, WAITER, 90, 100, TXTRACE_LEFT_BLOCKED);
	stay(holds, HOLDER, 0, UINT64_MAX, TXTRACE_LEFT_PREEMPTED);
	stay(holds, HOLDER, 200, 10, TXTRACE_LEFT_PREEMPTED); /* ends before it begins */
	wake(holds, 160, 7, 8);
	stay(holds, HOLDER, 0, 190, TXTRACE_LEFT_PREEMPTED);
	end(holds, 7, "waiter");
	end(holds, 8, "holder");
	expect_one(holds, "waiter", PARTY_SPAN, "holder", 1, 60);
}

static void a_thread_that_has_died_is_another_one_if_it_comes_again(void **state)
{
	struct lock_holds *holds = new_holds();

	(void)state;
	stay(holds, HOLDER, 100, 150, TXTRACE_LEFT_DEAD);
	stay(holds, WAITER, 90, 100, TXTRACE_LEFT_BLOCKED);
	wake(holds, 160, 7, 8);
	stay(holds, HOLDER, 155, 190, TXTRACE_LEFT_DEAD);
	end(holds, 7, "waiter");
	end(holds, 8, "holder");
	expect_one(holds, "waiter", PARTY_SPAN, "holder", 1, 5);
}

static void another_capture_has_other_threads_and_spans(void **state)
{
	struct lock_holds *holds = new_holds();

	(void)state;
	stay(holds, WAITER, 90, 100, TXTRACE_LEFT_BLOCKED);
	assert_int_equal(lock_holds_begin_capture(holds), 0);
	wake(holds, 160, 7, 8); /* whom that woke did not wait in this one */
	stay(holds, HOLDER, 150, 190, TXTRACE_LEFT_PREEMPTED);
	stay(holds, WAITER, 290, 300, TXTRACE_LEFT_BLOCKED);
	wake(holds, 320, 7, 8);
	assert_int_equal(lock_holds_begin_capture(holds), 0); /* before it is known what the holder did */
	stay(holds, HOLDER, 310, 390, TXTRACE_LEFT_PREEMPTED);
	end(holds, 7, "waiter");
	end(holds, 8, "holder");
	expect_none(holds, 0);
}

static void what_finds_no_room_is_counted(void **state)
{
	struct lock_holds *holds = lock_holds_new(128 << 10);
	struct lock_hold hold;
	uint64_t told_cnt = 0;
	size_t position = 0;

	(void)state;
	for (uint32_t i = 0; i < 1000; i++) {
		stay(holds, WAITER, 1000 * i + 90, 1000 * i + 100, TXTRACE_LEFT_BLOCKED);
		wake(holds, 1000 * i + 160, 2 * i + 1, 2 * i + 2);
		stay(holds, HOLDER, 1000 * i + 150, 1000 * i + 190, TXTRACE_LEFT_PREEMPTED);
	}
	assert_int_equal(lock_holds_finish(holds), 0);
	while (lock_holds_next(holds, &position, &hold))
		told_cnt += hold.cnt;
	assert_true(told_cnt > 0 && lock_holds_left_out(holds) > 0);
	assert_int_equal(told_cnt + lock_holds_left_out(holds), 1000);
	lock_holds_free(holds);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_holder_ran_counts_and_what_it_waited_does_not),
		cmocka_unit_test(waits_of_the_same_labels_are_added_up),
		cmocka_unit_test(a_holder_in_no_span_goes_by_its_name),
		cmocka_unit_test(who_is_no_thread_and_who_is_in_no_span_holds_up_nobody),
		cmocka_unit_test(a_holder_with_many_stays_is_known_as_long_as_they_are),
		cmocka_unit_test(what_the_log_does_not_tell_of_the_holder_is_not_told),
		cmocka_unit_test(stays_that_overlap_are_no_more_than_the_wait),
		cmocka_unit_test(a_thread_that_has_died_is_another_one_if_it_comes_again),
		cmocka_unit_test(another_capture_has_other_threads_and_spans),
		cmocka_unit_test(what_finds_no_room_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
