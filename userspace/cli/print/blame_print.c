/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/print/blame_print.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/saturating.h"
#include "base/shorten.h"
#include "base/table.h"
#include "base/units.h"
#include "cli/print/party_print.h"

#define TITLE_COLUMNS_MAX 14
#define CELL_COLUMNS 9 /* "1.23 ms" or "1,234 s", and the gap */
#define COLUMNS_MAX 16

/*
 * The columns of the matrix: the heaviest that fit, those of one kind beside each other; what is in no other
 * is "others".
 */
struct matrix {
	const struct blame_view *view;
	uint32_t wakers[COLUMNS_MAX];
	size_t waker_cnt;
	bool has_others;
	size_t row_cnt;
	size_t title_columns_max, title_tail; /* how titles are shortened; 0: they are not */
	struct text titles[COLUMNS_MAX];
	struct table_column columns[COLUMNS_MAX + 3];
};

static struct party party_of(const struct blame_view *view, uint32_t number)
{
	return wait_sums_party(view->sums, number);
}

/* The heading over the columns of a kind. */
static const char *group_of(enum party_kind kind)
{
	static const char spans[] = "on spans", threads[] = "on threads in no span";

	return kind == PARTY_SPAN ? spans : kind == PARTY_THREAD ? threads : NULL;
}

/* A column has its group above it, and no kind in its title. */
static void append_title(const struct matrix *matrix, struct text *text, struct party party)
{
	struct text whole = { 0 };

	if (party.name.length > 0)
		text_append_escaped(&whole, party.name.bytes, party.name.length);
	else
		party_append(&whole, &party);
	if (matrix->title_columns_max)
		text_append_shortened(text, text_string(&whole), matrix->title_columns_max,
				      matrix->title_tail);
	else
		text_append(text, text_string(&whole));
	text_release(&whole);
}

/* So that titles that differ do so when they are short. */
static int choose_titles(struct matrix *matrix)
{
	const struct blame *blame = matrix->view->blame;
	size_t cnt = blame->column_cnt < COLUMNS_MAX ? blame->column_cnt : COLUMNS_MAX;
	struct text whole[COLUMNS_MAX] = { { 0 } };
	const char *titles[COLUMNS_MAX] = { NULL };
	int err;

	for (size_t i = 0; i < cnt; i++) {
		append_title(matrix, &whole[i], party_of(matrix->view, blame->columns[i].party));
		titles[i] = text_string(&whole[i]);
	}
	matrix->title_columns_max = TITLE_COLUMNS_MAX;
	err = shorten_choose(titles, cnt, &matrix->title_columns_max, &matrix->title_tail);
	for (size_t i = 0; i < cnt; i++)
		text_release(&whole[i]);
	return err;
}

static size_t title_columns(const struct matrix *matrix, uint32_t party)
{
	struct text text = { 0 };
	size_t columns;

	append_title(matrix, &text, party_of(matrix->view, party));
	columns = text_columns(text_string(&text), text.length) + 2;
	text_release(&text);
	return columns > CELL_COLUMNS ? columns : CELL_COLUMNS;
}

static size_t widest_row(const struct matrix *matrix)
{
	size_t widest = strlen("all spans");
	struct text text = { 0 };

	for (size_t i = 0; i < matrix->row_cnt; i++) {
		struct party party = party_of(matrix->view, matrix->view->blame->rows[i].party);
		size_t columns;

		text_clear(&text);
		party_append(&text, &party);
		columns = text_columns(text_string(&text), text.length);
		widest = columns > widest ? columns : widest;
	}
	text_release(&text);
	return widest;
}

static void choose_columns(struct matrix *matrix, size_t screen_columns)
{
	const struct blame *blame = matrix->view->blame;
	size_t used = widest_row(matrix) + 2 * CELL_COLUMNS; /* total, others */

	while (matrix->waker_cnt < blame->column_cnt && matrix->waker_cnt < COLUMNS_MAX) {
		uint32_t waker = blame->columns[matrix->waker_cnt].party;
		size_t width = title_columns(matrix, waker);

		if (used + width > screen_columns && matrix->waker_cnt > 0)
			break;
		used += width;
		matrix->wakers[matrix->waker_cnt++] = waker;
	}
	matrix->has_others = matrix->waker_cnt < blame->column_cnt;
}

/* Stable: those of one kind stay in the order of their weight. */
static void sort_by_kind(struct matrix *matrix)
{
	for (size_t i = 1; i < matrix->waker_cnt; i++) {
		uint32_t waker = matrix->wakers[i];
		size_t to = i;

		for (; to > 0 && party_of(matrix->view, matrix->wakers[to - 1]).kind >
					 party_of(matrix->view, waker).kind;
		     to--)
			matrix->wakers[to] = matrix->wakers[to - 1];
		matrix->wakers[to] = waker;
	}
}

static size_t title_matrix(struct matrix *matrix)
{
	size_t cnt = 0;

	matrix->columns[cnt++] = (struct table_column){ "who waited", TABLE_LEFT, NULL };
	matrix->columns[cnt++] = (struct table_column){ "in all", TABLE_RIGHT, NULL };
	for (size_t i = 0; i < matrix->waker_cnt; i++) {
		struct party party = party_of(matrix->view, matrix->wakers[i]);

		append_title(matrix, &matrix->titles[i], party);
		matrix->columns[cnt++] = (struct table_column){ text_string(&matrix->titles[i]), TABLE_RIGHT,
								group_of(party.kind) };
	}
	if (matrix->has_others)
		matrix->columns[cnt++] = (struct table_column){ "others", TABLE_RIGHT, NULL };
	return cnt;
}

static void add_time(struct table *table, const char *style, uint64_t ns, bool is_something)
{
	char time[UNITS_SIZE];

	if (is_something)
		table_cell(table, style, units_format_duration(time, ns));
	else
		table_cell(table, TABLE_DIM, "\xc2\xb7");
}

/* What a row waited on each of the columns, in all, and on the others. */
struct row_sums {
	uint64_t ns[COLUMNS_MAX], all_ns, others_ns;
	bool is_something[COLUMNS_MAX], has_others;
};

static void add_pair(const struct matrix *matrix, struct row_sums *row, const struct blame_pair *pair)
{
	size_t column = 0;

	increase(&row->all_ns, pair->ns);
	while (column < matrix->waker_cnt && matrix->wakers[column] != pair->waker)
		column++;
	if (column == matrix->waker_cnt) {
		row->has_others = true;
		increase(&row->others_ns, pair->ns);
	} else {
		row->is_something[column] = true;
		increase(&row->ns[column], pair->ns);
	}
}

/* The rows that are shown, the rest of them, and all. */
static struct row_sums *sum_rows(const struct matrix *matrix)
{
	const struct blame *blame = matrix->view->blame;
	struct row_sums *rows = calloc(matrix->row_cnt + 2, sizeof(*rows));
	size_t *row_of = calloc(wait_sums_party_count(matrix->view->sums), sizeof(*row_of));

	if (!rows || !row_of) {
		free(row_of);
		free(rows);
		return NULL;
	}
	for (size_t i = 0; i < blame->row_cnt; i++)
		row_of[blame->rows[i].party] = i < matrix->row_cnt ? i : matrix->row_cnt;
	for (size_t i = 0; i < blame->pair_cnt; i++) {
		add_pair(matrix, &rows[row_of[blame->pairs[i].waiter]], &blame->pairs[i]);
		add_pair(matrix, &rows[matrix->row_cnt + 1], &blame->pairs[i]);
	}
	free(row_of);
	return rows;
}

static void add_row(const struct matrix *matrix, struct table *table, const char *name,
		    const struct row_sums *row)
{
	table_cell(table, TABLE_BOLD, name);
	add_time(table, TABLE_PLAIN, row->all_ns, true);
	for (size_t i = 0; i < matrix->waker_cnt; i++)
		add_time(table, TABLE_PLAIN, row->ns[i], row->is_something[i]);
	if (matrix->has_others)
		add_time(table, TABLE_PLAIN, row->others_ns, row->has_others);
}

static int fill_matrix(const struct matrix *matrix, struct table *table)
{
	const struct blame *blame = matrix->view->blame;
	struct row_sums *rows = sum_rows(matrix);
	struct text name = { 0 };
	char count[UNITS_SIZE];
	int err;

	if (!rows)
		return -ENOMEM;
	for (size_t i = 0; i < matrix->row_cnt; i++) {
		struct party party = party_of(matrix->view, blame->rows[i].party);

		text_clear(&name);
		party_append(&name, &party);
		add_row(matrix, table, text_string(&name), &rows[i]);
	}
	text_clear(&name);
	text_append_format(&name, "%s more", units_format_count(count, blame->row_cnt - matrix->row_cnt));
	if (matrix->row_cnt < blame->row_cnt)
		add_row(matrix, table, text_string(&name), &rows[matrix->row_cnt]);
	if (blame->row_cnt > 1)
		add_row(matrix, table, "all spans", &rows[matrix->row_cnt + 1]);
	err = name.err;
	text_release(&name);
	free(rows);
	return err;
}

static int print_matrix(const struct blame_view *view, const struct screen *screen, size_t row_cnt)
{
	struct matrix matrix = { .view = view, .row_cnt = row_cnt };
	struct table *table;
	int err = 0;

	if (screen->is_terminal)
		err = choose_titles(&matrix);
	choose_columns(&matrix, screen->columns);
	sort_by_kind(&matrix);
	table = table_new(matrix.columns, title_matrix(&matrix));
	err = err ? err : fill_matrix(&matrix, table);
	err = err ? err : screen_print_table(screen, table);
	table_free(table);
	for (size_t i = 0; i < COLUMNS_MAX; i++)
		text_release(&matrix.titles[i]);
	return err;
}

/* "checkout waited 4.10 ms on flush: 12 waits, the longest 1.20 ms; lock 4.10 ms" */
static int print_sentences(const struct blame_view *view, const struct screen *screen, size_t cnt)
{
	char time[UNITS_SIZE], longest[UNITS_SIZE], count[UNITS_SIZE];
	struct text text = { 0 };
	int err;

	for (size_t i = 0; i < cnt && i < view->blame->pair_cnt; i++) {
		const struct blame_pair *pair = &view->blame->pairs[i];
		struct party waiter = party_of(view, pair->waiter), waker = party_of(view, pair->waker);

		party_append(&text, &waiter);
		text_append_format(&text, " waited %s on ", units_format_duration(time, pair->ns));
		party_append(&text, &waker);
		if (pair->cnt == 1)
			text_append(&text, ": once; ");
		else
			text_append_format(&text, ": %s times, the longest %s; ",
					   units_format_count(count, pair->cnt),
					   units_format_duration(longest, pair->max_ns));
		wait_reasons_append(&text, pair->reason_ns);
		text_append(&text, "\n");
	}
	fputs(text_string(&text), screen->file);
	err = text.err;
	text_release(&text);
	return err;
}

int blame_print(const struct blame_view *view, const struct screen *screen)
{
	size_t all_cnt = view->blame->row_cnt,
	       row_cnt = view->limit && view->limit < all_cnt ? view->limit : all_cnt;
	int err = print_matrix(view, screen, row_cnt);

	fputc('\n', screen->file);
	return err ? err : print_sentences(view, screen, view->limit ? view->limit : view->blame->pair_cnt);
}
