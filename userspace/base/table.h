/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A table for a terminal: cells are collected, columns become as wide as their
 * widest cell, then all of it is printed.
 *
 *	static const struct table_column columns[] = { { "label", TABLE_LEFT, NULL }, { "count", TABLE_RIGHT,
 *	NULL } };
 *	struct table *table = table_new(columns, 2);
 *
 *	table_cell(table, TABLE_BOLD, "checkout");
 *	table_cell_format(table, TABLE_PLAIN, "%d", 12);      the row is full: the next cell begins a new one
 *	table_line(table, "");
 *	err = table_print(table, stdout, has_colours);
 *	table_free(table);
 *
 * Cells are UTF-8 that is fit for a terminal (text_append_escaped()); they may
 * hold no escape sequences. Errors stick until table_print() tells them.
 */
#ifndef TABLE_H
#define TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum table_align {
	TABLE_LEFT = 0,
	TABLE_RIGHT = 1,
};

struct table_column {
	const char *title; /* must outlive the table */
	enum table_align align;
	const char *group; /* stands above neighbours that have the same pointer; NULL: nothing does */
};

/* How a cell looks where colours are wanted: SGR parameters of a terminal, or NULL for plain. */
#define TABLE_PLAIN NULL
#define TABLE_BOLD "1"
#define TABLE_DIM "2"

struct table;

/* NULL: no memory; the other calls take that */
struct table *table_new(const struct table_column *columns, size_t column_cnt);
void table_free(struct table *table);

/* style must outlive the table; text is copied */
void table_cell(struct table *table, const char *style, const char *text);
__attribute__((format(printf, 3, 4))) void table_cell_format(struct table *table, const char *style,
							     const char *format, ...);

/*
 * A cell, or a line, that is put together from pieces of different styles: all
 * but the last piece with this.
 */
void table_piece(struct table *table, const char *style, const char *text);

/* Ends the row early: the rest of it stays empty. A no-op between rows. */
void table_end_row(struct table *table);

/* Text that is in no column, and may be several lines; pieces since the last row belong to it. */
void table_line(struct table *table, const char *text);

/*
 * What is in it, for other forms than text: the pieces of a cell or line in
 * their order, each with its style, then its end. 0 or what table_print() says.
 */
enum table_event {
	TABLE_PIECE,
	TABLE_CELL_END,
	TABLE_LINE_END,
};

typedef void (*table_visit)(void *context, enum table_event event, size_t column, const char *style,
			    const char *bytes, size_t length);
int table_walk(const struct table *table, table_visit visit, void *context);
const struct table_column *table_columns(const struct table *table, size_t *cnt);

/*
 * Groups and titles (if any column has one), rows, lines. 0, -ENOMEM, -EINVAL
 * (a line in the middle of a row). Write errors stay in the file.
 */
int table_print(const struct table *table, FILE *file, bool has_colours);

/*
 * The same within so many columns (0: as wide as it is): cells of left-aligned
 * columns with a title are shortened in the middle, no further than to 12
 * columns, and never so that two different ones of a column become the same.
 * What is put together from pieces is not shortened. It may be wider yet.
 */
int table_print_within(const struct table *table, FILE *file, bool has_colours, size_t max_columns);

#endif
