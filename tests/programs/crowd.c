/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Many threads, each asleep in a span, until SIGTERM: how long does it take to attach to them? Says "begun"
 * once all are there.
 */
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "program_options.h"
#include "txtrace.h"

static void *sleep_in_span(void *all_are_there)
{
	TXTRACE_SPAN("asleep");
	pthread_barrier_wait(all_are_there);
	for (;;)
		pause();
	return NULL;
}

int main(int argc, char **argv)
{
	uint64_t thread_cnt = 5000;
	const struct option_spec table[] = {
		{ .name = "threads", .help = "asleep", .count = &thread_cnt, .min = 1, .max = 30000 },
	};
	pthread_barrier_t all_are_there;
	pthread_attr_t attributes;
	pthread_t thread;

	options_parse(table, sizeof(table) / sizeof(table[0]), "crowd: many threads, each asleep in a span",
		      argc, argv);
	end_with_parent(SIGTERM);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 16 << 10 > PTHREAD_STACK_MIN ? 16 << 10 : PTHREAD_STACK_MIN);
	pthread_barrier_init(&all_are_there, NULL, (unsigned)thread_cnt + 1);
	for (uint64_t i = 0; i < thread_cnt; i++) {
		int err = pthread_create(&thread, &attributes, sleep_in_span, &all_are_there);

		if (err) {
			fprintf(stderr, "crowd: cannot start thread %llu: %s\n", (unsigned long long)i,
				strerror(err));
			return 1;
		}
	}
	pthread_barrier_wait(&all_are_there);
	puts("begun");
	fflush(stdout);
	pause();
	return 0;
}
