/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

void cli_init(struct cli *cli, const char *program, FILE *out, FILE *messages)
{
	*cli = (struct cli){ .program = program };
	screen_init(&cli->out, out);
	screen_init(&cli->messages, messages);
}

void cli_open_terminal(struct cli *cli, const char *pager)
{
	if (!cli->out.is_terminal || cli->terminal)
		return;
	cli->terminal = terminal_output_new(fileno(cli->out.file), cli->out.columns, cli->out.rows, pager);
	if (cli->terminal)
		cli->out.file = terminal_output_file(cli->terminal);
}

void cli_keep_lines(struct cli *cli)
{
	if (cli->terminal)
		terminal_output_keep_lines(cli->terminal);
}

void cli_stream(struct cli *cli)
{
	if (cli->terminal)
		terminal_output_stream(cli->terminal);
}

/* A failed flush drops what it had, so the reason has to be kept: the next one may succeed. */
static void flush(struct cli *cli)
{
	if (fflush(cli->out.file) != 0)
		cli_write_failed(cli, -errno);
}

int cli_write_failed(struct cli *cli, int err)
{
	if (!cli->write_errno)
		cli->write_errno = -err;
	return 0;
}

void cli_begin_json(struct cli *cli, struct json *json)
{
	cli_keep_lines(cli);
	json_init_file(json, cli->out.file);
	json->is_pretty = true;
}

int cli_finish_json(struct cli *cli, struct json *json)
{
	int err;

	json_newline(json);
	err = json_release(json);
	return err && err != -ENOMEM ? cli_write_failed(cli, err) : err;
}

void cli_hide_progress(struct cli *cli)
{
	if (!cli->shows_progress)
		return;
	fputs("\r\033[K", cli->messages.file);
	fflush(cli->messages.file);
	cli->shows_progress = false;
}

static void say(struct cli *cli, const char *format, va_list arguments)
{
	struct text text = { 0 };
	char *sentence;

	if (vasprintf(&sentence, format, arguments) < 0)
		return;
	text_append_escaped(&text, sentence, strlen(sentence));
	cli_hide_progress(cli);
	flush(cli); /* so that both are in order where they go to one terminal */
	fprintf(cli->messages.file, "%s: %s\n", cli->program, text_string(&text));
	text_release(&text);
	free(sentence);
}

int cli_fail(struct cli *cli, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say(cli, format, arguments);
	va_end(arguments);
	return CLI_FAILED;
}

void cli_warn(struct cli *cli, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say(cli, format, arguments);
	va_end(arguments);
}

bool cli_parse(struct cli *cli, const struct options *options, int argc, char **argv, void *values,
	       struct options_result *result, int *status)
{
	*status = CLI_OK;
	if (options_parse(options, argc, argv, values, result)) {
		*status = cli_fail(cli, "%s", result->error);
		return false;
	}
	if (result->wants_help)
		options_print_help(options, cli->out.file);
	if (result->wants_version)
		fprintf(cli->out.file, "%s %s\n", cli->program, options->version);
	return !result->wants_help && !result->wants_version;
}

int cli_finish(struct cli *cli, int status)
{
	bool has_failed;
	int err;

	flush(cli);
	has_failed = ferror(cli->out.file);
	err = terminal_output_close(cli->terminal);
	cli->terminal = NULL;
	if (err)
		cli_write_failed(cli, err);
	if (!cli->write_errno && !has_failed)
		return status;
	if (cli->write_errno == EPIPE)
		return CLI_OK;
	cli->out.file = stdout;
	return cli_fail(cli, "can't write the output: %s",
			cli->write_errno ? strerror(cli->write_errno) : "an earlier write failed");
}
