/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The merge: lanes that are nearly in order, out as one stream in order, never before its time and never
 * short of a record.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "merge/merge.h"

struct record {
	uint64_t time_ns;
	uint32_t lane;
	uint32_t number; /* in its lane, in the order of pushing */
	char rest[];
};

/* What came out, as "time/lane number ...". */
struct taken {
	struct record records[20000];
	size_t cnt;
	size_t stop_after; /* 0: never */
};

static struct taken taken;

/* Each record carries its own length in what follows it, so that mixed-up bytes are seen. */
static size_t record_size(uint64_t number)
{
	return sizeof(struct record) + number % 23;
}

static int take(void *context, const void *bytes, size_t size)
{
	struct taken *to = context;
	const struct record *record = bytes;

	assert_int_equal((uintptr_t)bytes % 8, 0);
	assert_int_equal(size, record_size(record->number));
	for (size_t i = sizeof(*record); i < size; i++)
		assert_int_equal(((const char *)bytes)[i], (char)record->number);
	assert_true(to->cnt < sizeof(to->records) / sizeof(to->records[0]));
	to->records[to->cnt++] = (struct record){ record->time_ns, record->lane, record->number };
	return to->stop_after && to->cnt == to->stop_after ? 77 : 0;
}

static void push(struct merge *merge, uint32_t lane, uint64_t time_ns, uint32_t number)
{
	union {
		struct record record;
		char bytes[64];
	} buffer;

	memset(buffer.bytes, (char)number, sizeof(buffer.bytes));
	buffer.record.time_ns = time_ns;
	buffer.record.lane = lane;
	buffer.record.number = number;
	assert_int_equal(merge_push(merge, lane, time_ns, &buffer, record_size(number)), 0);
}

static struct merge *new_merge(size_t lane_cnt)
{
	struct merge *merge = merge_new(lane_cnt);

	assert_non_null(merge);
	taken.cnt = taken.stop_after = 0;
	return merge;
}

static void set_all_watermarks(struct merge *merge, size_t lane_cnt, uint64_t time_ns)
{
	for (size_t lane = 0; lane < lane_cnt; lane++)
		merge_set_watermark(merge, lane, time_ns);
}

static void assert_taken(const uint64_t *times, size_t cnt)
{
	assert_int_equal(taken.cnt, cnt);
	for (size_t i = 0; i < cnt; i++)
		assert_int_equal(taken.records[i].time_ns, times[i]);
}

#define ASSERT_TAKEN(...)                               \
	assert_taken((const uint64_t[]){ __VA_ARGS__ }, \
		     sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

static void nothing_comes_before_its_time(void **state)
{
	struct merge *merge = new_merge(2);
	struct merge_stats stats;

	(void)state;
	push(merge, 0, 10, 0);
	push(merge, 0, 30, 1);
	push(merge, 1, 20, 0);
	assert_int_equal(merge_run(merge, take, &taken), 0);
	assert_int_equal(taken.cnt, 0); /* nobody has said how far it is */
	merge_set_watermark(merge, 0, 40);
	assert_int_equal(merge_run(merge, take, &taken), 0);
	assert_int_equal(taken.cnt, 0); /* the other lane has not */
	merge_set_watermark(merge, 1, 20);
	assert_int_equal(merge_run(merge, take, &taken), 0);
	ASSERT_TAKEN(10, 20); /* at the watermark is in time */
	merge_stats(merge, &stats);
	assert_int_equal(stats.waiting_cnt, 1);
	assert_int_equal(stats.pushed_cnt, 3);
	assert_int_equal(stats.late_cnt, 0);
	assert_int_equal(stats.given_ns, 20);
	merge_set_watermark(merge, 1, 19); /* does not go back */
	merge_set_watermark(merge, 1, 30);
	assert_int_equal(merge_run(merge, take, &taken), 0);
	ASSERT_TAKEN(10, 20, 30);
	merge_stats(merge, &stats);
	assert_int_equal(stats.waiting_cnt, 0);
	assert_int_equal(stats.waiting_bytes, 0);
	merge_free(merge);
}

static void equal_times_keep_the_order_of_lanes_and_of_pushing(void **state)
{
	struct merge *merge = new_merge(3);

	(void)state;
	push(merge, 2, 5, 0);
	push(merge, 1, 5, 0);
	push(merge, 1, 7, 1);
	push(merge, 0, 7, 0);
	push(merge, 2, 5, 1);
	push(merge, 1, 5, 2);
	push(merge, 0, 5, 1);
	set_all_watermarks(merge, 3, 10);
	assert_int_equal(merge_run(merge, take, &taken), 0);
	ASSERT_TAKEN(5, 5, 5, 5, 5, 7, 7);
	for (size_t i = 0; i < taken.cnt; i++) {
		static const uint32_t lanes[] = { 0, 1, 1, 2, 2, 0, 1 }, numbers[] = { 1, 0, 2, 0, 1, 0, 1 };

		assert_int_equal(taken.records[i].lane, lanes[i]);
		assert_int_equal(taken.records[i].number, numbers[i]);
	}
	merge_free(merge);
}

static void the_late_are_counted_and_come_at_once(void **state)
{
	struct merge *merge = new_merge(2);
	struct merge_stats stats;

	(void)state;
	push(merge, 0, 10, 0);
	push(merge, 0, 20, 1);
	set_all_watermarks(merge, 2, 20);
	assert_int_equal(merge_run(merge, take, &taken), 0);
	push(merge, 1, 15, 0);  /* late: 20 has been given out */
	push(merge, 1, 20, 1);  /* just in time */
	push(merge, 0, 25, 2);
	push(merge, 0, 5, 3);   /* late */
	assert_int_equal(merge_run(merge, take, &taken), 0);
	ASSERT_TAKEN(10, 20, 5, 15, 20);
	merge_stats(merge, &stats);
	assert_int_equal(stats.late_cnt, 2);
	assert_int_equal(stats.given_ns, 20);
	assert_int_equal(stats.waiting_cnt, 1);
	merge_free(merge);
}

static void who_takes_may_stop_and_nothing_is_lost(void **state)
{
	struct merge *merge = new_merge(1);

	(void)state;
	for (uint32_t i = 0; i < 5; i++)
		push(merge, 0, 10 + i, i);
	set_all_watermarks(merge, 1, 100);
	taken.stop_after = 2;
	assert_int_equal(merge_run(merge, take, &taken), 77);
	ASSERT_TAKEN(10, 11);
	taken.stop_after = 0;
	assert_int_equal(merge_run(merge, take, &taken), 0);
	ASSERT_TAKEN(10, 11, 12, 13, 14);
	merge_free(merge);
}

static void the_last_time_there_is_comes_out_too(void **state)
{
	struct merge *merge = new_merge(2);

	(void)state;
	push(merge, 1, UINT64_MAX, 0);
	push(merge, 0, UINT64_MAX, 0);
	push(merge, 0, UINT64_MAX - 1, 1);
	push(merge, 0, 0, 2);
	set_all_watermarks(merge, 2, UINT64_MAX);
	assert_int_equal(merge_run(merge, take, &taken), 0);
	ASSERT_TAKEN(0, UINT64_MAX - 1, UINT64_MAX, UINT64_MAX);
	assert_int_equal(taken.records[2].lane, 0);
	merge_free(merge);
}

static void an_empty_merge_gives_nothing(void **state)
{
	struct merge *merge = new_merge(0);

	(void)state;
	assert_int_equal(merge_run(merge, take, &taken), 0);
	assert_int_equal(taken.cnt, 0);
	merge_free(merge);
	merge_free(NULL);
}

/* What was left has its turn with the next run, and says so. */
static void a_run_of_some_leaves_the_others(void **state)
{
	struct merge *merge = new_merge(2);

	(void)state;
	for (uint32_t i = 0; i < 4; i++)
		push(merge, i % 2, 10 * (i + 1), i / 2);
	set_all_watermarks(merge, 2, 30);
	assert_true(merge_has_more(merge));
	assert_int_equal(merge_run_some(merge, 2, take, &taken), 0);
	ASSERT_TAKEN(10, 20);
	assert_true(merge_has_more(merge));
	assert_int_equal(merge_run_some(merge, 2, take, &taken), 0);
	ASSERT_TAKEN(10, 20, 30);
	assert_false(merge_has_more(merge)); /* 40 is behind the watermark */
	set_all_watermarks(merge, 2, 40);
	assert_true(merge_has_more(merge));
	assert_int_equal(merge_run_some(merge, 0, take, &taken), 0);
	ASSERT_TAKEN(10, 20, 30);
	assert_int_equal(merge_run(merge, take, &taken), 0);
	ASSERT_TAKEN(10, 20, 30, 40);
	merge_free(merge);
}

/* ---- against qsort ---- */

#define LANES 5

static uint64_t next_random(uint64_t *random)
{
	*random = *random * 6364136223846793005u + 1442695040888963407u;
	return *random >> 33;
}

/* All that can be given out; with an odd seed only some of it, as many as it may be. */
static void run_now(struct merge *merge, uint64_t seed, uint64_t *random)
{
	size_t before = taken.cnt, max = next_random(random) % 40;

	if (seed % 2 == 0) {
		assert_int_equal(merge_run(merge, take, &taken), 0);
		assert_false(merge_has_more(merge));
		return;
	}
	assert_int_equal(merge_run_some(merge, max, take, &taken), 0);
	assert_in_range(taken.cnt - before, 0, max);
	if (taken.cnt - before < max)
		assert_false(merge_has_more(merge));
}

/* The order that is promised: time, lane, order of pushing. */
static int compare(const void *a, const void *b)
{
	const struct record *left = a, *right = b;

	if (left->time_ns != right->time_ns)
		return left->time_ns < right->time_ns ? -1 : 1;
	if (left->lane != right->lane)
		return left->lane < right->lane ? -1 : 1;
	return left->number < right->number ? -1 : left->number > right->number;
}

static void random_lanes_come_out_sorted(void **state)
{
	static struct record all[20000];

	(void)state;
	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct merge *merge = new_merge(LANES);
		uint64_t random = seed, now_ns = 1000, watermarks_ns[LANES] = { 0 };
		uint32_t numbers[LANES] = { 0 };
		struct merge_stats stats;
		size_t cnt = 0;

		for (int step = 0; step < 1000; step++) {
			uint32_t lane = next_random(&random) % LANES;
			/* no more than 50 ns out of order, and never behind what the lane has vouched for */
			uint64_t time_ns = now_ns + next_random(&random) % 50;

			now_ns += next_random(&random) % 20;
			if (time_ns <= watermarks_ns[lane])
				time_ns = watermarks_ns[lane] + 1;
			all[cnt++] = (struct record){ time_ns, lane, numbers[lane] };
			push(merge, lane, time_ns, numbers[lane]++);
			if (next_random(&random) % 8 == 0) {
				watermarks_ns[lane] = now_ns - 1;
				merge_set_watermark(merge, lane, now_ns - 1);
			}
			if (next_random(&random) % 30 == 0)
				run_now(merge, seed, &random);
		}
		set_all_watermarks(merge, LANES, UINT64_MAX);
		assert_int_equal(merge_run(merge, take, &taken), 0);
		merge_stats(merge, &stats);
		assert_int_equal(stats.late_cnt, 0);
		assert_int_equal(stats.waiting_cnt, 0);
		assert_int_equal(taken.cnt, cnt);
		qsort(all, cnt, sizeof(all[0]), compare);
		assert_memory_equal(taken.records, all, cnt * sizeof(all[0]));
		merge_free(merge);
	}
}

static uint32_t looked_at; /* the number of the record, and one more */

static void look(void *context, const void *bytes, size_t size)
{
	const struct record *record = bytes;

	assert_ptr_equal(context, &taken);
	assert_int_equal(size, record_size(record->number));
	looked_at = record->number + 1;
}

static int take_and_compare(void *context, const void *bytes, size_t size)
{
	uint32_t number = ((const struct record *)bytes)->number;

	assert_int_equal(looked_at, number + 4 <= 20 ? number + 4 : 20);
	return take(context, bytes, size);
}

/* Before a record is taken, the third one behind it is looked at, if there is one. */
static void who_takes_may_look_ahead(void **state)
{
	struct merge *merge = new_merge(1);

	(void)state;
	for (uint32_t i = 0; i < 20; i++)
		push(merge, 0, 1000 + i, i);
	set_all_watermarks(merge, 1, UINT64_MAX);
	merge_look_ahead(merge, look, 3);
	assert_int_equal(merge_run_some(merge, 10, take_and_compare, &taken), 0);
	assert_int_equal(looked_at, 13);
	merge_look_ahead(merge, NULL, 0);
	assert_int_equal(merge_run(merge, take, &taken), 0);
	assert_int_equal(looked_at, 13);
	assert_int_equal(taken.cnt, 20);
	merge_free(merge);
}

/* One lane in which threads follow one another, each in order: far out of order, and often at equal times. */
static void threads_of_a_lane_come_out_sorted(void **state)
{
	static struct record all[20000];

	(void)state;
	for (uint64_t seed = 1; seed <= 30; seed++) {
		struct merge *merge = new_merge(2);
		uint64_t random = seed, begin_ns = 1000;
		uint32_t numbers[2] = { 0 };
		size_t cnt = 0;

		for (int turn = 0; turn < 5; turn++, begin_ns += 3000) {
			for (uint64_t thread = next_random(&random) % 20; thread > 0; thread--) {
				uint64_t time_ns = begin_ns;

				for (int i = 0; i < 100; i++) {
					uint32_t lane = next_random(&random) % 50 == 0;

					time_ns += next_random(&random) % 20;
					all[cnt++] = (struct record){ time_ns, lane, numbers[lane] };
					push(merge, lane, time_ns, numbers[lane]++);
				}
			}
			/* some of them are left for the next turn */
			set_all_watermarks(merge, 2, begin_ns);
			run_now(merge, seed, &random);
		}
		set_all_watermarks(merge, 2, UINT64_MAX);
		assert_int_equal(merge_run(merge, take, &taken), 0);
		assert_int_equal(taken.cnt, cnt);
		qsort(all, cnt, sizeof(all[0]), compare);
		assert_memory_equal(taken.records, all, cnt * sizeof(all[0]));
		merge_free(merge);
	}
}

/*
 * With times that are anything at all, and watermarks that are not kept: nothing is dropped, nothing comes
 * twice, and the late are counted.
 */
static void whatever_is_pushed_comes_out_once(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct merge *merge = new_merge(LANES);
		uint64_t random = seed, given_ns = 0, late_cnt = 0;
		uint32_t numbers[LANES] = { 0 };
		struct merge_stats stats;
		bool was_taken[LANES][600] = { { false } };

		for (int step = 0; step < 500; step++) {
			uint32_t lane = next_random(&random) % LANES;
			uint64_t time_ns = next_random(&random) % 1000;

			late_cnt += time_ns < given_ns;
			push(merge, lane, time_ns, numbers[lane]++);
			if (next_random(&random) % 20 == 0) {
				set_all_watermarks(merge, LANES, next_random(&random) % 1000);
				run_now(merge, seed, &random);
				for (size_t i = 0; i < taken.cnt; i++)
					given_ns = taken.records[i].time_ns > given_ns
							   ? taken.records[i].time_ns
							   : given_ns;
			}
		}
		set_all_watermarks(merge, LANES, UINT64_MAX);
		assert_int_equal(merge_run(merge, take, &taken), 0);
		merge_stats(merge, &stats);
		assert_int_equal(taken.cnt, 500);
		assert_int_equal(stats.pushed_cnt, 500);
		assert_int_equal(stats.late_cnt, late_cnt);
		for (size_t i = 0; i < taken.cnt; i++) {
			bool *was = &was_taken[taken.records[i].lane][taken.records[i].number];

			assert_false(*was);
			*was = true;
		}
		merge_free(merge);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_comes_before_its_time),
		cmocka_unit_test(equal_times_keep_the_order_of_lanes_and_of_pushing),
		cmocka_unit_test(the_late_are_counted_and_come_at_once),
		cmocka_unit_test(who_takes_may_stop_and_nothing_is_lost),
		cmocka_unit_test(the_last_time_there_is_comes_out_too),
		cmocka_unit_test(an_empty_merge_gives_nothing),
		cmocka_unit_test(a_run_of_some_leaves_the_others),
		cmocka_unit_test(who_takes_may_look_ahead),
		cmocka_unit_test(random_lanes_come_out_sorted),
		cmocka_unit_test(threads_of_a_lane_come_out_sorted),
		cmocka_unit_test(whatever_is_pushed_comes_out_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
