/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process that becomes a new program by the exec of a thread that is not its first one, whose tid that
 * thread takes over. Both programs are this one, so it is the same file. The second one waits for a tracer,
 * too: status 3 if it is not traced any more.
 */
#include <pthread.h>

#include "truth.h"

static void *become_new_program(void *argument)
{
	execl("/proc/self/exe", "thread_exec", "--exec", "1", NULL);
	must(false, "cannot exec");
	return argument;
}

static void make_spans(uint64_t cnt, bool is_new_program)
{
	for (uint64_t i = 0; i < cnt; i++) {
		txtrace_span_t span = is_new_program ? TXTRACE_BEGIN("after the exec")
						     : TXTRACE_BEGIN("before the exec");

		TXTRACE_END(span);
	}
}

int main(int argc, char **argv)
{
	struct truth_options options = TRUTH_OPTIONS_DEFAULT;
	uint64_t is_new_program = 0;
	const struct option_spec table[] = {
		TRUTH_OPTION_SPECS(&options),
		{ .name = "exec",
		  .help = "1: be what the first program becomes",
		  .count = &is_new_program,
		  .max = 1 },
	};
	pthread_t thread;

	options_parse(table, sizeof(table) / sizeof(table[0]),
		      "thread_exec: an exec by another thread than the first", argc, argv);
	truth_start(&options);
	make_spans(options.repeat_cnt, is_new_program);
	if (is_new_program)
		return 0;
	must(pthread_create(&thread, NULL, become_new_program, NULL) == 0, "cannot make a thread");
	for (;;)
		pause();
}
