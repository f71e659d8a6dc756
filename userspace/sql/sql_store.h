/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows of tables in a database of SQLite's own: for what is scanned again and
 * again, and for the file that `txtrace export --format sqlite` writes.
 *
 *	err = sql_store_begin(&copy, database, "spans", table, columns);
 *	while (!err && sql_scan_next(scan) > 0)
 *		err = sql_store_add(&copy, sql_scan_row(scan));
 *	sql_store_end(&copy);
 */
#ifndef SQL_STORE_H
#define SQL_STORE_H

#include <sqlite3.h>

#include "sql/sql_table.h"

/* "CREATE TABLE "name" (…)" with the columns whose bits are set. NULL: no memory; sqlite3_free() it. */
char *sql_store_declare(const char *name, const struct record_kind *table, uint64_t columns);

struct sql_copy {
	const struct record_kind *table;
	uint64_t columns; /* a bit for each that is stored; bit 63 for all from there on */
	sqlite3_stmt *insert;
};

/* Makes the table. 0 or a negative errno. */
int sql_store_begin(struct sql_copy *copy, sqlite3 *database, const char *name, const struct record_kind *table,
		    uint64_t columns);
int sql_store_add(struct sql_copy *copy, const struct sql_row *row); /* 0 or a negative errno */
void sql_store_end(struct sql_copy *copy);

/* What SQLite's result stands for: 0 or a negative errno. */
int sql_store_error(int result);

static inline bool sql_has_column(uint64_t columns, size_t idx)
{
	return columns >> (idx < 63 ? idx : 63) & 1;
}

#endif
