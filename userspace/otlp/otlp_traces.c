/* SPDX-License-Identifier: BSD-2-Clause */
#include "otlp/otlp_traces.h"

#include <errno.h>
#include <string.h>

#include "base/protobuf.h"
#include "base/protobuf_reader.h"
#include "otlp/otlp_traces_walk.h"

/* Field numbers, as in opentelemetry/proto/trace/v1/trace.proto and common/v1/common.proto. */
enum {
	DATA_RESOURCE_SPANS = 1,
	RESOURCE_SPANS_RESOURCE = 1,
	RESOURCE_SPANS_SCOPE_SPANS = 2,
	SCOPE_SPANS_SPANS = 2,
	SPAN_TRACE_ID = 1,
	SPAN_SPAN_ID = 2,
	SPAN_PARENT_ID = 4,
	SPAN_START = 7,
	SPAN_END = 8,
	SPAN_ATTRIBUTES = 9,
	PAIR_KEY = 1,
	PAIR_VALUE = 2,
	VALUE_STRING = 1,
	VALUE_BOOL = 2,
	VALUE_INT = 3,
};

#define OWN_PREFIX "txtrace."

/* FNV-1a: which resources are the same is all that it is for. */
uint64_t otlp_walk_hash(const char *bytes, size_t length)
{
	uint64_t hash = 0xcbf29ce484222325ull;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (uint8_t)bytes[i]) * 0x100000001b3ull;
	return hash;
}

int otlp_walk_span(struct otlp_walk *walk, const struct otlp_traces_span *span,
		   struct otlp_traces_added *added)
{
	added->cnt = 0;
	return walk->visitor->span(walk->visitor->context, span, added);
}

int otlp_walk_drain(struct otlp_walk *walk)
{
	if (!walk->out || !walk->visitor->drain)
		return 0;
	return walk->visitor->drain(walk->visitor->context, walk->out);
}

static struct protobuf_reader within(const struct protobuf_field *field)
{
	return (struct protobuf_reader){ field->bytes, field->bytes + field->length };
}

static void take_id(uint8_t *to, size_t size, const struct protobuf_field *field)
{
	if (field->type == PROTOBUF_BYTES && field->length == size)
		memcpy(to, field->bytes, size);
}

static bool is_own(const struct protobuf_field *pair)
{
	struct protobuf_reader reader = within(pair);
	struct protobuf_field field;

	while (protobuf_next(&reader, &field))
		if (field.number == PAIR_KEY && field.type == PROTOBUF_BYTES)
			return field.length >= strlen(OWN_PREFIX) &&
			       memcmp(field.bytes, OWN_PREFIX, strlen(OWN_PREFIX)) == 0;
	return false;
}

static bool read_span(const struct protobuf_field *message, struct otlp_traces_span *span)
{
	struct protobuf_reader reader = within(message);
	struct protobuf_field field;

	while (protobuf_next(&reader, &field)) {
		if (field.number == SPAN_TRACE_ID)
			take_id(span->trace_id, sizeof(span->trace_id), &field);
		else if (field.number == SPAN_SPAN_ID)
			take_id(span->span_id, sizeof(span->span_id), &field);
		else if (field.number == SPAN_PARENT_ID)
			take_id(span->parent_id, sizeof(span->parent_id), &field);
		else if (field.number == SPAN_START && field.type == PROTOBUF_FIXED64)
			memcpy(&span->begin_ns, field.bytes, sizeof(span->begin_ns));
		else if (field.number == SPAN_END && field.type == PROTOBUF_FIXED64)
			memcpy(&span->end_ns, field.bytes, sizeof(span->end_ns));
		else if (field.number == SPAN_ATTRIBUTES && field.type == PROTOBUF_BYTES)
			span->has_own |= is_own(&field);
	}
	return reader.at == reader.end;
}

static void put_attribute(struct text *out, const struct otlp_traces_attribute *attribute)
{
	size_t at = protobuf_begin(out, SPAN_ATTRIBUTES), value;

	protobuf_bytes(out, PAIR_KEY, attribute->name, strlen(attribute->name));
	value = protobuf_begin(out, PAIR_VALUE);
	if (attribute->text)
		protobuf_bytes(out, VALUE_STRING, attribute->text, strlen(attribute->text));
	else if (attribute->is_flag)
		protobuf_u64(out, VALUE_BOOL, 1);
	else
		protobuf_u64(out, VALUE_INT, attribute->number < INT64_MAX ? attribute->number : INT64_MAX);
	protobuf_end(out, value);
	protobuf_end(out, at);
}

static int damaged(struct otlp_walk *walk, const char *at)
{
	walk->offset = (size_t)(at - walk->begin);
	return -EBADMSG;
}

static int walk_span(struct otlp_walk *walk, const struct protobuf_field *message)
{
	struct otlp_traces_span span = { .process = walk->process,
					 .offset = (size_t)(message->bytes - walk->begin) };
	struct otlp_traces_added added;
	size_t at;
	int err;

	if (!read_span(message, &span))
		return damaged(walk, message->bytes);
	err = otlp_walk_span(walk, &span, &added);
	if (err || !walk->out)
		return err;
	at = protobuf_begin(walk->out, (unsigned int)message->number);
	text_append_bytes(walk->out, message->bytes, message->length);
	for (size_t i = 0; i < added.cnt; i++)
		put_attribute(walk->out, &added.attributes[i]);
	protobuf_end(walk->out, at);
	return walk->out->err;
}

/* The levels above the spans, by the field with which each is in the one above it. */
static const unsigned int levels[] = { DATA_RESOURCE_SPANS, RESOURCE_SPANS_SCOPE_SPANS, SCOPE_SPANS_SPANS };

#define SPAN_LEVEL 3u

/* Spans with the same resource are of one process. */
static void find_process(struct otlp_walk *walk, struct protobuf_reader reader)
{
	struct protobuf_field field;

	walk->process = 0;
	while (protobuf_next(&reader, &field))
		if (field.number == RESOURCE_SPANS_RESOURCE && field.type == PROTOBUF_BYTES)
			walk->process = otlp_walk_hash(field.bytes, field.length);
}

static int walk_message(struct otlp_walk *walk, struct protobuf_reader reader, unsigned int level)
{
	struct protobuf_field field;
	int err = 0;

	if (level == 1)
		find_process(walk, reader);
	while (!err && protobuf_next(&reader, &field)) {
		bool has_spans = field.number == levels[level] && field.type == PROTOBUF_BYTES;
		size_t at = 0;

		if (!has_spans) {
			if (walk->out)
				text_append_bytes(walk->out, field.begin, (size_t)(reader.at - field.begin));
			continue;
		}
		if (level + 1 == SPAN_LEVEL) {
			err = walk_span(walk, &field);
			continue;
		}
		if (walk->out)
			at = protobuf_begin(walk->out, (unsigned int)field.number);
		err = walk_message(walk, within(&field), level + 1);
		if (walk->out)
			protobuf_end(walk->out, at);
		if (!err && level == 0)
			err = otlp_walk_drain(walk);
	}
	if (!err && reader.at != reader.end)
		err = damaged(walk, reader.at);
	return err ? err : walk->out ? walk->out->err : 0;
}

static int walk_protobuf(struct otlp_walk *walk, const char *bytes, size_t length)
{
	return walk_message(walk, (struct protobuf_reader){ bytes, bytes + length }, 0);
}

/* The first byte of protobuf is that of a newline, and the length behind it may be that of a brace. */
static bool is_protobuf(const char *bytes, size_t length)
{
	struct protobuf_reader reader = { bytes, bytes + length };
	struct protobuf_field field;

	while (protobuf_next(&reader, &field))
		;
	return reader.at == reader.end;
}

bool otlp_traces_is_json(const char *bytes, size_t length)
{
	size_t at = 0;

	while (at < length && strchr(" \t\r\n", bytes[at]) && bytes[at])
		at++;
	return at < length && bytes[at] == '{' && (at == 0 || !is_protobuf(bytes, length));
}

int otlp_traces_walk(const char *bytes, size_t length, const struct otlp_traces_visitor *visitor,
		     struct text *out, size_t *offset)
{
	struct otlp_walk walk = { .visitor = visitor, .out = out, .begin = bytes };
	int err = otlp_traces_is_json(bytes, length) ? otlp_walk_json(&walk, bytes, length)
						     : walk_protobuf(&walk, bytes, length);

	*offset = walk.offset;
	return err;
}
