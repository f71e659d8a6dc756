/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/print/dump_line.h"

#include <inttypes.h>
#include <string.h>

#include "log/format/record_table.h"

/* "moved,loss", or "none". Bits without a name come as a number. */
struct bits {
	struct text *text;
	const char *separator;
	uint32_t left;
};

static void add_bit(struct bits *bits, uint32_t mask, const char *name)
{
	if (!(bits->left & mask) || !name)
		return;
	text_append_format(bits->text, "%s%s", bits->separator, name);
	bits->separator = ",";
	bits->left &= ~mask;
}

static void add_other_bits(struct bits *bits)
{
	if (bits->left)
		text_append_format(bits->text, "%s0x%x", bits->separator, bits->left);
	else if (!*bits->separator)
		text_append(bits->text, "none");
}

static void add_set(struct text *text, const struct record_field *field, uint64_t number)
{
	struct bits bits = { text, "", (uint32_t)number };

	for (unsigned int i = 0; i < field->names->cnt; i++)
		add_bit(&bits, 1u << i, field->names->names[i]);
	add_other_bits(&bits);
}

/* All flags of a record, by the names of its fields. */
static void add_flags(struct text *text, const struct record_kind *kind, const struct txtrace_record *record)
{
	const struct record_field *end = kind->fields + kind->field_cnt, *field = kind->fields;
	struct bits bits = { text, "", 0 };

	while (field < end && field->type != RECORD_FLAG)
		field++;
	if (field == end)
		return;
	text_append(text, " flags=");
	memcpy(&bits.left, record_at(field, record), sizeof(bits.left));
	for (; field < end; field++)
		add_bit(&bits, field->mask, field->type == RECORD_FLAG ? field->name : NULL);
	add_other_bits(&bits);
}

static void add_attribute_value(struct text *text, const struct txtrace_attribute *attribute)
{
	double number;

	switch (attribute->type) {
	case TXTRACE_ATTRIBUTE_BOOL:
		text_append(text, attribute->value ? "true" : "false");
		break;
	case TXTRACE_ATTRIBUTE_INT:
		text_append_format(text, "%" PRId64, (int64_t)attribute->value);
		break;
	case TXTRACE_ATTRIBUTE_UINT:
		text_append_u64(text, attribute->value);
		break;
	case TXTRACE_ATTRIBUTE_DOUBLE:
		memcpy(&number, &attribute->value, sizeof(number));
		text_append_format(text, "%.17g", number);
		break;
	case TXTRACE_ATTRIBUTE_STRING:
	case TXTRACE_ATTRIBUTE_BYTES:
		text_append_quoted(text, attribute->string.bytes, attribute->string.length);
		break;
	default: /* POINTER, and types of the future */
		text_append_format(text, "0x%" PRIx64, attribute->value);
	}
}

static void add_value(struct text *text, const struct record_field *field,
		      const struct txtrace_record *record)
{
	uint64_t number = record_number(field, record);
	struct txtrace_string string;
	const char *name;

	switch ((enum record_type)field->type) {
	case RECORD_ENUM:
		name = record_name(field->names, (unsigned int)number);
		if (name)
			text_append(text, name);
		else
			text_append_u64(text, number);
		break;
	case RECORD_SET:
		add_set(text, field, number);
		break;
	case RECORD_ADDRESS:
		text_append_format(text, "0x%" PRIx64, number);
		break;
	case RECORD_I32:
	case RECORD_I64:
		text_append_format(text, "%" PRId64, (int64_t)number);
		break;
	case RECORD_STRING:
	case RECORD_KEY:
	case RECORD_TEXT:
		string = record_bytes(field, record);
		text_append_quoted(text, string.bytes, string.length);
		break;
	case RECORD_VALUE:
		add_attribute_value(text, &record->attribute);
		break;
	default:
		text_append_u64(text, number);
	}
}

/* Times come first, flags together at the end. */
static void add_fields(struct text *text, const struct record_kind *kind, const struct txtrace_record *record,
		       bool are_times)
{
	for (unsigned int i = 0; i < kind->field_cnt; i++) {
		const struct record_field *field = &kind->fields[i];

		if (field->type == RECORD_FLAG || (field->type == RECORD_TIME) != are_times ||
		    !record_shows(field, record))
			continue;
		text_append(text, " ");
		text_append(text, field->name);
		text_append(text, "=");
		add_value(text, field, record);
	}
}

void dump_line_append(struct text *text, const struct txtrace_record *record)
{
	const struct record_kind *kind = record_kind_of(record);

	if (kind->name)
		text_append(text, kind->name);
	else
		text_append_format(text, "kind-%u", record->kind);
	add_fields(text, kind, record, true);
	add_fields(text, kind, record, false);
	add_flags(text, kind, record);
}
