/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Durations in Prometheus' native buckets of schema 3: the bound of bucket i is
 * 2^(i/8) seconds, and belongs to it. So a quantile is known to 9 %, whatever it
 * is.
 */
#ifndef NATIVE_HISTOGRAM_H
#define NATIVE_HISTOGRAM_H

#include <stdint.h>

#define NATIVE_SCHEMA 3
#define NATIVE_FIRST (-239) /* the bucket of 1 ns */
#define NATIVE_LAST 273	    /* that of 2^64 ns */
#define NATIVE_COUNT (NATIVE_LAST - NATIVE_FIRST + 1)

struct native_histogram {
	uint64_t zero_cnt;
	uint64_t cnts[NATIVE_COUNT]; /* from NATIVE_FIRST on */
};

void native_histogram_add(struct native_histogram *histogram, uint64_t ns);

/* Of a duration that is not 0. */
int native_histogram_bucket(uint64_t ns);

#endif
