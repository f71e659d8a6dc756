/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/options_parser.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "base/near_miss.h"
#include "base/units.h"

int options_complain(struct options_parser *parser, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(parser->result->error, sizeof(parser->result->error), format, arguments);
	va_end(arguments);
	return -EINVAL;
}

bool options_is_end(const struct option_spec *spec)
{
	return !spec->name && !spec->help;
}

const struct option_spec *options_find(const struct options *options, const char *name, size_t length)
{
	for (const struct option_spec *spec = options->specs; !options_is_end(spec); spec++) {
		if (spec->name && strlen(spec->name) == length && memcmp(spec->name, name, length) == 0)
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
	for (const struct option_spec *spec = parser->options->specs; !options_is_end(spec); spec++) {
		if (spec->name && !spec->is_hidden)
			near_miss_offer(&near_miss, spec->name);
	}
	near_miss_offer(&near_miss, "help");
	if (parser->options->version)
		near_miss_offer(&near_miss, "version");
	if (near_miss.best)
		return options_complain(parser, "unknown option '--%s', did you mean '--%s'?", typed,
					near_miss.best);
	return options_complain(parser, "unknown option '--%s', see '%s --help'", typed,
				parser->options->program);
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
		used += (size_t)snprintf(text + used, size - used, "%s%s",
					 i == 0			      ? ""
					 : option_choice(spec, i + 1) ? ", "
								      : " or ",
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
		return options_complain(parser, "option '--%s' does not know '%s', did you mean '%s'?",
					spec->name, value, near_miss.best);
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
	[OPTION_DURATION] = { units_parse_duration, units_format_duration,
			      "a duration like 250us, 5ms, 1.5s or 2m" },
};

static int take_number(struct options_parser *parser, const struct option_spec *spec, const char *value)
{
	const struct number_type *type = &number_types[spec->type];
	char limit[UNITS_SIZE];
	uint64_t number;
	int err = type->parse(value, &number);

	if (err == -EINVAL)
		return options_complain(parser, "option '--%s' takes %s, not '%s'", spec->name, type->noun,
					value);
	if (err || (spec->maximum && number > spec->maximum))
		return options_complain(parser, "option '--%s' takes at most %s, not '%s'", spec->name,
				type->format(limit, spec->maximum ? spec->maximum : UINT64_MAX), value);
	if (number < spec->minimum)
		return options_complain(parser, "option '--%s' takes at least %s, not '%s'", spec->name,
					type->format(limit, spec->minimum), value);
	*(uint64_t *)((char *)parser->values + spec->offset) = number;
	return 0;
}

static int take_call(struct options_parser *parser, const struct option_spec *spec, const char *value)
{
	const char *complaint = NULL;
	int err = spec->call((char *)parser->values + spec->offset, value, &complaint);

	if (!err)
		return 0;
	if (value && complaint)
		return options_complain(parser, "option '--%s' takes %s, not '%s'", spec->name, complaint,
					value);
	return options_complain(parser, "option '--%s' failed: %s", spec->name,
				complaint ? complaint : strerror(-err));
}

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
		break; /* its values are the file's */
	}
	return -EINVAL;
}
