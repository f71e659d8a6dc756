/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/json.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

#define FILE_BYTES 16384 /* go to the file at once */

void json_init_file(struct json *json, FILE *file)
{
	*json = (struct json){ .file = file };
}

void json_init_memory(struct json *json)
{
	*json = (struct json){ 0 };
}

void json_reset(struct json *json)
{
	json->length = 0;
	json->depth = 0;
	json->is_array = 0;
	json->has_elements = 0;
	json->has_name = false;
}

/* Makes room for length more bytes. */
static void grow(struct json *json, size_t length)
{
	size_t size = json->size ? json->size : 256;
	char *grown;

	while (size - json->length < length) {
		if (__builtin_mul_overflow(size, (size_t)2, &size)) {
			json->err = -ENOMEM;
			return;
		}
	}
	grown = realloc(json->bytes, size);
	if (!grown) {
		json->err = -ENOMEM;
		return;
	}
	json->bytes = grown;
	json->size = size;
}

static void write_out(struct json *json)
{
	int before = errno; /* may be why the file has an error already, which is still to be told */

	errno = 0;
	if (fwrite_unlocked(json->bytes, 1, json->length, json->file) != json->length)
		json->err = errno ? -errno : -EIO;
	else
		errno = before;
	json->length = 0;
}

static void put(struct json *json, const char *bytes, size_t length)
{
	if (json->err || length == 0)
		return;
	if (length > json->size - json->length) {
		grow(json, length);
		if (json->err)
			return;
	}
	memcpy(json->bytes + json->length, bytes, length);
	json->length += length;
	if (json->file && (json->depth == 0 || json->length >= FILE_BYTES))
		write_out(json);
}

int json_release(struct json *json)
{
	int err = json->err;

	if (!err && (json->depth > 0 || json->has_name))
		err = -EINVAL;
	if (json->file && json->length > 0 && !json->err)
		write_out(json); /* what is not complete is at least seen */
	free(json->bytes);
	*json = (struct json){ .err = err };
	return err;
}

static uint64_t level_bit(const struct json *json)
{
	return 1ull << json->depth;
}

static void indent(struct json *json)
{
	static const char blanks[2 * JSON_DEPTH_MAX + 1] =
		"                                                                ";

	if (!json->is_pretty)
		return;
	put(json, "\n", 1);
	put(json, blanks, 2 * (size_t)json->depth);
}

/* What goes before any value: a comma, or nothing behind a name. */
static void before_value(struct json *json)
{
	if (json->has_name) {
		json->has_name = false;
		return;
	}
	if (json->depth == 0)
		return;
	if (!(json->is_array & level_bit(json))) {
		json->err = json->err ? json->err : -EINVAL; /* a value without a name in an object */
		return;
	}
	if (json->has_elements & level_bit(json))
		put(json, ",", 1);
	json->has_elements |= level_bit(json);
	indent(json);
}

static void open_level(struct json *json, char bracket, bool is_array)
{
	before_value(json);
	if (json->depth == JSON_DEPTH_MAX) {
		json->err = json->err ? json->err : -EINVAL;
		return;
	}
	put(json, &bracket, 1);
	json->depth++;
	json->has_elements &= ~level_bit(json);
	if (is_array)
		json->is_array |= level_bit(json);
	else
		json->is_array &= ~level_bit(json);
}

static void close_level(struct json *json, char bracket, bool is_array)
{
	bool has_elements;

	if (json->depth == 0 || json->has_name || is_array != !!(json->is_array & level_bit(json))) {
		json->err = json->err ? json->err : -EINVAL;
		return;
	}
	has_elements = json->has_elements & level_bit(json);
	json->depth--;
	if (has_elements)
		indent(json);
	put(json, &bracket, 1);
	if (json->file && json->length > 0 && !json->err)
		write_out(json);
}

void json_object_begin(struct json *json)
{
	open_level(json, '{', false);
}

void json_object_end(struct json *json)
{
	close_level(json, '}', false);
}

void json_array_begin(struct json *json)
{
	open_level(json, '[', true);
}

void json_array_end(struct json *json)
{
	close_level(json, ']', true);
}

/* Stretches that need no escape go out in one piece. */
static void put_quoted(struct json *json, const char *bytes, size_t length)
{
	static const char letters[] = {
		['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r'
	};
	size_t plain = 0, i = 0;

	if (length == 0) { /* bytes may be NULL */
		put(json, "\"\"", 2);
		return;
	}
	put(json, "\"", 1);
	while (i < length) {
		unsigned char c = (unsigned char)bytes[i];
		uint32_t point = c;
		size_t size = c < 0x80 ? 1 : utf8_decode(bytes + i, length - i, &point);
		char escape[16];

		if (point != UTF8_INVALID && c >= 0x20 && c != '"' && c != '\\' &&
		    (point < 0x7f || point > 0x9f)) {
			i += size;
			continue;
		}
		put(json, bytes + plain, i - plain);
		if (point == UTF8_INVALID)
			put(json, "\xef\xbf\xbd", 3);
		else if (c == '"' || c == '\\')
			put(json, (const char[]){ '\\', (char)c }, 2);
		else if (c < sizeof(letters) && letters[c])
			put(json, (const char[]){ '\\', letters[c] }, 2);
		else
			put(json, escape,
			    (size_t)snprintf(escape, sizeof(escape), "\\u%04x", (unsigned int)point));
		i += size;
		plain = i;
	}
	put(json, bytes + plain, length - plain);
	put(json, "\"", 1);
}

void json_name(struct json *json, const char *name)
{
	json_name_string(json, name, strlen(name));
}

void json_name_string(struct json *json, const char *bytes, size_t length)
{
	if (json->depth == 0 || json->has_name || (json->is_array & level_bit(json))) {
		json->err = json->err ? json->err : -EINVAL;
		return;
	}
	if (json->has_elements & level_bit(json))
		put(json, ",", 1);
	json->has_elements |= level_bit(json);
	indent(json);
	put_quoted(json, bytes, length);
	put(json, ": ", json->is_pretty ? 2 : 1);
	json->has_name = true;
}

/* Writes the digits before `end`; returns where they begin. */
static char *format_u64(char *end, uint64_t value)
{
	do {
		*--end = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	return end;
}

void json_u64(struct json *json, uint64_t value)
{
	char digits[20], *end = digits + sizeof(digits), *begin = format_u64(end, value);

	before_value(json);
	put(json, begin, (size_t)(end - begin));
}

void json_i64(struct json *json, int64_t value)
{
	char digits[21], *end = digits + sizeof(digits);
	char *begin = format_u64(end, value < 0 ? -(uint64_t)value : (uint64_t)value);

	if (value < 0)
		*--begin = '-';
	before_value(json);
	put(json, begin, (size_t)(end - begin));
}

void json_u64_scaled(struct json *json, uint64_t value, unsigned int decimals)
{
	char text[24], digits[20], *end = digits + sizeof(digits), *begin = format_u64(end, value);
	unsigned int cnt = (unsigned int)(end - begin), length = 0;

	decimals = decimals < sizeof(digits) ? decimals : sizeof(digits) - 1;
	for (unsigned int place = cnt > decimals ? cnt : decimals + 1; place > 0; place--) {
		text[length++] = place > cnt ? '0' : end[-(int)place];
		if (place == decimals + 1 && decimals > 0)
			text[length++] = '.';
	}
	before_value(json);
	put(json, text, length);
}

void json_u64_string(struct json *json, uint64_t value)
{
	char digits[22], *end = digits + sizeof(digits) - 1, *begin = format_u64(end, value);

	*--begin = '"';
	*end++ = '"';
	before_value(json);
	put(json, begin, (size_t)(end - begin));
}

void json_double(struct json *json, double value)
{
	char text[32];
	int length = 0;

	if (!isfinite(value)) {
		json_null(json);
		return;
	}
	for (int digits = 15; digits <= 17; digits++) {
		length = snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	before_value(json);
	put(json, text, (size_t)length);
}

void json_fixed(struct json *json, double value, unsigned int decimals)
{
	char text[400]; /* DBL_MAX has 309 digits before the point */
	int length;

	if (!isfinite(value)) {
		json_null(json);
		return;
	}
	length = snprintf(text, sizeof(text), "%.*f", (int)(decimals < 17 ? decimals : 17), value);
	before_value(json);
	put(json, text, (size_t)length);
}

void json_bool(struct json *json, bool value)
{
	before_value(json);
	if (value)
		put(json, "true", 4);
	else
		put(json, "false", 5);
}

void json_null(struct json *json)
{
	before_value(json);
	put(json, "null", 4);
}

void json_string(struct json *json, const char *bytes, size_t length)
{
	before_value(json);
	put_quoted(json, bytes, length);
}

void json_text(struct json *json, const char *text)
{
	if (text)
		json_string(json, text, strlen(text));
	else
		json_null(json);
}

void json_member_u64(struct json *json, const char *name, uint64_t value)
{
	json_name(json, name);
	json_u64(json, value);
}

void json_member_i64(struct json *json, const char *name, int64_t value)
{
	json_name(json, name);
	json_i64(json, value);
}

void json_member_u64_string(struct json *json, const char *name, uint64_t value)
{
	json_name(json, name);
	json_u64_string(json, value);
}

void json_member_double(struct json *json, const char *name, double value)
{
	json_name(json, name);
	json_double(json, value);
}

void json_member_bool(struct json *json, const char *name, bool value)
{
	json_name(json, name);
	json_bool(json, value);
}

void json_member_null(struct json *json, const char *name)
{
	json_name(json, name);
	json_null(json);
}

void json_member_string(struct json *json, const char *name, const char *bytes, size_t length)
{
	json_name(json, name);
	json_string(json, bytes, length);
}

void json_member_text(struct json *json, const char *name, const char *text)
{
	json_name(json, name);
	json_text(json, text);
}

void json_newline(struct json *json)
{
	if (json->depth > 0)
		json->err = json->err ? json->err : -EINVAL;
	put(json, "\n", 1);
}

void json_line_break(struct json *json)
{
	put(json, "\n", 1);
}
