/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process that forks within a span. "before", "around the fork" and "after" are the parent's; the child,
 * which was forked while the tracer watched, makes spans of its own ("in the child"), becomes a new program
 * by exec and makes more ("after the exec"). Nothing that the child does may be charged to the parent, and
 * none of its spans may turn up as the parent's.
 */
#include <sys/wait.h>

#include "truth.h"

/* The same work as the parent's, so that a mix-up would show. */
static void be_child(void)
{
	struct witness witness;
	txtrace_span_t span = TXTRACE_BEGIN("in the child");

	end_with_parent(SIGKILL);
	witness_init(&witness);
	spin_cpu_ns(&witness, 2 * NS_PER_MS);
	TXTRACE_END(span);
	execl("/proc/self/exe", "fork_exec", "--exec", "1", NULL);
	must(false, "cannot exec");
}

static void be_new_program(void)
{
	struct witness witness;
	txtrace_span_t span = TXTRACE_BEGIN("after the exec");

	witness_init(&witness);
	spin_cpu_ns(&witness, 2 * NS_PER_MS);
	sleep_ns(2 * NS_PER_MS);
	TXTRACE_END(span);
}

static void fork_and_wait(void)
{
	int status;
	pid_t child = fork();

	must(child >= 0, "cannot fork");
	if (!child)
		be_child();
	must(waitpid(child, &status, 0) == child, "cannot wait for the child");
	if (status) {
		fprintf(stderr, "the child ended with status 0x%x\n", (unsigned)status);
		exit(1);
	}
}

int main(int argc, char **argv)
{
	struct truth_options options = TRUTH_OPTIONS_DEFAULT;
	uint64_t is_new_program = 0;
	const struct option_spec table[] = {
		TRUTH_OPTION_SPECS(&options),
		{ .name = "exec",
		  .help = "1: be what the child becomes",
		  .count = &is_new_program,
		  .max = 1 },
	};
	options_parse(table, sizeof(table) / sizeof(table[0]), "fork_exec: spans around a fork", argc, argv);
	if (is_new_program) {
		be_new_program();
		return 0;
	}
	struct truth *truths = truths_new(3 * options.repeat_cnt);
	struct witness witness;

	witness_init(&witness);
	truth_start(&options);
	for (uint64_t i = 0; i < options.repeat_cnt; i++) {
		struct truth *before = &truths[3 * i], *around = before + 1, *after = before + 2;
		around->blocked = "wait";
		around->asked_ns = 2 * NS_PER_MS;
		WITNESSED(before, &witness, "before", spin_cpu_ns(&witness, NS_PER_MS));
		WITNESSED(around, &witness, "around the fork", fork_and_wait());
		WITNESSED(after, &witness, "after", spin_cpu_ns(&witness, NS_PER_MS));
	}
	truths_print(truths, 3 * options.repeat_cnt);
	printf("{\"type\":\"count\",\"label\":\"in the child\",\"pid\":%d,\"cnt\":0}\n", getpid());
	printf("{\"type\":\"count\",\"label\":\"after the exec\",\"pid\":%d,\"cnt\":0}\n", getpid());
	free(truths);
	return 0;
}
