/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * peer_target: runs every probe, once a round, until its stdin ends. Prints `untraced` and `traced` whenever
 * that has changed, and how many rounds went by untraced with an argument evaluated all the same (which is
 * wrong) when it ends.
 */
#include <poll.h>
#include <stdio.h>

#include "txtrace.h"

#define ROUND_MS 2

static struct target {
	const char *state;
	unsigned long evaluation_cnt;
	unsigned long wrong_cnt;
} target;

static const char *evaluated(const char *text)
{
	target.evaluation_cnt++;
	return text;
}

static void run_round(void)
{
	txtrace_span_t s = TXTRACE_BEGIN("request");
	txtrace_span_t d = TXTRACE_BEGIN_DETACHED("queued", s);
	double load = 0.5;

	TXTRACE_ENTER(d);
	TXTRACE_EXIT(d);
	TXTRACE_LINK(d, s, "part-of");
	TXTRACE_END(d);
	TXTRACE_TAG(s, evaluated("shard=3"));
	TXTRACE_ATTR(s, "user", evaluated("somebody"));
	TXTRACE_ATTR(s, "delta", -7);
	TXTRACE_ATTR(s, "load", load);
	TXTRACE_EVENT(s, "retry");
	TXTRACE_COUNTER("queue", -5);
	TXTRACE_KEY_BEGIN("transaction", evaluated("digest"), 6);
	TXTRACE_KEY_ENTER("digest", 6);
	TXTRACE_KEY_EXIT("digest", 6);
	TXTRACE_KEY_EVENT("digest", 6, "enqueued");
	TXTRACE_KEY_END("digest", 6);
	TXTRACE_END(s);
}

static void say_state(void)
{
	const char *state = TXTRACE_ENABLED() ? "traced" : "untraced";

	if (state != target.state) {
		target.state = state;
		puts(state);
		fflush(stdout);
	}
}

int main(void)
{
	struct pollfd input = {0, POLLIN, 0};

	while (poll(&input, 1, ROUND_MS) == 0) {
		int was_traced = TXTRACE_ENABLED();

		say_state();
		target.evaluation_cnt = 0;
		run_round();
		target.wrong_cnt += !was_traced && !TXTRACE_ENABLED() && target.evaluation_cnt != 0;
	}
	printf("%lu wrong\n", target.wrong_cnt);
	return target.wrong_cnt != 0;
}
