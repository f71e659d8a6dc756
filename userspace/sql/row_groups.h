/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows of a table, put together by the values of some columns, as GROUP BY
 * wants them: in the order of these values, and within one group in the order
 * in which they came. Groups are found by a hash, and rows are only appended
 * to theirs: so this takes a fraction of what SQLite's sorter does, as long as
 * there are few groups, as there are few labels.
 *
 *	err = row_groups_new(&groups, table, columns, by, by_cnt);
 *	while (there is a row)
 *		err = row_groups_add(groups, row);
 *	err = row_groups_sort(groups);
 *	while ((result = row_groups_next(groups)) > 0)
 *		use(row_groups_value(groups, column));
 *	row_groups_free(groups);
 *
 * Memory: a block for each group, at most 32 MiB, and 16 MiB of values to tell
 * groups by; full blocks go to a temporary file without a name.
 */
#ifndef ROW_GROUPS_H
#define ROW_GROUPS_H

#include "sql/sql_table.h"

#define GROUP_BY_MAX 8
#define GROUP_COLUMN_MAX 63 /* of a table; others can't be grouped here */

struct row_groups;

struct group_by {
	uint8_t column; /* its number */
	bool is_descending;
};

/* columns: a bit for each that is asked for. by: copied. 0 or -ENOMEM, and *groups is NULL. */
int row_groups_new(struct row_groups **groups, const struct record_kind *table, uint64_t columns,
		   const struct group_by *by, size_t by_cnt);
void row_groups_free(struct row_groups *groups); /* NULL is allowed */

/* 0, -E2BIG: there are too many groups, or another negative errno; nothing can be added after one. */
int row_groups_add(struct row_groups *groups, const struct sql_row *row);

/* After the last row. 0 or a negative errno. */
int row_groups_sort(struct row_groups *groups);

/* 1: there is a row, 0: the end, or a negative errno. */
int row_groups_next(struct row_groups *groups);

/* A column of that row; bytes live until the next one. NULL of those that were not asked for. */
const struct sql_value *row_groups_value(const struct row_groups *groups, size_t column);

#endif
