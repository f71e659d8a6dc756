/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "analyze/label/histogram.h"
#include "base/glob.h"
#include "base/units.h"
#include "cli/print/analysis_frame.h"
#include "cli/files/capture_info.h"
#include "cli/commands/command.h"
#include "cli/exit_status.h"
#include "cli/files/log_input.h"

#define NUMBERS_COLUMNS 42 /* what stands before the bars, with its gaps */
#define BAR_COLUMNS_MIN 20

struct histogram_options {
	unsigned int of;
	const char *label;
	uint64_t limit;
	uint64_t max_memory_bytes;
	bool wants_json;
};

static const struct option_spec specs[] = {
	OPTION("of", 0, OPTION_CHOICE, "TIME", "of which of a span's times (default wall)",
	       offsetof(struct histogram_options, of), .choices = span_value_names),
	OPTION("label", 'l', OPTION_STRING, "GLOB", "only spans with such a label, as in 'tx.*'",
	       offsetof(struct histogram_options, label)),
	OPTION("limit", 'n', OPTION_U64, "N", "show the N labels with the most of it; 0: all (default 10)",
	       offsetof(struct histogram_options, limit)),
	OPTION("max-memory", 0, OPTION_SIZE, "SIZE",
	       "use no more for labels; those beyond it are counted together (default 256M)",
	       offsetof(struct histogram_options, max_memory_bytes), .minimum = 1 << 16),
	OPTION("json", 0, OPTION_FLAG, NULL, "write one JSON object, with all labels",
	       offsetof(struct histogram_options, wants_json)),
	OPTION_END,
};

static const struct options options = {
	.program = "txtrace histogram",
	.about = "How long spans took, by label: how many of them between 1, 2, 5, 10, 20, \xe2\x80\xa6 ns. "
		 "Also of the parts of their ledgers.",
	.usages = (const char *const[]){ "FILE\xe2\x80\xa6", NULL },
	.specs = specs,
	.examples = (const struct option_example[]){
		{ "txtrace histogram --label 'tx*' bank.txtrace", "Wall times of transactions." },
		{ "txtrace histogram --of lock bank.txtrace", "How long they waited for locks." },
		{ NULL, NULL },
	},
	.notes = exit_status_notes,
	.operand = "FILE",
	.operand_min = 1,
	.operand_max = -1,
};

static bool is_wanted(const struct histogram_options *values, const struct txtrace_record *record)
{
	const struct txtrace_string *label = &record->span.label;

	return record->kind == TXTRACE_RECORD_SPAN &&
	       (!values->label || glob_matches(values->label, label->bytes, label->length));
}

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
					       "\xe2\x96\x8f", "\xe2\x96\x8e", "\xe2\x96\x8d", "\xe2\x96\x8c",
					       "\xe2\x96\x8b", "\xe2\x96\x8a", "\xe2\x96\x89" };
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

static int print_text(struct cli *cli, const struct histogram_options *values, const struct log_input *input,
		      const struct histogram *histogram)
{
	static const struct table_column columns[] = {
		{ "from", TABLE_RIGHT, NULL }, { "to", TABLE_RIGHT, NULL }, { "spans", TABLE_RIGHT, NULL },
		{ "share", TABLE_RIGHT, NULL }, { "", TABLE_LEFT, NULL },
	};
	size_t cnt = histogram_row_count(histogram),
	       shown_cnt = values->limit && values->limit < cnt ? values->limit : cnt;
	size_t bar_columns = cli->out.columns > NUMBERS_COLUMNS + BAR_COLUMNS_MIN
				     ? cli->out.columns - NUMBERS_COLUMNS
				     : BAR_COLUMNS_MIN;
	struct table *table = table_new(columns, sizeof(columns) / sizeof(columns[0]));
	int err = 0;

	analysis_print_title(cli, input);
	for (size_t i = 0; i < shown_cnt; i++)
		add_row(table, histogram_row(histogram, i), span_value_names[values->of], bar_columns);
	if (cnt > 0)
		err = screen_print_table(&cli->out, table);
	else
		fputs("no spans\n\n", cli->out.file);
	table_free(table);
	if (shown_cnt < cnt)
		fprintf(cli->out.file,
			"%zu more labels with less of it: 'txtrace histogram --limit 0' shows them\n\n",
			cnt - shown_cnt);
	return err ? err : analysis_print_losses(cli, input);
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

static int print_json(struct cli *cli, const struct histogram_options *values, const struct log_input *input,
		      const struct histogram *histogram)
{
	struct json json;

	cli_begin_json(cli, &json);
	capture_json_begin(&json, "histogram", &input->info);
	json_member_text(&json, "of", span_value_names[values->of]);
	json_name(&json, "labels");
	json_array_begin(&json);
	for (size_t i = 0; i < histogram_row_count(histogram); i++)
		row_json(&json, histogram_row(histogram, i));
	json_array_end(&json);
	capture_json_end(&json, &input->census);
	return cli_finish_json(cli, &json);
}

static int run(struct cli *cli, int argc, char **argv)
{
	struct histogram_options values = { .of = SPAN_VALUE_WALL, .limit = 10 };
	struct options_result result;
	struct txtrace_record record;
	struct histogram *histogram;
	struct log_input input;
	int status, err;

	if (!cli_parse(cli, &options, argc, argv, &values, &result, &status))
		return status;
	status = log_input_open(&input, cli, result.operands, result.operand_cnt, true);
	if (status)
		return status;
	histogram = histogram_new(values.of, values.max_memory_bytes);
	err = histogram ? 0 : -ENOMEM;
	while (!err && log_input_next(&input, &record)) {
		if (is_wanted(&values, &record))
			err = histogram_add(histogram, &record.span);
	}
	if (!err) {
		histogram_sort(histogram);
		err = values.wants_json ? print_json(cli, &values, &input, histogram)
					: print_text(cli, &values, &input, histogram);
	}
	histogram_free(histogram);
	return log_input_end(&input, err, "make histograms of");
}

const struct command command_histogram = { "histogram", "how many spans took how long, by label", &options,
					   .run = run };
