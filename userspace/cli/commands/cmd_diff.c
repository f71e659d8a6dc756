/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "analyze/compare/comparison.h"
#include "analyze/compare/figure_list.h"
#include "cli/commands/command.h"
#include "cli/files/log_input.h"
#include "cli/verdict/verdict_report.h"
#include "cli/verdict/verdict_run.h"

static const char *const pairings[] = { "auto", "always", "never", NULL };

static const struct option_spec specs[] = {
	OPTION("gate", 'g', OPTION_CALL, "RULES",
	       "decide by these rules, given in a file or here; may be repeated", 0,
	       .call = verdict_option_gate),
	OPTION("format", 'f', OPTION_CHOICE, "FORMAT",
	       "print the report as terminal, markdown, junit, github, json or html (default terminal)",
	       offsetof(struct verdict_options, format), .choice_at = verdict_format_name_at),
	OPTION("output", 'o', OPTION_STRING, "PAGE.html",
	       "also write a page for a browser: what --write html=PAGE.html writes, and timelines of both "
	       "sides beside each other",
	       offsetof(struct verdict_options, page)),
	OPTION("write", 'w', OPTION_CALL, "FORMAT=FILE", "also write a report to a file; may be repeated", 0,
	       .call = verdict_option_write),
	OPTION("limit", 'n', OPTION_U64, "N",
	       "show N labels with each verdict, the largest changes first; 0: all (default 10)",
	       offsetof(struct verdict_options, limit)),
	OPTION("min-effect", 'm', OPTION_CALL, "PERCENT", "ignore smaller changes (default 2)", 0,
	       .call = verdict_option_min_effect),
	OPTION("false-alarms", 0, OPTION_CALL, "PERCENT",
	       "how many of 100 comparisons without a real change may report one (default 1)", 0,
	       .call = verdict_option_false_alarms),
	OPTION("pair", 0, OPTION_CHOICE, "WHEN",
	       "compare the first run of BASE with the first of NEW, and so on: auto (if enough runs were "
	       "recorded in turn), always or never (default auto)",
	       offsetof(struct verdict_options, pair), .choices = pairings),
	OPTION("seed", 0, OPTION_U64, "N",
	       "seed of the resampling: the same seed and logs give the same report (default 1)",
	       offsetof(struct verdict_options, seed)),
	OPTION("max-memory", 0, OPTION_SIZE, "SIZE",
	       "use at most this much memory for one log (default 256M)",
	       offsetof(struct verdict_options, max_memory_bytes), .minimum = 1 << 20),
	OPTION("json-schema", 0, OPTION_FLAG, NULL, "print the schema of the JSON report",
	       offsetof(struct verdict_options, wants_schema)),
	OPTION_NEST(struct verdict_options, nest),
	OPTIONS_SCOPE(struct verdict_options, scope),
	OPTION_END,
};

static const struct options options = {
	.program = "txtrace diff",
	.about = "Compares runs of two versions of a program: what became better or worse, by how much, how "
		 "certain that is, and whether it belongs to the code or to the machine. Each operand is a "
		 "run: a log, or the directory of one. A reliable result needs five runs a side or more.",
	.usages = (const char *const[]){ "BASE\xe2\x80\xa6 -- NEW\xe2\x80\xa6", "--json-schema", NULL },
	.specs = specs,
	.examples = (const struct option_example[]){
		{ "txtrace diff base-*.txtrace -- new-*.txtrace", "What changed." },
		{ "txtrace diff -o page.html base-*.txtrace -- new-*.txtrace",
		  "Both sides beside each other, in a browser." },
		{ "txtrace diff -g 'commit.on_cpu.p50 < +5%' base-* -- new-*",
		  "A gate: exit status 0 only if it holds." },
		{ "txtrace diff -g rules.txt -w junit=report.xml -w markdown=comment.md base -- new",
		  "With reports for a CI." },
		{ NULL, NULL },
	},
	.notes = verdict_status_notes,
	.operand = "BASE",
	.operand_min = 0,
	.operand_max = -1,
	.takes_command = true,
};

static int read_sides(struct cli *cli, const struct verdict_options *values,
		      const struct options_result *result, struct run_set *set, size_t *incomplete_cnt)
{
	const size_t cnt[2] = { (size_t)result->operand_cnt, (size_t)result->command_cnt };
	char *const *const paths[2] = { result->operands, result->command };
	int status = CLI_OK;

	run_set_divide(set, cnt);
	for (int side = 0; side < 2; side++) {
		for (size_t i = 0; i < cnt[side] && !status; i++)
			status = verdict_read_run(cli, set, (enum compare_side)side, paths[side] + i, 1,
						  values->max_memory_bytes, incomplete_cnt);
	}
	if (status)
		return status;
	if (values->pair == 1 && (cnt[0] != cnt[1] || set->is_windowed))
		return cli_fail(cli,
				"only as many runs of BASE as of NEW can be paired, three of each or more; "
				"there are %zu and %zu",
				cnt[0], cnt[1]);
	if (values->pair != 2 && run_set_pair(set, values->pair == 1))
		return cli_fail(cli, "there is not enough memory");
	if (values->pair == 0)
		comparison_part_few_pairs(set, values->false_alarms_percent / 100);
	return CLI_OK;
}

static int compare(struct cli *cli, const struct verdict_options *values, const struct gate_rules *rules,
		   const struct run_set *set, size_t incomplete_cnt)
{
	struct comparison_options how = COMPARISON_DEFAULTS;
	struct comparison comparison;
	struct gate gate = { 0 };
	struct verdict_view view = { .program = "txtrace diff",
				     .version = TXTRACE_VERSION,
				     .set = set,
				     .comparison = &comparison,
				     .limit = values->limit,
				     .incomplete_cnt = incomplete_cnt,
				     .gate = rules->cnt ? &gate : NULL };
	int err, status = CLI_FAILED;

	how.min_relative = values->min_effect_percent / 100;
	how.min_part = how.min_relative / 4;
	how.alpha = values->false_alarms_percent / 100;
	how.seed = values->seed;
	err = comparison_init(&comparison, set, &how);
	err = err || !rules->cnt ? err : gate_init(&gate, rules, set, &how, true);
	if (err)
		cli_fail(cli, "can't compare: %s", strerror(-err));
	else
		status = verdict_write_reports(cli, values, &view);
	gate_release(&gate);
	comparison_release(&comparison);
	return status;
}

static int check_usage(struct cli *cli, const struct options_result *result)
{
	if (!result->command || result->command_cnt == 0)
		return cli_fail(cli, "NEW is missing: give its logs after --, see 'txtrace diff --help'");
	for (int i = 0; i < result->command_cnt; i++) {
		if (result->command[i][0] == '-' && result->command[i][1])
			return cli_fail(cli,
					"all operands after -- are logs, and '%s' looks like an option: "
					"give options before --, or './%s' for a file of that name",
					result->command[i], result->command[i]);
	}
	if (result->operand_cnt == 0)
		return cli_fail(cli, "BASE is missing, see 'txtrace diff --help'");
	return CLI_OK;
}

static int run(struct cli *cli, int argc, char **argv)
{
	struct verdict_options values = {
		.limit = 10, .seed = 1, .min_effect_percent = 2, .false_alarms_percent = 1
	};
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
	status = check_usage(cli, &result);
	for (size_t i = 0; i < values.gate_cnt && !status; i++)
		status = verdict_read_rules(cli, values.gates[i], &rules);
	if (!status) {
		err = run_set_init(&set);
		err = err ? err : figure_list_want(&set);
		err = err ? err : gate_want(&rules, &set);
		status = err ? cli_fail(cli, err == -E2BIG
						     ? "the rules ask for too many different percentiles"
						     : "there is not enough memory")
			     : CLI_OK;
		status = status ? status : read_sides(cli, &values, &result, &set, &incomplete_cnt);
		status = status ? status : compare(cli, &values, &rules, &set, incomplete_cnt);
		run_set_release(&set);
	}
	gate_rules_release(&rules);
	return status;
}

const struct command command_diff = { "diff", "what changed between runs of two versions; a gate for CI",
				      &options, .run = run };
