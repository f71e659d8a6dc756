/* SPDX-License-Identifier: BSD-2-Clause */
/* A file of options: what stands in it, what is said of its mistakes and where. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/options.h"

struct values {
	struct option_file config;
	bool is_quiet;
	const char *output;
	uint64_t limit;
};

static const struct option_spec specs[] = {
	OPTION("config", 0, OPTION_FILE, "FILE", "options from there", offsetof(struct values, config)),
	OPTION("quiet", 'q', OPTION_FLAG, NULL, "say nothing", offsetof(struct values, is_quiet)),
	OPTION("output", 'o', OPTION_STRING, "FILE", "write there", offsetof(struct values, output)),
	OPTION("limit", 'n', OPTION_U64, "N", "how many", offsetof(struct values, limit), .maximum = 1000),
	OPTION_END,
};

static const struct options options = { .program = "tool", .specs = specs, .operand_max = 0 };

#define PATH "options.conf"

static int enter_folder(void **state)
{
	char *folder = strdup("/tmp/txtrace-options.XXXXXX");

	*state = folder;
	return mkdtemp(folder) && !chdir(folder) ? 0 : -1;
}

static int leave_folder(void **state)
{
	int err;

	unlink(PATH);
	err = chdir("/") || rmdir(*state);
	free(*state);
	return err;
}

static void write_file(const char *bytes, size_t length)
{
	FILE *file = fopen(PATH, "w");

	assert_int_equal(fwrite(bytes, 1, length, file), length);
	fclose(file);
}

/* before and after: words around --config on the command line, or NULL. */
static int parse(const char *before, const char *after, struct values *values, struct options_result *result)
{
	char *argv[8] = { (char *)"tool" };
	int argc = 1;

	memset(values, 0, sizeof(*values));
	if (before)
		argv[argc++] = (char *)before;
	argv[argc++] = (char *)"--config=" PATH;
	if (after)
		argv[argc++] = (char *)after;
	return options_parse(&options, argc, argv, values, result);
}

static void each_line_is_an_option(void **state)
{
	static const char text[] = "# what is written where\n"
				   "\n"
				   "output = a #1 log  \r\n"
				   "\t limit 5\n"
				   "quiet";
	struct options_result result;
	struct values values;

	(void)state;
	write_file(text, strlen(text));
	assert_int_equal(parse(NULL, NULL, &values, &result), 0);
	assert_string_equal(values.config.path, PATH);
	assert_string_equal(values.output, "a #1 log");
	assert_int_equal(values.limit, 5);
	assert_true(values.is_quiet);
	free(values.config.text);
}

static void it_counts_where_it_stands(void **state)
{
	struct options_result result;
	struct values values;

	(void)state;
	write_file("limit=5\n", 8);
	assert_int_equal(parse("--limit=1", NULL, &values, &result), 0);
	assert_int_equal(values.limit, 5);
	free(values.config.text);
	assert_int_equal(parse(NULL, "--limit=1", &values, &result), 0);
	assert_int_equal(values.limit, 1);
	free(values.config.text);
}

static void mistakes_are_told_with_their_line(void **state)
{
	static const struct {
		const char *text;
		const char *error;
	} cases[] = {
		{ "quiet\n\nlimit = many\n",
		  "'options.conf', line 3: option '--limit' takes a number, not 'many'" },
		{ "limit 1001", "'options.conf', line 1: option '--limit' takes at most 1,000, not '1001'" },
		{ "limt = 4", "'options.conf', line 1: unknown option '--limt', did you mean '--limit'?" },
		{ "limit", "'options.conf', line 1: option '--limit' needs a value: limit = N" },
		{ "limit = ", "'options.conf', line 1: option '--limit' needs a value: limit = N" },
		{ "quiet = yes", "'options.conf', line 1: option '--quiet' takes no value" },
		{ "config = other",
		  "'options.conf', line 1: option '--config' is allowed on the command line only" },
		{ "= 4", "'options.conf', line 1: unknown option '--', see 'tool --help'" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct options_result result;
		struct values values;

		write_file(cases[i].text, strlen(cases[i].text));
		assert_int_equal(parse(NULL, NULL, &values, &result), -22);
		assert_string_equal(result.error, cases[i].error);
		free(values.config.text);
	}
}

static void what_is_no_text_is_refused(void **state)
{
	struct options_result result;
	struct values values;
	FILE *file;

	(void)state;
	unlink(PATH);
	assert_int_equal(parse(NULL, NULL, &values, &result), -22);
	assert_string_equal(result.error,
			    "can't read the options in 'options.conf': No such file or directory");
	write_file("quiet\0limit", 11);
	assert_int_equal(parse(NULL, NULL, &values, &result), -22);
	assert_string_equal(result.error, "can't read the options in 'options.conf': it is no text");
	free(values.config.text);
	file = fopen(PATH, "w");
	for (size_t i = 0; i < 1 << 20; i++)
		fputc('#', file);
	fclose(file);
	assert_int_equal(parse(NULL, NULL, &values, &result), -22);
	assert_string_equal(result.error, "can't read the options in 'options.conf': File too large");
	free(values.config.text);
	unlink(PATH);
	assert_int_equal(mkfifo(PATH, 0600), 0); /* nobody writes: who waited for it would wait for ever */
	assert_int_equal(parse(NULL, NULL, &values, &result), -22);
	assert_string_equal(result.error, "can't read the options in 'options.conf': it is no file");
}

static void it_can_be_given_once(void **state)
{
	struct options_result result;
	struct values values;

	(void)state;
	write_file("quiet\n", 6);
	assert_int_equal(parse("--config=" PATH, NULL, &values, &result), -22);
	assert_string_equal(result.error, "option '--config' can be given once");
	free(values.config.text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_line_is_an_option, enter_folder, leave_folder),
		cmocka_unit_test_setup_teardown(it_counts_where_it_stands, enter_folder, leave_folder),
		cmocka_unit_test_setup_teardown(mistakes_are_told_with_their_line, enter_folder,
						leave_folder),
		cmocka_unit_test_setup_teardown(what_is_no_text_is_refused, enter_folder, leave_folder),
		cmocka_unit_test_setup_teardown(it_can_be_given_once, enter_folder, leave_folder),
	};

	return cmocka_run_group_tests_name("options_file", tests, NULL, NULL);
}
