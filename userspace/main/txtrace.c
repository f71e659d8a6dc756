/* SPDX-License-Identifier: BSD-2-Clause */
/* txtrace: everything that needs no privilege. The commands are in cli/. */
#include <signal.h>

#include "cli/commands/command.h"

int main(int argc, char **argv)
{
	struct cli cli;

	/* A reader that goes away (head) is met as EPIPE where output is written, and is no failure. */
	signal(SIGPIPE, SIG_IGN);
	cli_init(&cli, "txtrace", stdout, stderr);
	return cli_finish(&cli, commands_run(&cli, argc, argv));
}
