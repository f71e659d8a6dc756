/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/glob.h"

/*
 * Matches one byte against the set at pattern ('[' is behind us); *end is set behind its ']'. NULL in *end:
 * it is no set.
 */
static bool matches_set(const char *pattern, unsigned char byte, const char **end)
{
	bool is_negated = *pattern == '!' || *pattern == '^', is_in = false;
	const char *c = pattern + is_negated;

	*end = NULL;
	for (const char *first = c; *c && (*c != ']' || c == first); c++) {
		unsigned char low = (unsigned char)*c, high = low;

		if (c[1] == '-' && c[2] && c[2] != ']') {
			high = (unsigned char)c[2];
			c += 2;
		}
		is_in |= byte >= low && byte <= high;
	}
	if (*c == ']')
		*end = c + 1;
	return is_in != is_negated;
}

/* Matches one byte against the item at pattern, which is no '*'; *next is set to the item behind it. */
static bool matches_one(const char *pattern, unsigned char byte, const char **next)
{
	const char *end;
	bool is_in;

	*next = pattern + 1;
	if (*pattern == '?')
		return true;
	if (*pattern == '[') {
		is_in = matches_set(pattern + 1, byte, &end);
		if (end) {
			*next = end;
			return is_in;
		}
	}
	if (*pattern == '\\' && pattern[1]) {
		*next = pattern + 2;
		return (unsigned char)pattern[1] == byte;
	}
	return *pattern && (unsigned char)*pattern == byte;
}

bool glob_matches(const char *pattern, const char *bytes, size_t length)
{
	const char *star = NULL; /* behind the last '*' that was met; only it needs another try */
	size_t star_idx = 0, idx = 0;

	while (idx < length) {
		const char *next;

		if (*pattern == '*') {
			star = ++pattern;
			star_idx = idx;
		} else if (matches_one(pattern, (unsigned char)bytes[idx], &next)) {
			pattern = next;
			idx++;
		} else if (star) {
			pattern = star;
			idx = ++star_idx;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}
