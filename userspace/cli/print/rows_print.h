/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rows of a query: as a table for people, as CSV, or as a JSON array of
 * objects. Strings may hold any bytes: in tables and CSV they are escaped as in
 * all other output, in JSON as JSON wants it.
 */
#ifndef ROWS_PRINT_H
#define ROWS_PRINT_H

#include <sqlite3.h>

#include "cli/cli.h"

enum rows_format {
	ROWS_TABLE = 0,
	ROWS_CSV = 1,
	ROWS_JSON = 2,
};

/*
 * Runs the statement and prints all rows. *result: SQLITE_DONE, or why SQLite
 * ended early; the rows before are printed. 0 or -ENOMEM.
 */
int rows_print(struct cli *cli, sqlite3_stmt *statement, enum rows_format format, int *result);

#endif
