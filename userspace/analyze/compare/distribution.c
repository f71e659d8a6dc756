/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/compare/distribution.h"

#include <math.h>

#define DEGREES_NORMAL 1e6
#define FRACTION_STEPS 300
#define STEPS_MAX 200

double normal_cdf(double z)
{
	return 0.5 * erfc(-z / sqrt(2));
}

/*
 * The continued fraction of the incomplete beta function, by Lentz' method: converges quickly for x < (a + 1)
 * / (a + b + 2).
 */
static double beta_fraction(double x, double a, double b)
{
	const double tiny = 1e-300;
	double c = 1, d = 1 - (a + b) * x / (a + 1), result;

	d = 1 / (fabs(d) < tiny ? tiny : d);
	result = d;
	for (int m = 1; m <= FRACTION_STEPS; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double steps[2] = { even, odd };
		double before = result;

		for (int i = 0; i < 2; i++) {
			d = 1 + steps[i] * d;
			c = 1 + steps[i] / c;
			d = 1 / (fabs(d) < tiny ? tiny : d);
			c = fabs(c) < tiny ? tiny : c;
			result *= d * c;
		}
		if (fabs(result - before) <= 1e-15 * fabs(result))
			break;
	}
	return result;
}

/* The regularized incomplete beta function. */
static double beta_share(double x, double a, double b)
{
	int sign;
	double front;

	if (x <= 0 || x >= 1)
		return x >= 1;
	front = exp(lgamma_r(a + b, &sign) - lgamma_r(a, &sign) - lgamma_r(b, &sign) + a * log(x) +
		    b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(x, a, b) / a;
	return 1 - front * beta_fraction(1 - x, b, a) / b;
}

double student_cdf(double t, double degrees)
{
	double tail;

	if (degrees >= DEGREES_NORMAL)
		return normal_cdf(t);
	tail = 0.5 * beta_share(degrees / (degrees + t * t), degrees / 2, 0.5);
	return t > 0 ? 1 - tail : tail;
}

static double student_density(double t, double degrees)
{
	int sign;

	if (degrees >= DEGREES_NORMAL)
		return exp(-t * t / 2) / sqrt(2 * M_PI);
	return exp(lgamma_r((degrees + 1) / 2, &sign) - lgamma_r(degrees / 2, &sign) -
		   (degrees + 1) / 2 * log1p(t * t / degrees)) /
	       sqrt(degrees * M_PI);
}

/*
 * Newton's, below 0, where no digits are lost; by halves where a step would leave what is known to be around
 * it.
 */
static double lower_quantile(double share, double degrees)
{
	double low = -1, high = 0, at, step;

	while (student_cdf(low, degrees) > share && low > -1e300)
		low *= 2;
	at = (low + high) / 2;
	for (int i = 0; i < STEPS_MAX && high - low > 1e-12 * -low; i++) {
		double off = student_cdf(at, degrees) - share;

		if (off < 0)
			low = at;
		else
			high = at;
		step = off / student_density(at, degrees);
		if (fabs(step) <= 1e-13 * -at)
			break;
		at = at - step > low && at - step < high ? at - step : (low + high) / 2;
	}
	return at;
}

double student_quantile(double share, double degrees)
{
	return share < 0.5   ? lower_quantile(share, degrees)
	       : share > 0.5 ? -lower_quantile(1 - share, degrees)
			     : 0;
}

double normal_quantile(double share)
{
	return student_quantile(share, DEGREES_NORMAL);
}
