/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "analyze/thread/concurrency.h"
#include "base/glob.h"
#include "base/units.h"
#include "cli/print/analysis_frame.h"
#include "cli/files/capture_info.h"
#include "cli/commands/command.h"
#include "cli/exit_status.h"
#include "cli/files/log_input.h"

#define NAME_COLUMNS_MAX 24
#define NUMBERS_COLUMNS 22 /* what stands before the chart besides the name, with its gaps */
#define CHART_COLUMNS_MIN 20
#define MACHINE_BUCKETS 100 /* where no screen says how many fit */

struct concurrency_options {
	uint64_t bucket_cnt; /* 0: what is fit */
	uint64_t limit;
	const char *label;
	bool wants_threads;
	bool wants_json;
	bool wants_csv;
};

static const struct option_spec specs[] = {
	OPTION("buckets", 'b', OPTION_U64, "N",
	       "divide the time into N equal parts (default as fits the screen, 100 for --json and --csv)",
	       offsetof(struct concurrency_options, bucket_cnt), .minimum = 1,
	       .maximum = CONCURRENCY_BUCKET_MAX),
	OPTION("label", 'l', OPTION_STRING, "GLOB",
	       "only spans with such a label, as in 'tx.*'; counters are there all the same",
	       offsetof(struct concurrency_options, label)),
	OPTION("limit", 'n', OPTION_U64, "N",
	       "show the N labels of which most were open, and N counters; 0: all (default 20)",
	       offsetof(struct concurrency_options, limit)),
	OPTION("threads", 'T', OPTION_FLAG, NULL,
	       "also how many threads were running, runnable and blocked; of a log without spans that is "
	       "shown anyway",
	       offsetof(struct concurrency_options, wants_threads)),
	OPTION("json", 0, OPTION_FLAG, NULL, "write one JSON object, with all series",
	       offsetof(struct concurrency_options, wants_json)),
	OPTION("csv", 0, OPTION_FLAG, NULL, "write CSV, with all series: a line for each part of the time",
	       offsetof(struct concurrency_options, wants_csv)),
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
	.examples = (const struct option_example[]){
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

static int print_text(struct cli *cli, const struct concurrency_options *values,
		      const struct log_input *input, const struct concurrency *concurrency, size_t bucket_cnt)
{
	static const struct table_column columns[] = {
		{ "open spans, counters", TABLE_LEFT, NULL },
		{ "mean", TABLE_RIGHT, NULL },
		{ "peak", TABLE_RIGHT, NULL },
		{ "over time", TABLE_LEFT, NULL },
	};
	struct table *table = table_new(columns, sizeof(columns) / sizeof(columns[0]));
	uint64_t shown_cnts[CONCURRENCY_KIND_COUNT] = { 0 }, hidden_cnt = 0,
		 from_ns = concurrency_begin_ns(concurrency, 0);
	char begin[UNITS_SIZE], end[UNITS_SIZE], width[UNITS_SIZE];
	uint64_t to_ns = concurrency_begin_ns(concurrency, bucket_cnt), first_ns = input->census.first_ns;
	int err;

	for (size_t i = 0; i < concurrency_series_count(concurrency); i++) {
		const struct concurrency_series *series = concurrency_series(concurrency, i);

		if (values->limit && shown_cnts[series->kind] == values->limit &&
		    series->kind != CONCURRENCY_THREADS) {
			hidden_cnt++;
			continue;
		}
		shown_cnts[series->kind]++;
		add_series(table, series, bucket_cnt);
	}
	analysis_print_title(cli, input);
	if (concurrency_series_count(concurrency) == 0) {
		table_free(table);
		fputs("no spans and no counters\n\n", cli->out.file);
		return analysis_print_losses(cli, input);
	}
	err = screen_print_table(&cli->out, table);
	table_free(table);
	fprintf(cli->out.file, "from +%s to +%s, each column %s; bars are as high as the row's peak\n\n",
		units_format_duration(begin, from_ns > first_ns ? from_ns - first_ns : 0),
		units_format_duration(end, to_ns > first_ns ? to_ns - first_ns : 0),
		units_format_duration(width, (to_ns - from_ns) / bucket_cnt));
	if (hidden_cnt > 0)
		fprintf(cli->out.file,
			"%" PRIu64 " more labels or counters: 'txtrace concurrency --limit 0' shows them\n\n",
			hidden_cnt);
	return err ? err : analysis_print_losses(cli, input);
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

static int print_json(struct cli *cli, const struct log_input *input, const struct concurrency *concurrency,
		      size_t bucket_cnt)
{
	struct json json;

	cli_keep_lines(cli);
	json_init_file(&json, cli->out.file);
	capture_json_begin(&json, "concurrency", &input->info);
	json_name(&json, "begins_ns");
	json_array_begin(&json);
	for (size_t i = 0; i <= bucket_cnt; i++) /* the last is where the last bucket ends */
		json_u64(&json, concurrency_begin_ns(concurrency, i));
	json_array_end(&json);
	json_name(&json, "series");
	json_array_begin(&json);
	for (size_t i = 0; i < concurrency_series_count(concurrency); i++) {
		json_line_break(&json);
		series_json(&json, concurrency_series(concurrency, i), bucket_cnt);
	}
	json_array_end(&json);
	capture_json_end(&json, &input->census);
	return cli_finish_json(cli, &json);
}

/* A quote in a field is doubled; what else could end it is escaped before. */
static void append_csv(struct text *text, struct txtrace_string name)
{
	size_t at = 0;

	text_append(text, "\"");
	while (at < name.length) {
		const char *quote = memchr(name.bytes + at, '"', name.length - at);
		size_t length = quote ? (size_t)(quote - name.bytes) - at : name.length - at;

		text_append_escaped(text, name.bytes + at, length);
		text_append(text, quote ? "\"\"" : "");
		at += length + 1;
	}
	text_append(text, "\"");
}

static int print_csv(struct cli *cli, const struct concurrency *concurrency, size_t bucket_cnt)
{
	struct text name = { 0 };

	cli_keep_lines(cli);
	fputs("begin_ns,end_ns,kind,name,pid,mean\n", cli->out.file);
	for (size_t i = 0; i < concurrency_series_count(concurrency); i++) {
		const struct concurrency_series *series = concurrency_series(concurrency, i);

		text_clear(&name);
		append_csv(&name, series->name);
		for (size_t j = 0; j < bucket_cnt; j++) {
			fprintf(cli->out.file, "%" PRIu64 ",%" PRIu64 ",%s,%s,",
				concurrency_begin_ns(concurrency, j),
				concurrency_begin_ns(concurrency, j + 1),
				series->is_rest ? "rest" : kind_names[series->kind], text_string(&name));
			if (series->kind == CONCURRENCY_COUNTER)
				fprintf(cli->out.file, "%" PRIu32, series->pid);
			fprintf(cli->out.file, ",%.6g\n", series->means[j]);
		}
	}
	text_release(&name);
	return name.err;
}

/* ---- both passes ---- */

static bool is_wanted(const struct concurrency_options *values, const struct txtrace_record *record)
{
	const struct txtrace_string *label = &record->span.label;

	if (record->kind == TXTRACE_RECORD_COUNTER)
		return true;
	return record->kind == TXTRACE_RECORD_SPAN &&
	       (!values->label || glob_matches(values->label, label->bytes, label->length));
}

struct range {
	uint64_t from_ns;
	uint64_t to_ns;
};

/* Of what is wanted. A time alone is a range of 1 ns. */
static void find_range(struct log_input *input, const struct concurrency_options *values, struct range *range)
{
	struct txtrace_record record;

	*range = (struct range){ UINT64_MAX, 0 };
	while (log_input_next(input, &record)) {
		bool is_span = record.kind == TXTRACE_RECORD_SPAN;
		uint64_t begin_ns, end_ns;

		if (!is_wanted(values, &record))
			continue;
		begin_ns = is_span ? record.span.begin_ns : record.counter.time_ns;
		end_ns = is_span ? record.span.end_ns : record.counter.time_ns;
		range->from_ns = begin_ns < range->from_ns ? begin_ns : range->from_ns;
		range->to_ns = end_ns > range->to_ns ? end_ns : range->to_ns;
	}
	if (range->from_ns == range->to_ns && range->to_ns < UINT64_MAX)
		range->to_ns++;
}

static int read_again(struct cli *cli, const struct concurrency_options *values,
		      const struct options_result *result, struct concurrency *concurrency)
{
	struct txtrace_record record;
	struct log_input again;
	int err = 0;

	if (log_input_open(&again, cli, result->operands, result->operand_cnt, true))
		return -EIO;
	again.is_quiet = true;
	while (!err && log_input_next(&again, &record)) {
		if (again.has_begun_capture)
			concurrency_begin_capture(concurrency);
		if (is_wanted(values, &record))
			err = concurrency_add(concurrency, &record);
		if (!err && values->wants_threads)
			err = concurrency_add_threads(concurrency, &record);
	}
	log_input_close(&again);
	if (!err)
		concurrency_finish(concurrency);
	return err;
}

static size_t choose_buckets(const struct cli *cli, const struct concurrency_options *values)
{
	size_t taken = NAME_COLUMNS_MAX + NUMBERS_COLUMNS, cnt = CHART_COLUMNS_MIN;

	if (values->wants_json || values->wants_csv)
		cnt = MACHINE_BUCKETS;
	else if (cli->out.columns > taken + CHART_COLUMNS_MIN)
		cnt = cli->out.columns - taken;
	if (values->bucket_cnt)
		cnt = (size_t)values->bucket_cnt;
	return cnt < CONCURRENCY_BUCKET_MAX ? cnt : CONCURRENCY_BUCKET_MAX;
}

static int show(struct cli *cli, const struct concurrency_options *values, const struct log_input *input,
		const struct concurrency *concurrency, size_t bucket_cnt)
{
	if (values->wants_csv)
		return print_csv(cli, concurrency, bucket_cnt);
	if (values->wants_json)
		return print_json(cli, input, concurrency, bucket_cnt);
	return print_text(cli, values, input, concurrency, bucket_cnt);
}

static int run(struct cli *cli, int argc, char **argv)
{
	struct concurrency_options values = { .limit = 20 };
	struct concurrency *concurrency = NULL;
	struct options_result result;
	struct log_input input;
	struct range range;
	int status, err = 0;

	if (!cli_parse(cli, &options, argc, argv, &values, &result, &status))
		return status;
	if (values.wants_json && values.wants_csv)
		return cli_fail(cli, "--json and --csv exclude each other");
	status = log_input_open(&input, cli, result.operands, result.operand_cnt, true);
	if (status)
		return status;
	find_range(&input, &values, &range);
	if (!input.census.record_cnt[TXTRACE_RECORD_SPAN] && input.census.record_cnt[TXTRACE_RECORD_RUN] &&
	    !values.label)
		values.wants_threads = true;
	if (values.wants_threads && input.census.first_ns < input.census.last_ns)
		range = (struct range){ input.census.first_ns, input.census.last_ns };
	if (range.from_ns >= range.to_ns)
		range = (struct range){ 0, 1 }; /* nothing is in it */
	concurrency = concurrency_new(range.from_ns, range.to_ns, choose_buckets(cli, &values));
	err = concurrency ? read_again(cli, &values, &result, concurrency) : -ENOMEM;
	if (!err)
		err = show(cli, &values, &input, concurrency, concurrency_bucket_count(concurrency));
	concurrency_free(concurrency);
	return log_input_end(&input, err, "show the concurrency of");
}

const struct command command_concurrency = { "concurrency", "open spans and counters over time", &options,
					     .run = run };
