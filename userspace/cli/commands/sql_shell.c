/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/commands/sql_shell.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "sql/sql_store.h"

#define STATEMENT_MAX_BYTES (1u << 20)

struct shell {
	struct sql_session *session;
	FILE *in;
	bool is_interactive; /* somebody types, and sees prompts */
	bool is_over;
	struct text statement; /* what has come of it so far */
	int status;
};

/* ---- statements ---- */

/* CLI_OK, or CLI_FAILED and a sentence was said. */
static int run_statement(struct sql_session *session, sqlite3_stmt *statement)
{
	struct error error = { "" };
	int result = SQLITE_OK;
	int err = rows_print(session->cli, statement, session->format, &result);

	cli_hide_progress(session->cli);
	if (!err && result != SQLITE_DONE && result != SQLITE_ROW)
		sql_database_explain(session->database, &error);
	sqlite3_finalize(statement);
	if (err)
		return cli_fail(session->cli, "can't answer the query: %s", strerror(-err));
	if (error.text[0] && session->input.status < CLI_FAILED)
		return cli_fail(session->cli, "can't answer the query: %s", error.text);
	return session->input.status == CLI_FAILED ? CLI_FAILED : CLI_OK;
}

/* Where in the whole text: lines and characters count from 1, as editors count them. */
static void append_place(struct text *place, const char *text, const char *at)
{
	size_t line = 1, character = 1;

	for (; text < at && *text; text++) {
		if (*text == '\n') {
			line++;
			character = 1;
		} else if (((unsigned char)*text & 0xc0) != 0x80) { /* not within a character of UTF-8 */
			character++;
		}
	}
	if (line == 1)
		text_append_format(place, ", at character %zu", character);
	else
		text_append_format(place, ", in line %zu, at character %zu", line, character);
}

static int fail_to_prepare(struct sql_session *session, const char *text, const char *statement,
			   const struct error *error)
{
	int offset = sql_database_error_offset(session->database), status;
	struct text place = { 0 };

	if (offset >= 0)
		append_place(&place, text, statement + offset);
	status = cli_fail(session->cli, "can't understand the query: %s%s", error->text, text_string(&place));
	text_release(&place);
	return status;
}

int sql_session_run(struct sql_session *session, const char *text)
{
	const char *at = text, *begin = text;
	struct error error = { "" };
	sqlite3_stmt *statement;
	bool has_statement = false;
	int status = CLI_OK;

	while (status == CLI_OK && *at) {
		begin = at;
		statement = sql_database_prepare(session->database, begin, &at, &error);
		has_statement |= statement != NULL;
		if (statement)
			status = run_statement(session, statement);
		else if (error.text[0])
			status = fail_to_prepare(session, text, begin, &error);
	}
	if (status == CLI_OK && !has_statement)
		status = cli_fail(session->cli, "the query is empty");
	return status;
}

/* Ctrl-C was pressed: the signal is blocked while a statement runs, and is taken here. */
static bool is_interrupted(void *context)
{
	static const struct timespec now = { 0 };
	sigset_t interrupt;

	(void)context;
	sigemptyset(&interrupt);
	sigaddset(&interrupt, SIGINT);
	return sigtimedwait(&interrupt, NULL, &now) == SIGINT;
}

static void run_text(struct shell *shell)
{
	struct sql_session *session = shell->session;
	sigset_t interrupt, before;

	sigemptyset(&interrupt);
	sigaddset(&interrupt, SIGINT);
	sigprocmask(SIG_BLOCK, &interrupt, &before);
	session->input.source.is_stopped = is_interrupted;
	if (sql_session_run(session, text_string(&shell->statement)) != CLI_OK)
		shell->status = CLI_FAILED;
	session->input.source.is_stopped = NULL;
	is_interrupted(NULL); /* one that came too late ends nothing */
	sigprocmask(SIG_SETMASK, &before, NULL);
	text_clear(&shell->statement);
}

/* ---- lines about the shell ---- */

static void print_tables(struct shell *shell, const char *argument)
{
	const struct record_kind *table;

	(void)argument;
	for (size_t i = 0; (table = sql_table_at(i)); i++)
		fprintf(shell->session->cli->out.file, "%-11s %s\n", table->plural, table->help);
}

static void print_schema(struct shell *shell, const char *argument)
{
	const struct record_kind *table;
	bool has_any = false;

	for (size_t i = 0; (table = sql_table_at(i)); i++) {
		char *text;

		if (*argument && strcmp(argument, table->plural) != 0)
			continue;
		has_any = true;
		text = sql_store_declare(table->plural, table, UINT64_MAX);
		if (text)
			fprintf(shell->session->cli->out.file, "%s;\n", text);
		sqlite3_free(text);
	}
	if (!has_any)
		shell->status = cli_fail(shell->session->cli, "there is no table '%s', see '.tables'",
					 argument);
}

static void set_format(struct shell *shell, const char *argument)
{
	static const char *const names[] = {
		[ROWS_TABLE] = "table", [ROWS_CSV] = "csv", [ROWS_JSON] = "json"
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(argument, names[i]) == 0) {
			shell->session->format = (enum rows_format)i;
			return;
		}
	}
	shell->status = cli_fail(shell->session->cli, ".mode takes table, csv or json, not '%s'", argument);
}

static void quit(struct shell *shell, const char *argument)
{
	(void)argument;
	shell->is_over = true;
}

static void print_help(struct shell *shell, const char *argument);

static const struct shell_word {
	const char *name;
	const char *help;
	void (*run)(struct shell *shell, const char *argument);
} words[] = {
	{ ".tables", ".tables          the tables, and what is in them", print_tables },
	{ ".schema", ".schema [TABLE]  the columns of all tables, or of one", print_schema },
	{ ".mode", ".mode MODE       print rows as table, csv or json", set_format },
	{ ".help", ".help            this list", print_help },
	{ ".quit", ".quit            leave; so does the end of the input", quit },
};

static void print_help(struct shell *shell, const char *argument)
{
	(void)argument;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		fprintf(shell->session->cli->out.file, "%s\n", words[i].help);
	fputs("Anything else is SQL, up to a semicolon.\n", shell->session->cli->out.file);
}

/* line: without its end; changed. */
static void run_word(struct shell *shell, char *line)
{
	size_t length = strcspn(line, " \t");
	char *argument = line + length + strspn(line + length, " \t");

	argument[strcspn(argument, " \t;")] = '\0';
	line[length] = '\0';
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(line, words[i].name) == 0) {
			words[i].run(shell, argument);
			return;
		}
	}
	shell->status = cli_fail(shell->session->cli, "unknown word '%s', see '.help'", line);
}

/* ---- lines ---- */

static bool is_blank(const char *text)
{
	return !text[strspn(text, " \t\r\n")];
}

/* A line, or a piece of one that is long. */
static void take_line(struct shell *shell, char *line)
{
	struct text *statement = &shell->statement;
	bool is_whole = strchr(line, '\n') != NULL;

	if (statement->length == 0 && line[0] == '.') {
		line[strcspn(line, "\r\n")] = '\0';
		run_word(shell, line);
		return;
	}
	if (statement->length == 0 && is_blank(line))
		return;
	text_append(statement, line);
	if (statement->err || statement->length > STATEMENT_MAX_BYTES) {
		shell->status = cli_fail(shell->session->cli, "the statement is too long");
		text_clear(statement);
		return;
	}
	if (is_whole && sqlite3_complete(text_string(statement)))
		run_text(shell);
}

/* Not to the output, which holds a line until it ends. */
static void prompt(const struct shell *shell)
{
	struct cli *cli = shell->session->cli;

	fflush(cli->out.file);
	if (!shell->is_interactive)
		return;
	fputs(shell->statement.length ? "    ...> " : "txtrace> ", cli->messages.file);
	fflush(cli->messages.file);
}

int sql_shell_run(struct sql_session *session, FILE *in)
{
	struct shell shell = { .session = session, .in = in, .status = CLI_OK };
	char line[4096];

	shell.is_interactive = isatty(fileno(in)) && session->cli->out.is_terminal;
	if (shell.is_interactive) {
		cli_stream(session->cli);
		fputs("'.help' lists what can be said, '.tables' what can be asked.\n",
		      session->cli->out.file);
	}
	for (prompt(&shell); !shell.is_over && fgets(line, sizeof(line), in); prompt(&shell)) {
		take_line(&shell, line);
		if (shell.is_over || session->cli->write_errno)
			break;
	}
	if (!shell.is_over && !is_blank(text_string(&shell.statement)))
		run_text(&shell); /* the last one needs no semicolon */
	if (ferror(in))
		shell.status = cli_fail(session->cli, "can't read standard input: %s", strerror(errno));
	if (shell.is_interactive && !shell.is_over)
		fputc('\n', session->cli->out.file);
	text_release(&shell.statement);
	return shell.status;
}
