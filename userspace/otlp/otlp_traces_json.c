/* SPDX-License-Identifier: BSD-2-Clause */
/* Traces in JSON: where their spans are in the text, and where attributes go. */
#include <errno.h>
#include <string.h>

#include "otlp/otlp_json_scan.h"
#include "otlp/otlp_traces_walk.h"

#define OWN_NAME "\"txtrace."

struct copying {
	struct otlp_walk *walk;
	const char *copied; /* up to there the text is in walk->out */
};

/* ---- spans ---- */

struct span {
	struct otlp_traces_span span;
	const char *begin;	/* behind its brace */
	const char *attributes; /* behind their bracket; NULL: it has none */
	bool has_members;
	bool has_attributes; /* there is one at least */
};

static int digit_of(char digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	digit |= 0x20;
	return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

static void read_id(const struct json_word *text, uint8_t *id, size_t size)
{
	if (text->length != 2 * size + 2 || *text->bytes != '"')
		return;
	for (size_t i = 0; i < size; i++) {
		int high = digit_of(text->bytes[1 + 2 * i]), low = digit_of(text->bytes[2 + 2 * i]);

		if (high < 0 || low < 0) {
			memset(id, 0, size);
			return;
		}
		id[i] = (uint8_t)(high << 4 | low);
	}
}

/* "12" or 12 */
static uint64_t read_number(const struct json_word *text)
{
	uint64_t number = 0;
	size_t i = *text->bytes == '"';

	for (; i < text->length && text->bytes[i] >= '0' && text->bytes[i] <= '9'; i++)
		if (__builtin_mul_overflow(number, 10, &number) ||
		    __builtin_add_overflow(number, (uint64_t)(text->bytes[i] - '0'), &number))
			return 0;
	return number;
}

static int see_key(struct json_scan *scan, const struct json_word *name, void *context)
{
	struct span *span = context;
	struct json_word text;
	int err = json_scan_skip(scan, &text);

	if (!err && json_word_is(name, "key") && text.length >= strlen(OWN_NAME) &&
	    memcmp(text.bytes, OWN_NAME, strlen(OWN_NAME)) == 0)
		span->span.has_own = true;
	return err;
}

static int see_attribute(struct json_scan *scan, const struct json_word *name, void *context)
{
	struct span *span = context;
	struct json_word text;

	(void)name;
	span->has_attributes = true;
	return json_scan_peek(scan) == '{' ? json_scan_each(scan, "{}", see_key, span)
					   : json_scan_skip(scan, &text);
}

static int see_member(struct json_scan *scan, const struct json_word *name, void *context)
{
	struct span *span = context;
	struct json_word text;
	int err;

	span->has_members = true;
	if (json_word_is(name, "attributes") && json_scan_peek(scan) == '[') {
		span->attributes = scan->at + 1;
		return json_scan_each(scan, "[]", see_attribute, span);
	}
	err = json_scan_skip(scan, &text);
	if (err)
		return err;
	if (json_word_is(name, "traceId"))
		read_id(&text, span->span.trace_id, sizeof(span->span.trace_id));
	else if (json_word_is(name, "spanId"))
		read_id(&text, span->span.span_id, sizeof(span->span.span_id));
	else if (json_word_is(name, "parentSpanId"))
		read_id(&text, span->span.parent_id, sizeof(span->span.parent_id));
	else if (json_word_is(name, "startTimeUnixNano"))
		span->span.begin_ns = read_number(&text);
	else if (json_word_is(name, "endTimeUnixNano"))
		span->span.end_ns = read_number(&text);
	return 0;
}

static void copy_up_to(struct copying *copying, const char *to)
{
	if (copying->walk->out)
		text_append_bytes(copying->walk->out, copying->copied, (size_t)(to - copying->copied));
	copying->copied = to;
}

static void put_attributes(struct text *out, const struct otlp_traces_added *added)
{
	for (size_t i = 0; i < added->cnt; i++) {
		const struct otlp_traces_attribute *attribute = &added->attributes[i];

		text_append(out, i ? ",{\"key\":\"" : "{\"key\":\"");
		text_append(out, attribute->name);
		if (attribute->text) {
			text_append(out, "\",\"value\":{\"stringValue\":\"");
			text_append(out, attribute->text);
			text_append(out, "\"}}");
		} else if (attribute->is_flag) {
			text_append(out, "\",\"value\":{\"boolValue\":true}}");
		} else {
			text_append(out, "\",\"value\":{\"intValue\":\"");
			text_append_u64(out, attribute->number < INT64_MAX ? attribute->number : INT64_MAX);
			text_append(out, "\"}}");
		}
	}
}

/* At the begin of what it has: nothing that follows has to be known. */
static void insert(struct copying *copying, const struct span *span, const struct otlp_traces_added *added)
{
	struct text *out = copying->walk->out;

	if (!out || !added->cnt)
		return;
	copy_up_to(copying, span->attributes ? span->attributes : span->begin);
	if (!span->attributes)
		text_append(out, "\"attributes\":[");
	put_attributes(out, added);
	if (!span->attributes)
		text_append(out, span->has_members ? "]," : "]");
	else if (span->has_attributes)
		text_append(out, ",");
}

static int see_span(struct json_scan *scan, const struct json_word *name, void *context)
{
	struct copying *copying = context;
	struct otlp_walk *walk = copying->walk;
	struct span span = { .span = { .process = walk->process,
				       .offset = (size_t)(scan->at - walk->begin) } };
	struct otlp_traces_added added;
	int err;

	(void)name;
	json_scan_peek(scan);
	span.begin = scan->at + 1;
	err = json_scan_each(scan, "{}", see_member, &span);
	if (!err)
		err = otlp_walk_span(walk, &span.span, &added);
	if (!err) {
		insert(copying, &span, &added);
		err = otlp_walk_drain(walk);
	}
	return err;
}

/* ---- what is above them ---- */

/* A member that is an array with this name, or any other one. */
static int see_array(struct json_scan *scan, const struct json_word *name, const char *wanted,
		     json_scan_visit visit, void *context)
{
	struct json_word text;

	return json_word_is(name, wanted) && json_scan_peek(scan) == '['
		       ? json_scan_each(scan, "[]", visit, context)
		       : json_scan_skip(scan, &text);
}

static int see_scope_member(struct json_scan *scan, const struct json_word *name, void *context)
{
	return see_array(scan, name, "spans", see_span, context);
}

static int see_scope(struct json_scan *scan, const struct json_word *name, void *context)
{
	(void)name;
	return json_scan_each(scan, "{}", see_scope_member, context);
}

#define FOUND 1 /* what follows need not be looked at */

static int see_resource(struct json_scan *scan, const struct json_word *name, void *context)
{
	struct copying *copying = context;
	struct json_word text;
	int err = json_scan_skip(scan, &text);

	if (err || !json_word_is(name, "resource"))
		return err;
	copying->walk->process = otlp_walk_hash(text.bytes, text.length);
	return FOUND;
}

static int see_process_member(struct json_scan *scan, const struct json_word *name, void *context)
{
	return see_array(scan, name, "scopeSpans", see_scope, context);
}

/* The resource may stand behind the spans: so it is looked for first. */
static int see_process(struct json_scan *scan, const struct json_word *name, void *context)
{
	struct copying *copying = context;
	const char *begin = scan->at;
	int err;

	(void)name;
	copying->walk->process = 0;
	err = json_scan_each(scan, "{}", see_resource, context);
	if (err < 0)
		return err;
	scan->at = begin;
	return json_scan_each(scan, "{}", see_process_member, context);
}

static int see_top_member(struct json_scan *scan, const struct json_word *name, void *context)
{
	return see_array(scan, name, "resourceSpans", see_process, context);
}

int otlp_walk_json(struct otlp_walk *walk, const char *bytes, size_t length)
{
	struct json_scan scan = { .at = bytes, .end = bytes + length };
	struct copying copying = { walk, bytes };
	int err = 0;

	while (!err && json_scan_peek(&scan))
		err = json_scan_each(&scan, "{}", see_top_member, &copying);
	if (err == -EBADMSG)
		walk->offset = (size_t)(scan.at - bytes);
	copy_up_to(&copying, scan.end);
	return err ? err : walk->out ? walk->out->err : 0;
}
