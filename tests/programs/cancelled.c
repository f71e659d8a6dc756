/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads that are cancelled, or jump out of a signal handler, at any instruction of a mark. Each counts its
 * spans `turn` as they end; "ended N of M" says how many those were, of how many threads or jumps. At last, a
 * thread that nobody disturbs marks `whole` 1,000 times.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>

#include "shared_memory.h"
#include "truth.h"

static volatile uint64_t ended_cnt;
static volatile bool is_marking;
static sigjmp_buf out;

static void mark_turn(void)
{
	txtrace_span_t turn = TXTRACE_BEGIN("turn");

	TXTRACE_TAG(turn, "a tag that is longer than one piece of it");
	TXTRACE_END(turn);
	ended_cnt++;
	for (volatile int i = 0; i < 10000; i++)
		; /* no recorder reads marks without a pause */
}

static void *mark_until_cancelled(void *unused)
{
	(void)unused;
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	for (is_marking = true;;)
		mark_turn();
	return NULL;
}

static void wait_a_moment(unsigned int *seed)
{
	const uint64_t until_ns = clock_ns(CLOCK_MONOTONIC) + (uint64_t)rand_r(seed) % 200000;

	while (!is_marking || clock_ns(CLOCK_MONOTONIC) < until_ns)
		;
}

static void cancel_one(unsigned int *seed)
{
	pthread_t thread;

	is_marking = false;
	must(!pthread_create(&thread, NULL, mark_until_cancelled, NULL), "no thread can be made");
	wait_a_moment(seed);
	must(!pthread_cancel(thread) && !pthread_join(thread, NULL), "the thread cannot be cancelled");
}

static void jump(int signal)
{
	(void)signal;
	siglongjmp(out, 1);
}

/* The timer is due once for each jump. */
static void jump_out_once(timer_t timer, unsigned int *seed)
{
	const struct itimerspec soon = { .it_value.tv_nsec = 20000 + rand_r(seed) % 200000 };

	if (sigsetjmp(out, 1))
		return;
	must(!timer_settime(timer, 0, &soon, NULL), "there is no timer");
	for (;;)
		mark_turn();
}

static void jump_out(uint64_t cnt, unsigned int *seed)
{
	const struct sigaction action = { .sa_handler = jump };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2 };
	timer_t timer;

	must(!sigaction(SIGUSR2, &action, NULL) && !timer_create(CLOCK_MONOTONIC, &event, &timer),
	     "there is no timer");
	for (uint64_t i = 0; i < cnt; i++)
		jump_out_once(timer, seed);
}

int main(int argc, char **argv)
{
	struct truth_options truth = TRUTH_OPTIONS_DEFAULT;
	const char *how = "cancel";
	uint64_t cnt = 1000;
	const struct option_spec specs[] = {
		TRUTH_OPTION_SPECS(&truth),
		{ .name = "how", .help = "cancel or jump", .text = &how },
		{ .name = "count", .help = "threads, or jumps", .count = &cnt, .min = 1, .max = 1e6 },
	};
	unsigned int seed = 5;

	options_parse(specs, sizeof(specs) / sizeof(specs[0]), "cancelled: marks that are never completed",
		      argc, argv);
	truth_start(&truth);
	wait_for_memory();
	if (!strcmp(how, "jump"))
		jump_out(cnt, &seed);
	else
		for (uint64_t i = 0; i < cnt; i++)
			cancel_one(&seed);
	for (int i = 0; i < 1000; i++) {
		TXTRACE_SPAN("whole");
	}
	printf("ended %llu of %llu\n", (unsigned long long)ended_cnt, (unsigned long long)cnt);
	return 0;
}
