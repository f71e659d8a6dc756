/* SPDX-License-Identifier: BSD-2-Clause */
/* On which clock and with which ids the records of several logs meet. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/merge_plan.h"

#define HOUR 3600000000000ull
#define TODAY 1763725200000000000ull

/* A log of a machine that was booted `boot_age` before TODAY, and that began `after` TODAY. */
#define SOURCE(capture, boot, boot_age, after, ...)                              \
	{                                                                        \
		.info = { .version_major = 1,                                    \
			  .capture_id = capture,                                 \
			  .boot_id = boot,                                       \
			  .start_monotonic_ns = (boot_age) + (after),            \
			  .start_realtime_ns = TODAY + (after),                  \
			  ##__VA_ARGS__ },                                       \
		.clock_ns = TODAY - (boot_age), .begin_ns = (boot_age) + (after) \
	}
#define HOST_A(capture, after) \
	SOURCE(capture, "boot A", 10 * HOUR, after, .pid = 100, .cpu_cnt = 2, .host = "a", .command = "front")
#define HOST_B(capture, after) \
	SOURCE(capture, "boot B", 2 * HOUR, after, .pid = 100, .cpu_cnt = 4, .host = "b", .command = "back")

static struct merge_plan plan_all(const struct merge_source *sources, size_t cnt, struct id_shift *shifts)
{
	struct merge_plan plan = { .shifts = shifts };

	assert_int_equal(merge_plan_make(&plan, sources, cnt), MERGE_ACCEPTED);
	return plan;
}

static void one_log_stays_as_it_is(void **state)
{
	const struct merge_source source = HOST_A("1", 5);
	struct id_shift shift;
	struct merge_plan plan = plan_all(&source, 1, &shift);

	(void)state;
	assert_int_equal(shift.time_ns, 0);
	assert_true(shift.is_alone);
	assert_memory_equal(&plan.info, &source.info, sizeof(plan.info));
}

/* B's clock shows 8 hours less than A's at any moment. */
static void two_hosts_meet_by_the_wall_clock(void **state)
{
	const struct merge_source sources[] = { HOST_A("1", 5), HOST_B("2", 3) };
	struct id_shift shifts[2];
	struct merge_plan plan = plan_all(sources, 2, shifts);

	(void)state;
	assert_int_equal(shifts[0].time_ns, 0);
	assert_int_equal(shifts[0].pid_range, 0);
	assert_int_equal(shifts[0].cpu_range, 0);
	assert_int_equal(shifts[1].time_ns, 8 * HOUR);
	assert_int_equal(shifts[1].pid_range, 1);
	assert_int_equal(shifts[1].cpu_range, 1);
	assert_false(shifts[0].is_alone || shifts[1].is_alone);
	assert_int_equal(plan.capture_cnt, 2);
	assert_string_equal(plan.info.host, "a, b");
	assert_string_equal(plan.info.command, "front, back");
	assert_int_equal(plan.info.pid, 0);
	assert_int_equal(plan.info.cpu_cnt, 6);
	assert_memory_equal(plan.info.boot_id, "boot A", 6);
	assert_memory_not_equal(plan.info.capture_id, sources[0].info.capture_id, 16);
	/* of the one that began first, on A's clock */
	assert_int_equal(plan.info.start_monotonic_ns, 10 * HOUR + 3);
	assert_int_equal(plan.info.start_realtime_ns, TODAY + 3);
}

/* Captures of one boot share clock and CPUs, and not their pids; files of one capture share all. */
static void captures_and_files_of_one_host(void **state)
{
	const struct merge_source sources[] = { HOST_A("1", 5), HOST_B("2", 6), HOST_A("3", 7),
						HOST_A("1", 9), HOST_B("4", 1) };
	struct id_shift shifts[5];
	struct merge_plan plan = plan_all(sources, 5, shifts);
	static const uint64_t times[] = { 0, 8 * HOUR, 0, 0, 8 * HOUR };
	static const uint32_t pids[] = { 0, 1, 2, 0, 3 }, cpus[] = { 0, 1, 0, 0, 1 };

	(void)state;
	for (size_t i = 0; i < 5; i++) {
		assert_int_equal(shifts[i].time_ns, times[i]);
		assert_int_equal(shifts[i].pid_range, pids[i]);
		assert_int_equal(shifts[i].cpu_range, cpus[i]);
	}
	assert_int_equal(plan.capture_cnt, 4);
	assert_int_equal(plan.info.cpu_cnt, 6);
	assert_string_equal(plan.info.host, "a, b");
}

static void files_of_one_capture_keep_its_ids(void **state)
{
	const struct merge_source sources[] = { HOST_A("1", 9), HOST_A("1", 5) };
	struct id_shift shifts[2];
	struct merge_plan plan = plan_all(sources, 2, shifts);

	(void)state;
	assert_true(shifts[0].is_alone && shifts[1].is_alone);
	assert_memory_equal(plan.info.capture_id, sources[0].info.capture_id, 16);
	assert_int_equal(plan.info.pid, 100);
	assert_int_equal(plan.info.cpu_cnt, 2);
	assert_int_equal(plan.info.start_monotonic_ns, 10 * HOUR + 5);
}

/* Ids that are all zero are unknown, and unknown is not the same as unknown. */
static void unknown_is_nobody_s_like(void **state)
{
	const struct merge_source sources[] = { SOURCE("", "", HOUR, 0), SOURCE("", "", HOUR, 0) };
	struct id_shift shifts[2];

	(void)state;
	plan_all(sources, 2, shifts);
	assert_int_equal(shifts[1].pid_range, 1);
	assert_int_equal(shifts[1].cpu_range, 1);
	assert_int_equal(shifts[1].time_ns, 0); /* by chance: both were booted at the same time */
}

/* Of a file with a damaged header the batches tell the capture: then it is known whose boot it is. */
static void a_lost_header_is_found_by_its_capture(void **state)
{
	const struct merge_source sources[] = { HOST_A("1", 5),
						HOST_B("2", 6),
						{ .info = { .capture_id = "2" }, .begin_ns = 2 * HOUR } };
	struct id_shift shifts[3];

	(void)state;
	plan_all(sources, 3, shifts);
	assert_int_equal(shifts[2].time_ns, 8 * HOUR);
	assert_int_equal(shifts[2].pid_range, 1);
	assert_int_equal(shifts[2].cpu_range, 1);
}

static void what_can_not_be_merged(void **state)
{
	const struct merge_source unknown[] = { HOST_A("1", 5),
						{ .info = { .version_major = 1, .boot_id = "boot C" } } };
	const struct merge_source before[] = { HOST_B("1", 0),
					       SOURCE("2", "boot C", 10 * HOUR, -(3 * HOUR)) };
	const struct merge_source just_after[] = { HOST_B("1", 0), SOURCE("2", "boot C", 10 * HOUR, -HOUR) };
	/* its times are those of the wall clock, or its clock is not known */
	const struct merge_source realtime[] = {
		HOST_B("1", 0),
		{ .info = { .version_major = 1, .boot_id = "boot C", .start_monotonic_ns = TODAY },
		  .is_realtime = true,
		  .begin_ns = TODAY }
	};
	struct id_shift shifts[2];
	struct merge_plan plan = { .shifts = shifts };

	(void)state;
	assert_int_equal(merge_plan_make(&plan, unknown, 2), MERGE_CLOCK_UNKNOWN);
	assert_int_equal(merge_plan_make(&plan, realtime, 2), MERGE_ACCEPTED);
	assert_int_equal((int64_t)shifts[1].time_ns, -(int64_t)realtime[0].clock_ns);
	assert_int_equal(plan.refused, 1);
	assert_int_equal(merge_plan_make(&plan, before, 2), MERGE_BEFORE_BOOT);
	assert_int_equal(merge_plan_make(&plan, just_after, 2), MERGE_ACCEPTED);
	assert_int_equal((int64_t)shifts[1].time_ns, -(int64_t)(8 * HOUR));
}

static void summaries_add_up(void **state)
{
	const struct txtrace_summary a = { .time_ns = 9,
					   .sent_cnt = 10,
					   .received_cnt = 8,
					   .lost_cnt = 2,
					   .late_cnt = 1,
					   .lost_clocks_cnt = 3,
					   .anomaly_cnt = { 1, [8] = 4 } };
	const struct txtrace_summary b = {
		.time_ns = 7, .sent_cnt = UINT64_MAX, .received_cnt = 5, .lost_cnt = 6, .anomaly_cnt = { 2 }
	};
	struct txtrace_summary sum = { 0 };

	(void)state;
	merge_summary_add(&sum, &a);
	merge_summary_add(&sum, &b);
	assert_int_equal(sum.time_ns, 9);
	assert_int_equal(sum.sent_cnt, UINT64_MAX);
	assert_int_equal(sum.received_cnt, 13);
	assert_int_equal(sum.lost_cnt, 8);
	assert_int_equal(sum.late_cnt, 1);
	assert_int_equal(sum.lost_clocks_cnt, 3);
	assert_int_equal(sum.anomaly_cnt[0], 3);
	assert_int_equal(sum.anomaly_cnt[8], 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_log_stays_as_it_is),
		cmocka_unit_test(two_hosts_meet_by_the_wall_clock),
		cmocka_unit_test(captures_and_files_of_one_host),
		cmocka_unit_test(files_of_one_capture_keep_its_ids),
		cmocka_unit_test(unknown_is_nobody_s_like),
		cmocka_unit_test(a_lost_header_is_found_by_its_capture),
		cmocka_unit_test(what_can_not_be_merged),
		cmocka_unit_test(summaries_add_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
