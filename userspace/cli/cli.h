/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The frame around the commands: where they write, how they complain, and what
 * their exit status means.
 *
 *	struct cli cli;
 *
 *	cli_init(&cli, "txtrace", stdout, stderr);
 *	return cli_finish(&cli, commands_run(&cli, argc, argv));
 */
#ifndef CLI_H
#define CLI_H

#include <stdbool.h>

#include "base/json.h"
#include "base/options.h"
#include "cli/screen.h"
#include "cli/terminal_output.h"

enum cli_status {
	CLI_OK = 0,
	/* the log was read, and shown, as far as it can be read: damaged, cut off, or not closed */
	CLI_INCOMPLETE = 1,
	CLI_FAILED = 2,     /* usage, an unreadable log, output that can't be written */
};

struct log_scope;

struct cli {
	const char *program;
	struct screen out;
	struct screen messages;
	struct terminal_output *terminal; /* NULL: the output goes where it went */
	int write_errno; /* why output could not be written, where that was seen before the end */
	unsigned int nest; /* --nest: how log_input_open() opens a log, see log_input.h */
	/* of what came from the standard input, see files/stdin_log.h; "": nothing yet */
	char stdin_path[32];
	/* --from, --to, --where: see files/log_scope.h; NULL: all of a log */
	const struct log_scope *scope;
	bool is_of_gas; /* the command knows what gas is: log_input_open() warns others */
	bool shows_progress; /* a line without an end stands on the terminal that messages go to */
};

void cli_init(struct cli *cli, const char *program, FILE *out, FILE *messages);

/*
 * If the output is a terminal: no line is wider than it, and a pager shows what
 * is longer. Without memory, all stays as it is.
 */
void cli_open_terminal(struct cli *cli, const char *pager);

/*
 * What programs read: lines stay as they are. What goes on for long: each line
 * at once, and no pager. Before the first output.
 */
void cli_keep_lines(struct cli *cli);
void cli_stream(struct cli *cli);

/* Clears the line of progress.h, if there is one. What is said through this header does so by itself. */
void cli_hide_progress(struct cli *cli);

/* One sentence, "program: …", escaped. Returns CLI_FAILED. */
__attribute__((format(printf, 2, 3))) int cli_fail(struct cli *cli, const char *format, ...);

/* The same, for what is no failure. */
__attribute__((format(printf, 2, 3))) void cli_warn(struct cli *cli, const char *format, ...);

/*
 * Parses a command's arguments; complains or prints help where that is due.
 * true: go on; false: *status says how to end.
 */
bool cli_parse(struct cli *cli, const struct options *options, int argc, char **argv, void *values,
	       struct options_result *result, int *status);

/*
 * Output could not be written, with this negative errno; for whoever sees it
 * before cli_finish(), which tells. Returns 0.
 */
int cli_write_failed(struct cli *cli, int err);

/* Begins a JSON document on the output, indented. */
void cli_begin_json(struct cli *cli, struct json *json);

/* Ends a JSON document on the output. 0 or -ENOMEM; what could not be written is left to cli_finish(). */
int cli_finish_json(struct cli *cli, struct json *json);

/*
 * Flushes the output and returns the exit status: `status`, or CLI_FAILED with
 * a sentence when output could not be written. A reader that went away (a
 * closed pipe) is no failure: CLI_OK.
 */
int cli_finish(struct cli *cli, int status);

#endif
