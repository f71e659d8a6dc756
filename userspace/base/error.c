/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

/* C0, DEL and C1 controls, and what turns the direction of writing: a terminal would obey them. */
static bool is_printable(uint32_t code_point)
{
	return code_point != UTF8_INVALID && code_point >= 0x20 && (code_point < 0x7f || code_point > 0x9f) &&
	       (code_point < 0x202a || code_point > 0x202e) && (code_point < 0x2066 || code_point > 0x2069);
}

/* Copies `from`, escaped, into a buffer of `size` bytes; false if it was cut off. */
static bool copy_escaped(char *to, size_t size, const char *from)
{
	const char *end = from + strlen(from);
	size_t used = 0;

	while (from < end) {
		uint32_t code_point;
		size_t length = utf8_decode(from, (size_t)(end - from), &code_point);
		bool is_plain = is_printable(code_point);
		size_t needed = is_plain ? length : 4 * length;

		if (used + needed >= size) {
			to[used] = '\0';
			return false;
		}
		if (is_plain)
			memcpy(to + used, from, length);
		for (size_t i = 0; i < length && !is_plain; i++)
			snprintf(to + used + 4 * i, size - used - 4 * i, "\\x%02x", (unsigned char)from[i]);
		used += needed;
		from += length;
	}
	to[used] = '\0';
	return true;
}

void error_set_arguments(struct error *error, const char *format, va_list arguments)
{
	char raw[sizeof(error->text)];
	int length;

	if (!error)
		return;
	length = vsnprintf(raw, sizeof(raw), format, arguments);
	if (!copy_escaped(error->text, sizeof(error->text) - strlen("..."), raw) ||
	    length >= (int)sizeof(raw))
		strcat(error->text, "...");
}

void error_set(struct error *error, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	error_set_arguments(error, format, arguments);
	va_end(arguments);
}
