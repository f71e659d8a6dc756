/* SPDX-License-Identifier: BSD-2-Clause */
/* What holds of every record, wherever it comes from, and of text that is made of it. */
#ifndef FUZZ_LAWS_H
#define FUZZ_LAWS_H

#include "base/utf8.h"
#include "cli/print/dump_line.h"
#include "fuzz/fuzz.h"
#include "txtrace/log.h"

/* Text for a terminal: one line of UTF-8 without control characters. */
static inline void law_of_lines(const char *text, size_t length)
{
	while (length) {
		uint32_t code_point;
		size_t taken = utf8_decode(text, length, &code_point);

		LAW(code_point != UTF8_INVALID && code_point >= ' ' && code_point != 0x7f &&
		    !(code_point >= 0x80 && code_point < 0xa0));
		text += taken;
		length -= taken;
	}
}

/* Of a record that a reader gives: its kind is known, and it can be shown. */
static inline void law_of_records(const struct txtrace_record *record)
{
	struct text text = { 0 };

	LAW(txtrace_record_kind_name(record->kind));
	dump_line_append(&text, record);
	LAW(!text.err && text.length > 0);
	law_of_lines(text.bytes, text.length);
	text_release(&text);
}

/* ---- JSON ---- */

struct json_reader {
	const char *at;
	const char *end;
	unsigned int depth;
};

static inline bool json_take(struct json_reader *json, char byte)
{
	if (json->at == json->end || *json->at != byte)
		return false;
	json->at++;
	return true;
}

static inline void json_skip_blanks(struct json_reader *json)
{
	while (json->at < json->end && strchr(" \t\r\n", *json->at) && *json->at)
		json->at++;
}

static inline void law_of_json_strings(struct json_reader *json)
{
	LAW(json_take(json, '"'));
	while (!json_take(json, '"')) {
		uint32_t code_point;

		LAW(json->at < json->end);
		json->at += utf8_decode(json->at, (size_t)(json->end - json->at), &code_point);
		LAW(code_point != UTF8_INVALID && code_point >= ' ');
		if (code_point != '\\')
			continue;
		LAW(json->at < json->end && *json->at && strchr("\"\\/bfnrtu", *json->at));
		if (*json->at++ != 'u')
			continue;
		LAW(json->end - json->at >= 4);
		for (int i = 0; i < 4; i++, json->at++)
			LAW(*json->at && strchr("0123456789abcdefABCDEF", *json->at));
	}
}

static inline void law_of_json_words(struct json_reader *json)
{
	const char *begin = json->at;
	size_t length;
	char *number_end, word[64] = "";

	while (json->at < json->end && *json->at && !strchr(",]} \t\r\n", *json->at))
		json->at++;
	length = (size_t)(json->at - begin);
	LAW(length > 0 && length < sizeof(word));
	memcpy(word, begin, length);
	if (!strcmp(word, "true") || !strcmp(word, "false") || !strcmp(word, "null"))
		return;
	LAW(strspn(word, "-+.eE0123456789") == length && word[0] != '+' && word[0] != '.');
	strtod(word, &number_end);
	LAW(!*number_end);
}

/* A JSON value stands at json->at. */
static inline void law_of_json(struct json_reader *json)
{
	char close;

	LAW(++json->depth < 64);
	json_skip_blanks(json);
	LAW(json->at < json->end);
	if (*json->at == '"') {
		law_of_json_strings(json);
	} else if (*json->at == '{' || *json->at == '[') {
		close = *json->at++ == '{' ? '}' : ']';
		json_skip_blanks(json);
		for (bool is_first = true; !json_take(json, close); is_first = false) {
			LAW(is_first || json_take(json, ','));
			if (close == '}') {
				json_skip_blanks(json);
				law_of_json_strings(json);
				json_skip_blanks(json);
				LAW(json_take(json, ':'));
			}
			law_of_json(json);
			json_skip_blanks(json);
		}
	} else {
		law_of_json_words(json);
	}
	json->depth--;
}

#endif
