/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file of how long each transaction took, for benchmarks: 16 bytes each, when
 * it ended (CLOCK_MONOTONIC) and how long after it was submitted, in ns, as the
 * machine has its numbers. Without a file nothing is measured.
 */
#ifndef BANK_LATENCIES_H
#define BANK_LATENCIES_H

#include <stdint.h>
#include <stdio.h>
#include <time.h>

static inline uint64_t latencies_now_ns(FILE *file)
{
	struct timespec now;

	if (!file)
		return 0;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline void latencies_add(FILE *file, uint64_t submitted_ns)
{
	uint64_t now_ns = latencies_now_ns(file), pair[2] = { now_ns, now_ns - submitted_ns };

	if (file && fwrite(pair, sizeof(pair), 1, file) != 1)
		perror("bank: cannot write the latencies");
}

#endif
