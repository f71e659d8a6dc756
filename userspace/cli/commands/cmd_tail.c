/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>

#include "analyze/label/tail_report.h"
#include "cli/commands/analysis.h"
#include "cli/commands/command.h"
#include "cli/exit_status.h"
#include "cli/print/ledger_part.h"
#include "cli/print/tail_print.h"

struct tail_options {
	struct analysis_options common;
	double percentile;
};

struct tail_state {
	struct label_report *labels;
	struct tail_report *report; /* of the second reading */
};

static int set_percentile(void *options, const char *value, const char **complaint)
{
	return tail_parse_percentile(&((struct tail_options *)options)->percentile, value, complaint);
}

static const struct option_spec specs[] = {
	OPTION_LABEL("only spans with such a label, as in 'tx.*'"),
	OPTION_LIMIT("show the N labels with the most work; 0: all (default 20)"),
	OPTION("percentile", 0, OPTION_CALL, "P",
	       "the slow spans are those at or above the P-th percentile (default 99)", 0,
	       .call = set_percentile),
	OPTION_MEMORY("use no more for labels and percentiles (default 512M)"),
	OPTION_SORT,
	OPTIONS_OUTPUT("write one JSON object, with all labels"),
	OPTION_END,
};

static const struct options options = {
	.program = "txtrace tail",
	.about = "What makes the slow spans of each label slow: the mean split of those whose wall time is "
		 "at or above the 99th percentile, less that of "
		 "those between the 40th and the 60th, in time and as a share of the difference. Reads the "
		 "log twice.",
	.usages = (const char *const[]){ "FILE\xe2\x80\xa6", NULL },
	.specs = specs,
	.examples =
		(const struct option_example[]){
			{ "txtrace tail bank.txtrace", "Why the 99th percentile is what it is." },
			{ "txtrace tail --label commit --percentile 99.9 bank.txtrace",
			  "The slowest thousandth of the commits." },
			{ NULL, NULL },
		},
	.notes = exit_status_notes,
	.operand = "FILE",
	.operand_min = 1,
	.operand_max = -1,
};

static const struct tail_row **gather_rows(const struct tail_report *report)
{
	size_t cnt = tail_report_row_count(report);
	const struct tail_row **rows = calloc(cnt ? cnt : 1, sizeof(*rows));

	for (size_t i = 0; rows && i < cnt; i++)
		rows[i] = tail_report_row(report, i);
	return rows;
}

static int text(struct analysis_run *run)
{
	const struct tail_options *values = run->values;
	const struct tail_report *report = ((const struct tail_state *)run->state)->report;
	const struct tail_row **rows = gather_rows(report);
	size_t cnt = tail_report_row_count(report);
	uint64_t hidden_cnt;
	int err;

	if (!rows)
		return -ENOMEM;
	err = tail_print(&run->cli->out, values->percentile, rows, cnt, values->common.limit, &hidden_cnt);
	analysis_print_more(run, hidden_cnt);
	if (hidden_cnt > 0)
		fputc('\n', run->cli->out.file);
	tail_print_too_few(&run->cli->out, values->percentile, rows, cnt);
	free(rows);
	return err;
}

/* ---- JSON ---- */

static void head_json(struct analysis_run *run, struct json *json)
{
	const struct tail_options *values = run->values;
	const struct tail_report *report = ((const struct tail_state *)run->state)->report;

	json_member_double(json, "percentile", values->percentile);
	json_member_u64(json, "spans_needed", tail_spans_needed(values->percentile / 100));
	json_name(json, "labels");
	json_array_begin(json);
	for (size_t i = 0; i < tail_report_row_count(report); i++)
		tail_row_json(json, tail_report_row(report, i));
	json_array_end(json);
}

/* ---- columns: of the parts of all labels ---- */

struct part {
	const struct tail_row *row;
	size_t idx;
};

static void get_label(const void *at, struct cell *cell)
{
	cell->string = ((const struct part *)at)->row->label->label;
	text_append(&cell->words, "(unknown label)");
}

static void get_spans(const void *at, struct cell *cell)
{
	cell->number = ((const struct part *)at)->row->label->exact.sums.cnt;
}

static void get_median(const void *at, struct cell *cell)
{
	cell->number = ((const struct part *)at)->row->median_ns;
}

static void get_high(const void *at, struct cell *cell)
{
	cell->number = ((const struct part *)at)->row->high_ns;
}

static void get_part(const void *at, struct cell *cell)
{
	text_append(&cell->words, tail_part_name(((const struct part *)at)->idx));
}

static void get_middle(const void *at, struct cell *cell)
{
	const struct part *part = at;

	cell->number = tail_mean_ns(&part->row->middle, part->idx);
}

static void get_tail(const void *at, struct cell *cell)
{
	const struct part *part = at;

	cell->number = tail_mean_ns(&part->row->tail, part->idx);
}

static void get_more(const void *at, struct cell *cell)
{
	const struct part *part = at;

	cell->difference = tail_part_more_ns(part->row, part->idx);
}

static void get_share(const void *at, struct cell *cell)
{
	const struct part *part = at;

	cell->real = tail_share_percent(part->row, part->idx);
}

static const struct column columns[] = {
	{ "label", NULL, NULL, COLUMN_STRING, .get = get_label, .style = TABLE_BOLD },
	{ "spans", NULL, NULL, COLUMN_COUNT, COLUMN_HIDDEN, .get = get_spans },
	{ "p50_ns", "p50", NULL, COLUMN_DURATION, COLUMN_HIDDEN, .get = get_median },
	{ "high_ns", "high", NULL, COLUMN_DURATION, COLUMN_HIDDEN, .get = get_high },
	{ "part", NULL, NULL, COLUMN_WORDS, .get = get_part },
	{ "middle_ns", "p40 to p60", NULL, COLUMN_DURATION, .get = get_middle },
	{ "tail_ns", "slow spans", NULL, COLUMN_DURATION, .get = get_tail },
	{ "more_ns", "more", NULL, COLUMN_SIGNED, .get = get_more },
	{ "percent", "share, %", NULL, COLUMN_REAL, .get = get_share },
	COLUMN_END,
};

static int rows(struct analysis_run *run, struct row_list *list)
{
	const struct tail_report *report = ((const struct tail_state *)run->state)->report;
	size_t order[LEDGER_PART_COUNT];

	for (size_t i = 0; i < tail_report_row_count(report); i++) {
		const struct tail_row *row = tail_report_row(report, i);
		size_t cnt = tail_verdict(row) == TAIL_TOLD ? tail_order_parts(row, order) : 0;

		for (size_t at = 0; at < cnt; at++) {
			struct part *part = row_list_make(list, sizeof(*part));

			if (part)
				*part = (struct part){ row, order[at] };
		}
	}
	return 0;
}

/* ---- both readings ---- */

static void free_state(void *made)
{
	struct tail_state *state = made;

	tail_report_free(state->report);
	label_report_free(state->labels);
	free(state);
}

static void *new_state(struct analysis_run *run)
{
	struct tail_state *state = calloc(1, sizeof(*state));

	if (!state)
		return NULL;
	state->labels = label_report_new(run->common->max_memory_bytes);
	if (state->labels)
		return state;
	free(state);
	return NULL;
}

static int measure(struct analysis_run *run, const struct txtrace_record *record)
{
	return label_report_add(((struct tail_state *)run->state)->labels, record);
}

static int end_measure(struct analysis_run *run)
{
	struct tail_state *state = run->state;

	label_report_sort(state->labels);
	state->report = tail_report_new(state->labels,
					((const struct tail_options *)run->values)->percentile / 100);
	return state->report ? 0 : -ENOMEM;
}

static int add(struct analysis_run *run, const struct txtrace_record *record)
{
	tail_report_add(((struct tail_state *)run->state)->report, &record->span);
	return 0;
}

static const struct tail_options defaults = { .common = { .limit = 20 }, .percentile = 99 };

static const struct analysis analysis = {
	.type = "tail",
	.what = "compare the tails of",
	.no_rows = "no label has slow spans",
	.more = " labels with less work",
	.columns = columns,
	.spans_only = true,
	.new = new_state,
	.free = free_state,
	.passes = { { .add = measure, .finish = end_measure }, { .add = add } },
	.rows = rows,
	.text = text,
	.head_json = head_json,
	.values_bytes = sizeof(defaults),
	.defaults = &defaults,
};

const struct command command_tail = { "tail", "what makes the slow spans slow", &options,
				      .analysis = &analysis };
