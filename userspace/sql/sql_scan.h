/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One pass over the rows of a table, in the order of the log. Constraints skip
 * rows before any column of them is made, and bounds of the time by which the
 * log is indexed skip whole parts of the log. They are hints: rows that do not
 * match may come, too, and SQL looks at each again.
 */
#ifndef SQL_SCAN_H
#define SQL_SCAN_H

#include "sql/sql_source.h"
#include "sql/sql_table.h"

enum sql_operator {
	SQL_EQ = '=',
	SQL_GT = '>',
	SQL_GE = 'G',
	SQL_LT = '<',
	SQL_LE = 'L',
};

#define SQL_CONSTRAINT_MAX 16

/* value: INTEGER, or of an EQ also TEXT, of the column's type. */
struct sql_constraint {
	const struct record_field *column;
	enum sql_operator op;
	struct sql_value value; /* bytes are the caller's, and outlive the scan */
};

struct sql_scan;

/* constraints: copied, at most SQL_CONSTRAINT_MAX. 0 or a negative errno; *scan is NULL then. */
int sql_scan_open(struct sql_scan **scan, const struct sql_source *source, const struct record_kind *table,
		  const struct sql_constraint *constraints, size_t cnt);
void sql_scan_close(struct sql_scan *scan); /* NULL is allowed */

/* 1: there is a row, 0: the end, -ECANCELED: stopped, or another negative errno. */
int sql_scan_next(struct sql_scan *scan);

/* Until the next call of next. */
const struct sql_row *sql_scan_row(const struct sql_scan *scan);

#endif
