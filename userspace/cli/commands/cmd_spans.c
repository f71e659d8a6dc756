/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "analyze/span/span_top.h"
#include "analyze/thread_names.h"
#include "base/glob.h"
#include "base/units.h"
#include "cli/files/capture_info.h"
#include "cli/commands/command.h"
#include "cli/exit_status.h"
#include "cli/print/ledger_part.h"
#include "cli/files/log_input.h"
#include "cli/print/span_json.h"

#define INDENT 4
#define BAR_COLUMNS 20
#define TAG_COLUMNS_MAX 60
#define LIMIT_MAX 1000000

struct spans_options {
	unsigned int nest;
	unsigned int sort;
	uint64_t limit;
	const char *label;
	bool wants_json;
};

static const struct option_spec specs[] = {
	OPTION("sort", 's', OPTION_CHOICE, "BY",
	       "those with the most of it come first; for begin, the earliest",
	       offsetof(struct spans_options, sort), .choice_at = span_top_sort),
	OPTION("limit", 'n', OPTION_U64, "N", "show N spans (default 20)",
	       offsetof(struct spans_options, limit), .minimum = 1, .maximum = LIMIT_MAX),
	OPTION("label", 'l', OPTION_STRING, "GLOB", "only spans with such a label, as in 'tx.*'",
	       offsetof(struct spans_options, label)),
	OPTION_NEST(struct spans_options, nest),
	OPTION("json", 0, OPTION_FLAG, NULL, "write one JSON object",
	       offsetof(struct spans_options, wants_json)),
	OPTION_END,
};

static const struct options options = {
	.program = "txtrace spans",
	.about = "The slowest spans, each with its tag, key and thread, and the split of its work. Lower "
		 "bounds are marked by '>='.",
	.usages = (const char *const[]){ "FILE\xe2\x80\xa6", NULL },
	.specs = specs,
	.examples = (const struct option_example[]){
		{ "txtrace spans bank.txtrace", "The 20 that took longest." },
		{ "txtrace spans -n 5 --sort lock --label 'tx*' bank.txtrace",
		  "The 5 transactions that waited longest for locks." },
		{ NULL, NULL },
	},
	.notes = exit_status_notes,
	.operand = "FILE",
	.operand_min = 1,
	.operand_max = -1,
};

static int collect(const struct spans_options *values, struct log_input *input, struct span_top *top)
{
	struct thread_names *names = thread_names_new();
	struct txtrace_record record;
	int err = top && names ? 0 : -ENOMEM;

	while (!err && log_input_next(input, &record)) {
		const struct txtrace_span *span = &record.span;

		if (record.kind == TXTRACE_RECORD_THREAD)
			thread_names_add(names, &record.thread);
		else if (record.kind == TXTRACE_RECORD_SPAN &&
			 (!values->label ||
			  glob_matches(values->label, span->label.bytes, span->label.length)))
			err = span_top_add(top, span, thread_names_get(names, span->pid, span->tid));
	}
	if (!err)
		span_top_finish(top);
	thread_names_free(names);
	return err;
}

/* ---- for people ---- */

/* "worker-1 4201", and who ended it, if that was another thread. */
static void add_threads(struct table *table, const struct txtrace_span *span, struct txtrace_string name)
{
	struct text text = { 0 };

	text_append_escaped(&text, name.bytes, name.length);
	text_append_format(&text, "%s%" PRIu32, name.length ? " " : "", span->tid);
	if (span->end_tid && span->end_tid != span->tid)
		text_append_format(&text, "\xe2\x86\x92%" PRIu32, span->end_tid);
	table_cell(table, TABLE_PLAIN, text_string(&text));
	text_release(&text);
}

static void add_tag(struct table *table, const struct txtrace_span *span)
{
	struct text text = { 0 };

	text_append_clipped(&text, span->tag.bytes, span->tag.length, TAG_COLUMNS_MAX);
	if (span->key.length > 0) {
		text_append(&text, text.length ? "  key " : "key ");
		text_append_clipped(&text, span->key.bytes, span->key.length, TAG_COLUMNS_MAX);
	}
	if (span->flags & TXTRACE_SPAN_UNFINISHED)
		text_append(&text, text.length ? "  (unfinished)" : "(unfinished)");
	table_cell(table, TABLE_PLAIN, text_string(&text));
	text_release(&text);
}

/* The bar and the list below a span. */
static void add_split(struct table *table, const struct txtrace_span *span, size_t columns)
{
	uint64_t sum_ns = txtrace_ledger_sum_ns(&span->ledger);
	struct text text = { 0 };
	char time[UNITS_SIZE];

	if (sum_ns == 0)
		return;
	ledger_list(&text, &span->ledger, sum_ns, 1, INDENT + BAR_COLUMNS + 2, columns);
	if (span->work_ns != span_wall_ns(span))
		text_append_format(&text, "; of %s work", units_format_duration(time, span->work_ns));
	table_piece(table, TABLE_PLAIN, "    "); /* INDENT */
	ledger_bar(table, &span->ledger, BAR_COLUMNS);
	table_piece(table, TABLE_PLAIN, "  ");
	table_line(table, text_string(&text));
	text_release(&text);
}

/* One row, and its split below it. */
static void add_span(struct table *table, const struct txtrace_span *span, struct txtrace_string thread_name,
		     uint64_t first_ns, size_t columns)
{
	const char *bound = span->flags & TXTRACE_SPAN_LOWER_BOUND ? ">=" : "";
	char time[UNITS_SIZE];
	struct text text = { 0 };
	uint64_t offset_ns = span->begin_ns > first_ns ? span->begin_ns - first_ns : 0;

	table_cell_format(table, TABLE_BOLD, "%s%s", bound, units_format_duration(time, span_wall_ns(span)));
	if (span->label.length > 0)
		text_append_escaped(&text, span->label.bytes, span->label.length);
	else
		text_append(&text, "(unknown label)");
	table_cell(table, TABLE_BOLD, text_string(&text));
	add_threads(table, span, thread_name);
	table_cell_format(table, TABLE_PLAIN, "+%" PRIu64 ".%06" PRIu64, offset_ns / 1000000000,
			  offset_ns / 1000 % 1000000);
	add_tag(table, span);
	add_split(table, span, columns);
	text_release(&text);
}

static int print_text(struct cli *cli, const struct log_input *input, const struct span_top *top)
{
	static const struct table_column columns[] = {
		{ "wall", TABLE_RIGHT, NULL },	{ "label", TABLE_LEFT, NULL },
		{ "thread", TABLE_LEFT, NULL }, { "begin, s", TABLE_RIGHT, NULL },
		{ "tag", TABLE_LEFT, NULL },
	};
	struct table *table = table_new(columns, sizeof(columns) / sizeof(columns[0]));
	char count[UNITS_SIZE], total[UNITS_SIZE], lost[UNITS_SIZE];
	int err;

	for (size_t i = 0; i < span_top_count(top); i++)
		add_span(table, span_top_get(top, i), span_top_thread_name(top, i), input->census.first_ns,
			 cli->out.columns);
	err = screen_print_table(&cli->out, table);
	table_free(table);
	fprintf(cli->out.file, "\n%s of %s spans; %s events lost\n",
		units_format_count(count, span_top_count(top)),
		units_format_count(total, input->census.record_cnt[TXTRACE_RECORD_SPAN]),
		units_format_count(lost, log_census_lost_cnt(&input->census)));
	return err;
}

/* ---- for machines ---- */

static int print_json(struct cli *cli, const struct spans_options *values, const struct log_input *input,
		      const struct span_top *top)
{
	struct json json;

	cli_begin_json(cli, &json);
	capture_json_begin(&json, "spans", &input->info);
	json_member_text(&json, "sort", span_top_sort(values->sort));
	json_name(&json, "spans");
	json_array_begin(&json);
	for (size_t i = 0; i < span_top_count(top); i++)
		span_json(&json, span_top_get(top, i), span_top_thread_name(top, i));
	json_array_end(&json);
	json_member_u64(&json, "span_count", input->census.record_cnt[TXTRACE_RECORD_SPAN]);
	capture_json_end(&json, &input->census);
	return cli_finish_json(cli, &json);
}

static int run(struct cli *cli, int argc, char **argv)
{
	struct spans_options values = { .limit = 20 };
	struct options_result result;
	struct log_input input;
	struct span_top *top;
	int status, err;

	if (!cli_parse(cli, &options, argc, argv, &values, &result, &status))
		return status;
	cli->nest = values.nest;
	status = log_input_open(&input, cli, result.operands, result.operand_cnt, true);
	if (status)
		return status;
	top = span_top_new(values.limit, values.sort);
	err = collect(&values, &input, top);
	if (!err)
		err = values.wants_json ? print_json(cli, &values, &input, top)
					: print_text(cli, &input, top);
	span_top_free(top);
	return log_input_end(&input, err, "list the spans of");
}

const struct command command_spans = { "spans", "the slowest spans, each with its split", &options, .run = run };
