/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Intervals by resampling: what they are of constants, how often they hold the truth, and the effects and
 * numbers of runs that come of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "analyze/compare/effect.h"

static void near(double value, double wanted, double by)
{
	if (!(fabs(value - wanted) <= by))
		fail_msg("%.9g is not %.9g", value, wanted);
}

static struct effect effect_of(double *base, size_t base_cnt, double *new, size_t new_cnt, bool is_paired)
{
	double *const values[2] = { base, new };
	const size_t cnt[2] = { base_cnt, new_cnt };
	struct seeded_random random;
	struct effect effect;

	seeded_random_init(&random, 3);
	assert_int_equal(effect_init(&effect, values, cnt, is_paired, 0.95, &random), 0);
	return effect;
}

static void test_constants(void **state)
{
	double ones[] = { 1, 1, 1 }, twos[] = { 2, 2, 2, 2 }, none[] = { 0, 0, 0 };
	struct effect effect = effect_of(ones, 3, twos, 4, false);

	(void)state;
	near(effect.relative, 1, 1e-12);
	near(effect.relative_interval.low, 1, 1e-12);
	near(effect.difference_interval.high, 1, 1e-12);
	effect = effect_of(none, 3, ones, 3, false);
	assert_false(effect.is_ratio);
	assert_true(isnan(effect.relative));
	near(effect.difference, 1, 0);
	effect = effect_of(ones, 1, twos, 4, false);
	assert_true(isnan(effect.difference_interval.low));
	near(effect.difference, 1, 1e-12);
}

/* 2 and 8 have the geometric mean 4, 8 and 32 have 16: four times as much. */
static void test_ratio(void **state)
{
	double base[] = { 2, 8, NAN }, new[] = { 8, 32 };
	struct effect effect = effect_of(base, 3, new, 2, false);

	(void)state;
	near(effect.centre[0], 4, 1e-12);
	near(effect.centre[1], 16, 1e-12);
	near(effect.relative, 3, 1e-12);
	near(effect.difference, 12, 1e-12);
	assert_int_equal(effect.cnt[0], 2);
	near(effect_scaled(&effect, 4), log(2), 1e-12);
}

/* Each pair differs by a factor of 1.1 exactly, however far the pairs are apart. */
static void test_pairs(void **state)
{
	double base[] = { 1, 10, 100, 1000 }, new[] = { 1.1, 11, 110, 1100 };
	struct effect paired = effect_of(base, 4, new, 4, true), unpaired = effect_of(base, 4, new, 4, false);

	(void)state;
	near(paired.relative_interval.low, 0.1, 1e-9);
	near(paired.relative_interval.high, 0.1, 1e-9);
	near(paired.deviation[0], 0, 1e-9);
	assert_true(unpaired.relative_interval.low < -0.9 && unpaired.relative_interval.high > 10);
}

static double normal(struct seeded_random *random)
{
	return sqrt(-2 * log(1 - seeded_random_unit(random))) *
	       cos(2 * 3.14159265358979323846 * seeded_random_unit(random));
}

/*
 * In how many of 500 draws of so many runs a side the interval of 95 % holds the true difference, of normal
 * and of skewed figures.
 */
static unsigned int covered(size_t cnt, bool is_skewed)
{
	struct seeded_random random;
	unsigned int hold_cnt = 0;
	double values[2][12];

	seeded_random_init(&random, 11);
	for (int round = 0; round < 500; round++) {
		struct two_samples samples = { { values[0], values[1] }, { cnt, cnt }, false };
		struct interval interval;

		for (int side = 0; side < 2; side++) {
			for (size_t i = 0; i < cnt; i++)
				values[side][i] = (is_skewed ? exp(0.5 * normal(&random)) : normal(&random)) +
						  side;
		}
		assert_int_equal(bootstrap_difference(&samples, 0.95, &random, &interval), 0);
		hold_cnt += interval.low <= 1 && interval.high >= 1;
	}
	return hold_cnt;
}

static void test_coverage(void **state)
{
	unsigned int few = covered(5, false), many = covered(12, false), skewed = covered(8, true);

	(void)state;
	print_message("# intervals of 95 %% that hold the truth, of 500: 5 runs a side %u, 12 runs %u, 8 of "
		      "skewed figures %u\n",
		      few, many, skewed);
	assert_true(few >= 455 && many >= 455 && skewed >= 455);
	assert_true(few <= 498 && many <= 498 && skewed <= 498);
}

static void test_is_repeatable(void **state)
{
	double base[] = { 1, 2, 4, 3 }, new[] = { 2, 5, 3, 9 };
	struct effect first = effect_of(base, 4, new, 4, false), second = effect_of(base, 4, new, 4, false);

	(void)state;
	assert_true(first.relative_interval.low == second.relative_interval.low);
	assert_true(first.relative_interval.high == second.relative_interval.high);
	assert_true(first.relative_interval.low < first.relative &&
		    first.relative < first.relative_interval.high);
}

/*
 * A difference of one standard deviation, 5 %, nine of ten: tables say 23 a side (22 without the correction
 * for small samples). Half of it takes 85.
 */
static void test_units_needed(void **state)
{
	struct effect effect = { .cnt = { 10, 10 }, .deviation = { 1, 1 }, .centre = { 1, 1 } };

	(void)state;
	assert_in_range(effect_units_needed(&effect, 1, 0.05), 22, 23);
	assert_in_range(effect_units_needed(&effect, 0.5, 0.05), 85, 86);
	assert_int_equal(effect_units_needed(&effect, 1e-6, 0.05), EFFECT_UNITS_MAX);
	effect.deviation[0] = effect.deviation[1] = 0;
	assert_int_equal(effect_units_needed(&effect, 1, 0.05), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_constants),     cmocka_unit_test(test_ratio),
		cmocka_unit_test(test_pairs),	      cmocka_unit_test(test_coverage),
		cmocka_unit_test(test_is_repeatable), cmocka_unit_test(test_units_needed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
