/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads that sleep until a file can be opened, which may be a FIFO, and then make a thousand spans each. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "program_options.h"
#include "txtrace.h"

#define SPANS 1000

static pthread_barrier_t go;

static void *sleep_and_work(void *unused)
{
	pthread_barrier_wait(&go);
	for (int i = 0; i < SPANS; i++) {
		TXTRACE_SPAN("awake");
	}
	return unused;
}

int main(int argc, char **argv)
{
	uint64_t thread_cnt = 20;
	const char *path = NULL;
	const struct option_spec table[] = {
		{ .name = "threads", .help = "that sleep", .count = &thread_cnt, .min = 1, .max = 100 },
		{ .name = "until", .help = "what is opened", .text = &path },
	};
	pthread_t threads[100];

	options_parse(table, sizeof(table) / sizeof(table[0]), "sleepers: threads that sleep, and then work",
		      argc, argv);
	end_with_parent(SIGTERM);
	pthread_barrier_init(&go, NULL, (unsigned)thread_cnt + 1);
	for (uint64_t i = 0; i < thread_cnt; i++)
		if (pthread_create(&threads[i], NULL, sleep_and_work, NULL))
			return 1;
	if (!path || open(path, O_RDONLY | O_CLOEXEC) < 0) {
		perror("sleepers: --until");
		return 1;
	}
	pthread_barrier_wait(&go);
	for (uint64_t i = 0; i < thread_cnt; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
