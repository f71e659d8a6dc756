/* SPDX-License-Identifier: BSD-2-Clause */
/* Traces in JSON: where their spans are in the text, and where attributes go. */
#include <errno.h>
#include <string.h>

#include "otlp/otlp_traces_walk.h"

#define DEPTH_MAX 64
#define OWN_NAME "\"txtrace."

struct scan {
	struct otlp_walk *walk;
	const char *at;
	const char *end;
	const char *copied; /* up to there the text is in walk->out */
	int depth;
};

struct word {
	const char *bytes;
	size_t length;
};

static int damaged(struct scan *scan)
{
	scan->walk->offset = (size_t)(scan->at - scan->walk->begin);
	return -EBADMSG;
}

/* The next character that is no blank; 0: the end. */
static char peek(struct scan *scan)
{
	while (scan->at < scan->end &&
	       (*scan->at == ' ' || *scan->at == '\t' || *scan->at == '\r' || *scan->at == '\n'))
		scan->at++;
	return scan->at < scan->end ? *scan->at : '\0';
}

static int take(struct scan *scan, char wanted)
{
	if (peek(scan) != wanted)
		return damaged(scan);
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
static int take_string(struct scan *scan, struct word *word)
{
	int err = take(scan, '"');

	if (err)
		return err;
	word->bytes = scan->at;
	do {
		scan->at = memchr(scan->at, '"', (size_t)(scan->end - scan->at));
		if (!scan->at) {
			scan->at = scan->end;
			return damaged(scan);
		}
		scan->at++;
	} while (is_escaped(scan->at - 1, word->bytes));
	word->length = (size_t)(scan->at - 1 - word->bytes);
	return 0;
}

static bool is_word(const struct word *word, const char *text)
{
	return word->length == strlen(text) && memcmp(word->bytes, text, word->length) == 0;
}

/* A number, true, false or null. */
static int skip_plain(struct scan *scan, struct word *word)
{
	word->bytes = scan->at;
	while (scan->at < scan->end && !strchr(",]} \t\r\n", *scan->at))
		scan->at++;
	word->length = (size_t)(scan->at - word->bytes);
	return word->length ? 0 : damaged(scan);
}

/* Each element of an array, or member of an object (name: of it), with the scan before its value. */
typedef int (*visit_value)(struct scan *scan, const struct word *name, void *context);

static int each(struct scan *scan, char open, char close, visit_value visit, void *context)
{
	struct word name = { "", 0 };
	int err = take(scan, open);
	bool is_first = true;

	if (!err && ++scan->depth > DEPTH_MAX)
		err = damaged(scan);
	while (!err && peek(scan) != close) {
		if (!is_first)
			err = take(scan, ',');
		is_first = false;
		if (!err && open == '{') {
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

static int skip_value(struct scan *scan, const struct word *name, void *context)
{
	struct word ignored;

	(void)name;
	switch (peek(scan)) {
	case '{':
		return each(scan, '{', '}', skip_value, context);
	case '[':
		return each(scan, '[', ']', skip_value, context);
	case '"':
		return take_string(scan, &ignored);
	default:
		return skip_plain(scan, &ignored);
	}
}

static int skip(struct scan *scan, struct word *text)
{
	int err;

	peek(scan);
	text->bytes = scan->at;
	err = skip_value(scan, NULL, NULL);
	text->length = (size_t)(scan->at - text->bytes);
	return err;
}

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

static void read_id(const struct word *text, uint8_t *id, size_t size)
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
static uint64_t read_number(const struct word *text)
{
	uint64_t number = 0;
	size_t i = *text->bytes == '"';

	for (; i < text->length && text->bytes[i] >= '0' && text->bytes[i] <= '9'; i++)
		if (__builtin_mul_overflow(number, 10, &number) ||
		    __builtin_add_overflow(number, (uint64_t)(text->bytes[i] - '0'), &number))
			return 0;
	return number;
}

static int see_key(struct scan *scan, const struct word *name, void *context)
{
	struct span *span = context;
	struct word text;
	int err = skip(scan, &text);

	if (!err && is_word(name, "key") && text.length >= strlen(OWN_NAME) &&
	    memcmp(text.bytes, OWN_NAME, strlen(OWN_NAME)) == 0)
		span->span.has_own = true;
	return err;
}

static int see_attribute(struct scan *scan, const struct word *name, void *context)
{
	struct span *span = context;

	(void)name;
	span->has_attributes = true;
	return peek(scan) == '{' ? each(scan, '{', '}', see_key, span) : skip_value(scan, NULL, NULL);
}

static int see_member(struct scan *scan, const struct word *name, void *context)
{
	struct span *span = context;
	struct word text;
	int err;

	span->has_members = true;
	if (is_word(name, "attributes") && peek(scan) == '[') {
		span->attributes = scan->at + 1;
		return each(scan, '[', ']', see_attribute, span);
	}
	err = skip(scan, &text);
	if (err)
		return err;
	if (is_word(name, "traceId"))
		read_id(&text, span->span.trace_id, sizeof(span->span.trace_id));
	else if (is_word(name, "spanId"))
		read_id(&text, span->span.span_id, sizeof(span->span.span_id));
	else if (is_word(name, "parentSpanId"))
		read_id(&text, span->span.parent_id, sizeof(span->span.parent_id));
	else if (is_word(name, "startTimeUnixNano"))
		span->span.begin_ns = read_number(&text);
	else if (is_word(name, "endTimeUnixNano"))
		span->span.end_ns = read_number(&text);
	return 0;
}

static void copy_up_to(struct scan *scan, const char *to)
{
	if (scan->walk->out)
		text_append_bytes(scan->walk->out, scan->copied, (size_t)(to - scan->copied));
	scan->copied = to;
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
static void insert(struct scan *scan, const struct span *span, const struct otlp_traces_added *added)
{
	struct text *out = scan->walk->out;

	if (!out || !added->cnt)
		return;
	copy_up_to(scan, span->attributes ? span->attributes : span->begin);
	if (!span->attributes)
		text_append(out, "\"attributes\":[");
	put_attributes(out, added);
	if (!span->attributes)
		text_append(out, span->has_members ? "]," : "]");
	else if (span->has_attributes)
		text_append(out, ",");
}

static int see_span(struct scan *scan, const struct word *name, void *context)
{
	struct span span = { .span = { .process = scan->walk->process,
				       .offset = (size_t)(scan->at - scan->walk->begin) } };
	struct otlp_traces_added added;
	int err;

	(void)name;
	(void)context;
	if (peek(scan) != '{')
		return damaged(scan);
	span.begin = scan->at + 1;
	err = each(scan, '{', '}', see_member, &span);
	if (!err)
		err = otlp_walk_span(scan->walk, &span.span, &added);
	if (!err) {
		insert(scan, &span, &added);
		err = otlp_walk_drain(scan->walk);
	}
	return err;
}

/* ---- what is above them ---- */

static int see_scope_member(struct scan *scan, const struct word *name, void *context)
{
	return is_word(name, "spans") && peek(scan) == '[' ? each(scan, '[', ']', see_span, context)
							   : skip_value(scan, NULL, NULL);
}

static int see_scope(struct scan *scan, const struct word *name, void *context)
{
	(void)name;
	return each(scan, '{', '}', see_scope_member, context);
}

#define FOUND 1 /* what follows need not be looked at */

static int see_resource(struct scan *scan, const struct word *name, void *context)
{
	struct word text;
	int err = skip(scan, &text);

	(void)context;
	if (err || !is_word(name, "resource"))
		return err;
	scan->walk->process = otlp_walk_hash(text.bytes, text.length);
	return FOUND;
}

static int see_process_member(struct scan *scan, const struct word *name, void *context)
{
	return is_word(name, "scopeSpans") && peek(scan) == '[' ? each(scan, '[', ']', see_scope, context)
								: skip_value(scan, NULL, NULL);
}

/* The resource may stand behind the spans: so it is looked for first. */
static int see_process(struct scan *scan, const struct word *name, void *context)
{
	const char *begin = scan->at;
	int err;

	(void)name;
	scan->walk->process = 0;
	err = each(scan, '{', '}', see_resource, context);
	if (err < 0)
		return err;
	scan->at = begin;
	return each(scan, '{', '}', see_process_member, context);
}

static int see_top_member(struct scan *scan, const struct word *name, void *context)
{
	return is_word(name, "resourceSpans") && peek(scan) == '['
		       ? each(scan, '[', ']', see_process, context)
		       : skip_value(scan, NULL, NULL);
}

int otlp_walk_json(struct otlp_walk *walk, const char *bytes, size_t length)
{
	struct scan scan = { .walk = walk, .at = bytes, .end = bytes + length, .copied = bytes };
	int err = 0;

	while (!err && peek(&scan))
		err = each(&scan, '{', '}', see_top_member, NULL);
	copy_up_to(&scan, scan.end);
	return err ? err : walk->out ? walk->out->err : 0;
}
