/* SPDX-License-Identifier: BSD-2-Clause */
/* What people type, what comes of it, and what they are told when it is wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/options.h"

struct values {
	bool is_quiet;
	bool is_verbose;
	const char *output;
	uint64_t limit;
	uint64_t size_bytes;
	uint64_t duration_ns;
	unsigned int sort;
	unsigned int pids[4];
	unsigned int pid_cnt;
};

static int take_pid(void *context, const char *value, const char **complaint)
{
	struct values *values = context;
	char *end;
	unsigned long pid = strtoul(value, &end, 10);

	if (*end || pid == 0 || values->pid_cnt == 4) {
		*complaint = "a process id";
		return -EINVAL;
	}
	values->pids[values->pid_cnt++] = (unsigned int)pid;
	return 0;
}

static const char *const sorts[] = { "wall", "on_cpu", "blocked", NULL };

static const struct option_spec specs[] = {
	OPTION("quiet", 'q', OPTION_FLAG, NULL, "say nothing", offsetof(struct values, is_quiet)),
	OPTION("verbose", 'v', OPTION_FLAG, NULL, "say more", offsetof(struct values, is_verbose)),
	OPTION_GROUP("output"),
	OPTION("output", 'o', OPTION_STRING, "FILE", "write there", offsetof(struct values, output)),
	OPTION("limit", 'n', OPTION_U64, "N", "how many", offsetof(struct values, limit), .minimum = 1,
	       .maximum = 1000),
	OPTION("max-size", 0, OPTION_SIZE, "SIZE", "no more", offsetof(struct values, size_bytes)),
	OPTION("duration", 'd', OPTION_DURATION, "TIME", "how long", offsetof(struct values, duration_ns),
	       .minimum = 1000000),
	OPTION("sort", 0, OPTION_CHOICE, "KEY", "sort by", offsetof(struct values, sort), .choices = sorts),
	OPTION("pid", 'p', OPTION_CALL, "PID", "trace it", 0, .call = take_pid),
	OPTION("secret", 0, OPTION_FLAG, NULL, "not listed", offsetof(struct values, is_quiet),
	       .is_hidden = true),
	OPTION_END,
};

static const struct options options = {
	.program = "tool",
	.about = "It does things.",
	.version = "1",
	.usages = (const char *const[]){ "FILE", "-- COMMAND", NULL },
	.specs = specs,
	.operand = "FILE",
	.operand_min = 1,
	.operand_max = 2,
};

/* Splits a line at blanks and parses it. The words live in `line`. */
static int parse(const struct options *which, char *line, struct values *values,
		 struct options_result *result)
{
	static char *argv[32];
	int argc = 0;

	memset(values, 0, sizeof(*values));
	argv[argc++] = (char *)"tool";
	for (char *word = strtok(line, " "); word; word = strtok(NULL, " "))
		argv[argc++] = word;
	return options_parse(which, argc, argv, values, result);
}

static void values_come_joined_or_apart_in_any_order(void **state)
{
	static const char *const lines[] = {
		"log -q -v -o out -n 5 --max-size 1.5K --duration 5ms --sort blocked -p 1 -p 2",
		("--quiet --verbose --output=out --limit=5 --max-size=1536 -d0.005 --sort=blocked "
		 "--pid=1 --pid 2 log"),
		"-qvoout -n5 --max-size 1536B -d 5000us --sort wall --sort blocked -p1 -p2 -- log",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct options_result result;
		struct values values;
		char line[256];

		strcpy(line, lines[i]);
		assert_int_equal(parse(&options, line, &values, &result), 0);
		assert_true(values.is_quiet && values.is_verbose);
		assert_string_equal(values.output, "out");
		assert_int_equal(values.limit, 5);
		assert_int_equal(values.size_bytes, 1536);
		assert_int_equal(values.duration_ns, 5000000);
		assert_int_equal(values.sort, 2);
		assert_int_equal(values.pid_cnt, 2);
		assert_int_equal(values.pids[1], 2);
		assert_int_equal(result.operand_cnt, 1);
		assert_string_equal(result.operands[0], "log");
		assert_null(result.command);
	}
}

static void operands_keep_their_order(void **state)
{
	struct options_result result;
	struct values values;
	char line[] = "a -q -";

	(void)state;
	assert_int_equal(parse(&options, line, &values, &result), 0);
	assert_int_equal(result.operand_cnt, 2);
	assert_string_equal(result.operands[0], "a");
	assert_string_equal(result.operands[1], "-"); /* standard input, by custom */
}

static void behind_two_dashes_comes_the_command(void **state)
{
	struct options runner = options;
	struct options_result result;
	struct values values;
	char line[] = "-q -- ls -l --sort";

	(void)state;
	runner.takes_command = true;
	runner.operand_min = 0;
	assert_int_equal(parse(&runner, line, &values, &result), 0);
	assert_int_equal(result.operand_cnt, 0);
	assert_int_equal(result.command_cnt, 3);
	assert_string_equal(result.command[0], "ls");
	assert_string_equal(result.command[2], "--sort");
}

static void help_and_version_win_over_what_follows(void **state)
{
	struct options_result result;
	struct values values;
	char help[] = "--help --nonsense", letter[] = "-qh", version[] = "--version";

	(void)state;
	assert_int_equal(parse(&options, help, &values, &result), 0);
	assert_true(result.wants_help);
	assert_int_equal(parse(&options, letter, &values, &result), 0);
	assert_true(result.wants_help);
	assert_int_equal(parse(&options, version, &values, &result), 0);
	assert_true(result.wants_version);
}

static void mistakes_get_one_sentence(void **state)
{
	static const struct {
		const char *line;
		const char *error;
	} cases[] = {
		{ "", "FILE is missing, see 'tool --help'" },
		{ "a b c", "unexpected argument 'c', see 'tool --help'" },
		{ "--srot wall", "unknown option '--srot', did you mean '--sort'?" },
		{ "--dur 5", "unknown option '--dur', did you mean '--duration'?" },
		{ "--hlep", "unknown option '--hlep', did you mean '--help'?" },
		{ "--secre", "unknown option '--secre', see 'tool --help'" },
		{ "--banana", "unknown option '--banana', see 'tool --help'" },
		{ "--limti=5", "unknown option '--limti', did you mean '--limit'?" },
		{ "-sort wall", "unknown option '-sort', did you mean '--sort'?" },
		{ "-x", "unknown option '-x', see 'tool --help'" },
		{ "-qx", "unknown option '-x', see 'tool --help'" },
		{ "--quiet=yes", "option '--quiet' takes no value" },
		{ "log -n", "option '--limit' needs a value: --limit N" },
		{ "-n five", "option '--limit' takes a number, not 'five'" },
		{ "-n -5", "option '--limit' takes a number, not '-5'" },
		{ "-n 5x", "option '--limit' takes a number, not '5x'" },
		{ "-n 0", "option '--limit' takes at least 1, not '0'" },
		{ "-n 1001", "option '--limit' takes at most 1,000, not '1001'" },
		{ "-n 18446744073709551616",
		  "option '--limit' takes at most 1,000, not '18446744073709551616'" },
		{ "--max-size 5Q", "option '--max-size' takes a size like 4096, 64K, 16M or 1G, not '5Q'" },
		{ "--max-size 99999999T",
		  "option '--max-size' takes at most 16,777,215 TiB, not '99999999T'" },
		{ "-d soon", "option '--duration' takes a duration like 250us, 5ms, 1.5s or 2m, not 'soon'" },
		{ "-d 5us", "option '--duration' takes at least 1.00 ms, not '5us'" },
		{ "--sort wal", "option '--sort' does not know 'wal', did you mean 'wall'?" },
		{ "--sort size", "option '--sort' takes wall, on_cpu or blocked, not 'size'" },
		{ "-p me", "option '--pid' takes a process id, not 'me'" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct options_result result;
		struct values values;
		char line[256];

		strcpy(line, cases[i].line);
		assert_int_equal(parse(&options, line, &values, &result), -EINVAL);
		assert_string_equal(result.error, cases[i].error);
	}
}

static void help_is_made_from_the_table(void **state)
{
	static const char expected[] =
		"usage: tool [OPTION\xe2\x80\xa6] FILE\n"
		"       tool [OPTION\xe2\x80\xa6] -- COMMAND\n"
		"\n"
		"It does things.\n"
		"\n"
		"options:\n"
		"  -q, --quiet          say nothing\n"
		"  -v, --verbose        say more\n"
		"\n"
		"output:\n"
		"  -o, --output FILE    write there\n"
		"  -n, --limit N        how many\n"
		"      --max-size SIZE  no more\n"
		"  -d, --duration TIME  how long\n"
		"      --sort KEY       sort by: wall, on_cpu, blocked\n"
		"  -p, --pid PID        trace it\n"
		"  -h, --help           print this text\n"
		"      --version        print the version\n"
		"\n"
		"examples:\n"
		"  tool -q log\n"
		"      Quietly.\n"
		"\n"
		"A note.\n";
	const struct option_example examples[] = { { "tool -q log", "Quietly." }, { NULL, NULL } };
	const char *const notes[] = { "A note.", NULL };
	struct options helped = options;
	char text[2048] = "";
	FILE *file = fmemopen(text, sizeof(text), "w");

	(void)state;
	helped.examples = examples;
	helped.notes = notes;
	options_print_help(&helped, file);
	fclose(file);
	assert_string_equal(text, expected);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_come_joined_or_apart_in_any_order),
		cmocka_unit_test(operands_keep_their_order),
		cmocka_unit_test(behind_two_dashes_comes_the_command),
		cmocka_unit_test(help_and_version_win_over_what_follows),
		cmocka_unit_test(mistakes_get_one_sentence),
		cmocka_unit_test(help_is_made_from_the_table),
	};

	return cmocka_run_group_tests_name("options", tests, NULL, NULL);
}
