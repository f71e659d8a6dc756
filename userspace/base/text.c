/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

void text_release(struct text *text)
{
	free(text->bytes);
	*text = (struct text){ 0 };
}

void text_clear(struct text *text)
{
	text->length = 0;
	if (text->bytes)
		text->bytes[0] = '\0';
}

const char *text_string(const struct text *text)
{
	return text->bytes ? text->bytes : "";
}

/* Makes room for length more bytes and a NUL. */
static bool reserve(struct text *text, size_t length)
{
	size_t needed, size = text->size ? text->size : 64;
	char *grown;

	if (text->err)
		return false;
	if (__builtin_add_overflow(text->length, length, &needed) || needed >= SIZE_MAX / 2) {
		text->err = -ENOMEM;
		return false;
	}
	if (needed < text->size)
		return true;
	while (size <= needed)
		size *= 2;
	grown = realloc(text->bytes, size);
	if (!grown) {
		text->err = -ENOMEM;
		return false;
	}
	text->bytes = grown;
	text->size = size;
	return true;
}

void text_append_bytes(struct text *text, const char *bytes, size_t length)
{
	if (length == 0 || !reserve(text, length))
		return;
	memcpy(text->bytes + text->length, bytes, length);
	text->length += length;
	text->bytes[text->length] = '\0';
}

void text_append_base64(struct text *text, const void *bytes, size_t length)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const unsigned char *from = bytes;

	for (size_t i = 0; i < length; i += 3) {
		size_t left = length - i;
		uint32_t bits = 0;
		char four[4];

		for (size_t byte = 0; byte < 3; byte++)
			bits = bits << 8 | (byte < left ? from[i + byte] : 0);
		for (size_t digit = 0; digit < 4; digit++)
			four[digit] = (char)(digit <= left ? digits[bits >> (18 - 6 * digit) & 63] : '=');
		text_append_few(text, four, sizeof(four));
	}
}

void text_append(struct text *text, const char *string)
{
	text_append_bytes(text, string, strlen(string));
}

void text_append_format(struct text *text, const char *format, ...)
{
	va_list arguments, again;
	int length;

	va_start(arguments, format);
	va_copy(again, arguments);
	length = vsnprintf(NULL, 0, format, arguments);
	va_end(arguments);
	if (length > 0 && reserve(text, (size_t)length)) {
		vsnprintf(text->bytes + text->length, (size_t)length + 1, format, again);
		text->length += (size_t)length;
	}
	va_end(again);
}

void text_append_u64(struct text *text, uint64_t value)
{
	char digits[20], *end = digits + sizeof(digits), *begin = end;

	do {
		*--begin = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	text_append_bytes(text, begin, (size_t)(end - begin));
}

#define ESCAPE_SIZE 16

/*
 * Whether a CI service would find a command here in the output of a step:
 * "::error::…" where a line begins, blanks aside, as any string may begin a
 * line; "##[…]", "##vso[…]" and the like anywhere.
 */
static bool begins_command(const char *string, const char *at, size_t length)
{
	if (*at == '#')
		return at > string && at[-1] == '#';
	if (*at != ':' || length < 2 || at[1] != ':')
		return false;
	while (string < at && *string == ' ')
		string++;
	return string == at;
}

/*
 * Escapes the character at the start of bytes into out; returns how many bytes
 * it took. string: where the text that they are in begins. *columns: the width
 * of what is in out.
 */
static size_t escape_one(const char *string, const char *bytes, size_t length, bool escapes_quote,
			 char out[static ESCAPE_SIZE], size_t *columns)
{
	static const char letters[] = { ['\t'] = 't', ['\n'] = 'n', ['\r'] = 'r', [0x1b] = 'e' };
	unsigned char c = (unsigned char)bytes[0];
	uint32_t point;
	size_t size = utf8_decode(bytes, length, &point);

	if (point == UTF8_INVALID || c == 0x7f || begins_command(string, bytes, length) ||
	    (c < 0x20 && !letters[c < sizeof(letters) ? c : 0])) {
		*columns = (size_t)snprintf(out, ESCAPE_SIZE, "\\x%02x", c);
	} else if (c < 0x20) {
		*columns = (size_t)snprintf(out, ESCAPE_SIZE, "\\%c", letters[c]);
	} else if (c == '\\' || (c == '"' && escapes_quote)) {
		*columns = (size_t)snprintf(out, ESCAPE_SIZE, "\\%c", c);
	} else if (utf8_is_deceptive(point)) {
		*columns = (size_t)snprintf(out, ESCAPE_SIZE, "\\u{%x}", point);
	} else {
		memcpy(out, bytes, size);
		out[size] = '\0';
		*columns = utf8_columns(point);
	}
	return size;
}

/*
 * How many bytes at the start need no escape: printable ASCII. What may begin a
 * command is looked at one by one.
 */
static size_t count_plain(const char *bytes, size_t length)
{
	size_t i = 0;

	while (i < length && bytes[i] >= 0x20 && bytes[i] < 0x7f && !strchr("\\\":#", bytes[i]))
		i++;
	return i;
}

static void append_escaped(struct text *text, const char *bytes, size_t length, bool escapes_quote)
{
	const char *string = bytes;

	while (length > 0) {
		char escaped[ESCAPE_SIZE];
		size_t columns, size = count_plain(bytes, length);

		if (size > 0) {
			text_append_bytes(text, bytes, size);
		} else {
			size = escape_one(string, bytes, length, escapes_quote, escaped, &columns);
			text_append(text, escaped);
		}
		bytes += size;
		length -= size;
	}
}

void text_append_escaped(struct text *text, const char *bytes, size_t length)
{
	append_escaped(text, bytes, length, false);
}

void text_append_quoted(struct text *text, const char *bytes, size_t length)
{
	text_append(text, "\"");
	append_escaped(text, bytes, length, true);
	text_append(text, "\"");
}

void text_append_clipped(struct text *text, const char *bytes, size_t length, size_t max_columns)
{
	const char *string = bytes;
	size_t used = 0, fitting = text->length; /* where to cut, should more come than fits */

	while (length > 0) {
		char escaped[ESCAPE_SIZE];
		size_t columns, size = escape_one(string, bytes, length, false, escaped, &columns);

		if (used + columns > max_columns) {
			if (text->bytes) {
				text->length = fitting;
				text->bytes[fitting] = '\0';
			}
			if (max_columns > 0)
				text_append(text, "\xe2\x80\xa6");
			return;
		}
		text_append(text, escaped);
		used += columns;
		if (used < max_columns)
			fitting = text->length;
		bytes += size;
		length -= size;
	}
}

size_t text_columns(const char *bytes, size_t length)
{
	size_t sum = 0, i = 0;

	while (i < length) {
		uint32_t point;

		i += utf8_decode(bytes + i, length - i, &point);
		sum += point == UTF8_INVALID ? 1 : utf8_columns(point);
	}
	return sum;
}

/* Of a code point that takes three bytes. */
static void append_wide(struct text *text, uint32_t code_point)
{
	char bytes[3] = { (char)(0xe0 | code_point >> 12), (char)(0x80 | (code_point >> 6 & 0x3f)),
			  (char)(0x80 | (code_point & 0x3f)) };

	text_append_bytes(text, bytes, sizeof(bytes));
}

void text_append_visible(struct text *text, const char *bytes, size_t length)
{
	size_t plain = 0, step; /* from plain on, all can stay as it is */

	for (size_t i = 0; i < length; i += step) {
		uint32_t code_point;
		bool is_c1; /* a terminal obeys them, too, and there are no pictures of them */

		step = 1;
		if (bytes[i] >= 0x20 && bytes[i] < 0x7f)
			continue;
		step = utf8_decode(bytes + i, length - i, &code_point);
		is_c1 = code_point >= 0x80 && code_point < 0xa0;
		if (code_point != UTF8_INVALID && code_point >= 0x20 && code_point != 0x7f && !is_c1)
			continue;
		text_append_bytes(text, bytes + plain, i - plain);
		plain = i + step;
		if (code_point == UTF8_INVALID || is_c1)
			append_wide(text, 0xfffd);
		else
			append_wide(text, 0x2400 + (code_point == 0x7f ? 0x21 : code_point));
	}
	text_append_bytes(text, bytes + plain, length - plain);
}
