/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include <unistd.h>

#include "base/near_miss.h"
#include "cli/commands/analysis.h"
#include "cli/commands/command.h"

const struct command *const commands[] = {
	&command_report,     &command_top,
	&command_view,	     &command_open,
	&command_tree,	     &command_tail,
	&command_histogram,  &command_flame,
	&command_workers,    &command_concurrency,
	&command_spans,	     &command_blocked,
	&command_blame,	     &command_neighbours,
	&command_show,	     &command_critical_path,
	&command_diff,	     &command_check,
	&command_info,	     &command_dump,
	&command_sql,	     &command_ship,
	&command_fleet,	     &command_export,
	&command_import,
	&command_join,	     &command_otlp_hop,
	&command_gas,
	&command_verify,     &command_repair,
	&command_slice,	     &command_merge,
	&command_recompress, &command_anonymize,
	&command_help,	     NULL,
};

const struct command *command_find(const char *name)
{
	for (const struct command *const *command = commands; *command; command++) {
		if (strcmp((*command)->name, name) == 0)
			return *command;
	}
	return NULL;
}

int command_complain_unknown(struct cli *cli, const char *name)
{
	struct near_miss near_miss;

	near_miss_init(&near_miss, name);
	for (const struct command *const *command = commands; *command; command++)
		near_miss_offer(&near_miss, (*command)->name);
	if (near_miss.best)
		return cli_fail(cli, "unknown command '%s', did you mean '%s'?", name, near_miss.best);
	if (access(name, F_OK) == 0)
		return cli_fail(cli, "unknown command '%s', did you mean 'txtrace report %s'?", name, name);
	return cli_fail(cli, "unknown command '%s', see 'txtrace --help'", name);
}

void commands_print_help(FILE *file)
{
	fputs("usage: txtrace [--no-pager] COMMAND [OPTION\xe2\x80\xa6] FILE\n"
	      "\n"
	      "Reads span logs that txtrace-bpf recorded: where the time of each transaction went. Needs no "
	      "privilege.\n"
	      "\n"
	      "commands:\n",
	      file);
	for (const struct command *const *command = commands; *command; command++)
		fprintf(file, "  %-14s %s\n", (*command)->name, (*command)->summary);
	fputs("\n"
	      "'txtrace help COMMAND' has the options and examples of each; txtrace(1) explains what they "
	      "print.\n"
	      "\n"
	      "exit status: 0 the log was read; 1 it was read as far as it goes, but is damaged, cut off or "
	      "was not closed;\n"
	      "2 wrong usage, a log that can't be read, or output that can't be written. diff and check have "
	      "their own.\n",
	      file);
}

int commands_run(struct cli *cli, int argc, char **argv)
{
	const struct command *command;

	if (argc < 2) {
		commands_print_help(cli->messages.file);
		return CLI_FAILED;
	}
	if (strcmp(argv[1], "--version") == 0) {
		fprintf(cli->out.file, "%s %s\n", cli->program, TXTRACE_VERSION);
		return CLI_OK;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		commands_print_help(cli->out.file);
		return CLI_OK;
	}
	if (argv[1][0] == '-')
		return cli_fail(cli, "unknown option '%s', a command comes first: see 'txtrace --help'",
				argv[1]);
	command = command_find(argv[1]);
	if (!command)
		return command_complain_unknown(cli, argv[1]);
	return command->run ? command->run(cli, argc - 1, argv + 1)
			    : analysis_main(cli, command->analysis, command->options, argc - 1, argv + 1);
}
