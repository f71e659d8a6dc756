/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/trace_context.h"

#include <stddef.h>
#include <string.h>

#define TRACEPARENT_LENGTH 55 /* 00-<32>-<16>-<2> */
#define TRACESTATE_MEMBER_MAX 32
#define TRACESTATE_PART_MAX 256 /* of a key, and of a value */

/* -1: it is no hexadecimal digit, of which only the small ones are allowed */
static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool parse_hex(uint8_t *bytes, size_t cnt, const char *text)
{
	for (size_t i = 0; i < cnt; i++) {
		int high = digit(text[2 * i]), low = digit(text[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		bytes[i] = (uint8_t)(high << 4 | low);
	}
	return true;
}

static bool is_zero(const uint8_t *bytes, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++) {
		if (bytes[i])
			return false;
	}
	return true;
}

bool trace_parent_parse(struct trace_parent *parent, struct txtrace_string text)
{
	const char *at = text.bytes;
	uint8_t version;

	if (text.length < TRACEPARENT_LENGTH || at[2] != '-' || at[35] != '-' || at[52] != '-')
		return false;
	if (!parse_hex(&version, 1, at) || version == 0xff)
		return false;
	if (text.length > TRACEPARENT_LENGTH && (version == 0 || at[TRACEPARENT_LENGTH] != '-'))
		return false;
	if (!parse_hex(parent->trace_id, TRACE_ID_BYTES, at + 3) ||
	    !parse_hex(parent->span_id, TRACE_SPAN_ID_BYTES, at + 36) ||
	    !parse_hex(&parent->flags, 1, at + 53))
		return false;
	parent->flags &= TRACE_FLAGS_KNOWN;
	return !is_zero(parent->trace_id, TRACE_ID_BYTES) && !is_zero(parent->span_id, TRACE_SPAN_ID_BYTES);
}

/* Capital letters are allowed here, as people paste what other tools print. */
bool trace_id_parse(uint8_t id[TRACE_ID_BYTES], const char *text)
{
	char digits[TRACE_ID_DIGITS];

	if (strlen(text) != TRACE_ID_DIGITS)
		return false;
	for (size_t i = 0; i < TRACE_ID_DIGITS; i++)
		digits[i] = text[i] >= 'A' && text[i] <= 'F' ? (char)(text[i] - 'A' + 'a') : text[i];
	return parse_hex(id, TRACE_ID_BYTES, digits) && !is_zero(id, TRACE_ID_BYTES);
}

void trace_id_format(char text[TRACE_ID_DIGITS + 1], const uint8_t id[TRACE_ID_BYTES])
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < TRACE_ID_BYTES; i++) {
		text[2 * i] = digits[id[i] >> 4];
		text[2 * i + 1] = digits[id[i] & 15];
	}
	text[TRACE_ID_DIGITS] = '\0';
}

bool trace_header_is(const struct txtrace_attribute *attribute, const char *name)
{
	return attribute->type == TXTRACE_ATTRIBUTE_STRING && !attribute->is_truncated &&
	       attribute->name.length == strlen(name) &&
	       !memcmp(attribute->name.bytes, name, attribute->name.length);
}

/* ---- tracestate ---- */

static bool is_key(const char *key, size_t length)
{
	if (length == 0 || length > TRACESTATE_PART_MAX || strchr("_-*/@", key[0]))
		return false;
	for (size_t i = 0; i < length; i++) {
		char c = key[i];

		if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && !(c && strchr("_-*/@", c)))
			return false;
	}
	return true;
}

static bool is_value(const char *value, size_t length)
{
	if (length == 0 || length > TRACESTATE_PART_MAX || value[length - 1] == ' ')
		return false;
	for (size_t i = 0; i < length; i++) {
		if (value[i] < ' ' || value[i] > '~' || value[i] == ',' || value[i] == '=')
			return false;
	}
	return true;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

bool trace_state_is_valid(struct txtrace_string text)
{
	const char *at = text.bytes, *end = at + text.length;
	unsigned int member_cnt = 0;

	while (at < end) {
		const char *comma = memchr(at, ',', (size_t)(end - at)), *stop = comma ? comma : end;
		const char *equals;

		while (at < stop && is_blank(*at))
			at++;
		for (; stop > at && is_blank(stop[-1]); stop--)
			;
		if (stop > at) { /* empty members are allowed, and do not count */
			equals = memchr(at, '=', (size_t)(stop - at));
			if (!equals || !is_key(at, (size_t)(equals - at)) ||
			    !is_value(equals + 1, (size_t)(stop - equals - 1)) ||
			    ++member_cnt > TRACESTATE_MEMBER_MAX)
				return false;
		}
		at = comma ? comma + 1 : end;
	}
	return member_cnt > 0;
}
