/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "cli/commands/command.h"
#include "cli/exit_status.h"
#include "cli/print/show_print.h"
#include "cli/print/trace_show.h"

struct show_options {
	struct span_choice choice;
	uint64_t limit;
	bool is_all;
	bool wants_json;
};

static const struct option_spec specs[] = {
	SPAN_CHOICE_OPTIONS(struct show_options),
	OPTION("limit", 'n', OPTION_U64, "N", "show the N longest lines of the waterfall (default 100)",
	       offsetof(struct show_options, limit), .minimum = 1),
	OPTION("all", 'a', OPTION_FLAG, NULL, "show all lines", offsetof(struct show_options, is_all)),
	OPTION("json", 0, OPTION_FLAG, NULL, "write one JSON object",
	       offsetof(struct show_options, wants_json)),
	OPTION_END,
};

static const struct options options = {
	.program = "txtrace show",
	.about =
		"Shows one span as a waterfall: what each of its threads did in it, each block with its "
		"reason, its object and its waker, its children, and its attributes, instants and links. "
		"Times are relative to its begin. With a W3C trace id of 32 hexadecimal digits: all spans of "
		"that trace as a tree, each with the split of its work.",
	.usages = (const char *const[]){ "FILE\xe2\x80\xa6 ID", "FILE\xe2\x80\xa6 TRACEID", NULL },
	.specs = specs,
	.examples =
		(const struct option_example[]){
			{ "txtrace spans --json -n 1 bank.txtrace | jq -r '.spans[].id'",
			  "The id of the slowest span." },
			{ "txtrace show bank.txtrace 4711", "What happened in the span with the id 4711." },
			{ "txtrace show all.txtrace 4bf92f3577b34da6a3ce929d0e0e4736",
			  "The spans of this trace, of all processes in the log." },
			{ NULL, NULL },
		},
	.notes = exit_status_notes,
	.operand = "FILE or ID",
	.operand_min = 2,
	.operand_max = -1,
};

static int show_span(struct cli *cli, const struct show_options *values, const struct options_result *result)
{
	struct chosen_span chosen;
	struct json json;
	int status, err;

	if (!span_choice_load(cli, &values->choice, result, false, &chosen, &status))
		return status;
	if (values->wants_json) {
		cli_begin_json(cli, &json);
		show_json(&chosen, &json);
		err = cli_finish_json(cli, &json);
	} else {
		err = show_print(&chosen, &cli->out, values->is_all ? 0 : values->limit);
	}
	status = err ? cli_fail(cli, "can't show the span: %s", strerror(-err)) : chosen.status;
	chosen_span_release(&chosen);
	return status;
}

static int run(struct cli *cli, int argc, char **argv)
{
	struct show_options values = { .choice = SPAN_CHOICE_DEFAULTS, .limit = 100 };
	struct trace_show_options trace;
	struct options_result result;
	int status;

	if (!cli_parse(cli, &options, argc, argv, &values, &result, &status))
		return status;
	if (!trace_id_parse(trace.id, result.operands[result.operand_cnt - 1]))
		return show_span(cli, &values, &result);
	trace.limit = values.is_all ? 0 : values.limit;
	trace.wants_json = values.wants_json;
	cli->nest = values.choice.nest;
	return trace_show(cli, &trace, &result);
}

const struct command command_show = { "show", "one span as a waterfall", &options, .run = run };
