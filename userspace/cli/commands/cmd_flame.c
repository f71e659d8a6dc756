/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "analyze/tree/flame_rows.h"
#include "base/named_output.h"
#include "cli/files/capture_info.h"
#include "cli/commands/command.h"
#include "cli/exit_status.h"
#include "cli/print/flame_svg.h"
#include "cli/files/log_input.h"
#include "cli/files/log_scope.h"
#include "cli/files/output_file.h"

struct flame_options {
	unsigned int nest;
	unsigned int weight;
	unsigned int stacks; /* enum txtrace_stack_what; 0: none */
	const char *label;
	const char *output;
	uint64_t max_memory_bytes;
	bool is_folded;
	struct log_scope scope;
};

static const char *const stack_choices[] = {
	"none", [TXTRACE_STACK_OFF_CPU] = "off-cpu", [TXTRACE_STACK_ON_CPU] = "on-cpu", NULL
};

static const struct option_spec specs[] = {
	OPTION("weight", 'w', OPTION_CHOICE, "PART", "the part that gives the width of frames (default wall)",
	       offsetof(struct flame_options, weight), .choices = flame_weights),
	OPTION("stacks", 's', OPTION_CHOICE, "WHEN",
	       "draw the code below the spans, by blocked time (off-cpu) or by time on a CPU (on-cpu), if "
	       "stacks were recorded",
	       offsetof(struct flame_options, stacks), .choices = stack_choices),
	OPTION("label", 'l', OPTION_STRING, "GLOB", "begin at spans with such a label, as in 'tx.*'",
	       offsetof(struct flame_options, label)),
	OPTION("folded", 0, OPTION_FLAG, NULL, "write folded stacks, 'label;label ns', for other tools",
	       offsetof(struct flame_options, is_folded)),
	OPTION("output", 'o', OPTION_STRING, "OUT", "write this file instead of standard output",
	       offsetof(struct flame_options, output)),
	OPTION("max-memory", 0, OPTION_SIZE, "SIZE",
	       "use at most this much memory for labels and open spans (default 256M)",
	       offsetof(struct flame_options, max_memory_bytes), .minimum = 1 << 16),
	OPTION_NEST(struct flame_options, nest),
	OPTIONS_SCOPE(struct flame_options, scope),
	OPTION_END,
};

static const struct options options = {
	.program = "txtrace flame",
	.about = "Draws a flame graph of the call tree: one SVG file for a browser. A frame is a label below "
		 "its parents' labels. Its width is its own self plus that of its children.",
	.usages = (const char *const[]){ "FILE\xe2\x80\xa6", NULL },
	.specs = specs,
	.examples =
		(const struct option_example[]){
			{ "txtrace flame -o bank.svg bank.txtrace", "Where the wall time went." },
			{ "txtrace flame --weight blocked --label transfer -o waits.svg bank.txtrace",
			  "What transfers waited for." },
			{ "txtrace flame --stacks off-cpu -o blocked.svg bank.txtrace",
			  "In which code spans were blocked." },
			{ "txtrace flame --folded bank.txtrace | sort -k2 -t' ' -n | tail",
			  "The stacks alone." },
			{ NULL, NULL },
		},
	.notes = exit_status_notes,
	.operand = "FILE",
	.operand_min = 1,
	.operand_max = -1,
};

/* A stack counts for the span that its thread had entered last. */
static int add_code(struct flame_stacks *stacks, struct span_tree *tree, const struct txtrace_record *record)
{
	uint32_t number;
	int err;

	if (record->kind == TXTRACE_RECORD_FRAMES)
		return flame_stacks_add(stacks, &record->frames);
	if (record->kind != TXTRACE_RECORD_STACK || record->stack.what != stacks->what || !record->stack.span)
		return 0;
	err = flame_stacks_number(stacks, record->stack.stack, &number);
	if (err == -ENOSPC)
		return 0;
	return err ? err : span_tree_add_stack(tree, &record->stack, number);
}

static int read_tree(struct log_input *input, const struct flame_options *values, struct span_tree *tree,
		     struct flame_stacks *stacks)
{
	struct txtrace_record record;
	int err = tree ? 0 : -ENOMEM;

	while (!err && log_input_next(input, &record)) {
		if (input->has_begun_capture) {
			err = span_tree_begin_capture(tree);
			stacks->capture++;
		}
		if (!err)
			err = span_tree_add(tree, &record);
		if (!err && values->stacks)
			err = add_code(stacks, tree, &record);
	}
	return err ? err : span_tree_finish(tree, values->label);
}

static int draw(FILE *file, const struct flame_options *values, const struct log_input *input,
		const struct span_tree *tree, const struct flame_stacks *stacks)
{
	struct text title = { 0 };
	struct flame_rows rows;
	int err = flame_rows_make(&rows, tree, values->weight, values->stacks ? stacks : NULL);

	if (err)
		return err;
	capture_append_title(&title, &input->info, &input->census);
	if (values->is_folded)
		err = flame_folded(file, &rows, tree);
	else
		err = flame_svg(file, &rows, tree, text_string(&title), flame_weights[values->weight]);
	text_release(&title);
	flame_rows_release(&rows);
	return err;
}

static int draw_to_file(struct cli *cli, const struct flame_options *values, const struct log_input *input,
			const struct span_tree *tree, const struct flame_stacks *stacks)
{
	struct output_file output;
	int err = log_input_has_file(input, values->output)
			  ? -EBUSY
			  : output_file_open(&output, values->output, input->path, true);

	if (!err) {
		err = draw(output.file, values, input, tree, stacks);
		if (!err)
			err = output_file_commit(&output);
		else
			output_file_abort(&output);
	}
	if (err == -EBUSY)
		return cli_fail(cli, "can't write '%s': it is the log itself", values->output);
	return err ? cli_fail(cli, "can't write '%s': %s", values->output, named_output_explain(err))
		   : CLI_OK;
}

static int run(struct cli *cli, int argc, char **argv)
{
	struct flame_options values = { .weight = FLAME_WALL };
	struct options_result result;
	struct log_input input;
	struct span_tree *tree;
	struct flame_stacks stacks;
	int status, input_status, err;

	if (!cli_parse(cli, &options, argc, argv, &values, &result, &status))
		return status;
	if (values.output && strcmp(values.output, "-") == 0)
		values.output = NULL;
	if (values.stacks) {
		unsigned int weight = values.stacks == TXTRACE_STACK_OFF_CPU ? FLAME_BLOCKED : FLAME_ON_CPU;

		if (values.weight != FLAME_WALL && values.weight != weight)
			return cli_fail(cli, "--stacks %s weighs by %s; leave --weight out",
					stack_choices[values.stacks], flame_weights[weight]);
		values.weight = weight;
	}
	values.scope.finds_spans = true;
	cli->scope = &values.scope;
	cli->nest = values.nest;
	status = log_input_open(&input, cli, result.operands, result.operand_cnt, true);
	if (status)
		return status;
	tree = span_tree_new(values.max_memory_bytes);
	flame_stacks_init(&stacks, (uint8_t)values.stacks,
			  (size_t)(values.max_memory_bytes ? values.max_memory_bytes
							   : SPAN_TREE_MEMORY_BYTES));
	err = read_tree(&input, &values, tree, &stacks);
	if (!err && values.output)
		status = draw_to_file(cli, &values, &input, tree, &stacks);
	else if (!err)
		cli_keep_lines(cli);
	if (!err && !values.output)
		err = draw(cli->out.file, &values, &input, tree, &stacks);
	if (!err && (span_tree_given_up_count(tree) > 0 || span_tree_has_rest(tree)))
		cli_warn(cli, "the memory was used up: some frames are below (unknown parent) or (all "
			      "other labels); --max-memory allows more");
	if (!err && values.stacks && stacks.cnt == 0)
		cli_warn(cli, "no such stacks are in the log; record with txtrace-bpf --stacks %s",
			 stack_choices[values.stacks]);
	span_tree_free(tree);
	flame_stacks_release(&stacks);
	if (err)
		status = cli_fail(cli, "can't draw '%s': %s", input.path, strerror(-err));
	input_status = log_input_close(&input);
	return status ? status : input_status;
}

const struct command command_flame = { "flame", "a flame graph of the call tree, as SVG or folded stacks",
				       &options, .run = run };
