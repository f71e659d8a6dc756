/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/options.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "base/near_miss.h"
#include "base/options_parser.h"
#include "base/units.h"

int options_complain(struct options_parser *parser, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(parser->result->error, sizeof(parser->result->error), format, arguments);
	va_end(arguments);
	return -EINVAL;
}

static bool is_end(const struct option_spec *spec)
{
	return !spec->name && !spec->help;
}

const struct option_spec *options_find(const struct options *options, const char *name, size_t length)
{
	for (const struct option_spec *spec = options->specs; !is_end(spec); spec++) {
		if (spec->name && strlen(spec->name) == length && memcmp(spec->name, name, length) == 0)
			return spec;
	}
	return NULL;
}

static const struct option_spec *find_letter(const struct options *options, char letter)
{
	for (const struct option_spec *spec = options->specs; !is_end(spec); spec++) {
		if (spec->name && spec->letter == letter)
			return spec;
	}
	return NULL;
}

int options_complain_unknown(struct options_parser *parser, const char *name, size_t length)
{
	struct near_miss near_miss;
	char typed[64];

	snprintf(typed, sizeof(typed), "%.*s", (int)(length < 63 ? length : 63), name);
	near_miss_init(&near_miss, typed);
	for (const struct option_spec *spec = parser->options->specs; !is_end(spec); spec++) {
		if (spec->name && !spec->is_hidden)
			near_miss_offer(&near_miss, spec->name);
	}
	near_miss_offer(&near_miss, "help");
	if (parser->options->version)
		near_miss_offer(&near_miss, "version");
	if (near_miss.best)
		return options_complain(parser, "unknown option '--%s', did you mean '--%s'?", typed, near_miss.best);
	return options_complain(parser, "unknown option '--%s', see '%s --help'", typed, parser->options->program);
}

/* ---- values ---- */

const char *option_choice(const struct option_spec *spec, size_t idx)
{
	return spec->choices ? spec->choices[idx] : spec->choice_at(idx);
}

static void list_choices(const struct option_spec *spec, char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; option_choice(spec, i) && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%s", i == 0 ? "" : option_choice(spec, i + 1) ? ", " : " or ",
					 option_choice(spec, i));
}

static int take_choice(struct options_parser *parser, const struct option_spec *spec, const char *value)
{
	struct near_miss near_miss;
	char list[256];

	near_miss_init(&near_miss, value);
	for (unsigned int i = 0; option_choice(spec, i); i++) {
		if (strcmp(option_choice(spec, i), value) == 0) {
			*(unsigned int *)((char *)parser->values + spec->offset) = i;
			return 0;
		}
		near_miss_offer(&near_miss, option_choice(spec, i));
	}
	if (near_miss.best)
		return options_complain(parser, "option '--%s' does not know '%s', did you mean '%s'?", spec->name, value, near_miss.best);
	list_choices(spec, list, sizeof(list));
	return options_complain(parser, "option '--%s' takes %s, not '%s'", spec->name, list, value);
}

struct number_type {
	int (*parse)(const char *text, uint64_t *value);
	char *(*format)(char buffer[static UNITS_SIZE], uint64_t value);
	const char *noun;
};

static const struct number_type number_types[] = {
	[OPTION_U64] = { units_parse_u64, units_format_count, "a number" },
	[OPTION_SIZE] = { units_parse_size, units_format_size, "a size like 4096, 64K, 16M or 1G" },
	[OPTION_DURATION] = { units_parse_duration, units_format_duration, "a duration like 250us, 5ms, 1.5s or 2m" },
};

static int take_number(struct options_parser *parser, const struct option_spec *spec, const char *value)
{
	const struct number_type *type = &number_types[spec->type];
	char limit[UNITS_SIZE];
	uint64_t number;
	int err = type->parse(value, &number);

	if (err == -EINVAL)
		return options_complain(parser, "option '--%s' takes %s, not '%s'", spec->name, type->noun, value);
	if (err || (spec->maximum && number > spec->maximum))
		return options_complain(parser, "option '--%s' takes at most %s, not '%s'", spec->name,
				type->format(limit, spec->maximum ? spec->maximum : UINT64_MAX), value);
	if (number < spec->minimum)
		return options_complain(parser, "option '--%s' takes at least %s, not '%s'", spec->name, type->format(limit, spec->minimum),
				value);
	*(uint64_t *)((char *)parser->values + spec->offset) = number;
	return 0;
}

static int take_call(struct options_parser *parser, const struct option_spec *spec, const char *value)
{
	const char *complaint = NULL;
	int err = spec->call(parser->values, value, &complaint);

	if (!err)
		return 0;
	if (value && complaint)
		return options_complain(parser, "option '--%s' takes %s, not '%s'", spec->name, complaint, value);
	return options_complain(parser, "option '--%s' failed: %s", spec->name, complaint ? complaint : strerror(-err));
}

/* value is NULL for an option without an argument. */
int options_take(struct options_parser *parser, const struct option_spec *spec, const char *value)
{
	void *field = (char *)parser->values + spec->offset;

	switch (spec->type) {
	case OPTION_FLAG:
		*(bool *)field = true;
		return 0;
	case OPTION_STRING:
		*(const char **)field = value;
		return 0;
	case OPTION_U64:
	case OPTION_SIZE:
	case OPTION_DURATION:
		return take_number(parser, spec, value);
	case OPTION_CHOICE:
		return take_choice(parser, spec, value);
	case OPTION_CALL:
		return take_call(parser, spec, value);
	case OPTION_FILE:
		return options_take_file(parser, spec, value);
	}
	return -EINVAL;
}

/* Finds the value of an option: what is joined to it (may be NULL), or the next word. */
static int take_with_value(struct options_parser *parser, const struct option_spec *spec, const char *joined)
{
	if (!spec->argument)
		return options_take(parser, spec, NULL);
	if (!joined && parser->next_idx < parser->argc)
		joined = parser->argv[parser->next_idx++];
	if (!joined)
		return options_complain(parser, "option '--%s' needs a value: --%s %s", spec->name, spec->name, spec->argument);
	return options_take(parser, spec, joined);
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
			return options_complain(parser, "unknown option '%s', did you mean '-%s'?", word, word);
		if (!spec)
			return options_complain(parser, "unknown option '-%c', see '%s --help'", *letter, parser->options->program);
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
		return options_complain(parser, "%s is missing, see '%s --help'", options->operand ? options->operand : "an argument",
				options->program);
	if (options->operand_max >= 0 && result->operand_cnt > options->operand_max)
		return options_complain(parser, "unexpected argument '%s', see '%s --help'", result->operands[options->operand_max],
				options->program);
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

int options_parse(const struct options *options, int argc, char **argv, void *values, struct options_result *result)
{
	struct options_parser parser = {
		.options = options, .argv = argv, .argc = argc, .next_idx = 1, .values = values, .result = result,
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
