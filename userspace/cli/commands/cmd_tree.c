/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>

#include "analyze/tree/span_tree.h"
#include "cli/commands/analysis.h"
#include "cli/commands/command.h"
#include "cli/exit_status.h"
#include "cli/print/tree_print.h"

struct tree_options {
	struct analysis_options common;
	uint64_t depth;
};

struct tree_state {
	struct span_tree *tree;
	struct tree_rows rows;
};

static const struct option_spec specs[] = {
	OPTION_LABEL("begin the tree at spans with such a label, as in 'tx.*'"),
	OPTION("depth", 'd', OPTION_U64, "N", "show N levels; 0: all (default 0)",
	       offsetof(struct tree_options, depth)),
	OPTION_LIMIT("show the N labels with the most work below each; 0: all (default 20)"),
	OPTION_MEMORY("use no more for labels and for spans that have not ended (default 256M)"),
	OPTION_NEST(struct analysis_options, nest),
	OPTION_SORT,
	OPTIONS_OUTPUT("write one JSON object, with all rows"),
	OPTION_END,
};

static const struct options options = {
	.program = "txtrace tree",
	.about = "The call tree: spans by label along the path of their parents, with the sum of their wall "
		 "times and their self: their work minus what was also charged to their children. If the log "
		 "does not show that exactly, the row says '<=', at most.",
	.usages = (const char *const[]){ "FILE\xe2\x80\xa6", NULL },
	.specs = specs,
	.examples =
		(const struct option_example[]){
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

static void free_state(void *made)
{
	struct tree_state *state = made;

	span_tree_free(state->tree);
	free(state->rows.rows);
	free(state);
}

static void *new_state(struct analysis_run *run)
{
	struct tree_state *state = calloc(1, sizeof(*state));

	if (!state)
		return NULL;
	state->tree = span_tree_new(run->common->max_memory_bytes);
	if (state->tree)
		return state;
	free(state);
	return NULL;
}

static int begin_capture(struct analysis_run *run)
{
	return span_tree_begin_capture(((struct tree_state *)run->state)->tree);
}

static int add(struct analysis_run *run, const struct txtrace_record *record)
{
	return span_tree_add(((struct tree_state *)run->state)->tree, record);
}

static int finish(struct analysis_run *run)
{
	return span_tree_finish(((struct tree_state *)run->state)->tree, run->common->label);
}

static int rows(struct analysis_run *run, struct row_list *list)
{
	struct tree_state *state = run->state;
	int err = tree_collect_rows(state->tree, span_tree_root(state->tree), &state->rows);

	for (size_t i = 0; !err && i < state->rows.cnt; i++)
		row_list_add(list, &state->rows.rows[i]);
	return err;
}

static int text(struct analysis_run *run)
{
	const struct tree_view view = { ((const struct tree_options *)run->values)->depth,
					run->common->limit };

	return tree_print(((const struct tree_state *)run->state)->tree, &run->cli->out, &view);
}

static int foot(struct analysis_run *run, struct table *table)
{
	tree_add_foot(((const struct tree_state *)run->state)->tree, table);
	return 0;
}

static void tail_json(struct analysis_run *run, struct json *json)
{
	const struct span_tree *tree = ((const struct tree_state *)run->state)->tree;

	json_member_u64(json, "given_up_parents", span_tree_given_up_count(tree));
	json_member_bool(json, "has_rest", span_tree_has_rest(tree));
}

static const struct tree_options defaults = { .common = { .limit = 20 } };

static const struct analysis analysis = {
	.type = "tree",
	.rows_names = { "rows" },
	.what = "make the tree of",
	.no_rows = "no spans",
	.more = " rows",
	.columns = tree_columns,
	.takes_all_spans = true,
	.finds_spans = true,
	.new = new_state,
	.free = free_state,
	.passes = { { begin_capture, add, finish } },
	.rows = rows,
	.text = text,
	.foot = foot,
	.tail_json = tail_json,
	.values_bytes = sizeof(defaults),
	.defaults = &defaults,
};

const struct command command_tree = { "tree", "self and total of each label, along the path of its parents",
				      &options, .analysis = &analysis };
