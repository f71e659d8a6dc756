/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

void cli_init(struct cli *cli, const char *program, FILE *out, FILE *messages)
{
	cli->program = program;
	screen_init(&cli->out, out);
	screen_init(&cli->messages, messages);
}

static void say(struct cli *cli, const char *format, va_list arguments)
{
	struct text text = { 0 };
	char *sentence;

	if (vasprintf(&sentence, format, arguments) < 0)
		return;
	text_append_escaped(&text, sentence, strlen(sentence));
	fflush(cli->out.file); /* so that both are in order where they go to one terminal */
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

bool cli_parse(struct cli *cli, const struct options *options, int argc, char **argv, void *values, struct options_result *result,
	       int *status)
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
	bool had_error = ferror(cli->out.file);

	errno = 0;
	/* What could not be written is still in the buffer: the flush meets the same error again, and has it in errno. */
	if (fflush(cli->out.file) == 0 && !had_error)
		return status;
	if (errno == EPIPE)
		return CLI_OK;
	return cli_fail(cli, "can't write the output: %s", errno ? strerror(errno) : "an earlier write failed");
}
