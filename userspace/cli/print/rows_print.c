/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/print/rows_print.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "base/text.h"

#define TABLE_ROWS_MAX 5000 /* that are laid out together; after them comes another table */

static bool is_number(int type)
{
	return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
}

/* The bytes of a cell for a table or CSV, without quotes. A blob comes as in SQL: x'00ff'. */
static void append_value(struct text *text, sqlite3_stmt *statement, int column)
{
	const unsigned char *bytes;

	switch (sqlite3_column_type(statement, column)) {
	case SQLITE_NULL:
		break;
	case SQLITE_BLOB:
		bytes = sqlite3_column_blob(statement, column);
		text_append(text, "x'");
		for (int i = 0; i < sqlite3_column_bytes(statement, column); i++)
			text_append_format(text, "%02x", bytes[i]);
		text_append(text, "'");
		break;
	default:
		bytes = sqlite3_column_text(statement, column);
		if (bytes)
			text_append_escaped(text, (const char *)bytes,
					    (size_t)sqlite3_column_bytes(statement, column));
		else
			text->err = -ENOMEM;
	}
}

static void append_name(struct text *text, sqlite3_stmt *statement, int column)
{
	const char *name = sqlite3_column_name(statement, column);

	if (name)
		text_append_escaped(text, name, strlen(name));
	else
		text->err = -ENOMEM;
}

/* ---- a table ---- */

struct layout {
	struct table_column *columns;
	char **titles;
	int cnt;
};

static void layout_release(struct layout *layout)
{
	for (int i = 0; layout->titles && i < layout->cnt; i++)
		free(layout->titles[i]);
	free(layout->titles);
	free(layout->columns);
}

/* has_row: the first one stands, and tells which columns are numbers. */
static int layout_init(struct layout *layout, sqlite3_stmt *statement, bool has_row)
{
	struct text text = { 0 };
	int err = 0;

	layout->cnt = sqlite3_column_count(statement);
	layout->columns = calloc((size_t)layout->cnt, sizeof(*layout->columns));
	layout->titles = calloc((size_t)layout->cnt, sizeof(*layout->titles));
	if (!layout->columns || !layout->titles)
		return -ENOMEM;
	for (int i = 0; i < layout->cnt && !err; i++) {
		text_clear(&text);
		append_name(&text, statement, i);
		layout->titles[i] = strdup(text_string(&text));
		layout->columns[i].title = layout->titles[i];
		layout->columns[i].align = has_row && is_number(sqlite3_column_type(statement, i))
						   ? TABLE_RIGHT
						   : TABLE_LEFT;
		err = layout->titles[i] ? text.err : -ENOMEM;
	}
	text_release(&text);
	return err;
}

static int add_row(struct table *table, sqlite3_stmt *statement, struct text *text, int column_cnt)
{
	for (int i = 0; i < column_cnt; i++) {
		text_clear(text);
		append_value(text, statement, i);
		if (sqlite3_column_type(statement, i) == SQLITE_NULL)
			table_cell(table, TABLE_DIM, "NULL");
		else
			table_cell(table, TABLE_PLAIN, text_string(text));
	}
	return text->err;
}

static int print_table(struct cli *cli, sqlite3_stmt *statement, int *result)
{
	struct layout layout = { 0 };
	struct text text = { 0 };
	struct table *table;
	size_t row_cnt;
	int err;

	*result = sqlite3_step(statement);
	err = layout_init(&layout, statement, *result == SQLITE_ROW);
	while (!err && !cli->write_errno) {
		table = table_new(layout.columns, (size_t)layout.cnt);
		err = table ? 0 : -ENOMEM;
		for (row_cnt = 0; !err && *result == SQLITE_ROW && row_cnt < TABLE_ROWS_MAX; row_cnt++) {
			err = add_row(table, statement, &text, layout.cnt);
			*result = sqlite3_step(statement);
		}
		if (row_cnt > 0 || *result == SQLITE_DONE)
			err = err ? err : screen_print_table(&cli->out, table);
		table_free(table);
		if (ferror(cli->out.file))
			cli_write_failed(cli, -errno);
		if (*result != SQLITE_ROW)
			break;
	}
	layout_release(&layout);
	text_release(&text);
	return err;
}

/* ---- CSV ---- */

/* RFC 4180: quotes where they are needed, and around text that is empty: what has no value has none. */
static void put_field(FILE *file, const char *field, bool is_quoted)
{
	if (!is_quoted && !field[strcspn(field, ",\"\r\n ")]) {
		fputs(field, file);
		return;
	}
	fputc('"', file);
	for (; *field; field++) {
		if (*field == '"')
			fputc('"', file);
		fputc(*field, file);
	}
	fputc('"', file);
}

static int put_line(struct cli *cli, sqlite3_stmt *statement, struct text *text, bool is_head)
{
	int cnt = sqlite3_column_count(statement);

	for (int i = 0; i < cnt; i++) {
		bool is_text = !is_head && sqlite3_column_type(statement, i) == SQLITE_TEXT;

		text_clear(text);
		if (is_head)
			append_name(text, statement, i);
		else
			append_value(text, statement, i);
		if (i > 0)
			fputc(',', cli->out.file);
		put_field(cli->out.file, text_string(text), is_text && text->length == 0);
	}
	fputc('\n', cli->out.file);
	return text->err;
}

static int print_csv(struct cli *cli, sqlite3_stmt *statement, int *result)
{
	struct text text = { 0 };
	int err;

	cli_keep_lines(cli);
	*result = sqlite3_step(statement);
	err = *result == SQLITE_ROW || *result == SQLITE_DONE ? put_line(cli, statement, &text, true) : 0;
	while (!err && *result == SQLITE_ROW && !ferror(cli->out.file)) {
		err = put_line(cli, statement, &text, false);
		*result = sqlite3_step(statement);
	}
	text_release(&text);
	return err;
}

/* ---- JSON ---- */

static void put_blob(struct json *json, sqlite3_stmt *statement, int column)
{
	struct text text = { 0 };

	append_value(&text, statement, column);
	json_text(json, text_string(&text));
	if (text.err && !json->err)
		json->err = text.err;
	text_release(&text);
}

/* JSON has no number for infinities: they come as text, as in JSON Lines. */
static void put_real(struct json *json, double value)
{
	if (isfinite(value))
		json_double(json, value);
	else
		json_text(json, value < 0 ? "-Infinity" : "Infinity");
}

static void put_value(struct json *json, sqlite3_stmt *statement, int column)
{
	const char *bytes;

	switch (sqlite3_column_type(statement, column)) {
	case SQLITE_INTEGER:
		json_i64(json, sqlite3_column_int64(statement, column));
		break;
	case SQLITE_FLOAT:
		put_real(json, sqlite3_column_double(statement, column));
		break;
	case SQLITE_TEXT:
		bytes = (const char *)sqlite3_column_text(statement, column);
		if (bytes)
			json_string(json, bytes, (size_t)sqlite3_column_bytes(statement, column));
		else
			json->err = json->err ? json->err : -ENOMEM;
		break;
	case SQLITE_BLOB:
		put_blob(json, statement, column);
		break;
	default:
		json_null(json);
	}
}

static int print_json(struct cli *cli, sqlite3_stmt *statement, int *result)
{
	int cnt = sqlite3_column_count(statement);
	struct json json;

	cli_begin_json(cli, &json);
	json.is_pretty = false;
	json_array_begin(&json);
	while ((*result = sqlite3_step(statement)) == SQLITE_ROW && !json.err) {
		json_line_break(&json);
		json_object_begin(&json);
		for (int i = 0; i < cnt; i++) {
			const char *name = sqlite3_column_name(statement, i);

			json_name(&json, name ? name : "");
			put_value(&json, statement, i);
		}
		json_object_end(&json);
	}
	json_array_end(&json);
	return cli_finish_json(cli, &json);
}

int rows_print(struct cli *cli, sqlite3_stmt *statement, enum rows_format format, int *result)
{
	if (sqlite3_column_count(statement) == 0) {
		*result = sqlite3_step(statement);
		return 0;
	}
	switch (format) {
	case ROWS_CSV:
		return print_csv(cli, statement, result);
	case ROWS_JSON:
		return print_json(cli, statement, result);
	default:
		return print_table(cli, statement, result);
	}
}
