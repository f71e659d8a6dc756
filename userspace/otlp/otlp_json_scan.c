/* SPDX-License-Identifier: BSD-2-Clause */
#include "otlp/otlp_json_scan.h"

#include <errno.h>
#include <string.h>

#define DEPTH_MAX 64

char json_scan_peek(struct json_scan *scan)
{
	while (scan->at < scan->end &&
	       (*scan->at == ' ' || *scan->at == '\t' || *scan->at == '\r' || *scan->at == '\n'))
		scan->at++;
	return scan->at < scan->end ? *scan->at : '\0';
}

static int take(struct json_scan *scan, char wanted)
{
	if (json_scan_peek(scan) != wanted)
		return -EBADMSG;
	scan->at++;
	return 0;
}

/* An odd number of backslashes stand before it. */
static bool is_escaped(const char *at, const char *begin)
{
	bool is_odd = false;

	while (at-- > begin && *at == '\\')
		is_odd = !is_odd;
	return is_odd;
}

/* What is between the quotes, as it is written. */
static int take_string(struct json_scan *scan, struct json_word *word)
{
	int err = take(scan, '"');

	if (err)
		return err;
	word->bytes = scan->at;
	do {
		scan->at = memchr(scan->at, '"', (size_t)(scan->end - scan->at));
		if (!scan->at) {
			scan->at = scan->end;
			return -EBADMSG;
		}
		scan->at++;
	} while (is_escaped(scan->at - 1, word->bytes));
	word->length = (size_t)(scan->at - 1 - word->bytes);
	return 0;
}

/* A number, true, false or null. */
static int skip_plain(struct json_scan *scan)
{
	const char *begin = scan->at;

	while (scan->at < scan->end && !strchr(",]} \t\r\n", *scan->at))
		scan->at++;
	return scan->at > begin ? 0 : -EBADMSG;
}

int json_scan_each(struct json_scan *scan, const char *brackets, json_scan_visit visit, void *context)
{
	struct json_word name = { "", 0 };
	int err = take(scan, brackets[0]);
	bool is_first = true;

	if (!err && ++scan->depth > DEPTH_MAX)
		err = -EBADMSG;
	while (!err && json_scan_peek(scan) != brackets[1]) {
		if (!is_first)
			err = take(scan, ',');
		is_first = false;
		if (!err && brackets[0] == '{') {
			err = take_string(scan, &name);
			if (!err)
				err = take(scan, ':');
		}
		if (!err)
			err = visit(scan, &name, context);
	}
	scan->depth--;
	if (!err)
		scan->at++;
	return err;
}

static int skip_value(struct json_scan *scan, const struct json_word *name, void *context)
{
	struct json_word ignored;

	(void)name;
	switch (json_scan_peek(scan)) {
	case '{':
		return json_scan_each(scan, "{}", skip_value, context);
	case '[':
		return json_scan_each(scan, "[]", skip_value, context);
	case '"':
		return take_string(scan, &ignored);
	default:
		return skip_plain(scan);
	}
}

int json_scan_skip(struct json_scan *scan, struct json_word *text)
{
	int err;

	json_scan_peek(scan);
	text->bytes = scan->at;
	err = skip_value(scan, NULL, NULL);
	text->length = (size_t)(scan->at - text->bytes);
	return err;
}

bool json_word_is(const struct json_word *word, const char *text)
{
	return word->length == strlen(text) && memcmp(word->bytes, text, word->length) == 0;
}
