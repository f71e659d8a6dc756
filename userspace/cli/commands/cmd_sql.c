/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include <unistd.h>

#include "cli/commands/command.h"
#include "cli/commands/sql_shell.h"
#include "cli/exit_status.h"
#include "cli/files/log_scope.h"

struct sql_options {
	unsigned int nest;
	bool wants_csv;
	bool wants_json;
	struct log_scope scope;
};

static const struct option_spec specs[] = {
	OPTION("csv", 0, OPTION_FLAG, NULL, "write the rows as CSV, the names of the columns first",
	       offsetof(struct sql_options, wants_csv)),
	OPTION("json", 0, OPTION_FLAG, NULL, "write the rows as one JSON array of objects",
	       offsetof(struct sql_options, wants_json)),
	OPTION_NEST(struct sql_options, nest),
	OPTIONS_SCOPE(struct sql_options, scope),
	OPTION_END,
};

static const struct options options = {
	.program = "txtrace sql",
	.about = "Queries a log in SQLite's dialect of SQL. There is a table for each kind of record: spans, "
		 "blocks, wakeups, stays, attributes, counters, threads, losses and others. docs/sql.md "
		 "describes them and answers twenty questions. Queries cannot change anything. Without a "
		 "query, it reads statements from standard input; .help lists further commands.",
	.usages = (const char *const[]){ "FILE\xe2\x80\xa6 QUERY", "FILE\xe2\x80\xa6", NULL },
	.specs = specs,
	.examples =
		(const struct option_example[]){
			{ "txtrace sql bank.txtrace 'SELECT label, count(*), avg(wall_ns) FROM spans GROUP "
			  "BY label'",
			  "The number of spans of each label, and their mean time." },
			{ "txtrace sql --json bank.txtrace 'SELECT * FROM spans ORDER BY wall_ns DESC LIMIT "
			  "5' "
			  "| jq '.[].label'",
			  "The five slowest spans." },
			{ NULL, NULL },
		},
	.notes = exit_status_notes,
	.operand = "FILE",
	.operand_min = 1,
	.operand_max = -1,
};

static int open_session(struct sql_session *session, char *const *paths, int path_cnt)
{
	struct cli *cli = session->cli;
	bool wants_progress = session->format == ROWS_TABLE || !cli->out.is_terminal;
	struct error error = { "" };
	int status = query_input_init(&session->input, cli, paths, path_cnt, wants_progress);

	if (status == CLI_OK && sql_database_open(&session->database, &session->input.source, &error))
		status = cli_fail(cli, "%s", error.text);
	return status;
}

/* A query has a blank in it, or an expression; and nobody has a file of this name. */
static bool is_query(const char *operand)
{
	return operand[strcspn(operand, " \t\n(;")] && access(operand, F_OK) != 0;
}

static int run(struct cli *cli, int argc, char **argv)
{
	struct sql_options values = { 0 };
	struct sql_session session = { .cli = cli };
	struct options_result result;
	const char *query;
	int status;

	if (!cli_parse(cli, &options, argc, argv, &values, &result, &status))
		return status;
	if (values.wants_csv && values.wants_json)
		return cli_fail(cli, "--csv and --json exclude each other");
	query = result.operands[result.operand_cnt - 1];
	query = is_query(query) ? query : NULL;
	if (query && result.operand_cnt == 1)
		return cli_fail(cli, "FILE is missing, see 'txtrace sql --help'");
	session.format = values.wants_csv ? ROWS_CSV : values.wants_json ? ROWS_JSON : ROWS_TABLE;
	values.scope.finds_spans = values.scope.needs_no_names = true;
	cli->scope = &values.scope;
	cli->nest = values.nest;
	status = open_session(&session, result.operands, result.operand_cnt - (query != NULL));
	if (status == CLI_OK)
		status = query ? sql_session_run(&session, query) : sql_shell_run(&session, stdin);
	sql_database_close(session.database);
	return status > session.input.status ? status : session.input.status;
}

const struct command command_sql = { "sql", "answer a query in SQL", &options, .run = run };
