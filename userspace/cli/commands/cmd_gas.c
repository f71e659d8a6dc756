/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "analyze/tree/gas_tree.h"
#include "cli/commands/command.h"
#include "cli/exit_status.h"
#include "cli/files/log_input.h"
#include "cli/print/gas_print.h"
#include "log/format/fvm_marks.h"

struct gas_options {
	uint64_t limit;
	bool wants_spans;
	bool is_folded;
	bool wants_json;
};

static const struct option_spec specs[] = {
	OPTION("limit", 'n', OPTION_U64, "N",
	       "show the N calls and labels with the most gas; 0: all (default 20)",
	       offsetof(struct gas_options, limit)),
	OPTION("spans", 0, OPTION_FLAG, NULL,
	       "write a line for each call and label span: its own gas and its total, by charge",
	       offsetof(struct gas_options, wants_spans)),
	OPTION("folded", 0, OPTION_FLAG, NULL,
	       "write folded stacks, 'call;call;charge milligas' (whole gas, if the trace was JSON)",
	       offsetof(struct gas_options, is_folded)),
	OPTION("json", 0, OPTION_FLAG, NULL, "write one JSON object, with all calls, spans and charges",
	       offsetof(struct gas_options, wants_json)),
	OPTION_END,
};

static const struct options options = {
	.program = "txtrace gas",
	.about = "Who was charged how much gas, in an imported trace of the Filecoin virtual machine: by "
		 "charge, by "
		 "call, and by label span. The unit is gas, never time.",
	.usages = (const char *const[]){ "FILE", NULL },
	.specs = specs,
	.examples =
		(const struct option_example[]){
			{ "txtrace gas machine.txtrace", "The charges, and the calls with the most gas." },
			{ "txtrace gas --folded machine.txtrace", "For a flame graph whose width is gas." },
			{ NULL, NULL },
		},
	.notes = exit_status_notes,
	.operand = "FILE",
	.operand_min = 1,
	.operand_max = 1,
};

static int print(struct cli *cli, const struct gas_options *values, const struct gas_tree *tree)
{
	if (values->is_folded || values->wants_spans || values->wants_json)
		cli_keep_lines(cli);
	if (values->is_folded)
		return gas_print_folded(cli, tree);
	if (values->wants_spans)
		return gas_print_spans(cli, tree);
	if (values->wants_json)
		return gas_print_json(cli, tree);
	return gas_print_tables(cli, tree, values->limit);
}

static int run(struct cli *cli, int argc, char **argv)
{
	struct gas_options values = { .limit = 20 };
	struct txtrace_record record;
	struct options_result result;
	struct log_input input;
	struct gas_tree *tree;
	int status, input_status, err;

	if (!cli_parse(cli, &options, argc, argv, &values, &result, &status))
		return status;
	if (values.is_folded + values.wants_spans + values.wants_json > 1)
		return cli_fail(cli, "--folded, --spans and --json are different outputs; give one of them");
	cli->is_of_gas = true;
	status = log_input_open(&input, cli, result.operands, result.operand_cnt, true);
	if (status)
		return status;
	if (!fvm_is_gas(input.info.options)) {
		cli_fail(cli, "'%s' is no imported trace of the Filecoin virtual machine: its unit is time",
			 input.path);
		log_input_close(&input);
		return CLI_FAILED;
	}
	tree = gas_tree_new(strcmp(input.info.options, FVM_CLOCK_JSON) == 0);
	err = tree ? 0 : -ENOMEM;
	while (!err && log_input_next(&input, &record))
		err = gas_tree_add(tree, &record);
	err = err ? err : gas_tree_finish(tree);
	err = err ? err : print(cli, &values, tree);
	gas_tree_free(tree);
	if (err)
		status = cli_fail(cli, "can't show '%s': %s", input.path, strerror(-err));
	input_status = log_input_close(&input);
	return status ? status : input_status;
}

const struct command command_gas = {
	"gas", "who was charged how much gas, in traces of the Filecoin virtual machine", &options,
	.run = run,
};
