/* SPDX-License-Identifier: BSD-2-Clause */
/* The normal distribution and Student's t against the tables of textbooks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "analyze/compare/distribution.h"
#include "base/seeded_random.h"

static void near(double value, double wanted, double by)
{
	if (fabs(value - wanted) > by)
		fail_msg("%.9g is not %.9g", value, wanted);
}

static void test_normal(void **state)
{
	(void)state;
	near(normal_cdf(0), 0.5, 1e-15);
	near(normal_cdf(1.959963985), 0.975, 1e-10);
	near(normal_cdf(-3), 0.001349898, 1e-9);
	near(normal_quantile(0.975), 1.959963985, 1e-8);
	near(normal_quantile(0.005), -2.575829304, 1e-8);
	near(normal_quantile(0.5), 0, 1e-12);
}

/* The table of t at 97.5 % and 99.5 %. */
static void test_student(void **state)
{
	static const struct {
		double degrees, t975, t995;
	} rows[] = {
		{ 1, 12.7062, 63.6567 },   { 2, 4.30265, 9.92484 },   { 4, 2.77645, 4.60409 },
		{ 5, 2.57058, 4.03214 },   { 10, 2.22814, 3.16927 },  { 30, 2.04227, 2.75000 },
		{ 120, 1.97993, 2.61742 }, { 1e6, 1.95996, 2.57583 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		near(student_quantile(0.975, rows[i].degrees), rows[i].t975, rows[i].t975 * 1e-5);
		near(student_quantile(0.995, rows[i].degrees), rows[i].t995, rows[i].t995 * 1e-5);
		near(student_cdf(rows[i].t975, rows[i].degrees), 0.975, 1e-6);
		near(student_cdf(-rows[i].t995, rows[i].degrees), 0.005, 1e-6);
	}
	near(student_cdf(0, 3), 0.5, 1e-12);
	/* One degree of freedom is Cauchy's distribution: 1/2 + atan(t) / pi. */
	near(student_cdf(1, 1), 0.75, 1e-12);
}

/* The first numbers of xoshiro256** with the state 1, 2, 3, 4, as its authors' code gives them. */
static void test_random_is_what_it_says(void **state)
{
	struct seeded_random random = { { 1, 2, 3, 4 } };
	static const uint64_t first[] = { 11520, 0, 1509978240, 1215971899390074240 };

	(void)state;
	for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++)
		assert_int_equal(seeded_random_next(&random), first[i]);
}

static void test_random_is_fair(void **state)
{
	struct seeded_random random, same;
	unsigned int seen[7] = { 0 };
	double sum = 0;

	(void)state;
	seeded_random_init(&random, 4);
	seeded_random_init(&same, 4);
	for (int i = 0; i < 70000; i++) {
		uint32_t number = seeded_random_below(&random, 7);

		assert_int_equal(number, seeded_random_below(&same, 7));
		assert_in_range(number, 0, 6);
		seen[number]++;
	}
	for (int i = 0; i < 7; i++)
		assert_in_range(seen[i], 9600, 10400); /* 10,000, and four standard deviations */
	for (int i = 0; i < 10000; i++)
		sum += seeded_random_unit(&random);
	near(sum / 10000, 0.5, 0.02);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_normal),
		cmocka_unit_test(test_student),
		cmocka_unit_test(test_random_is_what_it_says),
		cmocka_unit_test(test_random_is_fair),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
