/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/top/top_page.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/glob.h"
#include "base/saturating.h"
#include "base/table.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/files/capture_info.h"
#include "cli/print/ledger_part.h"

#define OLDEST_MAX 100
#define OLDEST_SHARE 3 /* of the lines of a page, a third is for open spans */
#define NAME_COLUMNS_MIN 12
#define COLUMN_CNT 11

/* What there is room for. */
static const struct layout {
	size_t columns; /* from so many on */
	size_t column_cnt;
	size_t bar_columns;
	size_t waker_columns;
	size_t others; /* columns of all but the name, with their gaps */
} layouts[] = {
	{ 128, COLUMN_CNT, 12, 15, 104 },
	{ 100, COLUMN_CNT - LIVE_WINDOW_COUNT, 12, 12, 74 },
	{ 0, COLUMN_CNT - LIVE_WINDOW_COUNT, 8, 9, 67 },
};

const char *const top_sort_names[] = { "time", "rate", "p99", "open", "name", NULL };
static const char *const orders[] = { "most time first", "highest rate first", "highest p99 first",
				      "most open spans first", "by name" };
const char *const top_kind_names[] = { "label", "thread", "process", "tag", NULL };

/* ---- rows ---- */

struct ordered_row {
	const struct live_row *row;
	const struct top_choice *choice;
};

static const struct live_figures *figures_of(const struct ordered_row *ordered)
{
	return &ordered->row->windows[ordered->choice->window];
}

static uint64_t sort_value(const struct ordered_row *ordered)
{
	const struct live_figures *figures = figures_of(ordered);

	switch (ordered->choice->sort) {
	case TOP_SORT_RATE:
		return figures->cnt;
	case TOP_SORT_P99:
		return quantile_at(&figures->wall, 0.99);
	case TOP_SORT_OPEN:
		return ordered->row->open_cnt;
	default:
		return txtrace_ledger_sum_ns(&figures->ledger);
	}
}

static struct txtrace_string name_of(const struct live_row *row)
{
	return (struct txtrace_string){ row->name, row->name_length };
}

static int compare_names(struct txtrace_string a, struct txtrace_string b)
{
	size_t shorter = a.length < b.length ? a.length : b.length;
	int order = shorter ? memcmp(a.bytes, b.bytes, shorter) : 0;

	return order ? order : (a.length > b.length) - (a.length < b.length);
}

static int compare_rows(const void *left, const void *right)
{
	const struct ordered_row *a = left, *b = right;
	uint64_t x = 0, y = 0;

	if (a->choice->sort != TOP_SORT_NAME) {
		x = sort_value(a);
		y = sort_value(b);
	}
	return x != y ? (x < y) - (x > y) : compare_names(name_of(a->row), name_of(b->row));
}

static bool is_wanted(const struct top_choice *choice, const struct live_row *row)
{
	return !choice->filter || glob_matches(choice->filter, row->name ? row->name : "", row->name_length);
}

/* Returns NULL where there is no memory; *cnt of them. */
static struct ordered_row *order_rows(const struct live_rows *rows, const struct top_choice *choice,
				      size_t *cnt)
{
	struct ordered_row *ordered = calloc(rows->cnt + 1, sizeof(*ordered));

	*cnt = 0;
	for (size_t i = 0; ordered && i < rows->cnt; i++)
		if (is_wanted(choice, &rows->rows[i]))
			ordered[(*cnt)++] = (struct ordered_row){ &rows->rows[i], choice };
	if (ordered)
		qsort(ordered, *cnt, sizeof(*ordered), compare_rows);
	return ordered;
}

/* ---- the first lines ---- */

static void print_head(FILE *file, const struct log_input *input, const struct live_view *view,
		       const struct top_choice *choice)
{
	struct live_totals totals;
	char count[UNITS_SIZE], length[UNITS_SIZE];
	struct text text = { 0 }, time = { 0 };

	live_view_totals(view, &totals);
	text_append_clipped(&text, input->info.command, strlen(input->info.command), choice->columns / 3);
	capture_append_time(&time, &input->info, totals.last_ns);
	text_append_format(&text, "%s%s, %s after %s", text.length ? ": " : "",
			   totals.has_ended    ? "ended"
			   : choice->is_paused ? "paused"
					       : "recording",
			   text_string(&time),
			   units_format_duration(length, totals.last_ns > totals.begin_ns
								 ? totals.last_ns - totals.begin_ns
								 : 0));
	fprintf(file, "%s\n", text_string(&text));
	fprintf(file, "%s spans, ", units_format_count(count, totals.span_cnt));
	fprintf(file, "%s open", units_format_count(count, totals.open_cnt));
	if (totals.lost_cnt || totals.damage_cnt)
		fprintf(file, "%s, %s lost%s%s", choice->has_colours ? "\033[31m" : "",
			units_format_count(count, totals.lost_cnt), totals.damage_cnt ? ", damaged" : "",
			choice->has_colours ? "\033[0m" : "");
	else
		fputs(", 0 lost", file);
	fprintf(file, "\nthe last %u s by %s, %s", live_windows[choice->window], top_kind_names[choice->kind],
		orders[choice->sort]);
	text_clear(&text);
	if (choice->filter)
		text_append_escaped(&text, choice->filter, strlen(choice->filter));
	if (text.length)
		fprintf(file, ", only %s", text_string(&text));
	fputc('\n', file);
	text_release(&text);
	text_release(&time);
}

/* ---- the table ---- */

static void name_text(struct text *text, const struct live_row *row, const struct top_choice *choice,
		      size_t columns)
{
	if (row->is_rest)
		text_append(text, "(all others)");
	else if (!row->name)
		text_append(text, choice->kind == LIVE_TAGS ? "(no tag)" : "(unknown label)");
	else
		text_append_clipped(text, row->name, row->name_length, columns);
}

/* The part that most of it was blocked in, of all time. */
static void add_blocked(struct table *table, const struct txtrace_ledger *ledger)
{
	uint64_t sum_ns = txtrace_ledger_sum_ns(ledger), most_ns = 0;
	size_t most = 0;

	for (size_t i = 0; i < LEDGER_PART_COUNT; i++) {
		if (!ledger_parts[i].is_blocked || ledger_part_ns(ledger, i) <= most_ns)
			continue;
		most = i;
		most_ns = ledger_part_ns(ledger, i);
	}
	if (most_ns)
		table_cell_format(table, ledger_parts[most].style, "%s %.0f%%", ledger_parts[most].title,
				  100 * (double)most_ns / (double)sum_ns);
	else
		table_cell(table, TABLE_PLAIN, "");
}

static void add_waker(struct table *table, const struct live_view *view, const struct live_figures *figures,
		      size_t columns)
{
	struct txtrace_string name = { 0 };
	struct text text = { 0 };

	if (figures->wakers[0].ns)
		name = live_view_name(view, figures->wakers[0].name);
	text_append_clipped(&text, name.bytes, name.length, columns);
	table_cell(table, TABLE_PLAIN, text_string(&text));
	text_release(&text);
}

static void add_quantile(struct table *table, const struct live_figures *figures, double fraction)
{
	char duration[UNITS_SIZE];

	table_cell(table, TABLE_PLAIN,
		   figures->wall.cnt ? units_format_duration(duration, quantile_at(&figures->wall, fraction))
				     : "");
}

/* Spans a second, with three digits. */
static void add_rate(struct table *table, uint64_t cnt, uint64_t seconds)
{
	double rate = (double)cnt / (double)seconds;
	char count[UNITS_SIZE];

	if (rate >= 100)
		table_cell(table, TABLE_PLAIN, units_format_count(count, (uint64_t)(rate + 0.5)));
	else
		table_cell_format(table, TABLE_PLAIN, rate >= 10 ? "%.1f" : "%.2f", rate);
}

static const struct layout *layout_of(const struct top_choice *choice)
{
	const struct layout *layout = layouts;

	while (layout->columns > choice->columns)
		layout++;
	return layout;
}

static size_t name_columns(const struct top_choice *choice)
{
	size_t others = layout_of(choice)->others;

	return choice->columns > others + NAME_COLUMNS_MIN ? choice->columns - others : NAME_COLUMNS_MIN;
}

static void add_row(struct table *table, const struct live_view *view, const struct ordered_row *ordered,
		    bool is_selected)
{
	const struct layout *layout = layout_of(ordered->choice);
	const struct live_figures *figures = figures_of(ordered);
	const struct live_row *row = ordered->row;
	struct live_totals totals;
	uint64_t seconds = live_windows[ordered->choice->window];
	struct text text = { 0 };
	char count[UNITS_SIZE];

	live_view_totals(view, &totals);
	if (totals.end < seconds)
		seconds = totals.end ? totals.end : 1;
	name_text(&text, row, ordered->choice, name_columns(ordered->choice));
	table_cell(table, is_selected ? "7" : TABLE_BOLD, text_string(&text));
	text_release(&text);
	add_rate(table, figures->cnt, seconds);
	/* tags of open spans are not known */
	table_cell(table, TABLE_PLAIN,
		   ordered->choice->kind == LIVE_TAGS ? "" : units_format_count(count, row->open_cnt));
	add_quantile(table, figures, 0.5);
	add_quantile(table, figures, 0.99);
	ledger_bar(table, &figures->ledger, layout->bar_columns);
	table_cell(table, TABLE_PLAIN, "");
	add_blocked(table, &figures->ledger);
	add_waker(table, view, figures, layout->waker_columns);
	for (size_t i = 0; i < LIVE_WINDOW_COUNT && layout->column_cnt == COLUMN_CNT; i++)
		add_quantile(table, &row->windows[i], 0.99);
}

static int print_table(const struct table *table, const struct top_choice *choice, FILE *file)
{
	return table_print_within(table, file, choice->has_colours, choice->columns);
}

static void note_target(struct top_result *result, const struct live_figures *figures)
{
	result->target = (struct top_target){ .id = figures->slowest.id,
					      .pid = figures->slowest.pid,
					      .is_keyed = figures->slowest.flags & TXTRACE_SPAN_KEYED };
}

/* The rows from the one on that lets the selected one be seen. */
static int print_rows(const struct live_view *view, const struct ordered_row *ordered, size_t cnt,
		      const struct top_choice *choice, size_t max_cnt, FILE *file, struct top_result *result)
{
	const struct table_column titles[COLUMN_CNT] = {
		{ top_kind_names[choice->kind], TABLE_LEFT, NULL },
		{ "spans/s", TABLE_RIGHT, NULL },
		{ "open", TABLE_RIGHT, NULL },
		{ "p50", TABLE_RIGHT, NULL },
		{ "p99", TABLE_RIGHT, NULL },
		{ "time", TABLE_LEFT, NULL },
		{ "waits for", TABLE_LEFT, NULL },
		{ "woken by", TABLE_LEFT, NULL },
		{ "p99 1 s", TABLE_RIGHT, NULL },
		{ "10 s", TABLE_RIGHT, NULL },
		{ "60 s", TABLE_RIGHT, NULL },
	};
	struct table *table = table_new(titles, layout_of(choice)->column_cnt);
	size_t first = choice->selected != SIZE_MAX && choice->selected >= max_cnt
			       ? choice->selected - max_cnt + 1
			       : 0;
	int err;

	if (first > cnt)
		first = 0;
	for (size_t i = first; i < cnt && i - first < max_cnt; i++) {
		add_row(table, view, &ordered[i], i == choice->selected);
		if (i == choice->selected)
			note_target(result, figures_of(&ordered[i]));
	}
	err = cnt ? print_table(table, choice, file) : 0;
	table_free(table);
	if (!cnt)
		fputs("no spans in the last minute\n", file);
	return err;
}

/* ---- open spans ---- */

static void add_state(struct table *table, const struct live_open *open, uint64_t now_ns)
{
	const char *reason = txtrace_block_reason_name(open->reason);
	char duration[UNITS_SIZE];

	if (open->state == LIVE_STATE_BLOCKED)
		table_cell_format(table, TABLE_PLAIN, "%s, for %s", reason ? reason : "unknown",
				  units_format_duration(duration, now_ns > open->since_ns
									  ? now_ns - open->since_ns
									  : 0));
	else
		table_cell(table, TABLE_PLAIN, open->state == LIVE_STATE_AWAKE ? "not blocked" : "unknown");
}

static int print_oldest(const struct live_view *view, const struct top_choice *choice, size_t max_cnt,
			FILE *file)
{
	static const struct table_column columns[] = {
		{ "open for", TABLE_RIGHT, NULL }, { "label", TABLE_LEFT, NULL },
		{ "thread", TABLE_LEFT, NULL },	   { "waits for", TABLE_LEFT, NULL },
		{ "id", TABLE_RIGHT, NULL },
	};
	struct live_open oldest[OLDEST_MAX];
	size_t cnt = live_view_oldest(view, oldest, max_cnt < OLDEST_MAX ? max_cnt : OLDEST_MAX);
	struct table *table = table_new(columns, 5);
	struct live_totals totals;
	char duration[UNITS_SIZE];
	struct text text = { 0 };
	int err = 0;

	live_view_totals(view, &totals);
	for (size_t i = 0; i < cnt; i++) {
		uint64_t now_ns = totals.last_ns > oldest[i].begin_ns ? totals.last_ns : oldest[i].begin_ns;

		table_cell(table, TABLE_PLAIN, units_format_duration(duration, now_ns - oldest[i].begin_ns));
		text_clear(&text);
		text_append_clipped(&text, oldest[i].label.bytes, oldest[i].label.length, 20);
		table_cell(table, TABLE_BOLD, text_string(&text));
		text_clear(&text);
		text_append_clipped(&text, oldest[i].thread.bytes, oldest[i].thread.length, 15);
		table_cell_format(table, TABLE_PLAIN, "%s%s%" PRIu32, text_string(&text),
				  text.length ? " " : "", oldest[i].tid);
		add_state(table, &oldest[i], now_ns);
		table_cell_format(table, TABLE_DIM, "%" PRIu64, oldest[i].id);
	}
	if (cnt) {
		fputc('\n', file);
		err = print_table(table, choice, file);
	}
	table_free(table);
	text_release(&text);
	return err;
}

/* ---- the page ---- */

int top_page_print(const struct log_input *input, struct live_view *view, const struct top_choice *choice,
		   FILE *file, struct top_result *result)
{
	/* three lines of the head, titles and an empty line of each table */
	size_t room = choice->lines > 8 ? choice->lines - 6 : 2, row_max, cnt = 0;
	size_t oldest_max = choice->lines ? room / OLDEST_SHARE : OLDEST_SHARE * 4;
	struct ordered_row *ordered = NULL;
	struct live_totals totals;
	struct live_rows rows;
	bool is_wide = layout_of(choice)->column_cnt == COLUMN_CNT;
	int err = live_view_rows(view, choice->kind, is_wide ? LIVE_WINDOW_COUNT : choice->window, &rows);

	*result = (struct top_result){ 0 };
	live_view_totals(view, &totals);
	if (oldest_max > totals.open_cnt)
		oldest_max = (size_t)totals.open_cnt;
	row_max = choice->lines ? room - oldest_max : SIZE_MAX;
	if (!err) {
		ordered = order_rows(&rows, choice, &cnt);
		err = ordered ? 0 : -ENOMEM;
	}
	result->row_cnt = cnt;
	if (!err) {
		print_head(file, input, view, choice);
		err = print_rows(view, ordered, cnt, choice, row_max, file, result);
	}
	if (!err)
		err = print_oldest(view, choice, oldest_max, file);
	free(ordered);
	live_rows_release(&rows);
	return err;
}
