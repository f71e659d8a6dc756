/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads that are born as quickly as they can be, each with one span, for the moment at which a tracer lists
 * the threads that are there: one may be found that its creator has not yet announced.
 */
#include "program_options.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "truth.h"
#include "txtrace.h"

#define BROOD 8

static void *live(void *argument)
{
	TXTRACE_SPAN("life");
	return argument;
}

static void breed(void)
{
	pthread_t threads[BROOD];

	for (size_t i = 0; i < BROOD; i++) {
		if (pthread_create(&threads[i], NULL, live, NULL)) {
			fprintf(stderr, "thread_storm: no thread can be made\n");
			exit(1);
		}
	}
	for (size_t i = 0; i < BROOD; i++)
		pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
	double seconds = 10;
	uint64_t limit = 0, cnt = 0, begin_ns;
	const struct option_spec table[] = {
		{ .name = "seconds", .help = "end after this time", .real = &seconds, .max = 1e6 },
		{ .name = "threads",
		  .help = "or after so many threads, a multiple of 8; 0: no limit",
		  .count = &limit,
		  .max = 1e9 },
	};
	uint64_t end_ns;

	options_parse(table, sizeof(table) / sizeof(table[0]),
		      "thread_storm: threads that are born all the time", argc, argv);
	end_with_parent(SIGKILL);
	begin_ns = clock_ns(CLOCK_MONOTONIC);
	end_ns = begin_ns + (uint64_t)(seconds * 1e9);
	for (; clock_ns(CLOCK_MONOTONIC) < end_ns && (!limit || cnt < limit); cnt += BROOD)
		breed();
	printf("{\"threads\":%llu,\"each_second\":%.0f}\n", (unsigned long long)cnt,
	       (double)cnt * 1e9 / (double)(clock_ns(CLOCK_MONOTONIC) - begin_ns));
	return 0;
}
