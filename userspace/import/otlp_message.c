/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/otlp_message.h"

#include <endian.h>
#include <string.h>

struct txtrace_string otlp_literal(const char *text)
{
	return (struct txtrace_string){ text, strlen(text) };
}

struct txtrace_string otlp_string(const struct protobuf_field *field)
{
	return (struct txtrace_string){ field->bytes, field->length };
}

struct protobuf_reader otlp_reader(struct txtrace_string bytes)
{
	return (struct protobuf_reader){ bytes.bytes, bytes.bytes + bytes.length };
}

bool otlp_is_equal(struct txtrace_string string, const char *text)
{
	return string.length == strlen(text) && memcmp(string.bytes, text, string.length) == 0;
}

bool otlp_begins_with(struct txtrace_string string, const char *text)
{
	return string.length >= strlen(text) && memcmp(string.bytes, text, strlen(text)) == 0;
}

/* ---- attributes ---- */

/* The last field of a value is what it is; number 0: there is none. */
bool otlp_read_value(struct txtrace_string bytes, struct protobuf_field *value)
{
	struct protobuf_reader reader = otlp_reader(bytes);
	struct protobuf_field field;

	*value = (struct protobuf_field){ 0 };
	while (protobuf_next(&reader, &field))
		*value = field;
	return reader.at == reader.end;
}

bool otlp_read_pair(struct txtrace_string bytes, struct otlp_pair *pair)
{
	struct protobuf_reader reader = otlp_reader(bytes);
	struct protobuf_field field;

	*pair = (struct otlp_pair){ .key = otlp_literal("") };
	while (protobuf_next(&reader, &field)) {
		if (field.number == PAIR_KEY && field.type == PROTOBUF_BYTES)
			pair->key = otlp_string(&field);
		if (field.number != PAIR_VALUE || field.type != PROTOBUF_BYTES)
			continue;
		if (!otlp_read_value(otlp_string(&field), &pair->value))
			return false;
	}
	return reader.at == reader.end;
}

bool otlp_is_number(const struct otlp_pair *pair, uint64_t max, uint64_t *number)
{
	if (pair->value.number != VALUE_INT || pair->value.type != PROTOBUF_VARINT || pair->value.value > max)
		return false;
	*number = pair->value.value;
	return true;
}

struct txtrace_string otlp_text(const struct otlp_pair *pair)
{
	return pair->value.number == VALUE_STRING && pair->value.type == PROTOBUF_BYTES
		       ? otlp_string(&pair->value)
		       : otlp_literal("");
}

bool otlp_find(struct txtrace_string resource, const char *name, struct otlp_pair *pair)
{
	struct protobuf_reader reader = otlp_reader(resource);
	struct protobuf_field field;

	while (protobuf_next(&reader, &field))
		if (otlp_read_pair(otlp_string(&field), pair) && otlp_is_equal(pair->key, name))
			return true;
	return false;
}

struct txtrace_string otlp_find_text(struct txtrace_string resource, const char *name)
{
	struct otlp_pair pair;

	return otlp_find(resource, name, &pair) ? otlp_text(&pair) : otlp_literal("");
}

/* ---- spans ---- */

static bool read_status(struct txtrace_string bytes, struct otlp_in_span *span)
{
	struct protobuf_reader reader = otlp_reader(bytes);
	struct protobuf_field field;

	while (protobuf_next(&reader, &field)) {
		if (field.number == STATUS_CODE && field.type == PROTOBUF_VARINT)
			span->status = field.value;
		else if (field.number == STATUS_MESSAGE && field.type == PROTOBUF_BYTES)
			span->status_message = otlp_string(&field);
	}
	return reader.at == reader.end;
}

static void read_thread(struct txtrace_string bytes, struct otlp_in_span *span)
{
	struct otlp_pair pair;
	uint64_t tid;

	if (!otlp_read_pair(bytes, &pair))
		return;
	if ((otlp_is_equal(pair.key, OTLP_OWN_PREFIX "thread.tid") ||
	     (otlp_is_equal(pair.key, "thread.id") && !span->tid)) &&
	    otlp_is_number(&pair, INT32_MAX, &tid))
		span->tid = (uint32_t)tid;
	else if (otlp_is_equal(pair.key, "thread.name"))
		span->thread = otlp_text(&pair);
}

uint64_t otlp_fixed64(const struct protobuf_field *field)
{
	uint64_t value;

	memcpy(&value, field->bytes, sizeof(value));
	return le64toh(value);
}

static void read_span_field(struct otlp_in_span *span, const struct protobuf_field *field)
{
	static const size_t strings[] = {
		[SPAN_TRACE_ID] = offsetof(struct otlp_in_span, trace_id),
		[SPAN_SPAN_ID] = offsetof(struct otlp_in_span, span_id),
		[SPAN_TRACE_STATE] = offsetof(struct otlp_in_span, state),
		[SPAN_PARENT_SPAN_ID] = offsetof(struct otlp_in_span, parent_id),
		[SPAN_NAME] = offsetof(struct otlp_in_span, name),
	};
	uint32_t flags;

	if (field->number >= SPAN_TRACE_ID && field->number <= SPAN_NAME && field->type == PROTOBUF_BYTES) {
		struct txtrace_string string = otlp_string(field);

		memcpy((char *)span + strings[field->number], &string, sizeof(string));
	} else if (field->number == SPAN_KIND && field->type == PROTOBUF_VARINT) {
		span->kind = field->value;
	} else if (field->number == SPAN_START && field->type == PROTOBUF_FIXED64) {
		span->begin_ns = otlp_fixed64(field);
	} else if (field->number == SPAN_END && field->type == PROTOBUF_FIXED64) {
		span->end_ns = otlp_fixed64(field);
	} else if (field->number == SPAN_FLAGS && field->type == PROTOBUF_FIXED32) {
		memcpy(&flags, field->bytes, sizeof(flags));
		span->flags = le32toh(flags);
	} else if (field->number == SPAN_ATTRIBUTES && field->type == PROTOBUF_BYTES) {
		read_thread(otlp_string(field), span);
	} else if (field->number == SPAN_STATUS && field->type == PROTOBUF_BYTES) {
		read_status(otlp_string(field), span);
	}
}

bool otlp_is_id(struct txtrace_string id, size_t length)
{
	uint8_t bits = 0;

	for (size_t i = 0; i < id.length; i++)
		bits |= (uint8_t)id.bytes[i];
	return id.length == length && bits;
}

/* false: it is no span. */
bool otlp_read_span(struct txtrace_string bytes, struct otlp_in_span *span)
{
	struct protobuf_reader reader = otlp_reader(bytes);
	struct protobuf_field field;

	*span = (struct otlp_in_span){ .fields = reader };
	while (protobuf_next(&reader, &field))
		read_span_field(span, &field);
	return reader.at == reader.end && otlp_is_id(span->trace_id, OTLP_TRACE_ID_BYTES) &&
	       otlp_is_id(span->span_id, OTLP_SPAN_ID_BYTES);
}

uint64_t otlp_id(struct txtrace_string id)
{
	uint64_t number;

	memcpy(&number, id.bytes, sizeof(number));
	return be64toh(number);
}
