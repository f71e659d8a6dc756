/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "cli/print/blame_print.h"
#include "cli/commands/command.h"
#include "cli/exit_status.h"
#include "cli/files/log_input.h"

struct blame_options {
	uint64_t limit;
	uint64_t max_memory_bytes;
	bool wants_json;
};

static const struct option_spec specs[] = {
	OPTION("limit", 'n', OPTION_U64, "N",
	       "show N labels and N sentences, the heaviest; 0: all (default 10)",
	       offsetof(struct blame_options, limit)),
	OPTION("max-memory", 0, OPTION_SIZE, "SIZE",
	       "use no more for what is summed up; what is new beyond it is counted together (default 512M)",
	       offsetof(struct blame_options, max_memory_bytes), .minimum = 1 << 16),
	OPTION("json", 0, OPTION_FLAG, NULL, "write one JSON object, with all pairs",
	       offsetof(struct blame_options, wants_json)),
	OPTION_END,
};

static const struct options options = {
	.program = "txtrace blame",
	.about = "Who made whom wait: the blocked time of each label, by the label of the span (or the "
		 "thread, or interrupt) that ended each wait. "
		 "A wait is charged once, to the span that its thread had entered last.",
	.usages = (const char *const[]){ "FILE\xe2\x80\xa6", NULL },
	.specs = specs,
	.examples = (const struct option_example[]){
		{ "txtrace blame bank.txtrace", "The matrix, and what is in it in words." },
		{ "txtrace blame --json bank.txtrace | jq '.pairs[] | select(.waiter.name == "
		  "\"checkout\")'",
		  "Whom one label waited for." },
		{ NULL, NULL },
	},
	.notes = exit_status_notes,
	.operand = "FILE",
	.operand_min = 1,
	.operand_max = -1,
};

static int show(struct cli *cli, const struct blame_options *values, const struct log_input *input,
		const struct wait_sums *sums)
{
	struct blame blame;
	struct blame_view view = { sums, &blame, &input->info, &input->census, values->limit };
	struct json json;
	int err = blame_init(&blame, sums);

	if (err)
		return err;
	if (values->wants_json) {
		cli_begin_json(cli, &json);
		blame_json(&view, &json);
		err = cli_finish_json(cli, &json);
	} else {
		err = blame_print(&view, &cli->out);
	}
	blame_release(&blame);
	return err;
}

static int run(struct cli *cli, int argc, char **argv)
{
	struct blame_options values = { .limit = 10, .max_memory_bytes = 512 << 20 };
	struct wait_sums_options sums_options;
	struct options_result result;
	struct txtrace_record record;
	struct wait_sums *sums;
	struct log_input input;
	int status, err;

	if (!cli_parse(cli, &options, argc, argv, &values, &result, &status))
		return status;
	status = log_input_open(&input, cli, result.operands, result.operand_cnt, true);
	if (status)
		return status;
	sums_options = (struct wait_sums_options){ .max_bytes = values.max_memory_bytes,
						   .kernel = input.info.kernel };
	sums = wait_sums_new(&sums_options);
	err = sums ? 0 : -ENOMEM;
	while (!err && log_input_next(&input, &record)) {
		err = input.has_begun_capture ? wait_sums_begin_capture(sums) : 0;
		err = err ? err : wait_sums_add(sums, &record);
	}
	err = err ? err : wait_sums_finish(sums);
	err = err ? err : show(cli, &values, &input, sums);
	wait_sums_free(sums);
	return log_input_end(&input, err, "sum up the waits of");
}

const struct command command_blame = { "blame", "who made whom wait: label by label", &options, .run = run };
