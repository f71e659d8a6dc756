/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/cost/cost_report.h"
#include "analyze/wait/block_report.h"
#include "analyze/label/label_report.h"
#include "analyze/span_key.h"
#include "analyze/thread_names.h"
#include "base/glob.h"
#include "cli/commands/analysis.h"
#include "cli/commands/command.h"
#include "cli/exit_status.h"
#include "cli/print/cost_print.h"
#include "cli/print/mixed_programs.h"
#include "cli/print/reason_print.h"
#include "cli/print/report_print.h"
#include "cli/print/trace_show.h"

struct report_options {
	struct analysis_options common;
	const char *by; /* NULL: label */
	struct span_key key;
	bool is_by_reason;
	bool wants_cost;
	unsigned int variant; /* BY_LABEL, BY_KEY */
};

enum {
	BY_LABEL = 0,
	BY_KEY = 1,
};

static int set_by(void *options, const char *value, const char **complaint)
{
	struct report_options *values = options;
	struct span_key key = { .kind = SPAN_KEY_LABEL };
	int err = 0;

	values->is_by_reason = strcmp(value, "reason") == 0;
	if (!values->is_by_reason)
		err = span_key_parse(&key, value, complaint);
	values->key = key;
	values->by = key.kind == SPAN_KEY_LABEL ? NULL : value;
	return err;
}

static const struct option_spec specs[] = {
	OPTION("by", 'b', OPTION_CALL, "KEY",
	       "a row for each label (the default), thread, process, container, pod, track, trace, reason, "
	       "key, key:BYTES (its first ones), or tag:NAME (its value)",
	       0, .call = set_by),
	OPTION("cost", 0, OPTION_FLAG, NULL,
	       "show what tracing added to these spans: an estimate, and how it was measured",
	       offsetof(struct report_options, wants_cost)),
	OPTION_LABEL("only spans with such a label, as in 'tx.*'"),
	OPTION_LIMIT("show the N rows with the most work; 0: all (default 100)"),
	OPTION_MEMORY("use no more for rows and quantiles; rows beyond it are counted together (default "
		      "512M)"),
	OPTION_NEST(struct analysis_options, nest),
	OPTION_SORT,
	OPTIONS_OUTPUT("write one JSON object, with all rows"),
	OPTION_END,
};

static const struct options options = {
	.program = "txtrace report",
	.about = "Shows where the time went, by label: how many spans, how long they took, and the mean "
		 "split of their work into on-CPU, runnable, blocked by reason, detached and unknown. Lower "
		 "bounds (spans whose ledger is incomplete) are counted apart, in the column '>='.",
	.usages = (const char *const[]){ "FILE\xe2\x80\xa6", NULL },
	.specs = specs,
	.examples =
		(const struct option_example[]){
			{ "txtrace report bank.txtrace", "The whole log." },
			{ "txtrace report --by tag:shard --label 'tx*' bank.txtrace",
			  "Transactions, by the shard in their tags." },
			{ "txtrace report --by reason bank.txtrace",
			  "What all threads waited for, and how long." },
			{ "txtrace report --by trace bank.txtrace", "Each trace, by its W3C trace id." },
			{ "txtrace report --cost bank.txtrace", "The share that tracing added." },
			{ "txtrace report --json bank.txtrace | jq '.labels[] | [.label, .wall_ns.p99]'",
			  "The 99th percentile of each label, for a script." },
			{ NULL, NULL },
		},
	.notes = exit_status_notes,
	.operand = "FILE",
	.operand_min = 1,
	.operand_max = -1,
};

/* What all reports need: names of rows that are not labels. */
struct report_state {
	void *report; /* a struct label_report, cost_report or block_report */
	struct thread_names *threads;
	struct track_names *tracks;
	struct trace_ids *traces;	    /* NULL: not asked for */
	struct container_names *containers; /* likewise */
	struct text buffer;
	struct report_view view;
};

static const char *command_of(const struct analysis_run *run)
{
	return txtrace_log_info(run->input->log)->command;
}

static void release_names(struct report_state *state)
{
	text_release(&state->buffer);
	thread_names_free(state->threads);
	track_names_free(state->tracks);
	trace_ids_free(state->traces);
	container_names_free(state->containers);
	free(state);
}

static bool is_by_trace(const struct analysis_run *run)
{
	return ((const struct report_options *)run->values)->key.kind == SPAN_KEY_TRACE;
}

static bool is_by_container(const struct analysis_run *run)
{
	enum span_key_kind kind = ((const struct report_options *)run->values)->key.kind;

	return kind == SPAN_KEY_CONTAINER || kind == SPAN_KEY_POD;
}

/* Takes the report, which may be NULL. */
static struct report_state *new_state(struct analysis_run *run, void *report)
{
	const struct report_options *values = run->values;
	struct report_state *state = calloc(1, sizeof(*state));

	if (!state)
		return NULL;
	run->choice.key_title = values->by;
	state->report = report;
	state->threads = thread_names_new();
	state->tracks = track_names_new();
	state->traces = is_by_trace(run) ? trace_ids_new() : NULL;
	state->containers = is_by_container(run) ? container_names_new() : NULL;
	state->view = (struct report_view){ .row_limit = values->common.limit,
					    .by = values->by,
					    .key = values->by ? &values->key : NULL };
	return state;
}

static bool is_whole(const struct analysis_run *run, const struct report_state *state)
{
	return state->report && state->threads && state->tracks && (state->traces || !is_by_trace(run)) &&
	       (state->containers || !is_by_container(run));
}

/*
 * The reports sum up by label; for other keys, the label is replaced by the name that the key gives. Returns
 * the record, or the copy of it; NULL: no memory.
 */
static const struct txtrace_record *name_row(struct analysis_run *run, const struct txtrace_record *record,
					     struct txtrace_record *named)
{
	struct report_state *state = run->state;
	struct span_names names = { state->threads, state->tracks, state->traces, state->containers };

	if (record->kind == TXTRACE_RECORD_THREAD)
		thread_names_add(state->threads, &record->thread);
	if (record->kind == TXTRACE_RECORD_ATTRIBUTE && track_names_add(state->tracks, &record->attribute))
		return NULL;
	if (record->kind == TXTRACE_RECORD_PROCESS && state->containers &&
	    container_names_add(state->containers, &record->process))
		return NULL;
	if (record->kind != TXTRACE_RECORD_SPAN)
		return record;
	*named = *record;
	span_key_name(state->view.key, &record->span, &names, &state->buffer, &named->span.label);
	return state->buffer.err ? NULL : named;
}

/* ---- by label, or another key ---- */

static void free_labels(void *made)
{
	label_report_free(((struct report_state *)made)->report);
	release_names(made);
}

/* Of the first capture, which no pass says the beginning of. */
static int begin_traces(struct analysis_run *run, struct report_state *state)
{
	return state->traces ? trace_ids_begin_capture(state->traces, run->input->info.capture_id) : 0;
}

static int begin_survey(struct analysis_run *run)
{
	return trace_ids_begin_capture(((struct report_state *)run->state)->traces, run->input->capture_id);
}

static int survey(struct analysis_run *run, const struct txtrace_record *record)
{
	return trace_ids_see(((struct report_state *)run->state)->traces, record);
}

static int finish_survey(struct analysis_run *run)
{
	struct report_state *state = run->state;

	cli_warn_of_traces(run->cli, state->traces);
	return begin_traces(run, state);
}

static int begin_labels(struct analysis_run *run)
{
	struct report_state *state = run->state;
	int err = state->traces ? trace_ids_begin_capture(state->traces, run->input->capture_id) : 0;

	if (state->containers)
		container_names_begin_capture(state->containers);
	return err ? err : label_report_begin_capture(state->report, command_of(run));
}

static void *new_labels(struct analysis_run *run)
{
	struct report_state *state = new_state(run, label_report_new(run->common->max_memory_bytes));

	if (!state)
		return NULL;
	run->context = &state->view;
	if (is_whole(run, state) && begin_traces(run, state) == 0 &&
	    label_report_begin_capture(state->report, command_of(run)) == 0)
		return state;
	free_labels(state);
	return NULL;
}

static int add_to_labels(struct analysis_run *run, const struct txtrace_record *record)
{
	struct txtrace_record named;

	if (run->variant == BY_KEY)
		record = name_row(run, record, &named);
	return record ? label_report_add(((struct report_state *)run->state)->report, record) : -ENOMEM;
}

static int finish_labels(struct analysis_run *run)
{
	struct report_state *state = run->state;

	label_report_sort(state->report);
	if (!run->census->is_range) /* which the report does not know */
		run->census = label_report_census(state->report);
	return 0;
}

static int label_rows(struct analysis_run *run, struct row_list *list)
{
	const struct label_report *report = ((const struct report_state *)run->state)->report;

	for (size_t i = 0; i < label_report_row_count(report); i++)
		row_list_add(list, label_report_row(report, i));
	return 0;
}

static int print_labels(struct analysis_run *run)
{
	struct report_state *state = run->state;

	state->view.census = run->census;
	state->view.rows = run->sort ? run->list.rows : NULL;
	return report_print(state->report, &run->cli->out, &state->view);
}

static void head_json(struct analysis_run *run, struct json *json)
{
	if (run->variant == BY_KEY)
		json_member_text(json, "by", ((const struct report_options *)run->values)->by);
}

static void label_json(const struct analysis_run *run, const void *row, struct json *json)
{
	report_row_json(run->context, row, json);
}

static void labels_tail_json(struct analysis_run *run, struct json *json)
{
	report_tail_json(((const struct report_state *)run->state)->report, run->context, json);
}

static const struct report_options defaults = { .common = { .limit = 100 } };

static const struct analysis *choose(struct cli *cli, void *values);

static const struct analysis by_label = {
	.type = "report",
	.rows_names = { "labels", "rows" },
	.what = "report on",
	.no_rows = "no spans",
	.before_more = "\n",
	.more = " with less work",
	.columns = report_columns,
	.sorts_text = true,
	.has_own_foot = true,
	.has_own_json = true,
	.choose = choose,
	.new = new_labels,
	.free = free_labels,
	.needs_survey = is_by_trace,
	.survey = { begin_survey, survey, finish_survey },
	.passes = { { begin_labels, add_to_labels, finish_labels } },
	.rows = label_rows,
	.row_json = label_json,
	.text = print_labels,
	.head_json = head_json,
	.tail_json = labels_tail_json,
	.values_bytes = sizeof(defaults),
	.defaults = &defaults,
	.variant_offset = offsetof(struct report_options, variant),
};

/* ---- what tracing cost ---- */

static void free_costs(void *made)
{
	cost_report_free(((struct report_state *)made)->report);
	release_names(made);
}

static int begin_costs(struct analysis_run *run)
{
	struct report_state *state = run->state;

	if (state->containers)
		container_names_begin_capture(state->containers);
	return cost_report_begin_capture(state->report, command_of(run));
}

static void *new_costs(struct analysis_run *run)
{
	struct report_state *state = new_state(run, cost_report_new(run->common->max_memory_bytes));

	if (!state)
		return NULL;
	run->context = state->report;
	if (is_whole(run, state) && cost_report_begin_capture(state->report, command_of(run)) == 0)
		return state;
	free_costs(state);
	return NULL;
}

/* What a span paid for counts for others, also if it is not wanted. */
static int add_to_costs(struct analysis_run *run, const struct txtrace_record *record)
{
	const struct txtrace_string *label = &record->span.label;
	const char *glob = run->common->label;
	bool is_wanted = record->kind != TXTRACE_RECORD_SPAN || !glob ||
			 glob_matches(glob, label->bytes, label->length);
	struct txtrace_record named;

	if (is_wanted && ((const struct report_options *)run->values)->by)
		record = name_row(run, record, &named);
	return record ? cost_report_add(((struct report_state *)run->state)->report, record, is_wanted)
		      : -ENOMEM;
}

static int finish_costs(struct analysis_run *run)
{
	struct report_state *state = run->state;

	cost_report_see_capture(state->report, &run->input->info);
	cost_report_sort(state->report);
	return 0;
}

static int cost_rows(struct analysis_run *run, struct row_list *list)
{
	const struct cost_report *report = ((const struct report_state *)run->state)->report;

	for (size_t i = 0; i < cost_report_row_cnt(report); i++) {
		if (cost_report_row(report, i)->span_cnt)
			row_list_add(list, cost_report_row(report, i));
	}
	return 0;
}

static int cost_notes(struct analysis_run *run)
{
	return cost_print_notes(run->cli, run->context);
}

static void cost_head_json(struct analysis_run *run, struct json *json)
{
	const char *by = ((const struct report_options *)run->values)->by;

	json_member_text(json, "by", by ? by : "label");
}

static void cost_json(const struct analysis_run *run, const void *row, struct json *json)
{
	cost_row_json(run->context, row, json);
}

static void costs_tail_json(struct analysis_run *run, struct json *json)
{
	cost_tail_json(run->context, json);
}

static const struct analysis by_cost = {
	.type = "report",
	.rows_names = { "rows", "rows" },
	.what = "report on",
	.columns = cost_columns,
	.sorts_text = true,
	.takes_all_spans = true,
	.has_own_json = true,
	.new = new_costs,
	.free = free_costs,
	.passes = { { begin_costs, add_to_costs, finish_costs } },
	.rows = cost_rows,
	.row_json = cost_json,
	.notes = cost_notes,
	.head_json = cost_head_json,
	.tail_json = costs_tail_json,
};

/* ---- by reason ---- */

static void free_blocks(void *report)
{
	block_report_free(report);
}

static int begin_blocks(struct analysis_run *run)
{
	return block_report_begin_capture(run->state, command_of(run));
}

static void *new_blocks(struct analysis_run *run)
{
	struct block_report *report = block_report_new();

	run->context = report;
	if (report && block_report_begin_capture(report, command_of(run)) == 0)
		return report;
	block_report_free(report);
	return NULL;
}

static int add_to_blocks(struct analysis_run *run, const struct txtrace_record *record)
{
	return block_report_add(run->state, record);
}

/* Those with anything in them, by their time; the document has all. */
static int reason_rows(struct analysis_run *run, struct row_list *list)
{
	bool is_document = run->common->wants_json && !run->is_plain;
	unsigned int order[BLOCK_ROW_COUNT];

	reason_order(run->state, order);
	for (unsigned int i = 0; i < BLOCK_ROW_COUNT; i++) {
		const struct block_row *row = block_report_row(run->state, is_document ? i : order[i]);

		if (is_document || row->cnt > 0 || row->in_spans_ns > 0)
			row_list_add(list, row);
	}
	return 0;
}

static int reason_notes(struct analysis_run *run)
{
	int err = reason_print_notes(run->state, run->cli->out.file);

	fputc('\n', run->cli->out.file);
	return err;
}

static void reason_head_json(struct analysis_run *run, struct json *json)
{
	(void)run;
	json_member_text(json, "by", "reason");
}

static void reason_tail_json(struct analysis_run *run, struct json *json)
{
	mixed_programs_json(json, block_report_programs(run->state), block_report_program_mask(run->state));
}

static const struct analysis by_reason = {
	.type = "report",
	.rows_names = { "rows", "rows" },
	.what = "report on",
	.more = " with less time",
	.columns = reason_columns,
	.sorts_text = true,
	.new = new_blocks,
	.free = free_blocks,
	.passes = { { .begin_capture = begin_blocks, .add = add_to_blocks } },
	.rows = reason_rows,
	.notes = reason_notes,
	.head_json = reason_head_json,
	.tail_json = reason_tail_json,
};

static const struct analysis *choose(struct cli *cli, void *chosen)
{
	struct report_options *values = chosen;

	if (values->wants_cost && (values->is_by_reason || values->key.kind == SPAN_KEY_TRACE)) {
		cli_fail(cli, "--cost is about spans; give it another --by than %s",
			 values->is_by_reason ? "reason" : "trace");
		return NULL;
	}
	values->variant = values->by ? BY_KEY : BY_LABEL;
	if (values->wants_cost)
		return &by_cost;
	return values->is_by_reason ? &by_reason : &by_label;
}

const struct command command_report = { "report",
					"where the time went, by label, thread, tag, reason, \xe2\x80\xa6",
					&options, .analysis = &by_label };
