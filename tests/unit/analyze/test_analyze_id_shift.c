/* SPDX-License-Identifier: BSD-2-Clause */
/* The records of two hosts side by side: nothing of one can be taken for the other's. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyze/id_shift.h"

#define PIDS 4194304u
#define CPUS 8192u

static const struct id_shift second = { .time_ns = 1000, .pid_range = 1, .cpu_range = 2 };

/* One of each kind that has a time or belongs to a thread. */
struct records {
	struct txtrace_record span, run, wake, thread, attribute, instant, counter, link, loss, open_span,
		summary;
};

static struct records move_all(void)
{
	struct records records = {
		.span = { .kind = TXTRACE_RECORD_SPAN,
			  .span = { .id = 9,
				    .parent = 8,
				    .pid = 10,
				    .tid = 11,
				    .end_tid = 12,
				    .begin_ns = 1,
				    .end_ns = 2,
				    .work_ns = 1 } },
		.run = { .kind = TXTRACE_RECORD_RUN,
			 .run = { .pid = 10,
				  .tid = 11,
				  .cpu = 3,
				  .begin_ns = 1,
				  .end_ns = 2,
				  .blocked_ns = 5 } },
		.wake = { .kind = TXTRACE_RECORD_WAKE,
			  .wake = { .time_ns = 1,
				    .pid = 10,
				    .tid = 11,
				    .waker_pid = 12,
				    .waker_tid = 13,
				    .cpu = 3 } },
		.thread = { .kind = TXTRACE_RECORD_THREAD, .thread = { .time_ns = 1, .pid = 10, .tid = 11 } },
		.attribute = { .kind = TXTRACE_RECORD_ATTRIBUTE,
			       .attribute = { .time_ns = 1, .span = 9, .pid = 10, .tid = 11, .value = 4 } },
		.instant = { .kind = TXTRACE_RECORD_INSTANT,
			     .instant = { .time_ns = 1, .span = 9, .pid = 10, .tid = 11 } },
		.counter = { .kind = TXTRACE_RECORD_COUNTER,
			     .counter = { .time_ns = 1, .pid = 10, .tid = 11, .value = 4 } },
		.link = { .kind = TXTRACE_RECORD_LINK,
			  .link = { .time_ns = 1, .from = 9, .to = 8, .pid = 10, .tid = 11 } },
		.loss = { .kind = TXTRACE_RECORD_LOSS,
			  .loss = { .first_ns = 1, .last_ns = 2, .cpu = 3, .span_event_cnt = 4 } },
		.open_span = { .kind = TXTRACE_RECORD_OPEN_SPAN,
			       .open_span = { .time_ns = 2,
					      .begin_ns = 1,
					      .id = 9,
					      .parent = 8,
					      .pid = 10,
					      .tid = 11 } },
		.summary = { .kind = TXTRACE_RECORD_SUMMARY, .summary = { .time_ns = 1, .sent_cnt = 4 } },
	};
	struct txtrace_record *all[] = { &records.span,      &records.run,     &records.wake,
					 &records.thread,    &records.attribute, &records.instant,
					 &records.counter,   &records.link,    &records.loss,
					 &records.open_span, &records.summary };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		assert_int_equal(id_shift_apply(&second, all[i]), 0);
	return records;
}

static void threads_and_times_move(void **state)
{
	const struct records moved = move_all();

	(void)state;
#define ASSERT_THREAD(kind) \
	assert_int_equal(moved.kind.kind.pid, PIDS + 10), assert_int_equal(moved.kind.kind.tid, PIDS + 11)
	ASSERT_THREAD(span);
	ASSERT_THREAD(run);
	ASSERT_THREAD(wake);
	ASSERT_THREAD(thread);
	ASSERT_THREAD(attribute);
	ASSERT_THREAD(instant);
	ASSERT_THREAD(counter);
	ASSERT_THREAD(link);
	ASSERT_THREAD(open_span);
#define ASSERT_TIME(kind) assert_int_equal(moved.kind.kind.time_ns, 1001)
	ASSERT_TIME(wake);
	ASSERT_TIME(thread);
	ASSERT_TIME(attribute);
	ASSERT_TIME(instant);
	ASSERT_TIME(counter);
	ASSERT_TIME(link);
	ASSERT_TIME(summary);
}

static void what_else_is_of_a_place_moves_and_nothing_more(void **state)
{
	const struct records moved = move_all();

	(void)state;
	assert_int_equal(moved.span.span.end_tid, PIDS + 12);
	assert_int_equal(moved.span.span.begin_ns, 1001);
	assert_int_equal(moved.span.span.end_ns, 1002);
	assert_int_equal(moved.span.span.id, 9);
	assert_int_equal(moved.span.span.parent, 8);
	assert_int_equal(moved.span.span.work_ns, 1);
	assert_int_equal(moved.run.run.begin_ns, 1001);
	assert_int_equal(moved.run.run.end_ns, 1002);
	assert_int_equal(moved.run.run.cpu, 2 * CPUS + 3);
	assert_int_equal(moved.run.run.blocked_ns, 5);
	assert_int_equal(moved.wake.wake.waker_pid, PIDS + 12);
	assert_int_equal(moved.wake.wake.waker_tid, PIDS + 13);
	assert_int_equal(moved.wake.wake.cpu, 2 * CPUS + 3);
	assert_int_equal(moved.attribute.attribute.span, 9);
	assert_int_equal(moved.attribute.attribute.value, 4);
	assert_int_equal(moved.instant.instant.span, 9);
	assert_int_equal(moved.counter.counter.value, 4);
	assert_int_equal(moved.link.link.from, 9);
	assert_int_equal(moved.link.link.to, 8);
	assert_int_equal(moved.loss.loss.first_ns, 1001);
	assert_int_equal(moved.loss.loss.last_ns, 1002);
	assert_int_equal(moved.loss.loss.cpu, 2 * CPUS + 3);
	assert_int_equal(moved.loss.loss.span_event_cnt, 4);
	assert_int_equal(moved.open_span.open_span.begin_ns, 1001);
	assert_int_equal(moved.open_span.open_span.time_ns, 1002);
	assert_int_equal(moved.summary.summary.sent_cnt, 4);
}

static void nobody_stays_nobody(void **state)
{
	struct txtrace_record span = { .kind = TXTRACE_RECORD_SPAN, .span = { .pid = 10, .tid = 11 } };
	struct txtrace_record wake = { .kind = TXTRACE_RECORD_WAKE,
				       .wake = { .pid = 10, .tid = 11, .flags = TXTRACE_WAKE_INTERRUPT } };

	(void)state;
	assert_int_equal(id_shift_apply(&second, &span), 0);
	assert_int_equal(span.span.end_tid, 0);
	assert_int_equal(id_shift_apply(&second, &wake), 0);
	assert_int_equal(wake.wake.waker_pid, 0);
	assert_int_equal(wake.wake.waker_tid, 0);
}

/* What Linux never has can only come from a merge, or a forger: it could be anybody's number. */
static void what_has_no_room_is_refused(void **state)
{
	static const struct id_shift first = { .pid_range = 0 }, alone = { .is_alone = true };
	struct txtrace_record records[] = {
		{ .kind = TXTRACE_RECORD_THREAD, .thread = { .pid = PIDS } },
		{ .kind = TXTRACE_RECORD_THREAD, .thread = { .tid = PIDS } },
		{ .kind = TXTRACE_RECORD_SPAN, .span = { .end_tid = UINT32_MAX } },
		{ .kind = TXTRACE_RECORD_WAKE, .wake = { .waker_tid = PIDS } },
		{ .kind = TXTRACE_RECORD_RUN, .run = { .cpu = CPUS } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(records) / sizeof(records[0]); i++) {
		struct txtrace_record copy = records[i];

		assert_int_equal(id_shift_apply(&alone, &copy), 0);
		assert_memory_equal(&copy, &records[i], sizeof(copy));
		assert_int_equal(id_shift_apply(&first, &copy), -ERANGE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_and_times_move),
		cmocka_unit_test(what_else_is_of_a_place_moves_and_nothing_more),
		cmocka_unit_test(nobody_stays_nobody),
		cmocka_unit_test(what_has_no_room_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
