/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "cli/commands/command.h"
#include "cli/files/log_input.h"
#include "cli/verdict/verdict_report.h"
#include "cli/verdict/verdict_run.h"

static const struct option_spec specs[] = {
	OPTION("format", 'f', OPTION_CHOICE, "FORMAT",
	       "print the report as terminal, markdown, junit, github, json or html (default terminal)",
	       offsetof(struct verdict_options, format), .choice_at = verdict_format_name_at),
	OPTION("write", 'w', OPTION_CALL, "FORMAT=FILE", "also write a report to a file; may be repeated",
	       0, .call = verdict_option_write),
	OPTION("limit", 'n', OPTION_U64, "N", "show N labels of a rule, the worst; 0: all (default 10)",
	       offsetof(struct verdict_options, limit)),
	OPTION("max-memory", 0, OPTION_SIZE, "SIZE", "use at most this much memory (default 256M)",
	       offsetof(struct verdict_options, max_memory_bytes), .minimum = 1 << 20),
	OPTION("json-schema", 0, OPTION_FLAG, NULL, "print the schema of the JSON report",
	       offsetof(struct verdict_options, wants_schema)),
	OPTION_NEST(struct verdict_options, nest),
	OPTIONS_SCOPE(struct verdict_options, scope),
	OPTION_END,
};

static const struct options options = {
	.program = "txtrace check",
	.about = "Checks a log against rules about its figures. Rules about changes need a base: use "
		 "txtrace diff --gate.",
	.usages = (const char *const[]){ "FILE\xe2\x80\xa6 RULES", "--json-schema", NULL },
	.specs = specs,
	.examples = (const struct option_example[]){
		{ "txtrace check server.txtrace rules.txt", "Rules in a file." },
		{ "txtrace check server.txtrace 'tx.wall.p99 < 20ms; tx.calls.fsync <= 1; anomalies "
		  "== 0'",
		  "Rules on the command line." },
		{ NULL, NULL },
	},
	.notes = verdict_status_notes,
	.operand = "FILE",
	.operand_min = 0,
	.operand_max = -1,
};

static int check(struct cli *cli, const struct verdict_options *values, const struct gate_rules *rules,
		 const struct run_set *set, size_t incomplete_cnt)
{
	struct comparison_options how = COMPARISON_DEFAULTS;
	struct gate gate;
	struct verdict_view view = { .program = "txtrace check",
				     .version = TXTRACE_VERSION,
				     .set = set,
				     .gate = &gate,
				     .limit = values->limit,
				     .incomplete_cnt = incomplete_cnt };
	int err = gate_init(&gate, rules, set, &how, false);
	int status = err ? cli_fail(cli, "can't check: %s", strerror(-err))
			 : verdict_write_reports(cli, values, &view);

	gate_release(&gate);
	return status;
}

static int run(struct cli *cli, int argc, char **argv)
{
	struct verdict_options values = { .limit = 10 };
	struct options_result result;
	struct gate_rules rules = { 0 };
	struct run_set set;
	size_t incomplete_cnt = 0;
	int status, err;

	if (!cli_parse(cli, &options, argc, argv, &values, &result, &status))
		return status;
	values.scope.finds_spans = true;
	cli->scope = &values.scope;
	cli->nest = values.nest;
	if (values.wants_schema)
		return verdict_print_schema(cli);
	if (result.operand_cnt < 2)
		return cli_fail(cli, "%s missing, see 'txtrace check --help'",
				result.operand_cnt ? "RULES is" : "FILE and RULES are");
	status = verdict_read_rules(cli, result.operands[result.operand_cnt - 1], &rules);
	if (!status) {
		err = run_set_init(&set);
		err = err ? err : gate_want(&rules, &set);
		status = err ? cli_fail(cli, err == -E2BIG
						     ? "the rules ask for too many different percentiles"
						     : "there is not enough memory")
			     : CLI_OK;
		status = status ? status
				: verdict_read_run(cli, &set, SIDE_NEW, result.operands,
						   result.operand_cnt - 1, values.max_memory_bytes,
						   &incomplete_cnt);
		status = status ? status : check(cli, &values, &rules, &set, incomplete_cnt);
		run_set_release(&set);
	}
	gate_rules_release(&rules);
	return status;
}

const struct command command_check = { "check", "check a log against rules; a gate for CI", &options,
				       .run = run };
