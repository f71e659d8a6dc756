/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/options.h"

#include <string.h>

#include "base/options_file.h"

static const struct option_spec *find_letter(const struct options *options, char letter)
{
	for (const struct option_spec *spec = options->specs; !options_is_end(spec); spec++) {
		if (spec->name && spec->letter == letter)
			return spec;
	}
	return NULL;
}

/* Finds the value of an option: what is joined to it (may be NULL), or the next word. */
static int take_with_value(struct options_parser *parser, const struct option_spec *spec, const char *joined)
{
	if (!spec->argument)
		return options_take(parser, spec, NULL);
	if (!joined && parser->next_idx < parser->argc)
		joined = parser->argv[parser->next_idx++];
	if (!joined)
		return options_complain(parser, "option '--%s' needs a value: --%s %s", spec->name,
					spec->name, spec->argument);
	return spec->type == OPTION_FILE ? options_take_file(parser, spec, joined)
					 : options_take(parser, spec, joined);
}

/* ---- words ---- */

static int parse_long(struct options_parser *parser, const char *word)
{
	const char *name = word + 2, *equals = strchr(name, '=');
	size_t length = equals ? (size_t)(equals - name) : strlen(name);
	const struct option_spec *spec = options_find(parser->options, name, length);

	if (!spec && !equals && strcmp(name, "help") == 0) {
		parser->result->wants_help = true;
		return 0;
	}
	if (!spec && !equals && parser->options->version && strcmp(name, "version") == 0) {
		parser->result->wants_version = true;
		return 0;
	}
	if (!spec)
		return options_complain_unknown(parser, name, length);
	if (equals && !spec->argument)
		return options_complain(parser, "option '--%s' takes no value", spec->name);
	return take_with_value(parser, spec, equals ? equals + 1 : NULL);
}

static int parse_short(struct options_parser *parser, const char *word)
{
	for (const char *letter = word + 1; *letter; letter++) {
		const struct option_spec *spec = find_letter(parser->options, *letter);
		int err;

		if (!spec && *letter == 'h') {
			parser->result->wants_help = true;
			return 0;
		}
		if (!spec && strlen(word) > 2 && options_find(parser->options, word + 1, strlen(word + 1)))
			return options_complain(parser, "unknown option '%s', did you mean '-%s'?", word,
						word);
		if (!spec)
			return options_complain(parser, "unknown option '-%c', see '%s --help'", *letter,
						parser->options->program);
		if (spec->argument)
			return take_with_value(parser, spec, letter[1] ? letter + 1 : NULL);
		err = options_take(parser, spec, NULL);
		if (err)
			return err;
	}
	return 0;
}

static int check_operands(struct options_parser *parser)
{
	const struct options *options = parser->options;
	const struct options_result *result = parser->result;

	if (result->operand_cnt < options->operand_min)
		return options_complain(parser, "%s is missing, see '%s --help'",
					options->operand ? options->operand : "an argument",
					options->program);
	if (options->operand_max >= 0 && result->operand_cnt > options->operand_max)
		return options_complain(parser, "unexpected argument '%s', see '%s --help'",
					result->operands[options->operand_max], options->program);
	return 0;
}

/* Everything behind "--". */
static void take_rest(struct options_parser *parser)
{
	struct options_result *result = parser->result;

	if (parser->options->takes_command) {
		result->command = parser->argv + parser->next_idx;
		result->command_cnt = parser->argc - parser->next_idx;
		return;
	}
	while (parser->next_idx < parser->argc)
		result->operands[result->operand_cnt++] = parser->argv[parser->next_idx++];
}

int options_parse(const struct options *options, int argc, char **argv, void *values,
		  struct options_result *result)
{
	struct options_parser parser = {
		.options = options,
		.argv = argv,
		.argc = argc,
		.next_idx = 1,
		.values = values,
		.result = result,
	};

	memset(result, 0, sizeof(*result));
	result->operands = argv + (argc > 0);
	while (parser.next_idx < argc) {
		char *word = argv[parser.next_idx++];
		int err = 0;

		if (strcmp(word, "--") == 0) {
			take_rest(&parser);
			break;
		}
		if (word[0] != '-' || word[1] == '\0')
			result->operands[result->operand_cnt++] = word; /* never ahead of next_idx */
		else
			err = word[1] == '-' ? parse_long(&parser, word) : parse_short(&parser, word);
		if (err || result->wants_help || result->wants_version)
			return err;
	}
	return check_operands(&parser);
}
