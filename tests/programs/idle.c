/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program in which nothing happens: once somebody traces it begins a span, says so, and waits for the end
 * of its standard input. Then it ends the span.
 */
#include "truth.h"

int main(int argc, char **argv)
{
	struct truth_options options = truth_options_parse("idle: one open span, and nothing else", argc,
							   argv);
	txtrace_span_t span;
	char byte;

	truth_start(&options);
	span = TXTRACE_BEGIN("idle");
	printf("begun\n");
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	TXTRACE_END(span);
	return 0;
}
