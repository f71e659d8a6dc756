/* SPDX-License-Identifier: BSD-2-Clause */
#include "fleet/fleet_table.h"

#include <stdio.h>
#include <string.h>

#include "fleet/clickhouse.h"
#include "sql/sql_table.h"

static const char *const file_columns[] = {
	"first_time DateTime", "last_time DateTime", "sent_time DateTime", "span_cnt UInt64",
	"row_cnt UInt64",      "lost_cnt UInt64",    "damage_cnt UInt64",  "file_bytes UInt64",
	"is_removed UInt8",    "command String",     "recorder String",	   NULL,
};

const struct fleet_table fleet_tables[FLEET_TABLE_CNT] = {
	[FLEET_SPANS] = { .name = "spans",
			  .kind = &record_kinds[TXTRACE_RECORD_SPAN],
			  .has_container = true },
	[FLEET_BLOCKS] = { .name = "blocks", .kind = &sql_blocks },
	[FLEET_ATTRIBUTES] = { .name = "attributes", .kind = &record_kinds[TXTRACE_RECORD_ATTRIBUTE] },
	[FLEET_PROCESSES] = { .name = "processes", .kind = &record_kinds[TXTRACE_RECORD_PROCESS] },
	[FLEET_LOSSES] = { .name = "losses", .kind = &record_kinds[TXTRACE_RECORD_LOSS] },
	[FLEET_FILES] = { .name = "files", .own = file_columns },
};

/* ---- columns ---- */

enum wire {
	WIRE_U64,
	WIRE_I64,
	WIRE_U32,
	WIRE_I32,
	WIRE_U8,
	WIRE_STRING,
};

static enum wire wire_of(const struct record_field *field)
{
	switch ((enum record_type)field->type) {
	case RECORD_I64:
		return WIRE_I64;
	case RECORD_I32:
		return WIRE_I32;
	case RECORD_PID:
	case RECORD_TID:
	case RECORD_CPU:
	case RECORD_U32:
		return WIRE_U32;
	case RECORD_FLAG:
	case RECORD_BOOL:
		return WIRE_U8;
	case RECORD_ENUM:
	case RECORD_SET:
	case RECORD_STRING:
	case RECORD_KEY:
	case RECORD_TEXT:
	case RECORD_CHARS:
	case RECORD_VALUE:
		return WIRE_STRING;
	default:
		return WIRE_U64;
	}
}

/* A word of few: one that we made, or the first string, unless the kind says that it is one of many. */
static bool has_few_values(const struct record_kind *kind, const struct record_field *field)
{
	return field->type == RECORD_ENUM || field->type == RECORD_SET ||
	       (field->type == RECORD_STRING && !kind->is_nameless && field->offset == kind->strings[0]);
}

static const char *type_of(const struct record_kind *kind, const struct record_field *field,
			   struct fleet_dialect dialect)
{
	static const char *const types[] = { "UInt64", "Int64", "UInt32", "Int32", "UInt8", "String" };

	if (dialect.is_modern && has_few_values(kind, field))
		return "LowCardinality(String)";
	if (dialect.is_modern && field->type == RECORD_TIME)
		return "UInt64 CODEC(Delta, ZSTD(1))";
	if (dialect.is_modern && wire_of(field) == WIRE_U64)
		return "UInt64 CODEC(T64, ZSTD(1))";
	return types[wire_of(field)];
}

static void append_separator(struct text *text)
{
	text_append(text, ", ");
}

void fleet_table_append_names(struct text *text, const struct fleet_table *table)
{
	text_append(text, "host, capture, part, batch, time, unix_ns");
	if (table->has_container)
		text_append(text, ", container, pod");
	for (size_t i = 0; table->kind && i < table->kind->field_cnt; i++) {
		append_separator(text);
		clickhouse_append_name(text, table->kind->fields[i].name);
	}
	for (size_t i = 0; table->own && table->own[i]; i++) {
		append_separator(text);
		text_append_bytes(text, table->own[i], strcspn(table->own[i], " "));
	}
}

/* Queries ask for a host and a time, and a day is dropped as a whole. */
void fleet_table_append_create(struct text *text, const struct fleet_table *table, const char *name,
			       struct fleet_dialect dialect)
{
	const char *word = dialect.is_modern ? "LowCardinality(String)" : "String";

	text_append(text, "CREATE TABLE IF NOT EXISTS ");
	clickhouse_append_name(text, name);
	text_append_format(text,
			   " (host %s, capture %s, part UInt32, batch UInt64, time DateTime%s, "
			   "unix_ns UInt64%s",
			   word, word, dialect.is_modern ? "('UTC')" : "",
			   dialect.is_modern ? " CODEC(Delta, ZSTD(1))" : "");
	if (table->has_container)
		text_append_format(text, ", container %s, pod %s", word, word);
	for (size_t i = 0; table->kind && i < table->kind->field_cnt; i++) {
		const struct record_field *field = &table->kind->fields[i];

		append_separator(text);
		clickhouse_append_name(text, field->name);
		text_append_format(text, " %s", type_of(table->kind, field, dialect));
	}
	for (size_t i = 0; table->own && table->own[i]; i++)
		text_append_format(text, ", %s", table->own[i]);
	text_append(text,
		    ") ENGINE = MergeTree() PARTITION BY toYYYYMMDD(time) ORDER BY (host, capture, time)");
}

/* ---- values ---- */

void fleet_append_u32(struct text *row, uint32_t value)
{
	text_append_few(row, &value, sizeof(value));
}

void fleet_append_u64(struct text *row, uint64_t value)
{
	text_append_few(row, &value, sizeof(value));
}

/* The length comes first, seven bits a byte. */
void fleet_append_string(struct text *row, const char *bytes, size_t length)
{
	uint8_t head[10];
	size_t cnt = 0;

	for (size_t rest = length; cnt == 0 || rest; rest >>= 7)
		head[cnt++] = (uint8_t)((rest & 0x7f) | (rest >> 7 ? 0x80 : 0));
	text_append_few(row, head, cnt);
	text_append_few(row, bytes ? bytes : "", length);
}

static void append_text(struct text *row, const char *text)
{
	fleet_append_string(row, text, strlen(text));
}

/* Of an attribute, or the names of a set: as text. */
static void append_shown(struct text *row, const struct record_field *field, const void *source)
{
	const struct sql_row of = { .source = source };
	struct sql_value value;
	char number[32];

	sql_column_get(field, &of, &value);
	switch (value.type) {
	case SQL_INTEGER:
		snprintf(number, sizeof(number), "%lld", (long long)value.integer);
		append_text(row, number);
		break;
	case SQL_REAL:
		snprintf(number, sizeof(number), "%.17g", value.real);
		append_text(row, number);
		break;
	case SQL_TEXT:
	case SQL_BLOB:
		fleet_append_string(row, value.bytes, value.length);
		break;
	default:
		append_text(row, "");
	}
}

static void append_word(struct text *row, const struct record_field *field, const void *source)
{
	const char *name = record_name_or_unknown(field->names, (unsigned int)record_number(field, source));

	append_text(row, name ? name : "");
}

static void append_field(struct text *row, const struct record_field *field, const void *source)
{
	static const uint64_t nothing;
	struct txtrace_string string;
	uint64_t number;

	if (!record_has(field, source)) {
		text_append_few(row, &nothing, (const size_t[]){ 8, 8, 4, 4, 1, 1 }[wire_of(field)]);
		return;
	}
	switch ((enum record_type)field->type) {
	case RECORD_ENUM:
		append_word(row, field, source);
		return;
	case RECORD_SET:
	case RECORD_VALUE:
		append_shown(row, field, source);
		return;
	case RECORD_STRING:
	case RECORD_KEY:
	case RECORD_TEXT:
	case RECORD_CHARS:
		string = record_bytes(field, source);
		fleet_append_string(row, string.bytes, string.length);
		return;
	default:
		number = record_number(field, source);
		text_append_few(row, &number, (const size_t[]){ 8, 8, 4, 4, 1, 1 }[wire_of(field)]);
	}
}

/* Most columns of a span: a number of 64 bits as it lies there. */
static bool is_plain(const struct record_field *field)
{
	return !field->when && field->type >= RECORD_TIME && field->type <= RECORD_I64;
}

void fleet_append_fields(struct text *row, const struct record_kind *kind, const void *source)
{
	for (size_t i = 0; i < kind->field_cnt; i++) {
		const struct record_field *field = &kind->fields[i];

		if (is_plain(field))
			text_append_few(row, record_at(field, source), sizeof(uint64_t));
		else
			append_field(row, field, source);
	}
}

void fleet_append_file(struct text *row, const struct fleet_place *place)
{
	fleet_append_string(row, place->host, strlen(place->host));
	fleet_append_string(row, place->capture, strlen(place->capture));
	fleet_append_u32(row, place->part);
	fleet_append_u64(row, place->batch);
}

void fleet_append_time(struct text *row, uint64_t unix_ns)
{
	fleet_append_u32(row, (uint32_t)(unix_ns / 1000000000));
	fleet_append_u64(row, unix_ns);
}
