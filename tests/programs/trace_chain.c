/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests that go from one process to another with W3C's trace context: "front" asks in "call" for what the
 * other process does in "back". Every second request comes with a traceparent, as if from outside. Prints for
 * each what was sent on and what came in: {"request":N,"came_in":"00-…","sent":"00-…"}.
 */
#include <sys/wait.h>

#include "truth.h"

static void send_all(int fd, const void *bytes, size_t size)
{
	must(write(fd, bytes, size) == (ssize_t)size, "cannot write into a pipe");
}

/* The other process: until nobody asks any more. */
static void answer(int requests, int answers)
{
	char header[TXTRACE_TRACEPARENT_SIZE];

	while (read(requests, header, sizeof(header)) == (ssize_t)sizeof(header)) {
		txtrace_span_t back = TXTRACE_BEGIN_ROOT("back");

		TXTRACE_SET_TRACEPARENT(back, header);
		{
			TXTRACE_SPAN("look up");
			sleep_ns(NS_PER_MS);
		}
		TXTRACE_END(back);
		send_all(answers, "", 1);
	}
}

static void ask(uint64_t number, int requests, int answers)
{
	char header[TXTRACE_TRACEPARENT_SIZE] = "", came_in[TXTRACE_TRACEPARENT_SIZE], answered;
	txtrace_span_t front = TXTRACE_BEGIN_ROOT("front");

	if (number & 1) {
		snprintf(header, sizeof(header), "00-%016llx%016llx-%016llx-01", 0x7472616365ull,
			 (unsigned long long)number, 0x6f757473696465ull);
		TXTRACE_SET_TRACEPARENT(front, header);
		TXTRACE_SET_TRACESTATE(front, "test=chain");
	}
	memcpy(came_in, header, sizeof(came_in));
	{
		TXTRACE_SPAN_AS(call, "call");

		TXTRACE_TRACEPARENT(call, header);
		send_all(requests, header, sizeof(header));
		must(read(answers, &answered, 1) == 1, "nobody answers");
	}
	TXTRACE_END(front);
	printf("{\"request\":%llu,\"came_in\":\"%s\",\"sent\":\"%s\"}\n", (unsigned long long)number, came_in,
	       header);
}

int main(int argc, char **argv)
{
	struct truth_options options = TRUTH_OPTIONS_DEFAULT;
	uint64_t request_cnt = 20;
	const struct option_spec table[] = {
		TRUTH_WAIT_SPEC(&options),
		{ .name = "requests", .help = "how many", .count = &request_cnt, .min = 1, .max = 100000 },
	};
	int requests[2], answers[2];
	pid_t child;

	options_parse(table, sizeof(table) / sizeof(table[0]),
		      "trace_chain: requests between two processes, with trace context", argc, argv);
	truth_start(&options);
	must(!pipe(requests) && !pipe(answers), "cannot make pipes");
	child = fork();
	must(child >= 0, "cannot fork");
	if (child == 0) {
		close(requests[1]);
		answer(requests[0], answers[1]);
		_exit(0);
	}
	close(requests[0]);
	for (uint64_t i = 0; i < request_cnt; i++)
		ask(i, requests[1], answers[0]);
	close(requests[1]);
	waitpid(child, NULL, 0);
	return 0;
}
