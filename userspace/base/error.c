/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/error.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* The length of the printable character at bytes: ASCII, or well-formed UTF-8 that is no C1 control; 0 if it is anything else. */
static size_t printable_length(const unsigned char *bytes)
{
	unsigned char first = bytes[0];
	size_t length = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
	unsigned char second_min = first == 0xc2 || first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
	unsigned char second_max = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;

	if (length == 1)
		return first >= 0x20 && first != 0x7f;
	if (!length || bytes[1] < second_min || bytes[1] > second_max)
		return 0;
	for (size_t i = 2; i < length; i++)
		if ((bytes[i] & 0xc0) != 0x80)
			return 0;
	return length;
}

/* Copies `from`, escaped, into a buffer of `size` bytes; false if it was cut off. */
static bool copy_escaped(char *to, size_t size, const char *from)
{
	size_t used = 0;

	while (*from) {
		size_t length = printable_length((const unsigned char *)from);
		size_t needed = length ? length : 4;

		if (used + needed >= size) {
			to[used] = '\0';
			return false;
		}
		if (length)
			memcpy(to + used, from, length);
		else
			snprintf(to + used, size - used, "\\x%02x", (unsigned char)*from);
		used += needed;
		from += length ? length : 1;
	}
	to[used] = '\0';
	return true;
}

void error_set(struct error *error, const char *format, ...)
{
	char raw[sizeof(error->text)];
	va_list arguments;
	int length;

	if (!error)
		return;
	va_start(arguments, format);
	length = vsnprintf(raw, sizeof(raw), format, arguments);
	va_end(arguments);
	if (!copy_escaped(error->text, sizeof(error->text) - strlen("..."), raw) || length >= (int)sizeof(raw))
		strcat(error->text, "...");
}
