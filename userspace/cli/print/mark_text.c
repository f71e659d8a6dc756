/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/print/mark_text.h"

#include <inttypes.h>
#include <string.h>

#define STRING_COLUMNS_MAX 60

uint64_t mark_time_ns(const struct txtrace_record *record)
{
	return record->kind == TXTRACE_RECORD_ATTRIBUTE ? record->attribute.time_ns :
	       record->kind == TXTRACE_RECORD_INSTANT   ? record->instant.time_ns :
							  record->link.time_ns;
}

uint32_t mark_pid(const struct txtrace_record *record)
{
	return record->kind == TXTRACE_RECORD_ATTRIBUTE ? record->attribute.pid :
	       record->kind == TXTRACE_RECORD_INSTANT   ? record->instant.pid :
							  record->link.pid;
}

uint32_t mark_tid(const struct txtrace_record *record)
{
	return record->kind == TXTRACE_RECORD_ATTRIBUTE ? record->attribute.tid :
	       record->kind == TXTRACE_RECORD_INSTANT   ? record->instant.tid :
							  record->link.tid;
}

static bool has_text(const struct txtrace_attribute *attribute)
{
	return attribute->type == TXTRACE_ATTRIBUTE_STRING || attribute->type == TXTRACE_ATTRIBUTE_BYTES;
}

static void append_value(struct text *text, const struct txtrace_attribute *attribute)
{
	double number;

	switch (attribute->type) {
	case TXTRACE_ATTRIBUTE_BOOL:
		text_append(text, attribute->value ? "true" : "false");
		break;
	case TXTRACE_ATTRIBUTE_INT:
		text_append_format(text, "%" PRId64, (int64_t)attribute->value);
		break;
	case TXTRACE_ATTRIBUTE_DOUBLE:
		memcpy(&number, &attribute->value, sizeof(number));
		text_append_format(text, "%.17g", number);
		break;
	case TXTRACE_ATTRIBUTE_POINTER:
		text_append_format(text, "0x%" PRIx64, attribute->value);
		break;
	default:
		text_append_u64(text, attribute->value);
		break;
	}
}

void mark_append(struct text *text, const struct txtrace_record *record)
{
	const struct txtrace_attribute *attribute = &record->attribute;
	const struct txtrace_link *link = &record->link;

	if (record->kind == TXTRACE_RECORD_INSTANT) {
		text_append(text, "instant ");
		text_append_clipped(text, record->instant.name.bytes, record->instant.name.length,
				    STRING_COLUMNS_MAX);
	} else if (record->kind == TXTRACE_RECORD_LINK) {
		text_append(text, "link ");
		text_append_clipped(text, link->name.bytes, link->name.length, STRING_COLUMNS_MAX);
		text_append_format(text, ": from %" PRIu64 " to %" PRIu64, link->from, link->to);
	} else {
		text_append_clipped(text, attribute->name.bytes, attribute->name.length, STRING_COLUMNS_MAX);
		text_append(text, " = ");
		if (has_text(attribute))
			text_append_clipped(text, attribute->string.bytes, attribute->string.length,
					    STRING_COLUMNS_MAX);
		else
			append_value(text, attribute);
	}
}

static void member_string(struct json *json, const char *name, struct txtrace_string string)
{
	json_member_string(json, name, string.bytes, string.length);
}

void mark_json(struct json *json, const struct txtrace_record *record)
{
	const struct txtrace_attribute *attribute = &record->attribute;
	struct text value = { 0 };

	json_object_begin(json);
	json_member_text(json, "kind", txtrace_record_kind_name(record->kind));
	json_member_u64(json, "time_ns", mark_time_ns(record));
	json_member_u64(json, "pid", mark_pid(record));
	json_member_u64(json, "tid", mark_tid(record));
	if (record->kind == TXTRACE_RECORD_LINK) {
		json_member_u64_string(json, "from", record->link.from);
		json_member_u64_string(json, "to", record->link.to);
		member_string(json, "name", record->link.name);
	} else if (record->kind == TXTRACE_RECORD_INSTANT) {
		json_member_u64_string(json, "span", record->instant.span);
		member_string(json, "name", record->instant.name);
	} else {
		json_member_u64_string(json, "span", attribute->span);
		member_string(json, "name", attribute->name);
		append_value(&value, attribute);
		if (has_text(attribute))
			member_string(json, "value", attribute->string);
		else
			json_member_text(json, "value", text_string(&value));
	}
	json_object_end(json);
	text_release(&value);
}
