/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/table.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/shorten.h"
#include "base/text.h"

#define SHORT_COLUMNS_MIN 12 /* of a column whose cells are shortened */
#define GAP 2 /* blanks between columns */
#define RULE "\xe2\x94\x80"

/* A stretch of the table's text in one style. The last piece of a cell or of a line ends it. */
struct piece {
	size_t offset;
	size_t length;
	const char *style;
	bool ends_cell;
	bool ends_line;
};

struct table {
	const struct table_column *columns;
	size_t column_cnt;
	size_t *widths;
	/* of the cells that are wider than their column, while it is printed; NULL: there are none */
	size_t *tails;
	size_t at_column;   /* of the cell that comes next */
	size_t cell_width;  /* of its pieces so far */
	struct text text;   /* of all pieces */
	struct piece *pieces;
	size_t piece_cnt;
	size_t piece_size;
	int err;
};

struct table *table_new(const struct table_column *columns, size_t column_cnt)
{
	struct table *table = calloc(1, sizeof(*table));

	if (!table)
		return NULL;
	table->widths = calloc(column_cnt, sizeof(*table->widths));
	if (!table->widths) {
		free(table);
		return NULL;
	}
	table->columns = columns;
	table->column_cnt = column_cnt;
	for (size_t i = 0; i < column_cnt; i++) {
		const char *title = columns[i].title;
		size_t length = title ? strlen(title) : 0;

		table->widths[i] = length ? text_columns(title, length) : 0;
	}
	return table;
}

void table_free(struct table *table)
{
	if (!table)
		return;
	text_release(&table->text);
	free(table->pieces);
	free(table->widths);
	free(table);
}

/* Makes the text behind `offset` a piece. */
static struct piece *add_piece(struct table *table, size_t offset, const char *style)
{
	struct piece *piece;
	struct piece *grown;

	if (table->err)
		return NULL;
	grown = array_grow(table->pieces, &table->piece_size, table->piece_cnt, sizeof(*grown));
	if (!grown) {
		table->err = -ENOMEM;
		return NULL;
	}
	table->pieces = grown;
	piece = &table->pieces[table->piece_cnt++];
	*piece = (struct piece){ .offset = offset, .length = table->text.length - offset, .style = style };
	return piece;
}

static void end_cell(struct table *table, struct piece *piece)
{
	if (!piece)
		return;
	piece->ends_cell = true;
	if (table->cell_width > table->widths[table->at_column])
		table->widths[table->at_column] = table->cell_width;
	table->cell_width = 0;
	table->at_column = (table->at_column + 1) % table->column_cnt;
}

static struct piece *add_text_piece(struct table *table, const char *style, size_t offset)
{
	struct piece *piece = add_piece(table, offset, style);

	if (piece)
		table->cell_width += text_columns(text_string(&table->text) + offset, piece->length);
	return piece;
}

void table_piece(struct table *table, const char *style, const char *text)
{
	size_t offset;

	if (!table)
		return;
	offset = table->text.length;
	text_append(&table->text, text);
	add_text_piece(table, style, offset);
}

void table_cell(struct table *table, const char *style, const char *text)
{
	size_t offset;

	if (!table)
		return;
	offset = table->text.length;
	text_append(&table->text, text);
	end_cell(table, add_text_piece(table, style, offset));
}

void table_cell_format(struct table *table, const char *style, const char *format, ...)
{
	va_list arguments;
	char *text;

	if (!table)
		return;
	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0) {
		table->err = -ENOMEM;
		text = NULL;
	}
	va_end(arguments);
	if (text)
		table_cell(table, style, text);
	free(text);
}

void table_end_row(struct table *table)
{
	while (table && !table->err && (table->at_column > 0 || table->cell_width > 0))
		table_cell(table, TABLE_PLAIN, "");
}

void table_line(struct table *table, const char *text)
{
	struct piece *piece;
	size_t offset;

	if (!table)
		return;
	if (table->at_column > 0)
		table->err = table->err ? table->err : -EINVAL;
	table->cell_width = 0;
	offset = table->text.length;
	text_append(&table->text, text);
	piece = add_piece(table, offset, TABLE_PLAIN);
	if (piece)
		piece->ends_line = true;
}

/* ---- printing ---- */

/* Blanks are owed until something follows, so that no line ends with any. */
struct printer {
	FILE *file;
	bool has_colours;
	size_t blanks;
};

static void print_bytes(struct printer *printer, const char *style, const char *bytes, size_t length)
{
	if (length == 0)
		return;
	fprintf(printer->file, "%*s", (int)printer->blanks, "");
	printer->blanks = 0;
	if (style && printer->has_colours)
		fprintf(printer->file, "\033[%sm", style);
	fwrite(bytes, 1, length, printer->file);
	if (style && printer->has_colours)
		fputs("\033[0m", printer->file);
}

/* "── blocked on ──" over the columns from idx to end. */
static void print_group(const struct table *table, struct printer *printer, size_t idx, size_t end)
{
	const char *group = table->columns[idx].group;
	size_t width = 0, used = text_columns(group, strlen(group)) + 2;
	struct text text = { 0 };

	for (size_t i = idx; i < end; i++)
		width += table->widths[i] + (i > idx ? GAP : 0);
	for (size_t i = 0; used < width && i < (width - used) / 2; i++)
		text_append(&text, RULE);
	text_append_format(&text, used <= width ? " %s " : "%s", group);
	for (size_t i = text_columns(text_string(&text), text.length); i < width; i++)
		text_append(&text, RULE);
	print_bytes(printer, TABLE_DIM, text_string(&text), text.length);
	text_release(&text);
}

static void print_groups(const struct table *table, struct printer *printer)
{
	bool has_groups = false;
	size_t end;

	for (size_t i = 0; i < table->column_cnt; i++)
		has_groups |= table->columns[i].group != NULL;
	if (!has_groups)
		return;
	printer->blanks = 0;
	for (size_t i = 0; i < table->column_cnt; i = end) {
		const char *group = table->columns[i].group;

		for (end = i + 1; group && end < table->column_cnt && table->columns[end].group == group;
		     end++)
			;
		printer->blanks += i ? GAP : 0;
		if (group)
			print_group(table, printer, i, end);
		else
			printer->blanks += table->widths[i];
	}
	fputc('\n', printer->file);
}

static void print_titles(const struct table *table, struct printer *printer)
{
	bool has_titles = false;

	for (size_t i = 0; i < table->column_cnt; i++)
		has_titles |= table->columns[i].title && *table->columns[i].title;
	if (!has_titles)
		return;
	printer->blanks = 0;
	for (size_t i = 0; i < table->column_cnt; i++) {
		const char *title = table->columns[i].title ? table->columns[i].title : "";
		size_t length = strlen(title), padding = table->widths[i] - text_columns(title, length);

		printer->blanks += (i ? GAP : 0) + (table->columns[i].align == TABLE_RIGHT ? padding : 0);
		print_bytes(printer, TABLE_BOLD, title, length);
		printer->blanks += table->columns[i].align == TABLE_RIGHT ? 0 : padding;
	}
	fputc('\n', printer->file);
}

static void print_pieces(const struct table *table, struct printer *printer, size_t idx, size_t end)
{
	for (; idx < end; idx++) {
		const struct piece *piece = &table->pieces[idx];

		print_bytes(printer, piece->style, text_string(&table->text) + piece->offset, piece->length);
	}
}

/* A piece is not NUL-terminated in the text of all. */
static char *copy_piece(const struct table *table, const struct piece *piece)
{
	return strndup(text_string(&table->text) + piece->offset, piece->length);
}

static void shorten_piece(const struct table *table, size_t idx, size_t column, struct text *shortened)
{
	char *whole = copy_piece(table, &table->pieces[idx]);

	if (whole)
		text_append_shortened(shortened, whole, table->widths[column], table->tails[column]);
	free(whole);
}

static void print_cell(const struct table *table, struct printer *printer, size_t idx, size_t end,
		       size_t column)
{
	bool is_right = table->columns[column].align == TABLE_RIGHT;
	size_t padding, used = 0, width = table->widths[column];
	struct text shortened = { 0 };

	for (size_t i = idx; i < end; i++)
		used += text_columns(text_string(&table->text) + table->pieces[i].offset,
				     table->pieces[i].length);
	if (used > width && end == idx + 1 && table->tails) {
		shorten_piece(table, idx, column, &shortened);
		used = text_columns(text_string(&shortened), shortened.length);
	}
	padding = width > used ? width - used : 0;
	printer->blanks += (column ? GAP : 0) + (is_right ? padding : 0);
	if (shortened.length)
		print_bytes(printer, table->pieces[idx].style, text_string(&shortened), shortened.length);
	else
		print_pieces(table, printer, idx, end);
	printer->blanks += is_right ? 0 : padding;
	text_release(&shortened);
}

/* 0, or why it can't be printed. */
static int check(const struct table *table)
{
	if (!table)
		return -ENOMEM;
	if (table->err || table->text.err)
		return table->err ? table->err : table->text.err;
	return table->at_column > 0 || table->cell_width > 0 ? -EINVAL : 0;
}

const struct table_column *table_columns(const struct table *table, size_t *cnt)
{
	*cnt = table->column_cnt;
	return table->columns;
}

int table_walk(const struct table *table, table_visit visit, void *context)
{
	size_t column = 0;
	int err = check(table);

	for (size_t i = 0; !err && i < table->piece_cnt; i++) {
		const struct piece *piece = &table->pieces[i];

		visit(context, TABLE_PIECE, column, piece->style,
		      text_string(&table->text) + piece->offset, piece->length);
		if (piece->ends_cell || piece->ends_line)
			visit(context, piece->ends_line ? TABLE_LINE_END : TABLE_CELL_END, column, NULL, NULL,
			      0);
		if (piece->ends_cell)
			column = (column + 1) % table->column_cnt;
	}
	return err;
}

static int print_all(const struct table *table, FILE *file, bool has_colours)
{
	struct printer printer = { .file = file, .has_colours = has_colours };
	size_t idx = 0, column = 0;
	int err = check(table);

	if (err)
		return err;
	print_groups(table, &printer);
	print_titles(table, &printer);
	while (idx < table->piece_cnt) {
		size_t end = idx;

		while (!table->pieces[end].ends_cell && !table->pieces[end].ends_line)
			end++;
		end++;
		if (column == 0)
			printer.blanks = 0;
		if (table->pieces[end - 1].ends_line) {
			print_pieces(table, &printer, idx, end);
		} else {
			print_cell(table, &printer, idx, end, column);
			column = (column + 1) % table->column_cnt;
		}
		if (column == 0)
			fputc('\n', file);
		idx = end;
	}
	return 0;
}

/* ---- within ---- */

static size_t total_width(const struct table *table)
{
	size_t total = table->column_cnt ? (table->column_cnt - 1) * GAP : 0;

	for (size_t i = 0; i < table->column_cnt; i++)
		total += table->widths[i];
	return total;
}

/*
 * How narrow each column may get: those of numbers, sentences (which have no title) and cells of several
 * pieces stay as they are.
 */
static void find_least(const struct table *table, size_t *least)
{
	size_t column = 0, width = 0, piece_cnt = 0;

	for (size_t i = 0; i < table->column_cnt; i++) {
		size_t title = table->columns[i].title ? text_columns(table->columns[i].title,
								      strlen(table->columns[i].title))
						       : 0;

		least[i] = table->columns[i].align == TABLE_RIGHT || !title ? table->widths[i]
			   : title > SHORT_COLUMNS_MIN			    ? title
									    : SHORT_COLUMNS_MIN;
	}
	for (size_t i = 0; i < table->piece_cnt; i++) {
		const struct piece *piece = &table->pieces[i];

		width += text_columns(text_string(&table->text) + piece->offset, piece->length);
		piece_cnt++;
		if (piece->ends_cell && piece_cnt > 1 && width > least[column])
			least[column] = width;
		if (piece->ends_cell)
			column = (column + 1) % table->column_cnt;
		if (piece->ends_cell || piece->ends_line)
			width = piece_cnt = 0;
	}
}

/* Takes from the widest of those that may give, until all fit or none may. */
static void narrow(struct table *table, const size_t *least, size_t max_columns)
{
	size_t total = total_width(table);

	while (total > max_columns) {
		size_t widest = table->column_cnt;

		for (size_t i = 0; i < table->column_cnt; i++) {
			if (table->widths[i] > least[i] &&
			    (widest == table->column_cnt || table->widths[i] > table->widths[widest]))
				widest = i;
		}
		if (widest == table->column_cnt)
			return;
		table->widths[widest]--;
		total--;
	}
}

/* The cells of a column that are one piece; NULL: no memory. */
static char **copy_cells(const struct table *table, size_t wanted, size_t *cnt)
{
	char **cells = calloc(table->piece_cnt + 1, sizeof(*cells));
	size_t column = 0;
	bool is_first = true;

	*cnt = 0;
	for (size_t i = 0; cells && i < table->piece_cnt; i++) {
		const struct piece *piece = &table->pieces[i];

		if (piece->ends_cell && is_first && column == wanted &&
		    (cells[*cnt] = copy_piece(table, piece)))
			(*cnt)++;
		if (piece->ends_cell)
			column = (column + 1) % table->column_cnt;
		is_first = piece->ends_cell || piece->ends_line;
	}
	return cells;
}

static int choose_tail(struct table *table, size_t column)
{
	size_t cnt;
	char **cells = copy_cells(table, column, &cnt);
	int err = cells ? shorten_choose((const char *const *)cells, cnt, &table->widths[column],
					 &table->tails[column])
			: -ENOMEM;

	while (cells && cnt)
		free(cells[--cnt]);
	free(cells);
	return err;
}

int table_print_within(const struct table *table, FILE *file, bool has_colours, size_t max_columns)
{
	struct table fitted;
	size_t *least;
	int err = 0;

	if (!table || table->err || !max_columns || total_width(table) <= max_columns)
		return table_print(table, file, has_colours);
	fitted = *table;
	least = calloc(table->column_cnt, sizeof(*least));
	fitted.widths = calloc(table->column_cnt, sizeof(*fitted.widths));
	fitted.tails = calloc(table->column_cnt, sizeof(*fitted.tails));
	if (least && fitted.widths && fitted.tails) {
		memcpy(fitted.widths, table->widths, table->column_cnt * sizeof(*fitted.widths));
		find_least(table, least);
		narrow(&fitted, least, max_columns);
		for (size_t i = 0; !err && i < table->column_cnt; i++)
			err = fitted.widths[i] < table->widths[i] ? choose_tail(&fitted, i) : 0;
		err = err ? err : print_all(&fitted, file, has_colours);
	} else {
		err = -ENOMEM;
	}
	free(least);
	free(fitted.widths);
	free(fitted.tails);
	return err;
}

int table_print(const struct table *table, FILE *file, bool has_colours)
{
	return print_all(table, file, has_colours);
}
