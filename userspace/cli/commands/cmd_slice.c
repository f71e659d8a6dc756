/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "analyze/files/log_cut.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/commands/command.h"
#include "cli/exit_status.h"
#include "cli/files/log_copy.h"
#include "cli/files/log_output.h"
#include "cli/files/log_scope.h"

struct slice_options {
	struct moment from;
	struct moment to;
	const char *label;
	uint64_t pid; /* 0: any */
	uint64_t max_memory_bytes;
	const char *output;
	struct log_scope scope; /* --where */
};

static const struct option_spec specs[] = {
	OPTION("from", 'f', OPTION_CALL, "T",
	       "leave out what ended before T: a time since the capture began, as in 1.5s, or one of "
	       "CLOCK_MONOTONIC as 'txtrace dump' prints them, as in "
	       "6098565896422abs",
	       offsetof(struct slice_options, from), .call = moment_take),
	OPTION("to", 't', OPTION_CALL, "T", "leave out what began at T or later",
	       offsetof(struct slice_options, to), .call = moment_take),
	OPTION("label", 'l', OPTION_STRING, "GLOB",
	       "keep only spans whose label matches, as in 'tx.*', and their attributes, instants and links",
	       offsetof(struct slice_options, label)),
	OPTION_WHERE(struct slice_options, scope),
	OPTION("pid", 'p', OPTION_U64, "PID", "only what is about this process",
	       offsetof(struct slice_options, pid), .minimum = 1, .maximum = UINT32_MAX),
	OPTION("max-memory", 0, OPTION_SIZE, "SIZE", "use at most this much memory for spans (default 256M)",
	       offsetof(struct slice_options, max_memory_bytes), .minimum = 1 << 16),
	OPTION("output", 'o', OPTION_STRING, "OUT", "write this file, once it is complete (required)",
	       offsetof(struct slice_options, output)),
	OPTION_END,
};

static const struct options options = {
	.program = "txtrace slice",
	.about = "A part of a log: the records that overlap a range of time, each as it was, with the "
		 "threads that they name. A span that "
		 "reaches out of the range is there as a whole, with its attributes, instants and links. The "
		 "summary is that of the whole "
		 "capture.",
	.usages =
		(const char *const[]){
			"[--from T] [--to T] [--label GLOB] [--pid PID] -o OUT FILE\xe2\x80\xa6", NULL },
	.specs = specs,
	.examples =
		(const struct option_example[]){
			{ "txtrace slice --from 12s --to 12.5s -o stall.txtrace bank.txtrace",
			  "Half a second of it." },
			{ "txtrace slice --label 'tx.*' -o tx.txtrace bank.txtrace",
			  "Transactions, and not what they are made of." },
			{ NULL, NULL },
		},
	.notes = exit_status_tool_notes,
	.operand = "FILE",
	.operand_min = 1,
	.operand_max = -1,
};

/* ---- the header: what reads the slice can tell that it is one ---- */

static void append_option(struct text *text, const char *name, const char *value)
{
	if (value)
		text_append_format(text, " --%s %s", name, value);
}

static int change_info(const struct slice_options *values, struct txtrace_log_info *info)
{
	struct text what = { 0 };
	size_t size = sizeof(info->options), kept;
	char pid[UNITS_SIZE];
	int err;

	text_append(&what, "; " LOG_CUT_MARK);
	append_option(&what, "from", values->from.text);
	append_option(&what, "to", values->to.text);
	append_option(&what, "label", values->label);
	append_option(&what, "where", values->scope.where);
	snprintf(pid, sizeof(pid), "%llu", (unsigned long long)values->pid);
	append_option(&what, "pid", values->pid ? pid : NULL);
	err = what.err;
	if (!err) {
		if (what.length > size / 2)
			what.bytes[size / 2] = '\0';
		kept = strnlen(info->options, size - 1 - strlen(what.bytes));
		snprintf(info->options + kept, size - kept, "%s", what.bytes + (kept > 0 ? 0 : 2));
	}
	text_release(&what);
	return err;
}

struct slicing {
	const struct slice_options *values;
	struct log_cut *cut;
};

static int change_slice_info(void *context, struct txtrace_log_info *info)
{
	const struct slicing *slicing = context;
	const struct slice_options *values = slicing->values;

	return values->from.text || values->to.text || values->label || values->pid || values->scope.where
		       ? change_info(values, info)
		       : 0;
}

/* ---- the records ---- */

static int choose(void *context, struct txtrace_record *record)
{
	const struct slicing *slicing = context;

	return log_cut_keeps(slicing->cut, record);
}

/*
 * The first reading, in which nothing is said: the second one will. Returns CLI_OK, or CLI_FAILED and a
 * sentence was said.
 */
static int look(struct cli *cli, const struct options_result *result, struct log_cut *cut)
{
	struct txtrace_record record;
	struct log_input input;
	int status;

	if (!log_cut_needs_look(cut))
		return CLI_OK;
	status = log_input_open(&input, cli, result->operands, result->operand_cnt, true);
	if (status)
		return status;
	input.is_quiet = true;
	while (log_input_next(&input, &record))
		log_cut_look(cut, &record);
	log_input_close(&input);
	if (log_cut_is_blurred(cut))
		cli_warn(cli, "there are more spans than fit into memory: attributes, instants and links "
			      "within the range are kept for all spans; --max-memory allows more");
	return CLI_OK;
}

static int slice(struct cli *cli, const struct slice_options *values, struct log_input *input,
		 const struct options_result *result)
{
	struct log_cut_options cut_options = { .label = values->label,
					       .has_pid = values->pid,
					       .pid = (uint32_t)values->pid,
					       .max_bytes = values->max_memory_bytes };
	struct slicing slicing = { .values = values };
	struct log_copy copy = { .inputs = result->operands,
				 .input_cnt = result->operand_cnt,
				 .output = values->output,
				 .codec = LOG_CODEC_ZSTD,
				 .change_info = change_slice_info,
				 .change = choose,
				 .context = &slicing };
	int status = log_output_check(values->output, input);

	if (status == CLI_OK)
		status = log_input_check_one_capture(input);
	if (status == CLI_OK)
		status = moment_resolve(&values->from, input, 0, &cut_options.from_ns);

	if (status == CLI_OK)
		status = moment_resolve(&values->to, input, LOG_CUT_NO_END, &cut_options.to_ns);
	if (status == CLI_OK && cut_options.from_ns >= cut_options.to_ns)
		status = cli_fail(cli, "there is nothing between --from %s and --to %s",
				  values->from.text ? values->from.text : "the beginning", values->to.text);
	if (status) {
		log_input_close(input);
		return status;
	}
	slicing.cut = log_cut_new(&cut_options);
	status = slicing.cut ? look(cli, result, slicing.cut) : cli_fail(cli, "there is not enough memory");
	if (status == CLI_OK)
		status = log_copy_from(&copy, input);
	else
		log_input_close(input);
	log_cut_free(slicing.cut);
	return status;
}

static int run(struct cli *cli, int argc, char **argv)
{
	struct slice_options values = { .max_memory_bytes = 256u << 20 };
	struct options_result result;
	struct log_input input;
	int status;

	if (!cli_parse(cli, &options, argc, argv, &values, &result, &status))
		return status;
	values.scope.finds_spans = true;
	cli->scope = &values.scope;
	status = log_copy_check_output(cli, "slice", values.output);
	if (status == CLI_OK)
		status = log_input_open(&input, cli, result.operands, result.operand_cnt, true);
	return status == CLI_OK ? slice(cli, &values, &input, &result) : status;
}

const struct command command_slice = { "slice", "write a part of a log: a range of time, labels, a process",
				       &options, .run = run };
