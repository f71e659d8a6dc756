/* SPDX-License-Identifier: BSD-2-Clause */
#include "sql/sql_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum sql_type sql_column_type(const struct sql_column *column)
{
	switch (column->how) {
	case SQL_ID:
	case SQL_BYTES:
		return SQL_TEXT;
	case SQL_CALL:
		return column->type;
	default:
		return SQL_INTEGER;
	}
}

size_t sql_table_column_cnt(const struct sql_table *table)
{
	size_t cnt = 0;

	while (table->columns[cnt].name)
		cnt++;
	return cnt;
}

int sql_table_column_find(const struct sql_table *table, const char *name)
{
	for (int i = 0; name && table->columns[i].name; i++) {
		if (strcmp(table->columns[i].name, name) == 0)
			return i;
	}
	return -1;
}

static void set_integer(struct sql_value *value, int64_t number)
{
	value->type = SQL_INTEGER;
	value->integer = number;
}

void sql_value_u64(struct sql_value *value, uint64_t number)
{
	if (number <= INT64_MAX) {
		set_integer(value, (int64_t)number);
		return;
	}
	value->type = SQL_REAL;
	value->real = (double)number;
}

void sql_value_id(struct sql_value *value, uint64_t id)
{
	char *at = value->room + sizeof(value->room);

	value->type = id ? SQL_TEXT : SQL_NULL;
	for (; id; id /= 10)
		*--at = (char)('0' + id % 10);
	value->bytes = at;
	value->length = (size_t)(value->room + sizeof(value->room) - at);
}

void sql_value_bytes(struct sql_value *value, struct txtrace_string string)
{
	value->type = string.length ? SQL_TEXT : SQL_NULL;
	value->bytes = string.bytes;
	value->length = string.length;
}

void sql_value_text(struct sql_value *value, const char *text)
{
	value->type = text ? SQL_TEXT : SQL_NULL;
	value->bytes = text;
	value->length = text ? strlen(text) : 0;
}

void sql_value_pointer(struct sql_value *value, uint64_t address)
{
	value->type = SQL_TEXT;
	value->length = (size_t)snprintf(value->room, sizeof(value->room), "0x%" PRIx64, address);
	value->bytes = value->room;
}

void sql_get_capture(const struct sql_row *row, struct sql_value *value)
{
	sql_value_u64(value, row->capture);
}

void sql_column_get(const struct sql_column *column, const struct sql_row *row, struct sql_value *value)
{
	const void *at = (const char *)row->source + column->offset;
	uint64_t number;

	switch (column->how) {
	case SQL_U64:
		sql_value_u64(value, *(const uint64_t *)at);
		return;
	case SQL_U64_OR_NULL:
		number = *(const uint64_t *)at;
		sql_value_u64(value, number);
		value->type = number ? value->type : SQL_NULL;
		return;
	case SQL_U32:
		set_integer(value, *(const uint32_t *)at);
		return;
	case SQL_U32_OR_NULL:
		set_integer(value, *(const uint32_t *)at);
		value->type = value->integer ? SQL_INTEGER : SQL_NULL;
		return;
	case SQL_I32:
		set_integer(value, *(const int32_t *)at);
		return;
	case SQL_I64:
		set_integer(value, *(const int64_t *)at);
		return;
	case SQL_BOOL:
		set_integer(value, *(const bool *)at);
		return;
	case SQL_FLAG:
		set_integer(value, (*(const uint32_t *)at & column->mask) != 0);
		return;
	case SQL_ID:
		sql_value_id(value, *(const uint64_t *)at);
		return;
	case SQL_BYTES:
		sql_value_bytes(value, *(const struct txtrace_string *)at);
		return;
	case SQL_CALL:
		column->get(row, value);
		return;
	}
	value->type = SQL_NULL;
}
