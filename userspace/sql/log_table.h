/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A table of a log as a virtual table of SQLite. A first scan streams over the
 * log. When a statement scans a table again in the same way, as a join does for
 * each row of the other table, the columns that it uses go to a temporary
 * database with an index on what they are compared with, and the following
 * scans ask that.
 */
#ifndef LOG_TABLE_H
#define LOG_TABLE_H

#include <sqlite3.h>

#include "sql/sql_source.h"
#include "sql/sql_table.h"

/* What all tables of a database share. All zero, but for the source, before the first statement. */
struct log_tables {
	const struct sql_source *source;
	sqlite3 *copies; /* NULL: nothing was copied yet */
	uint32_t copy_cnt;
	uint64_t statement; /* its number: a table forgets its plans when it has changed */
};

/* Makes all tables known to a database; `tables` outlives it. An SQLite result. */
int log_tables_register(struct log_tables *tables, sqlite3 *database);

/* Another statement begins, or none comes: the copies are dropped. */
void log_tables_forget(struct log_tables *tables);

#endif
