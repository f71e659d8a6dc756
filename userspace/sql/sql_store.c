/* SPDX-License-Identifier: BSD-2-Clause */
#include "sql/sql_store.h"

#include <errno.h>

static const char *type_name(enum sql_type type)
{
	switch (type) {
	case SQL_INTEGER:
		return " INTEGER";
	case SQL_REAL:
		return " REAL";
	case SQL_TEXT:
		return " TEXT";
	default:
		return "";
	}
}

char *sql_store_declare(const char *name, const struct record_kind *table, uint64_t columns)
{
	sqlite3_str *sql = sqlite3_str_new(NULL);
	const char *separator = "";

	sqlite3_str_appendf(sql, "CREATE TABLE \"%w\" (", name);
	for (size_t i = 0; i < sql_column_cnt(table); i++) {
		if (!sql_has_column(columns, i))
			continue;
		sqlite3_str_appendf(sql, "%s\"%w\"%s", separator, sql_column_at(table, i)->name,
				    type_name(sql_column_type(sql_column_at(table, i))));
		separator = ", ";
	}
	/* a table has at least one column */
	sqlite3_str_appendf(sql, "%s)", *separator ? "" : "nothing");
	return sqlite3_str_finish(sql);
}

int sql_store_error(int result)
{
	switch (result & 0xff) {
	case SQLITE_OK:
	case SQLITE_ROW:
	case SQLITE_DONE:
		return 0;
	case SQLITE_NOMEM:
		return -ENOMEM;
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_TOOBIG:
		return -EFBIG;
	case SQLITE_INTERRUPT:
		return -ECANCELED;
	default:
		return -EIO;
	}
}

static char *insert_text(const char *name, const struct record_kind *table, uint64_t columns)
{
	sqlite3_str *sql = sqlite3_str_new(NULL);
	const char *separator = "";

	sqlite3_str_appendf(sql, "INSERT INTO \"%w\" VALUES (", name);
	for (size_t i = 0; i < sql_column_cnt(table); i++) {
		if (!sql_has_column(columns, i))
			continue;
		sqlite3_str_appendf(sql, "%s?", separator);
		separator = ", ";
	}
	sqlite3_str_appendf(sql, "%s)", *separator ? "" : "NULL");
	return sqlite3_str_finish(sql);
}

int sql_store_begin(struct sql_copy *copy, sqlite3 *database, const char *name,
		    const struct record_kind *table, uint64_t columns)
{
	char *declaration = sql_store_declare(name, table, columns);
	char *insert = insert_text(name, table, columns);
	int result = declaration && insert ? SQLITE_OK : SQLITE_NOMEM;

	*copy = (struct sql_copy){ .table = table, .columns = columns };
	if (result == SQLITE_OK)
		result = sqlite3_exec(database, declaration, NULL, NULL, NULL);
	if (result == SQLITE_OK)
		result = sqlite3_prepare_v2(database, insert, -1, &copy->insert, NULL);
	sqlite3_free(declaration);
	sqlite3_free(insert);
	return sql_store_error(result);
}

static int bind(sqlite3_stmt *insert, int at, const struct sql_value *value)
{
	switch (value->type) {
	case SQL_INTEGER:
		return sqlite3_bind_int64(insert, at, value->integer);
	case SQL_REAL:
		return sqlite3_bind_double(insert, at, value->real);
	case SQL_TEXT:
		return sqlite3_bind_text64(insert, at, value->bytes, value->length, SQLITE_TRANSIENT,
					   SQLITE_UTF8);
	case SQL_BLOB:
		return sqlite3_bind_blob64(insert, at, value->bytes, value->length, SQLITE_TRANSIENT);
	default:
		return sqlite3_bind_null(insert, at);
	}
}

int sql_store_add(struct sql_copy *copy, const struct sql_row *row)
{
	int result = SQLITE_OK, at = 0;
	struct sql_value value;

	for (size_t i = 0; i < sql_column_cnt(copy->table) && result == SQLITE_OK; i++) {
		if (!sql_has_column(copy->columns, i))
			continue;
		sql_column_get(sql_column_at(copy->table, i), row, &value);
		result = bind(copy->insert, ++at, &value);
	}
	if (result == SQLITE_OK && sqlite3_step(copy->insert) != SQLITE_DONE)
		result = SQLITE_ERROR;
	if (result == SQLITE_OK)
		return sql_store_error(sqlite3_reset(copy->insert));
	/* what a failed step was is said by the reset */
	result = sqlite3_reset(copy->insert);
	return result == SQLITE_OK ? -EIO : sql_store_error(result);
}

void sql_store_end(struct sql_copy *copy)
{
	sqlite3_finalize(copy->insert);
	copy->insert = NULL;
}
