/* SPDX-License-Identifier: BSD-2-Clause */
/* A process whose first thread ends while another one lives on and marks spans, once somebody traces. */
#include <pthread.h>

#include "truth.h"

static void *live_on(void *argument)
{
	const struct truth_options *options = argument;

	sleep_ns(20 * NS_PER_MS);
	truth_start(options);
	for (uint64_t i = 0; i < options->repeat_cnt; i++) {
		txtrace_span_t span = TXTRACE_BEGIN("lives on");

		TXTRACE_END(span);
	}
	exit(0);
}

int main(int argc, char **argv)
{
	static struct truth_options options;
	pthread_t thread;

	options = truth_options_parse("first_thread_ends: a process without its first thread", argc, argv);
	must(pthread_create(&thread, NULL, live_on, &options) == 0, "cannot make a thread");
	pthread_exit(NULL);
}
