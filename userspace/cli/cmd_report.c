/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "analyze/label_report.h"
#include "base/glob.h"
#include "cli/command.h"
#include "cli/exit_status.h"
#include "cli/log_input.h"
#include "cli/report_print.h"

struct report_options {
	const char *label;
	uint64_t limit;
	uint64_t max_memory_bytes;
	bool wants_json;
};

static const struct option_spec specs[] = {
	OPTION("label", 'l', OPTION_STRING, "GLOB", "only spans with such a label, as in 'tx.*'", offsetof(struct report_options, label)),
	OPTION("limit", 'n', OPTION_U64, "N", "show the N labels with the most work; 0: all (default 100)",
	       offsetof(struct report_options, limit)),
	OPTION("max-memory", 0, OPTION_SIZE, "SIZE",
	       "use no more for labels and quantiles; labels beyond it are counted together (default 512M)",
	       offsetof(struct report_options, max_memory_bytes), .minimum = 1 << 16),
	OPTION("json", 0, OPTION_FLAG, NULL, "write one JSON object, with all labels", offsetof(struct report_options, wants_json)),
	OPTION_END,
};

static const struct options options = {
	.program = "txtrace report",
	.about = "Where the time went, by label: how many spans, how long they took, and the mean split of their work into on-CPU, "
		 "runnable, blocked by reason, detached and unknown. Lower bounds (spans whose account is incomplete) are counted "
		 "apart, in the column '>='.",
	.usages = (const char *const[]){ "FILE\xe2\x80\xa6", NULL },
	.specs = specs,
	.examples = (const struct option_example[]){
		{ "txtrace report bank.txtrace", "The whole log." },
		{ "txtrace report --json bank.txtrace | jq '.labels[] | {label, p99: .wall_ns.p99}'", "For a machine." },
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

	return record->kind != TXTRACE_RECORD_SPAN || !values->label || glob_matches(values->label, label->bytes, label->length);
}

static int print(struct cli *cli, const struct report_options *values, const struct label_report *report, const struct log_input *input)
{
	const struct txtrace_log_info *info = &input->info;
	struct json json;

	if (!values->wants_json)
		return report_print(report, info, &cli->out, values->limit);
	json_init_file(&json, cli->out.file);
	json.is_pretty = true;
	report_json(report, info, &json);
	return cli_finish_json(cli, &json);
}

static int run(struct cli *cli, int argc, char **argv)
{
	struct report_options values = { .limit = 100 };
	struct options_result result;
	struct txtrace_record record;
	struct label_report *report;
	struct log_input input;
	int status, err = 0;

	if (!cli_parse(cli, &options, argc, argv, &values, &result, &status))
		return status;
	status = log_input_open(&input, cli, result.operands, result.operand_cnt, true);
	if (status)
		return status;
	report = label_report_new(values.max_memory_bytes);
	err = report ? 0 : -ENOMEM;
	while (!err && log_input_next(&input, &record)) {
		if (is_wanted(&values, &record))
			err = label_report_add(report, &record);
	}
	if (!err) {
		label_report_sort(report);
		err = print(cli, &values, report, &input);
	}
	label_report_free(report);
	if (err)
		cli_fail(cli, "can't report on '%s': %s", input.path, strerror(-err));
	status = log_input_close(&input);
	return err ? CLI_FAILED : status;
}

const struct command command_report = { "report", "where the time went, by label", &options, run };
