/* SPDX-License-Identifier: BSD-2-Clause */
/* Quantiles of known numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "analyze/quantile.h"

static void add(struct quantile *quantile, uint64_t value)
{
	size_t bytes = 0;

	assert_int_equal(quantile_add(quantile, value, true, &bytes), 0);
}

static void nothing_has_no_quantile(void **state)
{
	struct quantile quantile = { 0 };

	(void)state;
	assert_int_equal(quantile_at(&quantile, 0.5), 0);
	quantile_release(&quantile);
}

static void small_numbers_are_exact(void **state)
{
	struct quantile quantile = { 0 };

	(void)state;
	for (uint64_t value = 200; value >= 1; value--)
		add(&quantile, value);
	assert_int_equal(quantile.cnt, 200);
	assert_int_equal(quantile.min, 1);
	assert_int_equal(quantile.max, 200);
	assert_int_equal(quantile_at(&quantile, 0), 1);
	assert_int_equal(quantile_at(&quantile, 0.5), 100);
	assert_int_equal(quantile_at(&quantile, 0.9), 180);
	assert_int_equal(quantile_at(&quantile, 0.99), 198);
	assert_int_equal(quantile_at(&quantile, 1), 200);
	quantile_release(&quantile);
}

static void up_to_64_different_values_are_exact(void **state)
{
	struct quantile quantile = { 0 };

	(void)state;
	for (uint64_t i = 0; i < 640; i++)
		add(&quantile, 1000000000 + i * 7 % 64); /* far closer to each other than a bucket is wide */
	assert_int_equal(quantile_at(&quantile, 0.25), 1000000015);
	assert_int_equal(quantile_at(&quantile, 0.5), 1000000031);
	add(&quantile, 2000000000); /* the 65th */
	assert_in_range(quantile_at(&quantile, 0.5), 996000000, 1004000000);
	assert_int_equal(quantile.cnt, 641);
	assert_int_equal(quantile_at(&quantile, 1), 2000000000);
	quantile_release(&quantile);
}

static void one_value_is_all_its_quantiles(void **state)
{
	struct quantile quantile = { 0 };

	(void)state;
	for (int i = 0; i < 1000; i++)
		add(&quantile, 5123456789);
	assert_int_equal(quantile_at(&quantile, 0.01), 5123456789);
	assert_int_equal(quantile_at(&quantile, 0.5), 5123456789);
	assert_int_equal(quantile_at(&quantile, 0.99), 5123456789);
	quantile_release(&quantile);
}

static void every_size_of_number_is_within_0_4_percent(void **state)
{
	(void)state;
	for (unsigned int shift = 0; shift < 63; shift++) {
		struct quantile quantile = { 0 };
		uint64_t base = (1ull << shift) + ((1ull << shift) / 3);

		/* so that neither end is near, and the list has no room */
		for (uint64_t i = 0; i < 70; i++) {
			add(&quantile, i);
			add(&quantile, UINT64_MAX - i);
		}
		for (int i = 0; i < 1000; i++)
			add(&quantile, base);
		assert_true(fabs((double)quantile_at(&quantile, 0.5) - (double)base) <= 0.004 * (double)base);
		quantile_release(&quantile);
	}
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void random_numbers_agree_with_sorting(void **state)
{
	enum { CNT = 50001 };
	static const double fractions[] = { 0.001, 0.1, 0.5, 0.9, 0.99, 0.999 };
	uint64_t *values = calloc(CNT, sizeof(*values)), random = 88172645463325252u;
	struct quantile quantile = { 0 };
	size_t bytes = 0;

	(void)state;
	for (int i = 0; i < CNT; i++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		values[i] = random >> (20 + random % 40); /* from tens to trillions */
		assert_int_equal(quantile_add(&quantile, values[i], true, &bytes), 0);
	}
	qsort(values, CNT, sizeof(*values), compare);
	for (size_t i = 0; i < sizeof(fractions) / sizeof(fractions[0]); i++) {
		uint64_t exact = values[(size_t)ceil(fractions[i] * CNT) - 1];

		assert_true(fabs((double)quantile_at(&quantile, fractions[i]) - (double)exact) <=
			    0.004 * (double)exact);
	}
	assert_int_equal(quantile.max, values[CNT - 1]);
	assert_int_equal(quantile.min, values[0]);
	assert_true(bytes <= 61 * 1024); /* as the header promises, and the list before */
	quantile_release(&quantile);
	free(values);
}

/*
 * 65 values make pages; then more of one value than 16 bits count, and of another one in the list before
 * there are pages.
 */
static void many_of_one_value_are_all_counted(void **state)
{
	struct quantile quantile = { 0 };
	size_t bytes = 0;

	(void)state;
	for (int i = 0; i < 70000; i++)
		assert_int_equal(quantile_add(&quantile, 300, true, &bytes), 0);
	for (uint64_t i = 0; i < 100; i++)
		assert_int_equal(quantile_add(&quantile, 1000 + i, true, &bytes), 0);
	for (int i = 0; i < 140000; i++)
		assert_int_equal(quantile_add(&quantile, 5000, i == 0, &bytes), 0);
	for (int i = 0; i < 69900; i++)
		assert_int_equal(quantile_add(&quantile, 100000, true, &bytes), 0);
	assert_int_equal(quantile.cnt, 280000);
	assert_int_equal(quantile_at(&quantile, 0.25) / 2, 150);
	assert_in_range(quantile_at(&quantile, 0.2502), 1000, 1100);
	assert_in_range(quantile_at(&quantile, 0.2505), 4980, 5020);
	assert_in_range(quantile_at(&quantile, 0.75), 4980, 5020);
	assert_in_range(quantile_at(&quantile, 0.7505), 99600, 100400);
	quantile_release(&quantile);
}

static void without_memory_it_stays_near(void **state)
{
	struct quantile quantile = { 0 };
	size_t bytes = 0;

	(void)state;
	assert_int_equal(quantile_add(&quantile, 1000, true, &bytes), 0);
	assert_int_equal(quantile_add(&quantile, 2000, true, &bytes), 0);
	bytes = 0;
	for (int i = 0; i < 10; i++)
		assert_int_equal(quantile_add(&quantile, 2100, false, &bytes), 0);
	assert_int_equal(bytes, 0);
	assert_true(quantile.is_coarse);
	assert_int_equal(quantile.cnt, 12);
	assert_int_equal(quantile.max, 2100);
	assert_int_equal(quantile_at(&quantile, 0.5), 2000);
	quantile_release(&quantile);

	assert_int_equal(quantile_add(&quantile, 7, false, &bytes), 0); /* not even one bucket */
	assert_int_equal(quantile_add(&quantile, 9, false, &bytes), 0);
	assert_int_equal(quantile_add(&quantile, 9, false, &bytes), 0);
	assert_int_equal(quantile_at(&quantile, 0.5), 9);
	assert_int_equal(bytes, 0);
	quantile_release(&quantile);
}

static void pages_without_memory_stay_near_too(void **state)
{
	struct quantile quantile = { 0 };
	size_t bytes = 0;

	(void)state;
	for (uint64_t i = 0; i < 100; i++)
		assert_int_equal(quantile_add(&quantile, 1024 + i, true, &bytes), 0);
	bytes = 0;
	for (int i = 0; i < 200; i++)
		/* its page is missing */
		assert_int_equal(quantile_add(&quantile, 1000000, false, &bytes), 0);
	assert_int_equal(bytes, 0);
	assert_true(quantile.is_coarse);
	assert_in_range(quantile_at(&quantile, 0.9), 2032, 2048); /* the upper end of the page below */
	assert_int_equal(quantile.max, 1000000);
	quantile_release(&quantile);
}

/* Split at random into up to 8, of which some have a list and some have pages. */
static void merged_is_as_one_by_one(void **state)
{
	(void)state;
	srandom(5);
	for (int round = 0; round < 200; round++) {
		struct quantile whole = { 0 }, merged = { 0 }, parts[8] = { { 0 } };
		size_t cnt = (size_t)random() % 3000 + 1, part_cnt = (size_t)random() % 8 + 1, bytes = 0;

		for (size_t i = 0; i < cnt; i++) {
			uint64_t value = (uint64_t)random() >> random() % 31;
			size_t part = random() % 4 ? 0 : (size_t)random() % part_cnt;

			add(&whole, value);
			add(&parts[part], value);
		}
		for (size_t i = 0; i < part_cnt; i++)
			assert_int_equal(quantile_merge(&merged, &parts[i], &bytes), 0);
		assert_int_equal(merged.cnt, whole.cnt);
		assert_int_equal(merged.min, whole.min);
		assert_int_equal(merged.max, whole.max);
		for (double fraction = 0; fraction <= 1; fraction += 0.01) {
			double one = (double)quantile_at(&whole, fraction),
			       other = (double)quantile_at(&merged, fraction);

			/* a few values may be exact in the one and the middle of their bucket in the other */
			assert_true(fabs(one - other) <= 0.004 * one + 0.5);
		}
		quantile_release(&whole);
		quantile_release(&merged);
		for (size_t i = 0; i < part_cnt; i++)
			quantile_release(&parts[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_has_no_quantile),
		cmocka_unit_test(small_numbers_are_exact),
		cmocka_unit_test(up_to_64_different_values_are_exact),
		cmocka_unit_test(one_value_is_all_its_quantiles),
		cmocka_unit_test(every_size_of_number_is_within_0_4_percent),
		cmocka_unit_test(random_numbers_agree_with_sorting),
		cmocka_unit_test(many_of_one_value_are_all_counted),
		cmocka_unit_test(without_memory_it_stays_near),
		cmocka_unit_test(pages_without_memory_stay_near_too),
		cmocka_unit_test(merged_is_as_one_by_one),
	};

	return cmocka_run_group_tests_name("analyze_quantile", tests, NULL, NULL);
}
