/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/commands/command.h"

static const struct option_spec specs[] = { OPTION_END };

static const struct options options = {
	.program = "txtrace help",
	.about = "The list of commands, or the options and examples of one.",
	.usages = (const char *const[]){ "[COMMAND]", NULL },
	.specs = specs,
	.operand_max = 1,
};

static int run(struct cli *cli, int argc, char **argv)
{
	struct options_result result;
	const struct command *command;
	int status;

	if (!cli_parse(cli, &options, argc, argv, NULL, &result, &status))
		return status;
	if (result.operand_cnt == 0) {
		commands_print_help(cli->out.file);
		return CLI_OK;
	}
	command = command_find(result.operands[0]);
	if (!command)
		return command_complain_unknown(cli, result.operands[0]);
	options_print_help(command->options, cli->out.file);
	return CLI_OK;
}

const struct command command_help = { "help", "this list, or the options of a command", &options,
				      .run = run };
