/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A command of txtrace: one file cmd_<name>.c, one entry in commands.c. Its
 * arguments, help text and examples are its options table; docs/txtrace.1 has a
 * section of the same name.
 */
#ifndef COMMAND_H
#define COMMAND_H

#include "cli/cli.h"

struct analysis;

struct command {
	const char *name;
	const char *summary; /* a phrase for the list of commands */
	const struct options *options;
	/* argv[0]: the command's name; returns enum cli_status. NULL: there is an analysis */
	int (*run)(struct cli *cli, int argc, char **argv);
	const struct analysis *analysis; /* see analysis.h */
};

extern const struct command command_report;
extern const struct command command_spans;
extern const struct command command_tree;
extern const struct command command_tail;
extern const struct command command_histogram;
extern const struct command command_flame;
extern const struct command command_workers;
extern const struct command command_concurrency;
extern const struct command command_top;
extern const struct command command_view;
extern const struct command command_open;
extern const struct command command_dump;
extern const struct command command_blocked;
extern const struct command command_blame;
extern const struct command command_neighbours;
extern const struct command command_show;
extern const struct command command_critical_path;
extern const struct command command_diff;
extern const struct command command_check;
extern const struct command command_info;
extern const struct command command_export;
extern const struct command command_sql;
extern const struct command command_ship;
extern const struct command command_fleet;
extern const struct command command_import;
extern const struct command command_join;
extern const struct command command_otlp_hop;
extern const struct command command_gas;
extern const struct command command_verify;
extern const struct command command_repair;
extern const struct command command_slice;
extern const struct command command_merge;
extern const struct command command_recompress;
extern const struct command command_anonymize;
extern const struct command command_help;

/* All of them, in the order of the help text; ends with NULL. */
extern const struct command *const commands[];

const struct command *command_find(const char *name); /* NULL: there is none */

/* Complains about a name that is no command, with the one that was meant if one is near. */
int command_complain_unknown(struct cli *cli, const char *name);

/* The program's help text: the list of commands. */
void commands_print_help(FILE *file);

/* argv as main() got it. Returns enum cli_status. */
int commands_run(struct cli *cli, int argc, char **argv);

#endif
