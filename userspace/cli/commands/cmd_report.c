/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "analyze/cost/cost_report.h"
#include "analyze/wait/block_report.h"
#include "analyze/label/label_report.h"
#include "analyze/span_key.h"
#include "analyze/thread_names.h"
#include "base/glob.h"
#include "cli/commands/command.h"
#include "cli/exit_status.h"
#include "cli/files/log_input.h"
#include "cli/print/cost_print.h"
#include "cli/print/reason_print.h"
#include "cli/print/report_print.h"

struct report_options {
	unsigned int nest;
	const char *by; /* NULL: label */
	struct span_key key;
	bool is_by_reason;
	bool wants_cost;
	const char *label;
	uint64_t limit;
	uint64_t max_memory_bytes;
	bool wants_json;
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
	       "a row for each label (the default), thread, process, track, reason, key, key:BYTES (its "
	       "first ones), or tag:NAME (its value)",
	       0, .call = set_by),
	OPTION("cost", 0, OPTION_FLAG, NULL,
	       "show what tracing added to these spans: an estimate, and how it was measured",
	       offsetof(struct report_options, wants_cost)),
	OPTION("label", 'l', OPTION_STRING, "GLOB", "only spans with such a label, as in 'tx.*'",
	       offsetof(struct report_options, label)),
	OPTION("limit", 'n', OPTION_U64, "N", "show the N rows with the most work; 0: all (default 100)",
	       offsetof(struct report_options, limit)),
	OPTION("max-memory", 0, OPTION_SIZE, "SIZE",
	       "memory limit for rows and quantiles; further rows are merged into one (default 512M)",
	       offsetof(struct report_options, max_memory_bytes), .minimum = 1 << 16),
	OPTION_NEST(struct report_options, nest),
	OPTION("json", 0, OPTION_FLAG, NULL, "write one JSON object, with all rows",
	       offsetof(struct report_options, wants_json)),
	OPTION_END,
};

static const struct options options = {
	.program = "txtrace report",
	.about = "Shows where the time went, by label: how many spans, how long they took, and the mean "
		 "split of their work into on-CPU, runnable, blocked by reason, detached and unknown. Lower "
		 "bounds (spans whose ledger is incomplete) are counted apart, in the column '>='.",
	.usages = (const char *const[]){ "FILE\xe2\x80\xa6", NULL },
	.specs = specs,
	.examples = (const struct option_example[]){
		{ "txtrace report bank.txtrace", "The whole log." },
		{ "txtrace report --by tag:shard --label 'tx*' bank.txtrace",
		  "Transactions, by the shard in their tags." },
		{ "txtrace report --by reason bank.txtrace",
		  "What all threads waited for, and how long." },
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

static bool is_wanted(const struct report_options *values, const struct txtrace_record *record)
{
	const struct txtrace_string *label = &record->span.label;

	return record->kind != TXTRACE_RECORD_SPAN || !values->label ||
	       glob_matches(values->label, label->bytes, label->length);
}

static int print(struct cli *cli, const struct report_options *values, const struct label_report *report,
		 const struct log_input *input)
{
	struct report_view view = { values->limit, values->by, values->by ? &values->key : NULL };
	const struct txtrace_log_info *info = &input->info;
	struct json json;

	if (!values->wants_json)
		return report_print(report, info, &cli->out, &view);
	cli_begin_json(cli, &json);
	report_json(report, info, &view, &json);
	return cli_finish_json(cli, &json);
}

/* What a report takes: every capture's begin, and every record; a span that is not wanted has no row. */
struct taker {
	int (*begin_capture)(void *report, const char *command);
	int (*add)(void *report, const struct txtrace_record *record, bool is_wanted);
};

static int begin_labels(void *report, const char *command)
{
	return label_report_begin_capture(report, command);
}

static int add_to_labels(void *report, const struct txtrace_record *record, bool is_wanted)
{
	return is_wanted ? label_report_add(report, record) : 0;
}

static int begin_costs(void *report, const char *command)
{
	return cost_report_begin_capture(report, command);
}

/* What a span paid for counts for others, also if it is not wanted. */
static int add_to_costs(void *report, const struct txtrace_record *record, bool is_wanted)
{
	return cost_report_add(report, record, is_wanted);
}

static int begin_blocks(void *report, const char *command)
{
	return block_report_begin_capture(report, command);
}

static int add_to_blocks(void *report, const struct txtrace_record *record, bool is_wanted)
{
	return is_wanted ? block_report_add(report, record) : 0;
}

/* The report sums up by label; for other keys, the label is replaced by the name that the key gives. */
static int collect(const struct report_options *values, struct log_input *input, const struct taker *taker,
		   void *report)
{
	struct thread_names *threads = thread_names_new();
	struct track_names *tracks = track_names_new();
	struct span_names names = { threads, tracks };
	struct txtrace_record record;
	bool has_begun = false;
	struct text buffer = { 0 };
	int err = report && threads && tracks ? 0 : -ENOMEM;

	while (!err && log_input_next(input, &record)) {
		bool wanted = is_wanted(values, &record);

		if (!has_begun || input->has_begun_capture)
			err = taker->begin_capture(report, txtrace_log_info(input->log)->command);
		has_begun = true;
		if (record.kind == TXTRACE_RECORD_THREAD)
			thread_names_add(threads, &record.thread);
		if (!err && record.kind == TXTRACE_RECORD_ATTRIBUTE && values->by)
			err = track_names_add(tracks, &record.attribute);
		if (!err && wanted && record.kind == TXTRACE_RECORD_SPAN && values->by)
			span_key_name(&values->key, &record.span, &names, &buffer, &record.span.label);
		if (!err)
			err = buffer.err ? buffer.err : taker->add(report, &record, wanted);
	}
	text_release(&buffer);
	thread_names_free(threads);
	track_names_free(tracks);
	return err;
}

static int report_cost(struct cli *cli, const struct report_options *values, struct log_input *input)
{
	static const struct taker costs = { begin_costs, add_to_costs };
	struct cost_report *report = cost_report_new(values->max_memory_bytes);
	const struct cost_view view = { values->limit, values->by };
	int err = collect(values, input, &costs, report);

	if (!err) {
		cost_report_see_capture(report, &input->info);
		cost_report_sort(report);
		err = values->wants_json ? cost_json(cli, report, input, &view)
					 : cost_print(cli, report, input, &view);
	}
	cost_report_free(report);
	return err;
}

static int report_by_key(struct cli *cli, const struct report_options *values, struct log_input *input)
{
	static const struct taker labels = { begin_labels, add_to_labels };
	struct label_report *report = label_report_new(values->max_memory_bytes);
	int err = collect(values, input, &labels, report);

	if (!err) {
		label_report_sort(report);
		err = print(cli, values, report, input);
	}
	label_report_free(report);
	return err;
}

static int report_by_reason(struct cli *cli, const struct report_options *values, struct log_input *input)
{
	static const struct taker blocks = { begin_blocks, add_to_blocks };
	struct block_report *report = block_report_new();
	int err = collect(values, input, &blocks, report);

	if (!err)
		err = values->wants_json ? reason_json(cli, report, input) : reason_print(cli, report, input);
	block_report_free(report);
	return err;
}

static int run(struct cli *cli, int argc, char **argv)
{
	struct report_options values = { .limit = 100 };
	struct options_result result;
	struct log_input input;
	int status, err;

	if (!cli_parse(cli, &options, argc, argv, &values, &result, &status))
		return status;
	if (values.wants_cost && values.is_by_reason)
		return cli_fail(cli, "--cost is about spans; give it another --by than reason");
	cli->nest = values.nest;
	status = log_input_open(&input, cli, result.operands, result.operand_cnt, true);
	if (status)
		return status;
	if (values.wants_cost)
		err = report_cost(cli, &values, &input);
	else
		err = values.is_by_reason ? report_by_reason(cli, &values, &input)
					  : report_by_key(cli, &values, &input);
	return log_input_end(&input, err, "report on");
}

const struct command command_report = { "report",
					"where the time went, by label, thread, tag, reason, \xe2\x80\xa6",
					&options, run };
