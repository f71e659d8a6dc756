/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/probes/probe_argument.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The length of the next argument: spaces within brackets are its own. */
static size_t argument_length(const char *text)
{
	size_t length = 0, depth = 0;

	for (; text[length] && (depth || text[length] != ' '); length++) {
		if (text[length] == '[' || text[length] == '(')
			depth++;
		else if ((text[length] == ']' || text[length] == ')') && depth)
			depth--;
	}
	return length;
}

/* "-4@": its size in bytes, negative if it has a sign; "8f@": it is a floating-point number. */
static void parse_type(struct probe_argument *argument, const char *text, size_t length)
{
	bool is_signed = length && *text == '-', is_float;
	size_t at = is_signed, size = 0;

	while (at < length && text[at] >= '0' && text[at] <= '9' && size < 100)
		size = size * 10 + (size_t)(text[at++] - '0');
	is_float = at < length && text[at] == 'f';
	at += is_float;
	if (at != length || (size != 1 && size != 2 && size != 4 && size != 8 && size != 16))
		snprintf(argument->type, sizeof(argument->type), "?");
	else
		snprintf(argument->type, sizeof(argument->type), "%c%zu",
			 is_float    ? 'f'
			 : is_signed ? 'i'
				     : 'u',
			 size * 8);
}

size_t probe_arguments_parse(const char *args, struct probe_argument arguments[PROBE_ARGUMENT_MAX])
{
	size_t cnt = 0;

	while (cnt < PROBE_ARGUMENT_MAX) {
		const char *at;
		size_t length;

		while (*args == ' ')
			args++;
		length = argument_length(args);
		if (!length)
			break;
		at = memchr(args, '@', length);
		parse_type(&arguments[cnt], args, at ? (size_t)(at - args) : 0);
		arguments[cnt].operand = at ? at + 1 : args;
		arguments[cnt].operand_length = length - (size_t)(arguments[cnt].operand - args);
		args += length;
		cnt++;
	}
	return cnt;
}
