/* SPDX-License-Identifier: BSD-2-Clause */
/* txtrace: everything that needs no privilege. The commands are in cli/. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands/command.h"

#define OUTPUT_BYTES 65536 /* less is written at once, where it is known why that fails */

int main(int argc, char **argv)
{
	static char output[OUTPUT_BYTES];
	struct cli cli;

	/* A reader that goes away (head) is met as EPIPE where output is written, and is no failure. */
	signal(SIGPIPE, SIG_IGN);
	setvbuf(stdout, output, _IOFBF, sizeof(output));
	cli_init(&cli, "txtrace", stdout, stderr);
	if (argc > 1 && strcmp(argv[1], "--no-pager") == 0) {
		argv[1] = argv[0];
		argc--;
		argv++;
		cli_open_terminal(&cli, NULL);
	}
	cli_open_terminal(&cli, terminal_output_choose_pager());
	return cli_finish(&cli, commands_run(&cli, argc, argv));
}
