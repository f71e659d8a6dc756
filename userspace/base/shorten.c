/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/shorten.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define STEP_COLUMNS 4 /* by which it gets wider where texts would become the same */

static bool continues(char byte)
{
	return ((unsigned char)byte & 0xc0) == 0x80;
}

/* The longest begin that takes no more columns. */
static size_t head_bytes(const char *string, size_t length, size_t columns)
{
	size_t fitting = 0;

	for (size_t at = 1; at <= length; at++) {
		if (at < length && continues(string[at]))
			continue;
		if (text_columns(string, at) > columns)
			break;
		fitting = at;
	}
	return fitting;
}

/* The longest end. */
static size_t tail_bytes(const char *string, size_t length, size_t columns)
{
	size_t fitting = 0;

	for (size_t size = 1; size <= length; size++) {
		if (continues(string[length - size]))
			continue;
		if (text_columns(string + length - size, size) > columns)
			break;
		fitting = size;
	}
	return fitting;
}

void text_append_shortened(struct text *text, const char *string, size_t columns, size_t tail_columns)
{
	size_t length = strlen(string), tail;

	if (text_columns(string, length) <= columns) {
		text_append(text, string);
		return;
	}
	tail = tail_bytes(string, length, tail_columns);
	text_append_bytes(text, string, head_bytes(string, length, columns - tail_columns - 1));
	text_append(text, "\xe2\x80\xa6");
	text_append_bytes(text, string + length - tail, tail);
}

struct pair {
	const char *full;
	char *shortened;
};

static int compare_pairs(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	return strcmp(x->shortened, y->shortened);
}

/* 1: all that are different stay so; 0: not; -ENOMEM. */
static int stay_distinct(const char *const *strings, size_t cnt, size_t columns, size_t tail_columns)
{
	struct pair *pairs = calloc(cnt + 1, sizeof(*pairs));
	int result = pairs ? 1 : -ENOMEM;

	for (size_t i = 0; result > 0 && i < cnt; i++) {
		struct text text = { 0 };

		text_append_shortened(&text, strings[i], columns, tail_columns);
		/* of an empty string nothing was appended */
		pairs[i] = (struct pair){ strings[i], text.bytes || text.err ? text.bytes : strdup("") };
		if (text.err || !pairs[i].shortened)
			result = -ENOMEM;
	}
	if (result > 0 && cnt)
		qsort(pairs, cnt, sizeof(*pairs), compare_pairs);
	for (size_t i = 1; result > 0 && i < cnt; i++) {
		if (!strcmp(pairs[i - 1].shortened, pairs[i].shortened) &&
		    strcmp(pairs[i - 1].full, pairs[i].full))
			result = 0;
	}
	for (size_t i = 0; pairs && i < cnt; i++)
		free(pairs[i].shortened);
	free(pairs);
	return result;
}

int shorten_choose(const char *const *strings, size_t cnt, size_t *columns, size_t *tail_columns)
{
	size_t widest = 0;

	for (size_t i = 0; i < cnt; i++) {
		size_t width = text_columns(strings[i], strlen(strings[i]));

		widest = width > widest ? width : widest;
	}
	*tail_columns = *columns / 2;
	for (; *columns < widest; *columns += STEP_COLUMNS) {
		const size_t tails[] = { *columns / 2, *columns / 4, *columns * 3 / 4, 0, *columns - 2 };

		for (size_t i = 0; i < sizeof(tails) / sizeof(tails[0]); i++) {
			int result = stay_distinct(strings, cnt, *columns, tails[i]);

			*tail_columns = tails[i];
			if (result)
				return result < 0 ? result : 0;
		}
	}
	return 0;
}
