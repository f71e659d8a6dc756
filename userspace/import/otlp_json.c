/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/otlp_json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/protobuf.h"

#define DEPTH_MAX 32 /* of objects and lists in a ResourceSpans */

enum form {
	FORM_MESSAGE,
	FORM_STRING,
	FORM_HEX,
	FORM_BASE64,
	FORM_NUMBER,
	FORM_FIXED64,
	FORM_FIXED32,
	FORM_BOOL,
	FORM_DOUBLE,
};

struct member {
	const char *name;
	unsigned int field;
	enum form form;
	const struct member *members; /* of a message; NULL: of a value */
};

/* As in opentelemetry/proto/trace/v1/trace.proto and common/v1/common.proto; NULL ends a list. */
static const struct member value_members[];
static const struct member pair_members[] = {
	{ "key", 1, FORM_STRING, NULL },
	{ "value", 2, FORM_MESSAGE, value_members },
	{ NULL, 0, 0, NULL },
};
static const struct member array_members[] = {
	{ "values", 1, FORM_MESSAGE, value_members },
	{ NULL, 0, 0, NULL },
};
static const struct member pairs_members[] = {
	{ "values", 1, FORM_MESSAGE, pair_members },
	{ NULL, 0, 0, NULL },
};
static const struct member value_members[] = {
	{ "stringValue", 1, FORM_STRING, NULL },
	{ "boolValue", 2, FORM_BOOL, NULL },
	{ "intValue", 3, FORM_NUMBER, NULL },
	{ "doubleValue", 4, FORM_DOUBLE, NULL },
	{ "arrayValue", 5, FORM_MESSAGE, array_members },
	{ "kvlistValue", 6, FORM_MESSAGE, pairs_members },
	{ "bytesValue", 7, FORM_BASE64, NULL },
	{ NULL, 0, 0, NULL },
};
static const struct member event_members[] = {
	{ "timeUnixNano", 1, FORM_FIXED64, NULL },
	{ "name", 2, FORM_STRING, NULL },
	{ "attributes", 3, FORM_MESSAGE, pair_members },
	{ NULL, 0, 0, NULL },
};
static const struct member link_members[] = {
	{ "traceId", 1, FORM_HEX, NULL },
	{ "spanId", 2, FORM_HEX, NULL },
	{ "attributes", 4, FORM_MESSAGE, pair_members },
	{ NULL, 0, 0, NULL },
};
static const struct member status_members[] = {
	{ "message", 2, FORM_STRING, NULL },
	{ "code", 3, FORM_NUMBER, NULL },
	{ NULL, 0, 0, NULL },
};
static const struct member span_members[] = {
	{ "traceId", 1, FORM_HEX, NULL },
	{ "spanId", 2, FORM_HEX, NULL },
	{ "traceState", 3, FORM_STRING, NULL },
	{ "parentSpanId", 4, FORM_HEX, NULL },
	{ "name", 5, FORM_STRING, NULL },
	{ "kind", 6, FORM_NUMBER, NULL },
	{ "startTimeUnixNano", 7, FORM_FIXED64, NULL },
	{ "endTimeUnixNano", 8, FORM_FIXED64, NULL },
	{ "attributes", 9, FORM_MESSAGE, pair_members },
	{ "droppedAttributesCount", 10, FORM_NUMBER, NULL },
	{ "events", 11, FORM_MESSAGE, event_members },
	{ "droppedEventsCount", 12, FORM_NUMBER, NULL },
	{ "links", 13, FORM_MESSAGE, link_members },
	{ "droppedLinksCount", 14, FORM_NUMBER, NULL },
	{ "status", 15, FORM_MESSAGE, status_members },
	{ "flags", 16, FORM_FIXED32, NULL },
	{ NULL, 0, 0, NULL },
};
static const struct member scope_members[] = {
	{ "name", 1, FORM_STRING, NULL },
	{ "version", 2, FORM_STRING, NULL },
	{ NULL, 0, 0, NULL },
};
static const struct member scope_spans_members[] = {
	{ "scope", 1, FORM_MESSAGE, scope_members },
	{ "spans", 2, FORM_MESSAGE, span_members },
	{ NULL, 0, 0, NULL },
};
static const struct member resource_members[] = {
	{ "attributes", 1, FORM_MESSAGE, pair_members },
	{ NULL, 0, 0, NULL },
};
static const struct member resource_spans_members[] = {
	{ "resource", 1, FORM_MESSAGE, resource_members },
	{ "scopeSpans", 2, FORM_MESSAGE, scope_spans_members },
	{ NULL, 0, 0, NULL },
};

static int next_token(struct json_source *json)
{
	int result = json_next(json);

	return result < 0 ? result : 0;
}

/* ---- values ---- */

static int digit_of(char byte)
{
	if (byte >= '0' && byte <= '9')
		return byte - '0';
	byte |= 0x20;
	return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

/* In place; false: these are no pairs of digits. */
static bool decode_hex(char *text, size_t *length)
{
	size_t cnt = *length / 2;

	if (*length % 2)
		return false;
	for (size_t i = 0; i < cnt; i++) {
		int high = digit_of(text[2 * i]), low = digit_of(text[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		text[i] = (char)(high << 4 | low);
	}
	*length = cnt;
	return true;
}

static int base64_digit(char byte)
{
	if (byte >= 'A' && byte <= 'Z')
		return byte - 'A';
	if (byte >= 'a' && byte <= 'z')
		return byte - 'a' + 26;
	if (byte >= '0' && byte <= '9')
		return byte - '0' + 52;
	return byte == '+' || byte == '-' ? 62 : byte == '/' || byte == '_' ? 63 : -1;
}

static bool decode_base64(char *text, size_t *length)
{
	size_t out = 0;
	uint32_t bits = 0;
	unsigned int bit_cnt = 0;

	while (*length > 0 && text[*length - 1] == '=')
		--*length;
	for (size_t i = 0; i < *length; i++) {
		int digit = base64_digit(text[i]);

		if (digit < 0)
			return false;
		bits = bits << 6 | (uint32_t)digit;
		bit_cnt += 6;
		if (bit_cnt < 8)
			continue;
		bit_cnt -= 8;
		text[out++] = (char)(bits >> bit_cnt);
	}
	*length = out;
	return true;
}

/* A number, or a string with one in it. */
static bool read_integer(const struct json_source *json, uint64_t *value)
{
	const char *text = text_string(&json->text);
	bool is_negative = *text == '-';
	char *end;

	if (json->token != JSON_NUMBER && json->token != JSON_STRING)
		return false;
	if (!(text[is_negative] >= '0' && text[is_negative] <= '9'))
		return false;
	errno = 0;
	*value = is_negative ? (uint64_t)strtoll(text, &end, 10) : strtoull(text, &end, 10);
	return !errno && *end == '\0' && strlen(text) == json->text.length;
}

static bool read_real(const struct json_source *json, double *value)
{
	const char *text = text_string(&json->text);
	char *end;

	if (json->token != JSON_NUMBER && json->token != JSON_STRING)
		return false;
	*value = strtod(text, &end); /* also NaN and Infinity, as strings */
	return end != text && *end == '\0';
}

/* false: the value is not of that form. */
static bool put_value(struct otlp_json *otlp, struct text *out, const struct member *member)
{
	struct json_source *json = otlp->json;
	bool is_string = json->token == JSON_STRING;
	uint64_t number;
	double real;

	switch (member->form) {
	case FORM_STRING:
		if (is_string)
			protobuf_bytes(out, member->field, text_string(&json->text), json->text.length);
		return is_string;
	case FORM_HEX:
		if (!is_string ||
		    (json->text.length > 0 && !decode_hex(json->text.bytes, &json->text.length)))
			return false;
		protobuf_bytes(out, member->field, text_string(&json->text), json->text.length);
		return true;
	case FORM_BASE64:
		if (!is_string ||
		    (json->text.length > 0 && !decode_base64(json->text.bytes, &json->text.length)))
			return false;
		protobuf_bytes(out, member->field, text_string(&json->text), json->text.length);
		return true;
	case FORM_BOOL:
		if (json->token != JSON_TRUE && json->token != JSON_FALSE)
			return false;
		protobuf_u64(out, member->field, json->token == JSON_TRUE);
		return true;
	case FORM_DOUBLE:
		if (!read_real(json, &real))
			return false;
		protobuf_double(out, member->field, real);
		return true;
	default:
		if (!read_integer(json, &number))
			return false;
		if (member->form == FORM_FIXED64)
			protobuf_fixed64(out, member->field, number);
		else if (member->form == FORM_FIXED32)
			protobuf_fixed32(out, member->field, (uint32_t)number);
		else
			protobuf_u64(out, member->field, number);
		return true;
	}
}

/* ---- structure ---- */

static int put_members(struct otlp_json *otlp, struct text *out, const struct member *members,
		       unsigned int depth);

/* NULL: no such member. */
static const struct member *find_member(const struct member *members, const struct text *name)
{
	for (; members->name; members++)
		if (strlen(members->name) == name->length && strcmp(members->name, text_string(name)) == 0)
			return members;
	return NULL;
}

/* What was read is the value, or the beginning of it. */
static int put_member(struct otlp_json *otlp, struct text *out, const struct member *member,
		      unsigned int depth)
{
	struct json_source *json = otlp->json;
	size_t at;
	int err;

	if (json->token == JSON_OBJECT && member->form == FORM_MESSAGE) {
		at = protobuf_begin(out, member->field);
		err = put_members(otlp, out, member->members, depth + 1);
		protobuf_end(out, at);
		return err;
	}
	if (json->token == JSON_NULL)
		return 0;
	if (member->form != FORM_MESSAGE && put_value(otlp, out, member))
		return 0;
	otlp->wrong_cnt++;
	return json_pass(json);
}

static int put_list(struct otlp_json *otlp, struct text *out, const struct member *member, unsigned int depth)
{
	int err = next_token(otlp->json);

	while (!err && otlp->json->token != JSON_ARRAY_END) {
		if (otlp->json->token == JSON_END)
			return -ENODATA;
		err = put_member(otlp, out, member, depth);
		if (!err)
			err = next_token(otlp->json);
	}
	return err;
}

static int read_name(struct otlp_json *otlp)
{
	int err = next_token(otlp->json);

	if (err || otlp->json->token == JSON_OBJECT_END)
		return err;
	return otlp->json->token == JSON_STRING ? 0 : otlp->json->token == JSON_END ? -ENODATA : -EBADMSG;
}

/* Of an object whose beginning was read, up to its end. */
static int put_members(struct otlp_json *otlp, struct text *out, const struct member *members,
		       unsigned int depth)
{
	struct json_source *json = otlp->json;
	int err = depth < DEPTH_MAX ? read_name(otlp) : -ELOOP;

	while (!err && json->token != JSON_OBJECT_END) {
		const struct member *member = find_member(members, &json->text);

		err = next_token(json);
		if (err)
			break;
		if (!member)
			err = json_pass(json);
		else if (json->token == JSON_ARRAY && member->form == FORM_MESSAGE)
			err = put_list(otlp, out, member, depth);
		else
			err = put_member(otlp, out, member, depth);
		if (!err)
			err = read_name(otlp);
	}
	return err ? err : out->err;
}

/* The elements of resourceSpans: each by itself, so that memory does not follow the document. */
static int take_list(struct otlp_json *otlp)
{
	struct json_source *json = otlp->json;
	int err = next_token(json);

	while (!err && json->token != JSON_ARRAY_END) {
		if (json->token == JSON_END)
			return -ENODATA;
		text_clear(&otlp->packed);
		if (json->token == JSON_OBJECT) {
			err = put_members(otlp, &otlp->packed, resource_spans_members, 1);
			if (!err)
				err = otlp->take(otlp->context, text_string(&otlp->packed),
						 otlp->packed.length);
		} else {
			otlp->wrong_cnt++;
			err = json_pass(json);
		}
		if (!err)
			err = next_token(json);
	}
	return err;
}

static int read_document(struct otlp_json *otlp)
{
	struct json_source *json = otlp->json;
	bool has_spans = false;
	int err = read_name(otlp);

	while (!err && json->token != JSON_OBJECT_END) {
		bool is_it = strcmp(text_string(&json->text), "resourceSpans") == 0;

		err = next_token(json);
		if (err)
			break;
		has_spans |= is_it;
		if (is_it && json->token == JSON_ARRAY)
			err = take_list(otlp);
		else
			err = json_pass(json);
		if (!err)
			err = read_name(otlp);
	}
	otlp->other_cnt += !has_spans;
	return err;
}

int otlp_json_read(struct otlp_json *otlp)
{
	int err;

	while (!(err = next_token(otlp->json)) && otlp->json->token != JSON_END) {
		if (otlp->json->token == JSON_OBJECT)
			err = read_document(otlp);
		else
			err = json_pass(otlp->json);
		if (err)
			break;
	}
	return err;
}
