/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/json_source.h"

#include <errno.h>
#include <string.h>

#define WINDOW_BYTES (32u << 10)
#define NUMBER_MAX 64u

void json_source_init(struct json_source *json, struct import_source *source)
{
	*json = (struct json_source){ .source = source };
}

void json_source_release(struct json_source *json)
{
	text_release(&json->text);
}

uint64_t json_offset(const struct json_source *json)
{
	return import_source_offset(json->source) + (uint64_t)(json->at - json->begin);
}

/* false: there is no more. */
static bool fill(struct json_source *json)
{
	size_t length;

	if (json->at < json->end)
		return true;
	import_source_skip(json->source, (uint64_t)(json->end - json->begin));
	json->at = json->begin = import_source_peek(json->source, WINDOW_BYTES, &length);
	if (!json->at)
		length = 0;
	json->end = json->at + length;
	return length > 0;
}

static int hex_digits(struct json_source *json, uint32_t *code)
{
	*code = 0;
	for (unsigned int i = 0; i < 4; i++, json->at++) {
		uint8_t c;

		if (!fill(json))
			return -ENODATA;
		c = *json->at;
		if (!((c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')))
			return -EBADMSG;
		*code = *code * 16 + (uint32_t)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
	}
	return 0;
}

static void append(struct json_source *json, const char *bytes, size_t length)
{
	if (json->text.length + length > JSON_STRING_MAX) {
		json->cut_cnt += json->text.length < JSON_STRING_MAX;
		length = json->text.length < JSON_STRING_MAX ? JSON_STRING_MAX - json->text.length : 0;
	}
	text_append_bytes(&json->text, bytes, length);
}

#define REPLACEMENT 0xfffdu
#define HIGH_SURROGATE 0xd800u /* 1,024 of them, and behind them as many low ones */
#define LOW_SURROGATE 0xdc00u
#define SURROGATES_END 0xe000u

static void append_code(struct json_source *json, uint32_t code)
{
	char bytes[4];
	size_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

	if (code >= HIGH_SURROGATE && code < SURROGATES_END)
		code = REPLACEMENT;
	for (size_t i = length; i-- > 1; code >>= 6)
		bytes[i] = (char)(0x80 | (code & 0x3f));
	bytes[0] = (char)(length == 1 ? code : (0xf00u >> length & 0xffu) | code);
	append(json, bytes, length);
}

static int read_escape(struct json_source *json);

/* Behind \u; a pair of surrogates is one character, and one alone is none. */
static int read_code(struct json_source *json)
{
	uint32_t code, low;
	int err = hex_digits(json, &code);

	if (err)
		return err;
	if (code < HIGH_SURROGATE || code >= LOW_SURROGATE || !fill(json) || *json->at != '\\') {
		append_code(json, code);
		return 0;
	}
	json->at++;
	if (!fill(json))
		return -ENODATA;
	if (*json->at != 'u') {
		append_code(json, REPLACEMENT);
		return read_escape(json);
	}
	json->at++;
	err = hex_digits(json, &low);
	if (err)
		return err;
	if (low >= LOW_SURROGATE && low < SURROGATES_END) {
		append_code(json, 0x10000 + ((code - HIGH_SURROGATE) << 10 | (low - LOW_SURROGATE)));
		return 0;
	}
	append_code(json, REPLACEMENT);
	append_code(json, low);
	return 0;
}

static int read_escape(struct json_source *json)
{
	static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
	const char *letter;

	if (!fill(json))
		return -ENODATA;
	if (*json->at == 'u') {
		json->at++;
		return read_code(json);
	}
	letter = *json->at ? strchr(letters, *json->at) : NULL;
	if (!letter)
		return -EBADMSG;
	append(json, &meant[letter - letters], 1);
	json->at++;
	return 0;
}

static int read_string(struct json_source *json)
{
	int err;

	for (;;) {
		const uint8_t *begin;

		if (!fill(json))
			return -ENODATA;
		begin = json->at;
		while (json->at < json->end && *json->at != '"' && *json->at != '\\')
			json->at++;
		append(json, (const char *)begin, (size_t)(json->at - begin));
		if (json->at == json->end)
			continue;
		if (*json->at++ == '"')
			return 1;
		err = read_escape(json);
		if (err)
			return err;
	}
}

static int read_word(struct json_source *json)
{
	static const struct {
		const char *word;
		enum json_token token;
	} words[] = { { "true", JSON_TRUE }, { "false", JSON_FALSE }, { "null", JSON_NULL } };
	bool is_number = *json->at == '-' || (*json->at >= '0' && *json->at <= '9');

	while (fill(json) &&
	       ((*json->at >= '0' && *json->at <= '9') || (*json->at >= 'a' && *json->at <= 'z') ||
		*json->at == '-' || *json->at == '+' || *json->at == '.' || *json->at == 'E')) {
		if (json->text.length >= NUMBER_MAX)
			return -EBADMSG;
		append(json, (const char *)json->at++, 1);
	}
	json->token = JSON_NUMBER;
	if (is_number)
		return 1;
	for (size_t i = 0; i < 3; i++) {
		json->token = words[i].token;
		if (json->text.length > 0 && strcmp(text_string(&json->text), words[i].word) == 0)
			return 1;
	}
	return json->at == json->end ? -ENODATA : -EBADMSG;
}

int json_next(struct json_source *json)
{
	static const char marks[] = "{}[]";
	const char *mark;

	text_clear(&json->text);
	while (fill(json) && (*json->at == ' ' || *json->at == '\t' || *json->at == '\n' ||
			      *json->at == '\r' || *json->at == ',' || *json->at == ':'))
		json->at++;
	json->token = JSON_END;
	if (!fill(json))
		return 0;
	mark = *json->at ? strchr(marks, *json->at) : NULL;
	if (mark) {
		json->at++;
		json->token = (enum json_token)(JSON_OBJECT + (mark - marks));
		return 1;
	}
	if (*json->at == '"') {
		int result;

		json->at++;
		result = read_string(json);
		json->token = JSON_STRING;
		return json->text.err ? json->text.err : result;
	}
	return read_word(json);
}

int json_pass(struct json_source *json)
{
	uint64_t depth = json->token == JSON_OBJECT || json->token == JSON_ARRAY;
	int result;

	while (depth > 0) {
		result = json_next(json);
		if (result != 1)
			return result < 0 ? result : -ENODATA;
		if (json->token == JSON_OBJECT || json->token == JSON_ARRAY)
			depth++;
		else if (json->token == JSON_OBJECT_END || json->token == JSON_ARRAY_END)
			depth--;
	}
	return 0;
}
