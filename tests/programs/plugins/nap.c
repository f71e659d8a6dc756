/* SPDX-License-Identifier: BSD-2-Clause */
/* Sleeps 5 ms in a function of a library: for tests/e2e/code_stacks.sh. */
#include <time.h>

static volatile int steps;

void nap_in_library(void);

/* Work behind the call keeps it from being a jump. */
__attribute__((noinline)) void nap_in_library(void)
{
	struct timespec time = { .tv_sec = 0, .tv_nsec = 5000000 };

	nanosleep(&time, NULL);
	steps++;
}
