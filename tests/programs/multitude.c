/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads with the smallest stacks, many at once, that mark twice each: a span `life` that all of a wave are
 * in together. The next wave comes when all have ended.
 */
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "truth.h"

static void *live(void *all_are_there)
{
	TXTRACE_SPAN("life");
	pthread_barrier_wait(all_are_there);
	return NULL;
}

static void run_wave(pthread_t *threads, size_t cnt)
{
	size_t stack_bytes = 16 << 10 > PTHREAD_STACK_MIN ? 16 << 10 : PTHREAD_STACK_MIN;
	pthread_barrier_t all_are_there;
	pthread_attr_t attributes;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, stack_bytes);
	pthread_barrier_init(&all_are_there, NULL, (unsigned)cnt);
	for (size_t i = 0; i < cnt; i++)
		must(!pthread_create(&threads[i], &attributes, live, &all_are_there),
		     "no thread can be made");
	for (size_t i = 0; i < cnt; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&all_are_there);
}

int main(int argc, char **argv)
{
	struct truth_options truth = TRUTH_OPTIONS_DEFAULT;
	uint64_t thread_cnt = 50000, at_once = 10000;
	const struct option_spec specs[] = {
		TRUTH_OPTION_SPECS(&truth),
		{ .name = "threads", .help = "how many", .count = &thread_cnt, .min = 1, .max = 1e6 },
		{ .name = "at-once", .help = "in a wave", .count = &at_once, .min = 1, .max = 30000 },
	};
	pthread_t *threads;

	options_parse(specs, sizeof(specs) / sizeof(specs[0]), "multitude: threads that mark twice", argc,
		      argv);
	threads = calloc(at_once, sizeof(*threads));
	must(threads, "no memory");
	truth_start(&truth);
	for (uint64_t done = 0; done < thread_cnt; done += at_once)
		run_wave(threads, thread_cnt - done < at_once ? thread_cnt - done : at_once);
	free(threads);
	return 0;
}
