/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "base/options.h"
#include "base/text.h"

#define LINE_COLUMNS 96
#define HELP_COLUMN_MAX 34

/* Prints words from column `at`, wrapped, lines after the first indented to `indent`. */
static void print_wrapped(FILE *file, const char *text, size_t at, size_t indent)
{
	bool is_first = true;

	while (*text) {
		size_t length = strcspn(text, " "), width = text_columns(text, length);

		if (!is_first && at + 1 + width > LINE_COLUMNS) {
			fprintf(file, "\n%*s", (int)indent, "");
			at = indent;
			is_first = true;
		}
		fprintf(file, "%s%.*s", is_first ? "" : " ", (int)length, text);
		at += width + !is_first;
		is_first = false;
		text += length;
		text += strspn(text, " ");
	}
	fputc('\n', file);
}

/* "-n, --limit N" */
static size_t format_names(const struct option_spec *spec, char *text, size_t size)
{
	int length;

	if (spec->letter)
		length = snprintf(text, size, "-%c, --%s", spec->letter, spec->name);
	else
		length = snprintf(text, size, "    --%s", spec->name);
	if (spec->argument && length > 0 && (size_t)length < size)
		length += snprintf(text + length, size - (size_t)length, " %s", spec->argument);
	return text_columns(text, strlen(text));
}

static void print_option(FILE *file, const struct option_spec *spec, size_t help_column)
{
	char names[96], help[1024];
	size_t width = format_names(spec, names, sizeof(names)), used;

	used = (size_t)snprintf(help, sizeof(help), "%s", spec->help);
	for (size_t i = 0; spec->type == OPTION_CHOICE && option_choice(spec, i) && used < sizeof(help); i++)
		used += (size_t)snprintf(help + used, sizeof(help) - used, "%s%s", i ? ", " : ": ",
					 option_choice(spec, i));
	fprintf(file, "  %s", names);
	if (2 + width + 2 > help_column)
		fprintf(file, "\n%*s", (int)help_column, "");
	else
		fprintf(file, "%*s", (int)(help_column - 2 - width), "");
	print_wrapped(file, help, help_column, help_column);
}

static void print_options(const struct options *options, FILE *file)
{
	static const struct option_spec help = OPTION("help", 'h', OPTION_FLAG, NULL, "print this text", 0);
	static const struct option_spec version = OPTION("version", 0, OPTION_FLAG, NULL, "print the version",
							 0);
	size_t help_column = 2 + strlen("    --version") + 2;
	char names[96];

	for (const struct option_spec *spec = options->specs; spec->name || spec->help; spec++) {
		size_t width = spec->name && !spec->is_hidden
				       ? 2 + format_names(spec, names, sizeof(names)) + 2
				       : 0;

		if (width > help_column && width <= HELP_COLUMN_MAX)
			help_column = width;
	}
	fputs("\noptions:\n", file);
	for (const struct option_spec *spec = options->specs; spec->name || spec->help; spec++) {
		if (!spec->name)
			fprintf(file, "\n%s:\n", spec->help);
		else if (!spec->is_hidden)
			print_option(file, spec, help_column);
	}
	print_option(file, &help, help_column);
	if (options->version)
		print_option(file, &version, help_column);
}

void options_print_help(const struct options *options, FILE *file)
{
	const char *before = "usage: ";

	for (const char *const *usage = options->usages; usage && *usage; usage++) {
		fprintf(file, "%s%s [OPTION\xe2\x80\xa6]%s%s\n", before, options->program, **usage ? " " : "",
			*usage);
		before = "       ";
	}
	if (options->about) {
		fputc('\n', file);
		print_wrapped(file, options->about, 0, 0);
	}
	print_options(options, file);
	if (options->examples)
		fputs("\nexamples:\n", file);
	for (const struct option_example *example = options->examples; example && example->command;
	     example++) {
		fprintf(file, "  %s\n      ", example->command);
		print_wrapped(file, example->help, 6, 6);
	}
	for (const char *const *note = options->notes; note && *note; note++) {
		fputc('\n', file);
		print_wrapped(file, *note, 0, 0);
	}
}
