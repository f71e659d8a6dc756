/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/record_json.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "log/format/record_table.h"

static bool is_utf8(struct txtrace_string string)
{
	uint32_t code_point;

	for (size_t i = 0; i < string.length;) {
		i += utf8_decode(string.bytes + i, string.length - i, &code_point);
		if (code_point == UTF8_INVALID)
			return false;
	}
	return true;
}

/* Text for people: no control characters in it. */
static bool is_printable(struct txtrace_string string)
{
	for (size_t i = 0; i < string.length; i++) {
		if ((unsigned char)string.bytes[i] < 0x20 || string.bytes[i] == 0x7f)
			return false;
	}
	return is_utf8(string);
}

void json_member_hex(struct json *json, const char *name, const void *bytes, size_t length)
{
	static const char digits[] = "0123456789abcdef";
	const unsigned char *from = bytes;
	char *hex = malloc(2 * length + 1);

	if (!hex) {
		json->err = json->err ? json->err : -ENOMEM;
		return;
	}
	for (size_t i = 0; i < length; i++) {
		hex[2 * i] = digits[from[i] >> 4];
		hex[2 * i + 1] = digits[from[i] & 15];
	}
	json_member_string(json, name, hex, 2 * length);
	free(hex);
}

/*
 * JSON holds no bytes that are not UTF-8: such a string comes twice, readable
 * as `name` and exact as NAME_hex.
 */
static void member_bytes(struct json *json, const char *name, struct txtrace_string string)
{
	char hex_name[64];

	json_member_string(json, name, string.bytes, string.length);
	if (is_utf8(string))
		return;
	snprintf(hex_name, sizeof(hex_name), "%s_hex", name);
	json_member_hex(json, hex_name, string.bytes, string.length);
}

/* Nothing, if there is no key; else its bytes, and its text, if people can read that. */
static void members_key(struct json *json, const char *name, struct txtrace_string key)
{
	char text_name[64];

	if (key.length == 0)
		return;
	json_member_hex(json, name, key.bytes, key.length);
	if (!is_printable(key))
		return;
	snprintf(text_name, sizeof(text_name), "%s_text", name);
	json_member_string(json, text_name, key.bytes, key.length);
}

static void member_address(struct json *json, const char *name, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%" PRIx64, value);
	json_member_text(json, name, text);
}

/* JSON has no number for what is not finite: it comes as a string. */
static void member_double(struct json *json, const char *name, uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	if (isfinite(value))
		json_member_double(json, name, value);
	else
		json_member_text(json, name, isnan(value) ? "NaN" : value < 0 ? "-Infinity" : "Infinity");
}

static void member_value(struct json *json, const char *name, const struct txtrace_attribute *attribute)
{
	switch (attribute->type) {
	case TXTRACE_ATTRIBUTE_BOOL:
		json_member_bool(json, name, attribute->value);
		break;
	case TXTRACE_ATTRIBUTE_INT:
		json_member_i64(json, name, (int64_t)attribute->value);
		break;
	case TXTRACE_ATTRIBUTE_DOUBLE:
		member_double(json, name, attribute->value);
		break;
	case TXTRACE_ATTRIBUTE_STRING:
	case TXTRACE_ATTRIBUTE_BYTES:
		member_bytes(json, name, attribute->string);
		break;
	case TXTRACE_ATTRIBUTE_POINTER:
		member_address(json, name, attribute->value);
		break;
	default: /* UINT, and types of the future */
		json_member_u64(json, name, attribute->value);
	}
}

static void member_set(struct json *json, const struct record_field *field, uint64_t bits)
{
	json_name(json, field->name);
	json_array_begin(json);
	for (unsigned int i = 0; i < field->names->cnt; i++)
		if (bits >> i & 1)
			json_text(json, field->names->names[i]);
	json_array_end(json);
}

static void member(struct json *json, const struct record_field *field, const struct txtrace_record *record)
{
	uint64_t number = record_number(field, record);

	switch ((enum record_type)field->type) {
	case RECORD_SPAN_ID:
		json_member_u64_string(json, field->name, number);
		break;
	case RECORD_ADDRESS:
		member_address(json, field->name, number);
		break;
	case RECORD_I32:
	case RECORD_I64:
		json_member_i64(json, field->name, (int64_t)number);
		break;
	case RECORD_ENUM:
		json_member_text(json, field->name,
				 record_name_or_unknown(field->names, (unsigned int)number));
		break;
	case RECORD_SET:
		member_set(json, field, number);
		break;
	case RECORD_FLAG:
	case RECORD_BOOL:
		json_member_bool(json, field->name, number);
		break;
	case RECORD_STRING:
		member_bytes(json, field->name, record_bytes(field, record));
		break;
	case RECORD_KEY:
		members_key(json, field->name, record_bytes(field, record));
		break;
	case RECORD_TEXT:
		json_member_text(json, field->name, record_bytes(field, record).bytes);
		break;
	case RECORD_VALUE:
		member_value(json, field->name, &record->attribute);
		break;
	default:
		json_member_u64(json, field->name, number);
	}
}

/* The fields of one group, as an object; left out if all of them are. Returns the first that is not in it. */
static const struct record_field *member_group(struct json *json, const struct record_field *first,
					       const struct record_field *end,
					       const struct txtrace_record *record)
{
	const struct record_field *after = first;
	bool shows = false;

	for (; after < end && after->group && strcmp(after->group, first->group) == 0; after++)
		shows |= record_shows(after, record);
	if (!shows)
		return after;
	json_name(json, first->group);
	json_object_begin(json);
	for (; first < after; first++)
		json_member_u64(json, first->entry, record_number(first, record));
	json_object_end(json);
	return after;
}

void record_json_members(struct json *json, const struct txtrace_record *record)
{
	const struct record_kind *kind = record_kind_of(record);
	const struct record_field *field = kind->fields, *end = field + kind->field_cnt;

	while (field < end) {
		if (field->group) {
			field = member_group(json, field, end, record);
			continue;
		}
		if (record_shows(field, record))
			member(json, field, record);
		field++;
	}
}
