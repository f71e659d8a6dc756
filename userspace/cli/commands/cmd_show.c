/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "cli/commands/command.h"
#include "cli/exit_status.h"
#include "cli/print/show_print.h"

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
	.about = "Shows one span as a waterfall: what each of its threads did in it, each block with its "
		 "reason, its object and its waker, its children, and its attributes, instants and links. "
		 "Times are relative to its begin.",
	.usages = (const char *const[]){ "FILE\xe2\x80\xa6 ID", NULL },
	.specs = specs,
	.examples = (const struct option_example[]){
		{ "txtrace spans --json -n 1 bank.txtrace | jq -r '.spans[].id'",
		  "The id of the slowest span." },
		{ "txtrace show bank.txtrace 4711", "What happened in the span with the id 4711." },
		{ NULL, NULL },
	},
	.notes = exit_status_notes,
	.operand = "FILE or ID",
	.operand_min = 2,
	.operand_max = -1,
};

static int run(struct cli *cli, int argc, char **argv)
{
	struct show_options values = { .choice = SPAN_CHOICE_DEFAULTS, .limit = 100 };
	struct options_result result;
	struct chosen_span chosen;
	struct json json;
	int status, err;

	if (!cli_parse(cli, &options, argc, argv, &values, &result, &status) ||
	    !span_choice_load(cli, &values.choice, &result, false, &chosen, &status))
		return status;
	if (values.wants_json) {
		cli_begin_json(cli, &json);
		show_json(&chosen, &json);
		err = cli_finish_json(cli, &json);
	} else {
		err = show_print(&chosen, &cli->out, values.is_all ? 0 : values.limit);
	}
	status = err ? cli_fail(cli, "can't show the span: %s", strerror(-err)) : chosen.status;
	chosen_span_release(&chosen);
	return status;
}

const struct command command_show = { "show", "one span as a waterfall", &options, .run = run };
