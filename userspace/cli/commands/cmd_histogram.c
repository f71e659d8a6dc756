/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/label/histogram.h"
#include "base/units.h"
#include "cli/commands/analysis.h"
#include "cli/commands/command.h"
#include "cli/exit_status.h"

#define NUMBERS_COLUMNS 42 /* what stands before the bars, with its gaps */
#define BAR_COLUMNS_MIN 20

struct histogram_options {
	struct analysis_options common;
	unsigned int of;
};

static const struct option_spec specs[] = {
	OPTION("of", 0, OPTION_CHOICE, "TIME", "of which of a span's times (default wall)",
	       offsetof(struct histogram_options, of), .choices = span_value_names),
	OPTION_LABEL("only spans with such a label, as in 'tx.*'"),
	OPTION_LIMIT("show the N labels with the most of it; 0: all (default 10)"),
	OPTION_MEMORY("use no more for labels; those beyond it are counted together (default 256M)"),
	OPTION_SORT,
	OPTIONS_OUTPUT("write one JSON object, with all labels"),
	OPTION_END,
};

static const struct options options = {
	.program = "txtrace histogram",
	.about = "How long spans took, by label: how many of them between 1, 2, 5, 10, 20, \xe2\x80\xa6 ns. "
		 "Also of the parts of their ledgers.",
	.usages = (const char *const[]){ "FILE\xe2\x80\xa6", NULL },
	.specs = specs,
	.examples =
		(const struct option_example[]){
			{ "txtrace histogram --label 'tx*' bank.txtrace", "Wall times of transactions." },
			{ "txtrace histogram --of lock bank.txtrace", "How long they waited for locks." },
			{ NULL, NULL },
		},
	.notes = exit_status_notes,
	.operand = "FILE",
	.operand_min = 1,
	.operand_max = -1,
};

/* The first and last bucket with anything in it. */
static bool range_of(const struct histogram_row *row, size_t *first, size_t *last)
{
	*first = HISTOGRAM_BUCKET_COUNT;
	*last = 0;
	for (size_t i = 0; i < HISTOGRAM_BUCKET_COUNT; i++) {
		if (row->bucket_cnt[i] == 0)
			continue;
		if (*first == HISTOGRAM_BUCKET_COUNT)
			*first = i;
		*last = i;
	}
	return *first < HISTOGRAM_BUCKET_COUNT;
}

/* ---- for people ---- */

/* So many eighths of a column. */
static void add_bar(struct table *table, uint64_t cnt, uint64_t most, size_t columns)
{
	static const char *const eighths[] = { "",
					       "\xe2\x96\x8f",
					       "\xe2\x96\x8e",
					       "\xe2\x96\x8d",
					       "\xe2\x96\x8c",
					       "\xe2\x96\x8b",
					       "\xe2\x96\x8a",
					       "\xe2\x96\x89" };
	size_t length = (size_t)((double)cnt / (double)most * (double)(8 * columns));
	struct text text = { 0 };

	if (cnt > 0 && length == 0)
		length = 1; /* nothing looks like nothing only if it is */
	for (size_t i = 0; i < length / 8; i++)
		text_append(&text, "\xe2\x96\x88");
	text_append(&text, eighths[length % 8]);
	table_cell(table, "32", text_string(&text));
	text_release(&text);
}

static void add_title(struct table *table, const struct histogram_row *row, const char *of)
{
	char count[UNITS_SIZE], bounds[UNITS_SIZE];
	struct text text = { 0 };

	if (row->is_rest)
		text_append(&text, "(all other labels)");
	else if (row->label.length == 0)
		text_append(&text, "(unknown label)");
	else
		text_append_escaped(&text, row->label.bytes, row->label.length);
	table_piece(table, TABLE_BOLD, text_string(&text));
	text_clear(&text);
	text_append_format(&text, ": %s of %s span%s", of, units_format_count(count, row->cnt),
			   row->cnt == 1 ? "" : "s");
	if (row->lower_bound_cnt > 0)
		text_append_format(&text, ", without %s lower bound%s",
				   units_format_count(bounds, row->lower_bound_cnt),
				   row->lower_bound_cnt == 1 ? "" : "s");
	table_line(table, text_string(&text));
	text_release(&text);
}

static void add_row(struct table *table, const struct histogram_row *row, const char *of, size_t bar_columns)
{
	char from[UNITS_SIZE], to[UNITS_SIZE], count[UNITS_SIZE], share[UNITS_SIZE];
	size_t first, last;
	uint64_t most = 0;

	add_title(table, row, of);
	if (range_of(row, &first, &last)) {
		for (size_t i = first; i <= last; i++)
			most = row->bucket_cnt[i] > most ? row->bucket_cnt[i] : most;
		for (size_t i = first; i <= last; i++) {
			table_cell(table, TABLE_PLAIN,
				   units_format_duration(from, histogram_bucket_begin_ns(i)));
			table_cell(table, TABLE_PLAIN,
				   i + 1 < HISTOGRAM_BUCKET_COUNT
					   ? units_format_duration(to, histogram_bucket_begin_ns(i + 1))
					   : "");
			table_cell(table, TABLE_PLAIN, units_format_count(count, row->bucket_cnt[i]));
			table_cell(table, TABLE_DIM,
				   row->bucket_cnt[i]
					   ? units_format_share(share, row->bucket_cnt[i], row->cnt)
					   : "");
			add_bar(table, row->bucket_cnt[i], most, bar_columns);
		}
	}
	table_line(table, "");
}

static int text(struct analysis_run *run)
{
	static const struct table_column titles[] = {
		{ "from", TABLE_RIGHT, NULL },	{ "to", TABLE_RIGHT, NULL }, { "spans", TABLE_RIGHT, NULL },
		{ "share", TABLE_RIGHT, NULL }, { "", TABLE_LEFT, NULL },
	};
	const char *of = span_value_names[((const struct histogram_options *)run->values)->of];
	size_t cnt = histogram_row_count(run->state), limit = (size_t)run->common->limit,
	       shown_cnt = limit && limit < cnt ? limit : cnt, columns = run->cli->out.columns;
	size_t bar_columns = columns > NUMBERS_COLUMNS + BAR_COLUMNS_MIN ? columns - NUMBERS_COLUMNS
									 : BAR_COLUMNS_MIN;
	struct table *table = table_new(titles, sizeof(titles) / sizeof(titles[0]));
	int err = 0;

	for (size_t i = 0; i < shown_cnt; i++)
		add_row(table, histogram_row(run->state, i), of, bar_columns);
	if (cnt > 0)
		err = screen_print_table(&run->cli->out, table);
	else
		fputs("no spans\n\n", run->cli->out.file);
	table_free(table);
	analysis_print_more(run, cnt - shown_cnt);
	if (shown_cnt < cnt)
		fputc('\n', run->cli->out.file);
	return err;
}

/* ---- for machines ---- */

static void row_json(struct json *json, const struct histogram_row *row)
{
	size_t first, last = 0;

	json_object_begin(json);
	if (row->is_rest || row->label.length == 0)
		json_member_null(json, "label");
	else
		json_member_string(json, "label", row->label.bytes, row->label.length);
	if (row->is_rest)
		json_member_bool(json, "is_rest", true);
	json_member_u64(json, "count", row->cnt);
	json_member_u64(json, "lower_bounds", row->lower_bound_cnt);
	json_member_u64(json, "sum_ns", row->sum_ns);
	json_name(json, "buckets");
	json_array_begin(json);
	for (size_t i = range_of(row, &first, &last) ? first : HISTOGRAM_BUCKET_COUNT;
	     i < HISTOGRAM_BUCKET_COUNT && i <= last; i++) {
		json_object_begin(json);
		json_member_u64(json, "from_ns", histogram_bucket_begin_ns(i));
		if (i + 1 < HISTOGRAM_BUCKET_COUNT)
			json_member_u64(json, "to_ns", histogram_bucket_begin_ns(i + 1));
		else
			json_member_null(json, "to_ns");
		json_member_u64(json, "count", row->bucket_cnt[i]);
		json_object_end(json);
	}
	json_array_end(json);
	json_object_end(json);
}

static void head_json(struct analysis_run *run, struct json *json)
{
	json_member_text(json, "of", span_value_names[((const struct histogram_options *)run->values)->of]);
	json_name(json, "labels");
	json_array_begin(json);
	for (size_t i = 0; i < histogram_row_count(run->state); i++)
		row_json(json, histogram_row(run->state, i));
	json_array_end(json);
}

/* ---- columns: of the buckets of all labels ---- */

struct bucket {
	const struct histogram_row *row;
	size_t idx;
	uint64_t cnt;
};

static void get_label(const void *row, struct cell *cell)
{
	const struct histogram_row *of = ((const struct bucket *)row)->row;

	cell->string = of->label;
	text_append(&cell->words, of->is_rest ? "(all other labels)" : "(unknown label)");
}

static void get_from(const void *row, struct cell *cell)
{
	cell->number = histogram_bucket_begin_ns(((const struct bucket *)row)->idx);
}

static void get_to(const void *row, struct cell *cell)
{
	size_t idx = ((const struct bucket *)row)->idx + 1;

	cell->is_unknown = idx == HISTOGRAM_BUCKET_COUNT;
	cell->number = cell->is_unknown ? 0 : histogram_bucket_begin_ns(idx);
}

static void get_share(const void *row, struct cell *cell)
{
	const struct bucket *bucket = row;

	cell->number = bucket->cnt;
	cell->whole = bucket->row->cnt;
}

static const struct column columns[] = {
	{ "label", NULL, NULL, COLUMN_STRING, .get = get_label, .style = TABLE_BOLD },
	{ "from_ns", "from", NULL, COLUMN_DURATION, .get = get_from },
	{ "to_ns", "to", NULL, COLUMN_DURATION, COLUMN_BLANK, .get = get_to },
	COLUMN_OF("count", "spans", NULL, COLUMN_COUNT, struct bucket, cnt),
	{ "percent", "share", NULL, COLUMN_SHARE, COLUMN_BLANK, .get = get_share },
	COLUMN_END,
};

static int rows(struct analysis_run *run, struct row_list *list)
{
	size_t first, last;

	for (size_t i = 0; i < histogram_row_count(run->state); i++) {
		const struct histogram_row *row = histogram_row(run->state, i);

		for (size_t at = 0; at < HISTOGRAM_BUCKET_COUNT; at++) {
			struct bucket *bucket;

			if (!range_of(row, &first, &last) || at < first || at > last)
				continue;
			bucket = row_list_make(list, sizeof(*bucket));
			if (bucket)
				*bucket = (struct bucket){ row, at, row->bucket_cnt[at] };
		}
	}
	return 0;
}

/* ---- the analysis ---- */

static void *new_histogram(struct analysis_run *run)
{
	return histogram_new(((const struct histogram_options *)run->values)->of,
			     run->common->max_memory_bytes);
}

static void free_histogram(void *state)
{
	histogram_free(state);
}

static int add(struct analysis_run *run, const struct txtrace_record *record)
{
	return histogram_add(run->state, &record->span);
}

static int finish(struct analysis_run *run)
{
	histogram_sort(run->state);
	return 0;
}

static const struct histogram_options defaults = { .common = { .limit = 10 }, .of = SPAN_VALUE_WALL };

static const struct analysis analysis = {
	.type = "histogram",
	.what = "make histograms of",
	.no_rows = "no spans",
	.more = " labels with less of it",
	.columns = columns,
	.spans_only = true,
	.new = new_histogram,
	.free = free_histogram,
	.passes = { { .add = add, .finish = finish } },
	.rows = rows,
	.text = text,
	.head_json = head_json,
	.values_bytes = sizeof(defaults),
	.defaults = &defaults,
};

const struct command command_histogram = { "histogram", "how many spans took how long, by label", &options,
					   .analysis = &analysis };
