/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/otlp_encode.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/protobuf.h"

#define SCOPE_NAME "txtrace"
#define KIND_INTERNAL 1

/* W3C's flags are in the low byte; OTLP's own say where the parent is. */
#define FLAG_HAS_IS_REMOTE 0x100u
#define FLAG_IS_REMOTE 0x200u

/* Field numbers, as in opentelemetry/proto/trace/v1/trace.proto and common/v1/common.proto. */
enum {
	DATA_RESOURCE_SPANS = 1,
	RESOURCE_SPANS_RESOURCE = 1,
	RESOURCE_SPANS_SCOPE_SPANS = 2,
	RESOURCE_ATTRIBUTES = 1,
	SCOPE_SPANS_SCOPE = 1,
	SCOPE_SPANS_SPANS = 2,
	SCOPE_NAME_FIELD = 1,
	SCOPE_VERSION = 2,
	SPAN_TRACE_ID = 1,
	SPAN_SPAN_ID = 2,
	SPAN_TRACE_STATE = 3,
	SPAN_PARENT_SPAN_ID = 4,
	SPAN_NAME = 5,
	SPAN_KIND = 6,
	SPAN_START = 7,
	SPAN_END = 8,
	SPAN_ATTRIBUTES = 9,
	SPAN_DROPPED_ATTRIBUTES = 10,
	SPAN_EVENTS = 11,
	SPAN_DROPPED_EVENTS = 12,
	SPAN_LINKS = 13,
	SPAN_DROPPED_LINKS = 14,
	SPAN_FLAGS = 16,
	EVENT_TIME = 1,
	EVENT_NAME = 2,
	EVENT_ATTRIBUTES = 3,
	LINK_TRACE_ID = 1,
	LINK_SPAN_ID = 2,
	LINK_ATTRIBUTES = 4,
	PAIR_KEY = 1,
	PAIR_VALUE = 2,
	VALUE_STRING = 1,
	VALUE_BOOL = 2,
	VALUE_INT = 3,
	VALUE_DOUBLE = 4,
	VALUE_BYTES = 7,
};

void otlp_encoder_release(struct otlp_encoder *encoder)
{
	text_release(&encoder->scratch);
}

/* Valid text of any bytes; until the next one. */
static struct txtrace_string visible(struct otlp_encoder *encoder, struct text *out,
				     struct txtrace_string string)
{
	text_clear(&encoder->scratch);
	text_append_visible(&encoder->scratch, string.bytes, string.length);
	if (encoder->scratch.err)
		out->err = encoder->scratch.err;
	return (struct txtrace_string){ text_string(&encoder->scratch), encoder->scratch.length };
}

static uint32_t flags_of(const struct trace_place *place)
{
	return place->flags | (place->has_parent ? FLAG_HAS_IS_REMOTE : 0) |
	       (place->is_remote ? FLAG_IS_REMOTE : 0);
}

/* ---- protobuf ---- */

static void pack_string(struct otlp_encoder *encoder, struct text *out, unsigned int field,
			struct txtrace_string string)
{
	struct txtrace_string text = visible(encoder, out, string);

	protobuf_bytes(out, field, text.bytes, text.length);
}

static void pack_attribute(struct otlp_encoder *encoder, struct text *out, unsigned int field,
			   const struct otlp_attribute *attribute)
{
	size_t pair = protobuf_begin(out, field), value;
	double number;

	if (attribute->is_own)
		protobuf_bytes(out, PAIR_KEY, attribute->name.bytes, attribute->name.length);
	else
		pack_string(encoder, out, PAIR_KEY, attribute->name);
	value = protobuf_begin(out, PAIR_VALUE);
	switch (attribute->type) {
	case OTLP_STRING:
		pack_string(encoder, out, VALUE_STRING, attribute->string);
		break;
	case OTLP_BYTES:
		protobuf_bytes(out, VALUE_BYTES, attribute->string.bytes, attribute->string.length);
		break;
	case OTLP_BOOL:
		protobuf_u64(out, VALUE_BOOL, attribute->value != 0);
		break;
	case OTLP_INT:
		protobuf_u64(out, VALUE_INT, attribute->value);
		break;
	case OTLP_DOUBLE:
		memcpy(&number, &attribute->value, sizeof(number));
		protobuf_double(out, VALUE_DOUBLE, number);
		break;
	}
	protobuf_end(out, value);
	protobuf_end(out, pair);
}

static void pack_attributes(struct otlp_encoder *encoder, struct text *out, unsigned int field,
			    const struct otlp_attributes *attributes)
{
	for (size_t i = 0; i < attributes->cnt; i++)
		pack_attribute(encoder, out, field, &attributes->items[i]);
}

static void pack_count(struct text *out, unsigned int field, uint32_t cnt)
{
	if (cnt > 0)
		protobuf_u64(out, field, cnt);
}

static void pack_span(struct otlp_encoder *encoder, struct text *out, const struct otlp_span *span)
{
	const struct trace_place *place = &span->place;
	size_t at = protobuf_begin(out, SCOPE_SPANS_SPANS);

	protobuf_bytes(out, SPAN_TRACE_ID, place->own.trace_id, sizeof(place->own.trace_id));
	protobuf_bytes(out, SPAN_SPAN_ID, place->own.span_id, sizeof(place->own.span_id));
	if (place->state.length > 0)
		pack_string(encoder, out, SPAN_TRACE_STATE, place->state);
	if (place->has_parent)
		protobuf_bytes(out, SPAN_PARENT_SPAN_ID, place->parent_id, sizeof(place->parent_id));
	pack_string(encoder, out, SPAN_NAME, span->name);
	protobuf_u64(out, SPAN_KIND, KIND_INTERNAL);
	protobuf_fixed64(out, SPAN_START, span->begin_ns);
	protobuf_fixed64(out, SPAN_END, span->end_ns);
	pack_attributes(encoder, out, SPAN_ATTRIBUTES, &span->attributes);
	pack_count(out, SPAN_DROPPED_ATTRIBUTES, span->attributes.dropped_cnt);
	text_append_bytes(out, span->events.bytes, span->events.length);
	pack_count(out, SPAN_DROPPED_EVENTS, span->events.dropped_cnt);
	text_append_bytes(out, span->links.bytes, span->links.length);
	pack_count(out, SPAN_DROPPED_LINKS, span->links.dropped_cnt);
	protobuf_fixed32(out, SPAN_FLAGS, flags_of(place));
	protobuf_end(out, at);
}

static void pack_process(struct otlp_encoder *encoder, struct text *out,
			 const struct otlp_attributes *attributes, const char *version,
			 const struct text *spans)
{
	size_t process = protobuf_begin(out, DATA_RESOURCE_SPANS), at;

	at = protobuf_begin(out, RESOURCE_SPANS_RESOURCE);
	pack_attributes(encoder, out, RESOURCE_ATTRIBUTES, attributes);
	protobuf_end(out, at);
	at = protobuf_begin(out, RESOURCE_SPANS_SCOPE_SPANS);
	{
		size_t scope = protobuf_begin(out, SCOPE_SPANS_SCOPE);

		protobuf_bytes(out, SCOPE_NAME_FIELD, SCOPE_NAME, strlen(SCOPE_NAME));
		protobuf_bytes(out, SCOPE_VERSION, version, strlen(version));
		protobuf_end(out, scope);
	}
	text_append_bytes(out, text_string(spans), spans->length);
	protobuf_end(out, at);
	protobuf_end(out, process);
}

/* ---- JSON ---- */

/* Before each element of a list but the first. */
static void put_comma(struct text *out)
{
	if (out->length > 0)
		text_append(out, ",");
}

static void put_quoted(struct otlp_encoder *encoder, struct text *out, struct txtrace_string string)
{
	struct txtrace_string text = visible(encoder, out, string);
	size_t done = 0;

	text_append(out, "\"");
	for (size_t i = 0; i < text.length; i++) {
		if (text.bytes[i] != '"' && text.bytes[i] != '\\')
			continue;
		text_append_bytes(out, text.bytes + done, i - done);
		text_append(out, "\\");
		done = i;
	}
	text_append_bytes(out, text.bytes + done, text.length - done);
	text_append(out, "\"");
}

static void put_text(struct otlp_encoder *encoder, struct text *out, const char *text)
{
	put_quoted(encoder, out, (struct txtrace_string){ text, strlen(text) });
}

static void put_hex(struct text *out, const uint8_t *bytes, size_t length)
{
	static const char digits[] = "0123456789abcdef";

	text_append(out, "\"");
	for (size_t i = 0; i < length; i++)
		text_append_few(out, (const char[]){ digits[bytes[i] >> 4], digits[bytes[i] & 15] }, 2);
	text_append(out, "\"");
}

static void put_double(struct text *out, double value)
{
	if (isnan(value))
		text_append(out, "\"NaN\"");
	else if (isinf(value))
		text_append(out, value < 0 ? "\"-Infinity\"" : "\"Infinity\"");
	else
		text_append_format(out, "%.17g", value);
}

/* As Protobuf's JSON has bytes. */
static void put_value(struct otlp_encoder *encoder, struct text *out, const struct otlp_attribute *attribute)
{
	double number;

	switch (attribute->type) {
	case OTLP_STRING:
		text_append(out, "{\"stringValue\":");
		put_quoted(encoder, out, attribute->string);
		break;
	case OTLP_BYTES:
		text_append(out, "{\"bytesValue\":\"");
		text_append_base64(out, attribute->string.bytes, attribute->string.length);
		text_append(out, "\"");
		break;
	case OTLP_BOOL:
		text_append_format(out, "{\"boolValue\":%s", attribute->value ? "true" : "false");
		break;
	case OTLP_INT:
		text_append_format(out, "{\"intValue\":\"%" PRId64 "\"", (int64_t)attribute->value);
		break;
	case OTLP_DOUBLE:
		memcpy(&number, &attribute->value, sizeof(number));
		text_append(out, "{\"doubleValue\":");
		put_double(out, number);
		break;
	}
	text_append(out, "}");
}

/* A member of an object, with the comma before it; nothing without attributes. */
static void put_attributes(struct otlp_encoder *encoder, struct text *out,
			   const struct otlp_attributes *attributes)
{
	if (attributes->cnt == 0)
		return;
	text_append(out, ",\"attributes\":[");
	for (size_t i = 0; i < attributes->cnt; i++) {
		text_append(out, i ? ",{\"key\":" : "{\"key\":");
		put_quoted(encoder, out, attributes->items[i].name);
		text_append(out, ",\"value\":");
		put_value(encoder, out, &attributes->items[i]);
		text_append(out, "}");
	}
	text_append(out, "]");
}

static void put_dropped(struct text *out, const char *name, uint32_t cnt)
{
	if (cnt > 0)
		text_append_format(out, ",\"%s\":%" PRIu32, name, cnt);
}

static void put_elements(struct text *out, const char *name, const struct otlp_elements *elements)
{
	if (elements->length == 0)
		return;
	text_append_format(out, ",\"%s\":[", name);
	text_append_bytes(out, elements->bytes, elements->length);
	text_append(out, "]");
}

static void put_span(struct otlp_encoder *encoder, struct text *out, const struct otlp_span *span)
{
	const struct trace_place *place = &span->place;

	put_comma(out);
	text_append(out, "{\"traceId\":");
	put_hex(out, place->own.trace_id, sizeof(place->own.trace_id));
	text_append(out, ",\"spanId\":");
	put_hex(out, place->own.span_id, sizeof(place->own.span_id));
	if (place->state.length > 0) {
		text_append(out, ",\"traceState\":");
		put_quoted(encoder, out, place->state);
	}
	if (place->has_parent) {
		text_append(out, ",\"parentSpanId\":");
		put_hex(out, place->parent_id, sizeof(place->parent_id));
	}
	text_append_format(out, ",\"flags\":%" PRIu32 ",\"name\":", flags_of(place));
	put_quoted(encoder, out, span->name);
	text_append_format(out,
			   ",\"kind\":%d,\"startTimeUnixNano\":\"%" PRIu64 "\",\"endTimeUnixNano\":\"%" PRIu64
			   "\"",
			   KIND_INTERNAL, span->begin_ns, span->end_ns);
	put_attributes(encoder, out, &span->attributes);
	put_dropped(out, "droppedAttributesCount", span->attributes.dropped_cnt);
	put_elements(out, "events", &span->events);
	put_dropped(out, "droppedEventsCount", span->events.dropped_cnt);
	put_elements(out, "links", &span->links);
	put_dropped(out, "droppedLinksCount", span->links.dropped_cnt);
	text_append(out, "}");
}

static void put_process(struct otlp_encoder *encoder, struct text *out,
			const struct otlp_attributes *attributes, const char *version,
			const struct text *spans)
{
	put_comma(out);
	/* before the list of attributes is a comma, so something must be there */
	text_append(out, "{\"resource\":{\"droppedAttributesCount\":0");
	put_attributes(encoder, out, attributes);
	text_append(out, "},\"scopeSpans\":[{\"scope\":{\"name\":\"" SCOPE_NAME "\",\"version\":");
	put_text(encoder, out, version);
	text_append(out, "},\"spans\":[");
	text_append_bytes(out, text_string(spans), spans->length);
	text_append(out, "]}]}");
}

/* ---- either ---- */

void otlp_put_event(struct otlp_encoder *encoder, struct text *out, uint64_t time_ns,
		    struct txtrace_string name, struct otlp_attributes attributes)
{
	size_t at;

	if (encoder->is_json) {
		put_comma(out);
		text_append_format(out, "{\"timeUnixNano\":\"%" PRIu64 "\",\"name\":", time_ns);
		put_quoted(encoder, out, name);
		put_attributes(encoder, out, &attributes);
		text_append(out, "}");
		return;
	}
	at = protobuf_begin(out, SPAN_EVENTS);
	protobuf_fixed64(out, EVENT_TIME, time_ns);
	pack_string(encoder, out, EVENT_NAME, name);
	pack_attributes(encoder, out, EVENT_ATTRIBUTES, &attributes);
	protobuf_end(out, at);
}

void otlp_put_link(struct otlp_encoder *encoder, struct text *out, const struct trace_span_id *to,
		   struct otlp_attributes attributes)
{
	size_t at;

	if (encoder->is_json) {
		put_comma(out);
		text_append(out, "{\"traceId\":");
		put_hex(out, to->trace_id, sizeof(to->trace_id));
		text_append(out, ",\"spanId\":");
		put_hex(out, to->span_id, sizeof(to->span_id));
		put_attributes(encoder, out, &attributes);
		text_append(out, "}");
		return;
	}
	at = protobuf_begin(out, SPAN_LINKS);
	protobuf_bytes(out, LINK_TRACE_ID, to->trace_id, sizeof(to->trace_id));
	protobuf_bytes(out, LINK_SPAN_ID, to->span_id, sizeof(to->span_id));
	pack_attributes(encoder, out, LINK_ATTRIBUTES, &attributes);
	protobuf_end(out, at);
}

void otlp_put_span(struct otlp_encoder *encoder, struct text *out, const struct otlp_span *span)
{
	(encoder->is_json ? put_span : pack_span)(encoder, out, span);
}

void otlp_put_process(struct otlp_encoder *encoder, struct text *out, struct otlp_attributes attributes,
		      const char *version, const struct text *spans)
{
	(encoder->is_json ? put_process : pack_process)(encoder, out, &attributes, version, spans);
	if (spans->err)
		out->err = spans->err;
}

/* Messages of protobuf are one, wherever they are cut; one of JSON is a line. */
const char *otlp_message_begin(const struct otlp_encoder *encoder)
{
	return encoder->is_json ? "{\"resourceSpans\":[" : "";
}

const char *otlp_message_end(const struct otlp_encoder *encoder)
{
	return encoder->is_json ? "]}\n" : "";
}
