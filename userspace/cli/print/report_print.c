/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/print/report_print.h"

#include <errno.h>
#include <string.h>

#include "cli/files/capture_info.h"
#include "cli/print/ledger_part.h"
#include "cli/print/mixed_programs.h"
#include "base/units.h"

#define LABEL_COLUMNS_MAX 30
#define BAR_COLUMNS 16
#define SPLIT_COLUMN_MAX (2 + LEDGER_PART_COUNT + 1) /* label, work, parts, rest */

/* One printing of a report. */
struct printer {
	const struct label_report *report;
	const struct screen *screen;
	const struct report_view *view;
	size_t row_cnt; /* to be shown */
	size_t label_columns;
	bool has_top_level; /* a row for all spans without parent */
	struct text text;
	int err;
};

static const struct span_figures no_figures;

/* What a row shows: its exact spans, or, where there is none, its lower bounds. */
static const struct span_figures *shown_figures(const struct label_row *row, bool *is_lower_bound)
{
	*is_lower_bound = row->exact.sums.cnt == 0 && row->lower_bounds;
	return *is_lower_bound ? row->lower_bounds : &row->exact;
}

static uint64_t lower_bound_count(const struct label_row *row)
{
	return (row->lower_bounds ? row->lower_bounds : &no_figures)->sums.cnt;
}

static const char *plural(const struct report_view *view)
{
	return view->key ? view->key->plural : "labels";
}

static void append_nameless(const struct report_view *view, struct text *text)
{
	const struct span_key *key = view->key;

	if (!key || key->nameless) {
		text_append(text, key ? key->nameless : "(unknown label)");
		return;
	}
	text_append(text, "(no ");
	text_append_clipped(text, key->tag, strlen(key->tag), LABEL_COLUMNS_MAX - strlen("(no )"));
	text_append(text, ")");
}

static size_t shown_length(const struct report_view *view, const struct label_row *row)
{
	size_t limit = view->key ? view->key->shown_bytes : 0;

	return limit && row->label.length > limit ? limit : row->label.length;
}

static void append_label(const struct report_view *view, const struct label_row *row, struct text *text)
{
	if (row->is_rest)
		text_append_format(text, "(all other %s)", plural(view));
	else if (row->label.length == 0)
		append_nameless(view, text);
	else
		text_append_escaped(text, row->label.bytes, shown_length(view, row));
}

static const char *format_label(struct printer *printer, const struct label_row *row)
{
	text_clear(&printer->text);
	append_label(printer->view, row, &printer->text);
	return text_string(&printer->text);
}

static const struct label_row *row_at(const struct printer *printer, size_t idx)
{
	return printer->view->rows ? printer->view->rows[idx] : label_report_row(printer->report, idx);
}

static uint64_t mean(uint64_t sum, uint64_t cnt)
{
	return cnt ? sum / cnt : 0;
}

static void add_time(struct table *table, const char *style, bool is_lower_bound, uint64_t ns)
{
	char time[UNITS_SIZE];

	table_cell_format(table, ns ? style : TABLE_DIM, "%s%s", is_lower_bound && ns ? ">=" : "",
			  units_format_duration(time, ns));
}

static void print(struct printer *printer, const struct table *table)
{
	int err = screen_print_table(printer->screen, table);

	printer->err = printer->err ? printer->err : err;
}

/* ---- columns ---- */

static void get_label(const void *at, struct cell *cell)
{
	const struct label_row *row = at;

	cell->string = row->label;
	cell->is_shortened = shown_length(cell->context, row) < row->label.length;
	if (row->is_rest || row->label.length == 0 || cell->is_shortened)
		append_label(cell->context, row, &cell->words);
}

static void get_lower_bounds(const void *row, struct cell *cell)
{
	cell->number = lower_bound_count(row);
}

/* Lower bounds are marked as such, and nothing is dim. */
static void set_time(const void *row, struct cell *cell, uint64_t ns)
{
	bool is_lower_bound;

	shown_figures(row, &is_lower_bound);
	cell->number = ns;
	cell->bound = is_lower_bound && ns ? ">=" : NULL;
	cell->style = ns ? cell->column->style : TABLE_DIM;
}

static const struct span_figures *figures_of(const void *row)
{
	bool is_lower_bound;

	return shown_figures(row, &is_lower_bound);
}

static void get_p50(const void *row, struct cell *cell)
{
	set_time(row, cell, quantile_at(&figures_of(row)->wall_ns, 0.5));
}

static void get_p90(const void *row, struct cell *cell)
{
	set_time(row, cell, quantile_at(&figures_of(row)->wall_ns, 0.9));
}

static void get_p99(const void *row, struct cell *cell)
{
	set_time(row, cell, quantile_at(&figures_of(row)->wall_ns, 0.99));
}

static void get_min(const void *row, struct cell *cell)
{
	set_time(row, cell, figures_of(row)->wall_ns.min);
}

static void get_max(const void *row, struct cell *cell)
{
	set_time(row, cell, figures_of(row)->wall_ns.max);
}

static void get_total(const void *row, struct cell *cell)
{
	set_time(row, cell, figures_of(row)->sums.wall_ns);
}

/* Of the sum at the column's offset. */
static void get_mean(const void *row, struct cell *cell)
{
	const struct span_sums *sums = &figures_of(row)->sums;

	set_time(row, cell, mean(*(const uint64_t *)((const char *)sums + cell->column->offset), sums->cnt));
}

static void get_mean_blocked(const void *row, struct cell *cell)
{
	const struct span_sums *sums = &figures_of(row)->sums;

	set_time(row, cell, mean(txtrace_ledger_blocked_ns(&sums->ledger), sums->cnt));
}

#define MEAN(name_, title_, group_, member_)                                                                 \
	COLUMN_OF(name_, title_, group_, COLUMN_DURATION, struct span_sums, member_, .flags = COLUMN_HIDDEN, \
		  .get = get_mean)
#define REASON(name_, title_, reason_) \
	MEAN(name_ "_ns", title_, means, ledger.blocked_ns[TXTRACE_BLOCK_##reason_])

static const char means[] = "mean";

const struct column report_columns[] = {
	{ "label", NULL, NULL, COLUMN_STRING, COLUMN_KEY, .get = get_label, .style = TABLE_BOLD },
	COLUMN_OF("spans", NULL, NULL, COLUMN_COUNT, struct label_row, exact.sums.cnt),
	{ "lower_bounds", ">=", NULL, COLUMN_COUNT, COLUMN_BLANK, .get = get_lower_bounds, .style = "33" },
	{ "p50_ns", "p50", NULL, COLUMN_DURATION, .get = get_p50 },
	{ "p90_ns", "p90", NULL, COLUMN_DURATION, .get = get_p90 },
	{ "p99_ns", "p99", NULL, COLUMN_DURATION, .get = get_p99 },
	{ "max_ns", "max", NULL, COLUMN_DURATION, .get = get_max },
	{ "total_ns", "total", NULL, COLUMN_DURATION, .get = get_total },
	{ "min_ns", "min", NULL, COLUMN_DURATION, COLUMN_HIDDEN, .get = get_min },
	MEAN("wall_ns", "wall", means, wall_ns),
	MEAN("work_ns", "work", means, work_ns),
	MEAN("on_cpu_ns", "on-CPU", means, ledger.on_cpu_ns),
	MEAN("runnable_ns", "runnable", means, ledger.runnable_ns),
	{ "blocked_ns", "blocked", means, COLUMN_DURATION, COLUMN_HIDDEN, .get = get_mean_blocked },
	REASON("lock", "lock", LOCK),
	REASON("disk", "disk", DISK),
	REASON("network", "network", NETWORK),
	REASON("sleep", "sleep", SLEEP),
	REASON("page_fault", "fault", PAGE_FAULT),
	REASON("pipe", "pipe", PIPE),
	REASON("wait", "wait", WAIT),
	REASON("stopped", "stopped", STOPPED),
	REASON("other", "other", OTHER),
	REASON("throttled", "throttled", THROTTLED),
	REASON("poll", "poll", POLL),
	MEAN("detached_ns", "detached", means, ledger.detached_ns),
	MEAN("unknown_ns", "unknown", means, ledger.unknown_ns),
	MEAN("interrupt_ns", "interrupt", means, ledger.interrupt_ns),
	MEAN("stolen_ns", "stolen", means, ledger.stolen_ns),
	COLUMN_END,
};

/* ---- wall ---- */

static void print_wall(struct printer *printer)
{
	struct column_choice choice = { .key_title = "wall time" };
	struct table_column titles[COLUMNS_MAX];
	struct table *table;

	for (const struct column *column = report_columns; column->name; column++) {
		if (!(column->flags & COLUMN_HIDDEN))
			choice.columns[choice.cnt++] = column;
	}
	column_titles(&choice, titles);
	table = table_new(titles, choice.cnt);
	for (size_t i = 0; i < printer->row_cnt; i++) {
		for (size_t j = 0; j < choice.cnt; j++)
			column_add_cell(choice.columns[j], printer->view, row_at(printer, i), 0, table);
	}
	print(printer, table);
	table_free(table);
}

/* ---- the split ---- */

/* Which parts have a column of their own; what is in no other goes into "rest", whose list stands below. */
struct split_columns {
	size_t parts[LEDGER_PART_COUNT];
	size_t cnt;
	bool is_shown[LEDGER_PART_COUNT];
	bool has_rest;
	struct table_column titles[SPLIT_COLUMN_MAX];
	size_t title_cnt;
};

/* What one row of the split shows. */
struct split_row {
	const struct span_sums *sums;
	const struct label_row *row; /* NULL: all without parent */
	bool is_lower_bound;
};

static size_t split_row_count(const struct printer *printer)
{
	return printer->row_cnt + printer->has_top_level;
}

static struct split_row split_row_at(const struct printer *printer, size_t idx)
{
	struct split_row split = { .sums = &label_report_top_level(printer->report)[0] };

	if (idx < printer->row_cnt) {
		split.row = row_at(printer, idx);
		split.sums = &shown_figures(split.row, &split.is_lower_bound)->sums;
	}
	return split;
}

/* Sums of each part over all rows, and the columns that each would take, with its gap. */
static void measure_parts(const struct printer *printer, double sums[LEDGER_PART_COUNT],
			  size_t widths[LEDGER_PART_COUNT])
{
	char time[UNITS_SIZE];

	for (size_t part = 0; part < LEDGER_PART_COUNT; part++) {
		sums[part] = 0;
		widths[part] = strlen(ledger_parts[part].title);
		for (size_t i = 0; i < split_row_count(printer); i++) {
			struct split_row row = split_row_at(printer, i);
			uint64_t ns = ledger_part_ns(&row.sums->ledger, part);
			const char *text = units_format_duration(time, mean(ns, row.sums->cnt));
			size_t width = text_columns(text, strlen(text)) +
				       (row.is_lower_bound ? strlen(">=") : 0);

			sums[part] += (double)ns;
			widths[part] = width > widths[part] ? width : widths[part];
		}
		widths[part] += 2;
	}
}

/* The part with the largest sum that has no column yet; LEDGER_PART_COUNT: none. */
static size_t next_part(const struct split_columns *split, const double sums[LEDGER_PART_COUNT])
{
	size_t best = LEDGER_PART_COUNT;

	for (size_t part = 0; part < LEDGER_PART_COUNT; part++) {
		if (!split->is_shown[part] && sums[part] > 0 &&
		    (best == LEDGER_PART_COUNT || sums[part] > sums[best]))
			best = part;
	}
	return best;
}

/* On-CPU and runnable always, the others, if there is anything, by their weight as long as they fit. */
static void choose_columns(const struct printer *printer, struct split_columns *split)
{
	size_t widths[LEDGER_PART_COUNT], used = printer->label_columns, rest_width = strlen("  1.23 ms"),
					  waiting_cnt = 0, next;
	double sums[LEDGER_PART_COUNT];

	for (size_t i = 0; i < printer->row_cnt; i++) {
		if (split_row_at(printer, i).is_lower_bound)
			rest_width = strlen("  >=1.23 ms");
	}
	used += rest_width; /* that of work, too */
	measure_parts(printer, sums, widths);
	for (size_t part = 0; part < LEDGER_PART_COUNT; part++) {
		split->is_shown[part] = part < 2;
		used += part < 2 ? widths[part] : 0;
		waiting_cnt += part >= 2 && sums[part] > 0;
	}
	while ((next = next_part(split, sums)) != LEDGER_PART_COUNT) {
		if (used + widths[next] + (waiting_cnt > 1 ? rest_width : 0) > printer->screen->columns)
			break;
		split->is_shown[next] = true;
		used += widths[next];
		waiting_cnt--;
	}
	split->has_rest = next != LEDGER_PART_COUNT;
	for (size_t part = 0; part < LEDGER_PART_COUNT; part++) {
		if (split->is_shown[part])
			split->parts[split->cnt++] = part;
	}
}

static void title_columns(struct split_columns *split)
{
	static const char blocked[] = "blocked on";

	split->titles[split->title_cnt++] = (struct table_column){ "mean split", TABLE_LEFT, NULL };
	split->titles[split->title_cnt++] = (struct table_column){ "work", TABLE_RIGHT, NULL };
	for (size_t i = 0; i < split->cnt; i++) {
		const struct ledger_part *part = &ledger_parts[split->parts[i]];

		split->titles[split->title_cnt++] = (struct table_column){ part->title, TABLE_RIGHT,
									   part->is_blocked ? blocked
											    : NULL };
	}
	if (split->has_rest)
		split->titles[split->title_cnt++] = (struct table_column){ "rest", TABLE_RIGHT, NULL };
}

/* The parts without a column. */
static struct txtrace_ledger rest_of(const struct split_columns *split, const struct txtrace_ledger *ledger)
{
	struct txtrace_ledger rest = *ledger;

	for (size_t i = 0; i < split->cnt; i++)
		*(uint64_t *)((char *)&rest + ledger_parts[split->parts[i]].offset) = 0;
	return rest;
}

/* Nothing is a dot, so that the eye finds what is something. */
static void add_part(struct table *table, const char *style, bool is_lower_bound, uint64_t ns)
{
	if (ns > 0)
		add_time(table, style, is_lower_bound, ns);
	else
		table_cell(table, TABLE_DIM, "\xc2\xb7");
}

static void add_share(struct table *table, const char *style, uint64_t part_ns, uint64_t sum_ns)
{
	char share[UNITS_SIZE];

	table_cell(table, style, part_ns ? units_format_share(share, part_ns, sum_ns) : "");
}

/* Two lines: the times, and below them the shares with the bar. */
static void add_split_rows(struct printer *printer, struct table *table, const struct split_columns *split,
			   const struct split_row *row)
{
	const struct txtrace_ledger *ledger = &row->sums->ledger;
	struct txtrace_ledger rest = rest_of(split, ledger);
	uint64_t sum_ns = txtrace_ledger_sum_ns(ledger), rest_ns = txtrace_ledger_sum_ns(&rest),
		 cnt = row->sums->cnt;

	table_cell(table, TABLE_BOLD, row->row ? format_label(printer, row->row) : "(top level)");
	add_time(table, TABLE_PLAIN, row->is_lower_bound, mean(row->sums->work_ns, cnt));
	for (size_t i = 0; i < split->cnt; i++)
		add_part(table, ledger_parts[split->parts[i]].style, row->is_lower_bound,
			 mean(ledger_part_ns(ledger, split->parts[i]), cnt));
	if (split->has_rest)
		add_part(table, TABLE_PLAIN, row->is_lower_bound, mean(rest_ns, cnt));
	if (sum_ns == 0)
		return;

	ledger_bar(table, ledger, BAR_COLUMNS);
	table_cell(table, TABLE_PLAIN, "");
	table_cell(table, TABLE_PLAIN, "");
	for (size_t i = 0; i < split->cnt; i++)
		add_share(table, ledger_parts[split->parts[i]].style, ledger_part_ns(ledger, split->parts[i]),
			  sum_ns);
	if (split->has_rest)
		add_share(table, TABLE_PLAIN, rest_ns, sum_ns);
	table_end_row(table);

	text_clear(&printer->text);
	text_append(&printer->text, "  rest: ");
	ledger_list(&printer->text, &rest, sum_ns, cnt, strlen("  rest: "), printer->screen->columns);
	if (rest_ns > 0)
		table_line(table, text_string(&printer->text));
}

static bool has_part(const struct printer *printer, size_t part)
{
	for (size_t i = 0; i < split_row_count(printer); i++) {
		struct split_row row = split_row_at(printer, i);

		if (ledger_part_ns(&row.sums->ledger, part))
			return true;
	}
	return false;
}

static void print_split(struct printer *printer)
{
	struct split_columns split = { .cnt = 0 };
	struct table *table;

	choose_columns(printer, &split);
	title_columns(&split);
	table = table_new(split.titles, split.title_cnt);
	for (size_t i = 0; i < split_row_count(printer); i++) {
		struct split_row row = split_row_at(printer, i);

		add_split_rows(printer, table, &split, &row);
	}
	print(printer, table);
	table_free(table);
	ledger_print_legend(printer->screen->file, has_part(printer, LEDGER_PART_INTERRUPT),
			    has_part(printer, LEDGER_PART_STOLEN));
}

/* ---- the foot ---- */

static void add_totals(struct printer *printer, struct table *table)
{
	const struct log_census *census = label_report_census(printer->report);
	struct span_sums totals[2];
	char spans[UNITS_SIZE], bounds[UNITS_SIZE], unfinished[UNITS_SIZE], labels[UNITS_SIZE];
	bool has_rest = label_report_rest_count(printer->report) > 0;
	size_t label_cnt = label_report_row_count(printer->report) - has_rest;

	label_report_totals(printer->report, totals);
	table_cell(table, TABLE_PLAIN, "spans");
	text_clear(&printer->text);
	text_append_format(&printer->text, "%s of %s%s %s",
			   units_format_count(spans, totals[0].cnt + totals[1].cnt),
			   has_rest ? "more than " : "", units_format_count(labels, label_cnt),
			   label_cnt != 1	? plural(printer->view)
			   : printer->view->key ? printer->view->key->singular
						: "label");
	if (totals[1].cnt > 0)
		text_append_format(&printer->text,
				   "; %s of them lower bounds (>=), counted apart: %s unfinished",
				   units_format_count(bounds, totals[1].cnt),
				   units_format_count(unfinished, census->unfinished_cnt));
	table_cell(table, TABLE_PLAIN, text_string(&printer->text));
}

static void add_memory_notes(struct printer *printer, struct table *table)
{
	char count[UNITS_SIZE];

	if (label_report_rest_count(printer->report) > 0) {
		table_cell(table, "33", "memory");
		table_cell_format(table, "33",
				  "too many %s: %s spans are counted together; 'txtrace report --max-memory' "
				  "allows more",
				  plural(printer->view),
				  units_format_count(count, label_report_rest_count(printer->report)));
	}
	if (label_report_is_coarse(printer->report)) {
		table_cell(table, "33", "memory");
		table_cell_format(table, "33",
				  "used up: p50, p90 and p99 of some %s are coarse; 'txtrace report "
				  "--max-memory' allows more",
				  plural(printer->view));
	}
}

static void add_mixed(struct printer *printer, struct table *table)
{
	struct mixed_programs mixed = { .known = label_report_programs(printer->report) };
	struct text line = { 0 };

	for (size_t i = 0; i < label_report_row_count(printer->report); i++) {
		const struct label_row *row = label_report_row(printer->report, i);

		if (span_programs_is_mixed(row->programs))
			mixed_programs_add(&mixed, format_label(printer, row), row->programs);
	}
	mixed_programs_end(&mixed, "spans", &line);
	if (line.length) {
		table_cell(table, "33", "programs");
		table_cell(table, "33", text_string(&line));
	}
	printer->err = printer->err ? printer->err : line.err;
	text_release(&line);
}

static void print_foot(struct printer *printer)
{
	static const struct table_column columns[] = { { NULL, TABLE_LEFT, NULL },
						       { NULL, TABLE_LEFT, NULL } };
	struct table *table = table_new(columns, 2);

	add_totals(printer, table);
	add_mixed(printer, table);
	capture_add_losses(table, printer->view->census ? printer->view->census
							: label_report_census(printer->report));
	add_memory_notes(printer, table);
	fputc('\n', printer->screen->file);
	print(printer, table);
	table_free(table);
}

static size_t widest_label(struct printer *printer)
{
	size_t widest = BAR_COLUMNS;

	for (size_t i = 0; i < printer->row_cnt; i++) {
		const char *label = format_label(printer, row_at(printer, i));
		size_t columns = text_columns(label, strlen(label));

		widest = columns > widest ? columns : widest;
	}
	/* they are shortened to that if it helps */
	return widest < LABEL_COLUMNS_MAX ? widest : LABEL_COLUMNS_MAX;
}

/*
 * All spans without parent, as a row: unless one label has them all, and no others, and the row would repeat
 * it.
 */
static bool has_top_level_row(const struct printer *printer)
{
	const struct span_sums *sums = &label_report_top_level(printer->report)[0];

	for (size_t i = 0; i < printer->row_cnt; i++) {
		const struct span_sums *row = &row_at(printer, i)->exact.sums;

		if (row->cnt == sums->cnt && row->wall_ns == sums->wall_ns && row->work_ns == sums->work_ns)
			return false;
	}
	return sums->cnt > 0;
}

/* As far as the log tells; its recorder has said more. */
static void print_why_none(const struct printer *printer)
{
	const struct log_census *census = label_report_census(printer->report);
	const struct txtrace_summary *summary = &census->summary;
	uint64_t left_out_cnt = summary->left_out_cnt[TXTRACE_LEFT_OUT_SAMPLE] +
				summary->left_out_cnt[TXTRACE_LEFT_OUT_LABEL] +
				summary->left_out_cnt[TXTRACE_LEFT_OUT_SHORT];
	uint64_t stray_cnt = summary->anomaly_cnt[TXTRACE_ANOMALY_END_UNKNOWN];
	bool has_threads = census->record_cnt[TXTRACE_RECORD_RUN],
	     is_choice = census->record_cnt[TXTRACE_RECORD_SPAN];
	char cnt[UNITS_SIZE];

	fputs("no spans", printer->screen->file);
	if (!is_choice && left_out_cnt)
		fprintf(printer->screen->file, ": %s were filtered by --sample, --label or --min-duration",
			units_format_count(cnt, left_out_cnt));
	else if (!is_choice && stray_cnt)
		fprintf(printer->screen->file,
			": %s ends belong to spans that began earlier, or whose begin was not hit",
			units_format_count(cnt, stray_cnt));
	else if (!is_choice && has_threads)
		fputs(": there was no probe, or none was hit; 'txtrace workers' and 'txtrace blocked' show "
		      "its threads",
		      printer->screen->file);
	fputc('\n', printer->screen->file);
}

int report_print(const struct label_report *report, const struct screen *screen,
		 const struct report_view *view)
{
	struct printer printer = {
		.report = report, .screen = screen, .view = view, .row_cnt = label_report_row_count(report)
	};
	size_t hidden_cnt = 0;
	char count[UNITS_SIZE];

	if (view->row_limit > 0 && printer.row_cnt > view->row_limit) {
		hidden_cnt = printer.row_cnt - view->row_limit;
		printer.row_cnt = view->row_limit;
	}
	printer.label_columns = widest_label(&printer);
	printer.has_top_level = has_top_level_row(&printer);
	if (printer.row_cnt > 0) {
		print_wall(&printer);
		fputc('\n', screen->file);
		print_split(&printer);
	} else {
		print_why_none(&printer);
	}
	if (hidden_cnt > 0)
		fprintf(screen->file, "\n%s more %s%s: 'txtrace report --limit 0' shows them\n",
			units_format_count(count, hidden_cnt), plural(view),
			view->rows ? "" : " with less work");
	print_foot(&printer);
	printer.err = printer.err ? printer.err : printer.text.err;
	text_release(&printer.text);
	return printer.err;
}
