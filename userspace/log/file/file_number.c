/* SPDX-License-Identifier: BSD-2-Clause */
#include "log/file/file_number.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define DIGITS_MIN 6

/*
 * Where its extension begins, dot included; its end, if it has none. The dot of a hidden file begins no
 * extension.
 */
static const char *extension_of(const char *name)
{
	const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name, *dot = strrchr(base, '.');

	return dot && dot != base ? dot : base + strlen(base);
}

int file_number_format(const char *name, uint64_t number, char *buffer, size_t size)
{
	const char *extension = extension_of(name);
	int length = snprintf(buffer, size, "%.*s.%0*llu%s", (int)(extension - name), name, DIGITS_MIN,
			      (unsigned long long)number, extension);

	return length < 0 || (size_t)length >= size ? -ENAMETOOLONG : 0;
}

/* Only as they are written: no more zeros in front than make six digits. */
uint64_t file_number_parse(const char *name, const char *other)
{
	const char *extension = extension_of(name), *digits = other + (extension - name) + 1, *end;
	size_t stem_length = (size_t)(extension - name), digit_cnt;
	uint64_t number = 0;

	if (strncmp(name, other, stem_length) != 0 || other[stem_length] != '.')
		return 0;
	digit_cnt = strspn(digits, "0123456789");
	end = digits + digit_cnt;
	if (digit_cnt < DIGITS_MIN || digit_cnt > 18 || (digit_cnt > DIGITS_MIN && *digits == '0') ||
	    strcmp(end, extension) != 0)
		return 0;
	for (; digits < end; digits++)
		number = number * 10 + (uint64_t)(*digits - '0');
	return number;
}
