/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "analyze/tree/span_tree.h"
#include "cli/commands/command.h"
#include "cli/exit_status.h"
#include "cli/files/log_input.h"
#include "cli/print/tree_print.h"

struct tree_options {
	unsigned int nest;
	struct tree_view view;
	const char *label;
	uint64_t max_memory_bytes;
	bool wants_json;
};

static const struct option_spec specs[] = {
	OPTION("label", 'l', OPTION_STRING, "GLOB", "begin the tree at spans with such a label, as in 'tx.*'",
	       offsetof(struct tree_options, label)),
	OPTION("depth", 'd', OPTION_U64, "N", "show N levels; 0: all (default 0)",
	       offsetof(struct tree_options, view.depth_max)),
	OPTION("limit", 'n', OPTION_U64, "N",
	       "show the N labels with the most work below each; 0: all (default 20)",
	       offsetof(struct tree_options, view.child_max)),
	OPTION("max-memory", 0, OPTION_SIZE, "SIZE",
	       "use no more for labels and for spans that have not ended (default 256M)",
	       offsetof(struct tree_options, max_memory_bytes), .minimum = 1 << 16),
	OPTION_NEST(struct tree_options, nest),
	OPTION("json", 0, OPTION_FLAG, NULL, "write one JSON object, with all rows",
	       offsetof(struct tree_options, wants_json)),
	OPTION_END,
};

static const struct options options = {
	.program = "txtrace tree",
	.about = "The call tree: spans by label along the path of their parents, with the sum of their wall "
		 "times and their self: their work minus what was also charged to their children. If the log "
		 "does not show that exactly, the row says '<=', at most.",
	.usages = (const char *const[]){ "FILE\xe2\x80\xa6", NULL },
	.specs = specs,
	.examples = (const struct option_example[]){
		{ "txtrace tree bank.txtrace", "The whole tree." },
		{ "txtrace tree --label transfer --depth 2 bank.txtrace",
		  "Transfers, and what they consist of." },
		{ NULL, NULL },
	},
	.notes = exit_status_notes,
	.operand = "FILE",
	.operand_min = 1,
	.operand_max = -1,
};

static int run(struct cli *cli, int argc, char **argv)
{
	struct tree_options values = { .view = { .child_max = 20 } };
	struct options_result result;
	struct txtrace_record record;
	struct log_input input;
	struct span_tree *tree;
	int status, err;

	if (!cli_parse(cli, &options, argc, argv, &values, &result, &status))
		return status;
	cli->nest = values.nest;
	status = log_input_open(&input, cli, result.operands, result.operand_cnt, true);
	if (status)
		return status;
	tree = span_tree_new(values.max_memory_bytes);
	err = tree ? 0 : -ENOMEM;
	while (!err && log_input_next(&input, &record)) {
		if (input.has_begun_capture)
			err = span_tree_begin_capture(tree);
		if (!err)
			err = span_tree_add(tree, &record);
	}
	if (!err)
		err = span_tree_finish(tree, values.label);
	if (!err)
		err = values.wants_json ? tree_print_json(cli, tree, &input)
					: tree_print(cli, tree, &input, &values.view);
	span_tree_free(tree);
	return log_input_end(&input, err, "make the tree of");
}

const struct command command_tree = { "tree", "self and total of each label, along the path of its parents",
				      &options, run };
