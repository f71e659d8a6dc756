/* SPDX-License-Identifier: BSD-2-Clause */
#include "sql/sql_table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyze/wait/wait_sums.h"

#define LENGTH_OF(array) (sizeof(array) / sizeof((array)[0]))

/* ---- the tables that are no kind of record ---- */

#define BLOCK(name_, type_, member, ...)                                                             \
	{                                                                                            \
		.name = name_, .offset = offsetof(struct sql_block, member), .type = RECORD_##type_, \
		__VA_ARGS__                                                                          \
	}
#define IF_KNOWN .when = offsetof(struct sql_block, has_reason), .is = true
#define WAKE_FLAG(name, flag)                                      \
	BLOCK(name, FLAG, wake.flags, .mask = TXTRACE_WAKE_##flag, \
	      .when = offsetof(struct sql_block, has_wake), .is = true)

static const struct record_names object_kinds = { wait_object_kind_names, WAIT_OBJECT_KIND_COUNT };

static const struct record_field block_fields[] = {
	BLOCK("tid", TID, tid),
	BLOCK("pid", PID, pid),
	BLOCK("begin_ns", TIME, begin_ns, .rules = RECORD_NULL_0),
	BLOCK("end_ns", TIME, end_ns),
	BLOCK("blocked_ns", DURATION, blocked_ns),
	BLOCK("reason", ENUM, reason, .names = &record_block_reasons, IF_KNOWN),
	BLOCK("syscall_nr", I32, syscall_nr, IF_KNOWN),
	BLOCK("syscall", STRING, syscall),
	BLOCK("object", ADDRESS, object, IF_KNOWN),
	BLOCK("object_kind", ENUM, object_kind, .names = &object_kinds),
	BLOCK("object_name", STRING, object_name),
	BLOCK("span", SPAN_ID, wake.span, .rules = RECORD_NULL_0),
	WAKE_FLAG("span_keyed", SPAN_KEYED),
	BLOCK("waker_tid", TID, wake.waker_tid, .rules = RECORD_NULL_0),
	BLOCK("waker_pid", PID, wake.waker_pid, .rules = RECORD_NULL_0),
	BLOCK("waker_comm", STRING, wake.waker_comm),
	BLOCK("waker_span", SPAN_ID, wake.waker_span, .rules = RECORD_NULL_0),
	WAKE_FLAG("waker_span_keyed", WAKER_SPAN_KEYED),
	WAKE_FLAG("interrupt", INTERRUPT),
	WAKE_FLAG("timer", TIMER),
	WAKE_FLAG("softirq", SOFTIRQ),
	WAKE_FLAG("waker_unknown", WAKER_UNKNOWN),
};

const struct record_kind sql_blocks = {
	.plural = "blocks",
	.help = "waits of threads: why, for what, and their wakers",
	.fields = block_fields,
	.field_cnt = LENGTH_OF(block_fields),
};

#define CAPTURE(member, type_, ...)                                                   \
	{                                                                             \
		.name = #member, .offset = offsetof(struct txtrace_log_info, member), \
		.type = RECORD_##type_, __VA_ARGS__                                   \
	}
#define CAPTURE_CHARS(member) CAPTURE(member, CHARS, .size = sizeof(((struct txtrace_log_info *)0)->member))

static const struct record_field capture_fields[] = {
	CAPTURE(start_monotonic_ns, TIME),
	CAPTURE(start_realtime_ns, TIME),
	CAPTURE(pid, PID, .rules = RECORD_NULL_0),
	CAPTURE(cpu_cnt, U32),
	CAPTURE_CHARS(host),
	CAPTURE_CHARS(kernel),
	CAPTURE_CHARS(command),
	CAPTURE_CHARS(recorder),
	CAPTURE_CHARS(options),
};

const struct record_kind sql_captures = {
	.plural = "captures",
	.help = "captures: when, where, of what",
	.fields = capture_fields,
	.field_cnt = LENGTH_OF(capture_fields),
};

/* The last column of each table: not of the source, but of the row. */
static const struct record_field capture = { .name = "capture", .type = RECORD_COUNT };

/* ---- tables and columns ---- */

const struct record_kind *sql_table_at(size_t index)
{
	for (unsigned int kind = 0; kind < TXTRACE_RECORD_KIND_COUNT; kind++)
		if (record_kinds[kind].plural && index-- == 0)
			return &record_kinds[kind];
	return index == 0 ? &sql_blocks : index == 1 ? &sql_captures : NULL;
}

const struct record_kind *sql_table_find(const char *name)
{
	const struct record_kind *table;

	for (size_t i = 0; (table = sql_table_at(i)); i++)
		if (strcmp(table->plural, name) == 0)
			return table;
	return NULL;
}

size_t sql_column_cnt(const struct record_kind *table)
{
	return table->field_cnt + 1u;
}

const struct record_field *sql_column_at(const struct record_kind *table, size_t index)
{
	return index < table->field_cnt ? &table->fields[index] : &capture;
}

enum sql_type sql_column_type(const struct record_field *column)
{
	switch ((enum record_type)column->type) {
	case RECORD_SPAN_ID:
	case RECORD_ADDRESS:
	case RECORD_ENUM:
	case RECORD_SET:
	case RECORD_STRING:
	case RECORD_KEY:
	case RECORD_TEXT:
	case RECORD_CHARS:
		return SQL_TEXT;
	case RECORD_VALUE:
		return SQL_ANY;
	default:
		return SQL_INTEGER;
	}
}

/* ---- values ---- */

static void set_integer(struct sql_value *value, int64_t number)
{
	value->type = SQL_INTEGER;
	value->integer = number;
}

static void set_u64(struct sql_value *value, uint64_t number)
{
	if (number <= INT64_MAX) {
		set_integer(value, (int64_t)number);
		return;
	}
	value->type = SQL_REAL;
	value->real = (double)number;
}

static void set_id(struct sql_value *value, uint64_t id)
{
	char *at = value->room + sizeof(value->room);

	value->type = id ? SQL_TEXT : SQL_NULL;
	for (; id; id /= 10)
		*--at = (char)('0' + id % 10);
	value->bytes = at;
	value->length = (size_t)(value->room + sizeof(value->room) - at);
}

static void set_bytes(struct sql_value *value, struct txtrace_string string)
{
	value->type = string.length ? SQL_TEXT : SQL_NULL;
	value->bytes = string.bytes;
	value->length = string.length;
}

static void set_text(struct sql_value *value, const char *text)
{
	set_bytes(value, (struct txtrace_string){ text, text ? strlen(text) : 0 });
}

static void set_address(struct sql_value *value, uint64_t address)
{
	value->type = SQL_TEXT;
	value->length = (size_t)snprintf(value->room, sizeof(value->room), "0x%" PRIx64, address);
	value->bytes = value->room;
}

/* "named,child"; NULL: none of them. */
static void set_set(struct sql_value *value, const struct record_names *names, uint64_t bits)
{
	size_t length = 0;

	for (unsigned int i = 0; i < names->cnt && length < sizeof(value->room); i++)
		if (bits >> i & 1)
			length += (size_t)snprintf(value->room + length, sizeof(value->room) - length, "%s%s",
						   length ? "," : "", names->names[i]);
	if (length >= sizeof(value->room))
		length = sizeof(value->room) - 1;
	set_bytes(value, (struct txtrace_string){ value->room, length });
}

static void set_attribute_value(struct sql_value *value, const struct txtrace_attribute *attribute)
{
	switch (attribute->type) {
	case TXTRACE_ATTRIBUTE_INT:
		set_integer(value, (int64_t)attribute->value);
		break;
	case TXTRACE_ATTRIBUTE_DOUBLE:
		value->type = SQL_REAL;
		memcpy(&value->real, &attribute->value, sizeof(value->real));
		if (isnan(value->real)) /* SQLite would make NULL of it: not known */
			set_text(value, "NaN");
		break;
	case TXTRACE_ATTRIBUTE_STRING:
		set_bytes(value, attribute->string);
		value->type = SQL_TEXT; /* an empty string is one */
		value->bytes = attribute->string.length ? attribute->string.bytes : "";
		break;
	case TXTRACE_ATTRIBUTE_BYTES:
		set_bytes(value, attribute->string);
		value->type = SQL_BLOB;
		value->bytes = attribute->string.length ? attribute->string.bytes : "";
		break;
	case TXTRACE_ATTRIBUTE_POINTER:
		set_address(value, attribute->value);
		break;
	default: /* BOOL, UINT, and types of the future */
		if (attribute->value <= INT64_MAX)
			set_u64(value, attribute->value);
		else /* such as a hash: as text, since a floating-point number would lose its last digits */
			set_id(value, attribute->value);
	}
}

/* Of a field that has a number. */
static void set_number(struct sql_value *value, const struct record_field *field, uint64_t number)
{
	switch ((enum record_type)field->type) {
	case RECORD_SPAN_ID:
		set_id(value, number);
		break;
	case RECORD_ADDRESS:
		set_address(value, number);
		break;
	case RECORD_ENUM:
		set_text(value, record_name_or_unknown(field->names, (unsigned int)number));
		break;
	case RECORD_SET:
		set_set(value, field->names, number);
		break;
	case RECORD_I32:
	case RECORD_I64:
		set_integer(value, (int64_t)number);
		break;
	case RECORD_CPU:
		set_integer(value, (int64_t)number);
		value->type = number == TXTRACE_CPU_UNKNOWN ? SQL_NULL : SQL_INTEGER;
		break;
	default:
		set_u64(value, number);
	}
}

void sql_column_get(const struct record_field *column, const struct sql_row *row, struct sql_value *value)
{
	uint64_t number;

	value->type = SQL_NULL;
	if (column == &capture) {
		set_u64(value, row->capture);
		return;
	}
	if (!record_has(column, row->source))
		return;
	switch ((enum record_type)column->type) {
	case RECORD_STRING:
	case RECORD_KEY:
	case RECORD_TEXT:
	case RECORD_CHARS:
		set_bytes(value, record_bytes(column, row->source));
		return;
	case RECORD_VALUE:
		set_attribute_value(value, &((const struct txtrace_record *)row->source)->attribute);
		return;
	default:
		number = record_number(column, row->source);
		if (number || !(column->rules & RECORD_NULL_0))
			set_number(value, column, number);
	}
}
