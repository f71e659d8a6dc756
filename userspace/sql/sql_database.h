/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A log as a database: one virtual table of SQLite for each table of
 * sql_table.h. It can be read, and nothing else: a statement that would change
 * anything, attach a file or load code is refused before it runs.
 *
 *	err = sql_database_open(&database, &source, &error);
 *	stmt = sql_database_prepare(database, "SELECT …", &rest, &error);
 *	while ((result = sqlite3_step(stmt)) == SQLITE_ROW)
 *		…
 *	sqlite3_finalize(stmt);
 *	sql_database_close(database);
 */
#ifndef SQL_DATABASE_H
#define SQL_DATABASE_H

#include <sqlite3.h>

#include "base/error.h"
#include "sql/sql_source.h"
#include "sql/sql_table.h"

struct sql_database;

/* source must outlive it. 0, or a negative errno and *error says why; *database is NULL then. */
int sql_database_open(struct sql_database **database, const struct sql_source *source, struct error *error);
void sql_database_close(struct sql_database *database); /* NULL is allowed; statements are finalized before */

/*
 * The next statement of the text; what a statement before it has stored is
 * forgotten, so one runs at a time. *rest: behind it. NULL with an empty error:
 * only blanks and comments are left.
 */
sqlite3_stmt *sql_database_prepare(struct sql_database *database, const char *text, const char **rest,
				   struct error *error);

/* After a prepare that failed: how many bytes behind the beginning of its text; -1: nobody knows. */
int sql_database_error_offset(const struct sql_database *database);

/* Why the last step failed. */
void sql_database_explain(struct sql_database *database, struct error *error);

#endif
