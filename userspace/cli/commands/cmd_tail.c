/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>

#include "analyze/label/tail_report.h"
#include "base/units.h"
#include "cli/commands/analysis.h"
#include "cli/commands/command.h"
#include "cli/exit_status.h"
#include "cli/print/ledger_part.h"

#define WORD_COUNT_MAX 4
#define WORD_LEAST_PERCENT 5
#define TOO_FEW_LISTED 8

_Static_assert(TAIL_PART_COUNT == LEDGER_PART_COUNT, "parts of tails are parts of ledgers");

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
	struct tail_options *values = options;
	char *end;

	*complaint = "a number above 60 and below 100";
	values->percentile = strtod(value, &end);
	return !*value || *end || !(values->percentile > 60 && values->percentile < 100) ? -EINVAL : 0;
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

/* ---- for people ---- */

static void append_label(struct text *text, const struct tail_row *row)
{
	if (row->label->label.length > 0)
		text_append_escaped(text, row->label->label.bytes, row->label->label.length);
	else
		text_append(text, "(unknown label)");
}

/* The parts that make the difference, the largest share first. */
static size_t order_parts(const struct tail_row *row, size_t order[LEDGER_PART_COUNT])
{
	size_t cnt = 0;

	for (size_t part = 0; part < LEDGER_PART_COUNT; part++) {
		int64_t more_ns = tail_part_more_ns(row, part);
		size_t at = cnt;

		if (tail_mean_ns(&row->tail, part) == 0 && tail_mean_ns(&row->middle, part) == 0)
			continue;
		for (; at > 0 && tail_part_more_ns(row, order[at - 1]) < more_ns; at--)
			order[at] = order[at - 1];
		order[at] = part;
		cnt++;
	}
	return cnt;
}

static double share_percent(const struct tail_row *row, size_t part)
{
	double percent = 100.0 * (double)tail_part_more_ns(row, part) / (double)tail_more_ns(row);

	return percent > -0.0005 && percent < 0 ? 0 : percent; /* no minus before a 0 */
}

/* "commit: p99 is 12.1 ms, 9.80 ms above p50: 84 % blocked on disk, 11 % runnable" */
static void append_words(struct text *text, const struct tail_options *values, const struct tail_row *row)
{
	size_t order[LEDGER_PART_COUNT], part_cnt = order_parts(row, order), word_cnt = 0;
	char high[UNITS_SIZE], gap[UNITS_SIZE];

	append_label(text, row);
	text_append_format(text, ": p%g is %s, %s above p50", values->percentile,
			   units_format_duration(high, row->high_ns),
			   units_format_duration(gap, row->high_ns - row->median_ns));
	for (size_t i = 0; i < part_cnt && word_cnt < WORD_COUNT_MAX; i++) {
		const struct ledger_part *part = &ledger_parts[order[i]];
		double percent = share_percent(row, order[i]);

		if (percent < WORD_LEAST_PERCENT)
			break;
		text_append_format(text, "%s%.0f %% %s%s", word_cnt ? ", " : ": ", percent,
				   part->is_blocked ? "blocked on " : "", part->title);
		word_cnt++;
	}
}

static void add_signed(struct table *table, int64_t ns)
{
	char time[UNITS_SIZE];

	table_cell_format(table, TABLE_PLAIN, "%s%s", ns < 0 ? "-" : "+",
			  units_format_duration(time, (uint64_t)(ns < 0 ? -ns : ns)));
}

static void add_parts(struct table *table, const struct tail_row *row)
{
	size_t order[LEDGER_PART_COUNT], part_cnt = order_parts(row, order);
	char time[UNITS_SIZE];
	double percent;

	for (size_t i = 0; i < part_cnt; i++) {
		const struct ledger_part *part = &ledger_parts[order[i]];

		table_cell_format(table, part->style, "  %s", part->title);
		table_cell(table, TABLE_PLAIN,
			   units_format_duration(time, tail_mean_ns(&row->middle, order[i])));
		table_cell(table, TABLE_PLAIN,
			   units_format_duration(time, tail_mean_ns(&row->tail, order[i])));
		add_signed(table, tail_part_more_ns(row, order[i]));
		percent = share_percent(row, order[i]);
		table_cell_format(table, part->style, "%.1f %%",
				  percent > -0.05 && percent < 0 ? 0 : percent);
		table_end_row(table);
	}
}

static void add_label(struct table *table, const struct tail_options *values, const struct tail_row *row)
{
	char slow[UNITS_SIZE], middle[UNITS_SIZE];
	struct text text = { 0 };

	if (tail_verdict(row) == TAIL_NONE) {
		append_label(&text, row);
		text_append(&text, ": the slow spans are hardly slower than the others");
		table_line(table, text_string(&text));
	} else {
		append_words(&text, values, row);
		table_piece(table, TABLE_BOLD, text_string(&text));
		table_line(table, "");
		add_parts(table, row);
		text_clear(&text);
		text_append_format(&text, "  means of %s slow spans, and of %s in the middle",
				   units_format_count(slow, row->tail.sums.cnt),
				   units_format_count(middle, row->middle.sums.cnt));
		table_line(table, text_string(&text));
	}
	table_line(table, "");
	text_release(&text);
}

/* One line for all labels that have too few spans. */
static void print_too_few(struct cli *cli, const struct tail_options *values,
			  const struct tail_report *report)
{
	char count[UNITS_SIZE];
	struct text text = { 0 };
	size_t cnt = 0;

	for (size_t i = 0; i < tail_report_row_count(report); i++) {
		const struct tail_row *row = tail_report_row(report, i);

		if (tail_verdict(row) != TAIL_TOO_FEW)
			continue;
		if (cnt++ >= TOO_FEW_LISTED)
			continue;
		text_append(&text, cnt > 1 ? ", " : "");
		append_label(&text, row);
		text_append_format(&text, " (%s)", units_format_count(count, row->label->exact.sums.cnt));
	}
	if (cnt > TOO_FEW_LISTED)
		text_append_format(&text, ", and %s more labels",
				   units_format_count(count, cnt - TOO_FEW_LISTED));
	if (cnt > 0)
		fprintf(cli->out.file, "too few spans, %s are needed: %s\n\n",
			units_format_count(count, tail_spans_needed(values->percentile / 100)),
			text_string(&text));
	text_release(&text);
}

static int text(struct analysis_run *run)
{
	const struct tail_options *values = run->values;
	const struct tail_report *report = ((const struct tail_state *)run->state)->report;
	char title[32];
	const struct table_column titles[] = {
		{ "mean split", TABLE_LEFT, NULL }, { "p40 to p60", TABLE_RIGHT, NULL },
		{ title, TABLE_RIGHT, NULL },	    { "more", TABLE_RIGHT, NULL },
		{ "share", TABLE_RIGHT, NULL },
	};
	uint64_t told_cnt = 0, hidden_cnt = 0;
	struct table *table;
	int err = 0;

	snprintf(title, sizeof(title), "from p%g", values->percentile);
	table = table_new(titles, sizeof(titles) / sizeof(titles[0]));
	for (size_t i = 0; i < tail_report_row_count(report); i++) {
		const struct tail_row *row = tail_report_row(report, i);

		if (tail_verdict(row) == TAIL_TOO_FEW)
			continue;
		if (values->common.limit && told_cnt == values->common.limit) {
			hidden_cnt++;
			continue;
		}
		add_label(table, values, row);
		told_cnt++;
	}
	if (told_cnt > 0)
		err = screen_print_table(&run->cli->out, table);
	table_free(table);
	analysis_print_more(run, hidden_cnt);
	if (hidden_cnt > 0)
		fputc('\n', run->cli->out.file);
	print_too_few(run->cli, values, report);
	return err;
}

/* ---- for machines ---- */

static void band_json(struct json *json, const char *name, const struct tail_band *band)
{
	struct txtrace_ledger mean;

	for (size_t part = 0; part < LEDGER_PART_COUNT; part++)
		*(uint64_t *)((char *)&mean + ledger_parts[part].offset) = tail_mean_ns(band, part);
	json_name(json, name);
	json_object_begin(json);
	json_member_u64(json, "from_ns", band->from_ns);
	json_member_u64(json, "to_ns", band->to_ns);
	json_member_u64(json, "count", band->sums.cnt);
	json_name(json, "mean");
	json_object_begin(json);
	json_member_u64(json, "wall_ns", band->sums.cnt ? band->sums.wall_ns / band->sums.cnt : 0);
	json_member_u64(json, "work_ns", band->sums.cnt ? band->sums.work_ns / band->sums.cnt : 0);
	ledger_json(json, &mean);
	json_object_end(json);
	json_object_end(json);
}

/* Of each part, as the ledger's JSON names it. */
static const char *part_name(size_t part)
{
	static const char *const ends[] = { "detached", "unknown", "interrupt", "stolen" };

	if (part < 2)
		return part == 0 ? "on_cpu" : "runnable";
	return part < 2 + TXTRACE_BLOCK_REASON_COUNT ? txtrace_block_reason_name((unsigned int)part - 2)
						     : ends[part - 2 - TXTRACE_BLOCK_REASON_COUNT];
}

/* Without --irq nobody has interrupts, and without a hypervisor nothing is stolen. */
static bool is_told(const struct tail_row *row, size_t part)
{
	return (part != LEDGER_PART_INTERRUPT && part != LEDGER_PART_STOLEN) ||
	       tail_mean_ns(&row->middle, part) || tail_mean_ns(&row->tail, part);
}

static void row_json(struct json *json, const struct tail_row *row)
{
	static const char *const verdicts[] = { "told", "too_few_spans", "no_tail" };
	enum tail_verdict verdict = tail_verdict(row);

	json_object_begin(json);
	if (row->label->label.length > 0)
		json_member_string(json, "label", row->label->label.bytes, row->label->label.length);
	else
		json_member_null(json, "label");
	json_member_u64(json, "count", row->label->exact.sums.cnt);
	json_member_text(json, "verdict", verdicts[verdict]);
	json_member_u64(json, "p50_ns", row->median_ns);
	json_member_u64(json, "high_ns", row->high_ns);
	band_json(json, "middle", &row->middle);
	band_json(json, "tail", &row->tail);
	json_name(json, "more_ns");
	json_object_begin(json);
	json_member_i64(json, "work", tail_more_ns(row));
	for (size_t part = 0; part < LEDGER_PART_COUNT; part++)
		if (is_told(row, part))
			json_member_i64(json, part_name(part), tail_part_more_ns(row, part));
	json_object_end(json);
	json_name(json, "share_percent");
	if (verdict == TAIL_TOLD) {
		json_object_begin(json);
		for (size_t part = 0; part < LEDGER_PART_COUNT; part++) {
			if (!is_told(row, part))
				continue;
			json_name(json, part_name(part));
			json_fixed(json, share_percent(row, part), 3);
		}
		json_object_end(json);
	} else {
		json_null(json);
	}
	json_object_end(json);
}

static void head_json(struct analysis_run *run, struct json *json)
{
	const struct tail_options *values = run->values;
	const struct tail_report *report = ((const struct tail_state *)run->state)->report;

	json_member_double(json, "percentile", values->percentile);
	json_member_u64(json, "spans_needed", tail_spans_needed(values->percentile / 100));
	json_name(json, "labels");
	json_array_begin(json);
	for (size_t i = 0; i < tail_report_row_count(report); i++)
		row_json(json, tail_report_row(report, i));
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
	text_append(&cell->words, part_name(((const struct part *)at)->idx));
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

	cell->real = share_percent(part->row, part->idx);
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
		size_t cnt = tail_verdict(row) == TAIL_TOLD ? order_parts(row, order) : 0;

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
