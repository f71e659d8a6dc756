/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>

#include "analyze/thread/concurrency.h"
#include "base/units.h"
#include "cli/commands/analysis.h"
#include "cli/commands/command.h"
#include "cli/exit_status.h"

#define NAME_COLUMNS_MAX 24
#define NUMBERS_COLUMNS 22 /* what stands before the chart besides the name, with its gaps */
#define CHART_COLUMNS_MIN 20
#define MACHINE_BUCKETS 100 /* where no screen says how many fit */

struct concurrency_options {
	struct analysis_options common;
	uint64_t bucket_cnt; /* 0: what is fit */
	bool wants_threads;
};

struct concurrency_state {
	struct concurrency *concurrency; /* of the second reading */
	uint64_t from_ns;		 /* of what is wanted */
	uint64_t to_ns;
	bool wants_threads;
};

static const struct option_spec specs[] = {
	OPTION("buckets", 'b', OPTION_U64, "N",
	       "divide the time into N equal parts (default as fits the screen, 100 for --json and --csv)",
	       offsetof(struct concurrency_options, bucket_cnt), .minimum = 1,
	       .maximum = CONCURRENCY_BUCKET_MAX),
	OPTION_LABEL("only spans with such a label, as in 'tx.*'; counters are there all the same"),
	OPTION_LIMIT("show the N labels of which most were open, and N counters; 0: all (default 20)"),
	OPTION("threads", 'T', OPTION_FLAG, NULL,
	       "also how many threads were running, runnable and blocked; of a log without spans that is "
	       "shown anyway",
	       offsetof(struct concurrency_options, wants_threads)),
	OPTION_SORT,
	OPTIONS_OUTPUT("write one JSON object, with all series"),
	OPTION_END,
};

static const struct options options = {
	.program = "txtrace concurrency",
	.about = "How many spans of each label were open at once, and what the program's counters were, over "
		 "time: the mean in each part of the time. "
		 "Where there are no spans, how many threads were running, runnable and blocked. Reads the "
		 "log twice.",
	.usages = (const char *const[]){ "FILE\xe2\x80\xa6", NULL },
	.specs = specs,
	.examples =
		(const struct option_example[]){
			{ "txtrace concurrency bank.txtrace", "A line for each label and counter." },
			{ "txtrace concurrency --buckets 1000 --csv bank.txtrace", "For a spreadsheet." },
			{ NULL, NULL },
		},
	.notes = exit_status_notes,
	.operand = "FILE",
	.operand_min = 1,
	.operand_max = -1,
};

/* ---- for people ---- */

static void append_name(struct text *text, const struct concurrency_series *series)
{
	if (series->is_rest)
		text_append(text, "(all other labels)");
	else if (series->kind == CONCURRENCY_THREADS)
		text_append_format(text, "(threads %s)", series->name.bytes);
	else if (series->name.length == 0)
		text_append(text, series->kind == CONCURRENCY_COUNTER ? "(no name)" : "(unknown label)");
	else
		text_append_escaped(text, series->name.bytes, series->name.length);
}

static void add_series(struct table *table, const struct concurrency_series *series, size_t bucket_cnt)
{
	static const char *const levels[] = { " ",
					      "\xe2\x96\x81",
					      "\xe2\x96\x82",
					      "\xe2\x96\x83",
					      "\xe2\x96\x84",
					      "\xe2\x96\x85",
					      "\xe2\x96\x86",
					      "\xe2\x96\x87",
					      "\xe2\x96\x88" };
	static const char *const styles[] = {
		[CONCURRENCY_THREADS] = "33", [CONCURRENCY_LABEL] = "32", [CONCURRENCY_COUNTER] = "36"
	};
	struct text text = { 0 };

	append_name(&text, series);
	table_cell(table, TABLE_BOLD, text_string(&text));
	table_cell_format(table, TABLE_PLAIN, "%.2f", series->sum / (double)bucket_cnt);
	table_cell_format(table, TABLE_PLAIN, "%.2f", series->peak);
	text_clear(&text);
	for (size_t i = 0; i < bucket_cnt; i++) {
		double share = series->peak > 0 ? series->means[i] / series->peak : 0;

		/* Nothing looks like nothing only if it is. */
		text_append(&text, levels[share > 0 ? 1 + (size_t)(share * 7.5) : 0]);
	}
	table_cell(table, styles[series->kind], text_string(&text));
	text_release(&text);
}

static void print_range(struct analysis_run *run, const struct concurrency *concurrency)
{
	size_t bucket_cnt = concurrency_bucket_count(concurrency);
	uint64_t from_ns = concurrency_begin_ns(concurrency, 0),
		 to_ns = concurrency_begin_ns(concurrency, bucket_cnt),
		 first_ns = log_input_begin_ns(run->input);
	char begin[UNITS_SIZE], end[UNITS_SIZE], width[UNITS_SIZE];

	fprintf(run->cli->out.file, "from +%s to +%s, each column %s; bars are as high as the row's peak\n\n",
		units_format_duration(begin, from_ns > first_ns ? from_ns - first_ns : 0),
		units_format_duration(end, to_ns > first_ns ? to_ns - first_ns : 0),
		units_format_duration(width, (to_ns - from_ns) / bucket_cnt));
}

static int text(struct analysis_run *run)
{
	static const struct table_column titles[] = {
		{ "open spans, counters", TABLE_LEFT, NULL },
		{ "mean", TABLE_RIGHT, NULL },
		{ "peak", TABLE_RIGHT, NULL },
		{ "over time", TABLE_LEFT, NULL },
	};
	const struct concurrency *concurrency = ((const struct concurrency_state *)run->state)->concurrency;
	struct table *table = table_new(titles, sizeof(titles) / sizeof(titles[0]));
	uint64_t shown_cnts[CONCURRENCY_KIND_COUNT] = { 0 }, hidden_cnt = 0;
	uint64_t limit = run->common->limit;
	int err = 0;

	for (size_t i = 0; i < concurrency_series_count(concurrency); i++) {
		const struct concurrency_series *series = concurrency_series(concurrency, i);

		if (limit && shown_cnts[series->kind] == limit && series->kind != CONCURRENCY_THREADS) {
			hidden_cnt++;
			continue;
		}
		shown_cnts[series->kind]++;
		add_series(table, series, concurrency_bucket_count(concurrency));
	}
	if (concurrency_series_count(concurrency) == 0)
		fputs("no spans and no counters\n\n", run->cli->out.file);
	else
		err = screen_print_table(&run->cli->out, table);
	table_free(table);
	if (concurrency_series_count(concurrency) > 0)
		print_range(run, concurrency);
	analysis_print_more(run, hidden_cnt);
	if (hidden_cnt > 0)
		fputc('\n', run->cli->out.file);
	return err;
}

/* ---- for machines ---- */

static const char *const kind_names[] = {
	[CONCURRENCY_THREADS] = "threads", [CONCURRENCY_LABEL] = "label", [CONCURRENCY_COUNTER] = "counter"
};

static void series_json(struct json *json, const struct concurrency_series *series, size_t bucket_cnt)
{
	json_object_begin(json);
	json_member_text(json, "kind", kind_names[series->kind]);
	if (series->is_rest || series->name.length == 0)
		json_member_null(json, "name");
	else
		json_member_string(json, "name", series->name.bytes, series->name.length);
	if (series->is_rest)
		json_member_bool(json, "is_rest", true);
	if (series->kind == CONCURRENCY_COUNTER)
		json_member_u64(json, "pid", series->pid);
	json_member_u64(json, "count", series->cnt);
	json_name(json, "means");
	json_array_begin(json);
	for (size_t i = 0; i < bucket_cnt; i++)
		json_double(json, series->means[i]);
	json_array_end(json);
	json_object_end(json);
}

static void head_json(struct analysis_run *run, struct json *json)
{
	const struct concurrency *concurrency = ((const struct concurrency_state *)run->state)->concurrency;
	size_t bucket_cnt = concurrency_bucket_count(concurrency);

	json_name(json, "begins_ns");
	json_array_begin(json);
	for (size_t i = 0; i <= bucket_cnt; i++) /* the last is where the last bucket ends */
		json_u64(json, concurrency_begin_ns(concurrency, i));
	json_array_end(json);
	json_name(json, "series");
	json_array_begin(json);
	for (size_t i = 0; i < concurrency_series_count(concurrency); i++) {
		json_line_break(json);
		series_json(json, concurrency_series(concurrency, i), bucket_cnt);
	}
	json_array_end(json);
}

/* ---- columns: of the parts of the time of all series ---- */

struct bucket {
	const struct concurrency_series *series;
	uint64_t begin_ns;
	uint64_t end_ns;
	double mean;
};

static void get_kind(const void *row, struct cell *cell)
{
	const struct concurrency_series *series = ((const struct bucket *)row)->series;

	text_append(&cell->words, series->is_rest ? "rest" : kind_names[series->kind]);
}

static void get_name(const void *row, struct cell *cell)
{
	const struct concurrency_series *series = ((const struct bucket *)row)->series;

	cell->string = series->name;
	append_name(&cell->words, series);
}

static void get_pid(const void *row, struct cell *cell)
{
	const struct concurrency_series *series = ((const struct bucket *)row)->series;

	cell->is_unknown = series->kind != CONCURRENCY_COUNTER;
	cell->number = series->pid;
}

static void get_mean(const void *row, struct cell *cell)
{
	cell->real = ((const struct bucket *)row)->mean;
}

static const struct column columns[] = {
	COLUMN_OF("begin_ns", "begin, s", NULL, COLUMN_MOMENT, struct bucket, begin_ns),
	COLUMN_OF("end_ns", "end, s", NULL, COLUMN_MOMENT, struct bucket, end_ns),
	{ "kind", NULL, NULL, COLUMN_WORDS, .get = get_kind },
	{ "name", NULL, NULL, COLUMN_STRING, .get = get_name, .style = TABLE_BOLD },
	{ "pid", NULL, NULL, COLUMN_ID, COLUMN_BLANK, .get = get_pid },
	{ "mean", NULL, NULL, COLUMN_REAL, .get = get_mean },
	COLUMN_END,
};

static int rows(struct analysis_run *run, struct row_list *list)
{
	const struct concurrency *concurrency = ((const struct concurrency_state *)run->state)->concurrency;

	for (size_t i = 0; run->is_plain && i < concurrency_series_count(concurrency); i++) {
		const struct concurrency_series *series = concurrency_series(concurrency, i);

		for (size_t at = 0; at < concurrency_bucket_count(concurrency); at++) {
			struct bucket *bucket = row_list_make(list, sizeof(*bucket));

			if (bucket)
				*bucket = (struct bucket){ series, concurrency_begin_ns(concurrency, at),
							   concurrency_begin_ns(concurrency, at + 1),
							   series->means[at] };
		}
	}
	return 0;
}

/* ---- both readings ---- */

static void free_state(void *made)
{
	struct concurrency_state *state = made;

	concurrency_free(state->concurrency);
	free(state);
}

static void *new_state(struct analysis_run *run)
{
	struct concurrency_state *state = calloc(1, sizeof(*state));

	if (!state)
		return NULL;
	state->from_ns = UINT64_MAX;
	state->wants_threads = ((const struct concurrency_options *)run->values)->wants_threads;
	return state;
}

/* The range of what is wanted. A time alone is a range of 1 ns. */
static int find_range(struct analysis_run *run, const struct txtrace_record *record)
{
	struct concurrency_state *state = run->state;
	bool is_span = record->kind == TXTRACE_RECORD_SPAN;
	uint64_t begin_ns, end_ns;

	if (!is_span && record->kind != TXTRACE_RECORD_COUNTER)
		return 0;
	begin_ns = is_span ? record->span.begin_ns : record->counter.time_ns;
	end_ns = is_span ? record->span.end_ns : record->counter.time_ns;
	state->from_ns = begin_ns < state->from_ns ? begin_ns : state->from_ns;
	state->to_ns = end_ns > state->to_ns ? end_ns : state->to_ns;
	return 0;
}

static size_t choose_buckets(const struct analysis_run *run)
{
	const struct concurrency_options *values = run->values;
	size_t taken = NAME_COLUMNS_MAX + NUMBERS_COLUMNS, cnt = CHART_COLUMNS_MIN;

	if (values->common.wants_json || run->is_plain)
		cnt = MACHINE_BUCKETS;
	else if (run->cli->out.columns > taken + CHART_COLUMNS_MIN)
		cnt = run->cli->out.columns - taken;
	if (values->bucket_cnt)
		cnt = (size_t)values->bucket_cnt;
	return cnt < CONCURRENCY_BUCKET_MAX ? cnt : CONCURRENCY_BUCKET_MAX;
}

static int end_range(struct analysis_run *run)
{
	const struct log_census *census = &run->input->census;
	struct concurrency_state *state = run->state;

	if (state->from_ns == state->to_ns && state->to_ns < UINT64_MAX)
		state->to_ns++;
	if (!census->record_cnt[TXTRACE_RECORD_SPAN] && census->record_cnt[TXTRACE_RECORD_RUN] &&
	    !run->common->label)
		state->wants_threads = true;
	if (state->wants_threads && census->first_ns < census->last_ns) {
		state->from_ns = census->first_ns;
		state->to_ns = census->last_ns;
	}
	if (state->from_ns >= state->to_ns) {
		state->from_ns = 0; /* nothing is in it */
		state->to_ns = 1;
	}
	state->concurrency = concurrency_new(state->from_ns, state->to_ns, choose_buckets(run));
	return state->concurrency ? 0 : -ENOMEM;
}

static int begin_capture(struct analysis_run *run)
{
	concurrency_begin_capture(((struct concurrency_state *)run->state)->concurrency);
	return 0;
}

static int add(struct analysis_run *run, const struct txtrace_record *record)
{
	struct concurrency_state *state = run->state;
	int err = 0;

	if (record->kind == TXTRACE_RECORD_SPAN || record->kind == TXTRACE_RECORD_COUNTER)
		err = concurrency_add(state->concurrency, record);
	return !err && state->wants_threads ? concurrency_add_threads(state->concurrency, record) : err;
}

static int finish(struct analysis_run *run)
{
	concurrency_finish(((struct concurrency_state *)run->state)->concurrency);
	return 0;
}

static const struct concurrency_options defaults = { .common = { .limit = 20 } };

static const struct analysis analysis = {
	.type = "concurrency",
	.what = "show the concurrency of",
	.no_rows = "no spans and no counters",
	.more = " labels or counters",
	.columns = columns,
	.is_compact = true,
	.new = new_state,
	.free = free_state,
	.passes = { { .add = find_range, .finish = end_range }, { begin_capture, add, finish } },
	.rows = rows,
	.text = text,
	.head_json = head_json,
	.values_bytes = sizeof(defaults),
	.defaults = &defaults,
};

const struct command command_concurrency = { "concurrency", "open spans and counters over time", &options,
					     .analysis = &analysis };
