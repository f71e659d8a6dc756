/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/service/native_histogram.h"

#include <math.h>

#include "base/saturating.h"

#define STEPS (1 << NATIVE_SCHEMA)

/* 2^(i/8) / 2: the bounds from 1/2 on, below 1. */
static const double bounds[STEPS] = { 0.5,
				      0.5452538663326288,
				      0.5946035575013605,
				      0.6484197773255048,
				      0.7071067811865475,
				      0.7711054127039704,
				      0.8408964152537144,
				      0.9170040432046711 };

int native_histogram_bucket(uint64_t ns)
{
	int exponent, step = 0;
	double fraction = frexp((double)ns / 1e9, &exponent);

	while (step < STEPS && bounds[step] < fraction)
		step++;
	return step + (exponent - 1) * STEPS;
}

void native_histogram_add(struct native_histogram *histogram, uint64_t ns)
{
	increase(ns ? &histogram->cnts[native_histogram_bucket(ns) - NATIVE_FIRST] : &histogram->zero_cnt, 1);
}
