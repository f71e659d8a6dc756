/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The shell of `txtrace sql`: statements from standard input, each up to a
 * semicolon, and lines that begin with a dot and are about the shell itself.
 */
#ifndef SQL_SHELL_H
#define SQL_SHELL_H

#include <signal.h>

#include "cli/files/query_input.h"
#include "cli/print/rows_print.h"
#include "sql/sql_database.h"

/* The log, its database, and how rows are printed. */
struct sql_session {
	struct cli *cli;
	struct query_input input;
	struct sql_database *database;
	enum rows_format format;
};

/*
 * All statements of the text, one after the other, until one fails. CLI_OK, or
 * CLI_FAILED and a sentence was said.
 */
int sql_session_run(struct sql_session *session, const char *text);

/*
 * Until the end of the input, or .quit. A statement that fails is told, and the
 * next one is read; Ctrl-C ends the one that runs. CLI_OK, or CLI_FAILED if one
 * has failed.
 */
int sql_shell_run(struct sql_session *session, FILE *in);

#endif
