/* SPDX-License-Identifier: BSD-2-Clause */
/* Presets: the file's lines, hostile files, and those that txtrace brings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/unmodified/foreign_plan.h"
#include "record/options/preset.h"

static int parse(struct preset *preset, const char *text, size_t length, struct error *error)
{
	char *copy = malloc(PRESET_BYTES_MAX + 1);

	memcpy(copy, text, length);
	return preset_parse(preset, copy, length, "test", error);
}

static void lines_are_spans_functions_and_comments(void **state)
{
	static const char text[] = "# a program\n\n  span a=p:b..p:e , tag=x \r\nfunc\tbin:f,g\n#span "
				   "no=p:b..p:e\nspan last=p:c..p:d";
	struct preset preset;
	struct error error;

	(void)state;
	assert_int_equal(parse(&preset, text, sizeof(text) - 1, &error), 0);
	assert_int_equal(preset.span_cnt, 2);
	assert_string_equal(preset.spans[0], "a=p:b..p:e , tag=x");
	assert_string_equal(preset.spans[1], "last=p:c..p:d");
	assert_int_equal(preset.func_cnt, 1);
	assert_string_equal(preset.funcs[0], "bin:f,g");
	preset_release(&preset);
}

static void bad_files_are_refused_with_the_line(void **state)
{
	static const struct {
		const char *text;
		size_t length;
		const char *sentence;
	} cases[] = {
		{ "", 0, "neither spans nor functions" },
		{ "# nothing\n", 10, "neither spans nor functions" },
		{ "span a=p:b..p:e\nspin b\n", 22, "line 2: 'spin b'" },
		{ "span\n", 5, "line 1: 'span'" },
		{ "spans a\n", 8, "line 1" },
		{ "span a\0b\n", 9, "is no text" },
		{ "\033[2Jspan\n", 9, "\\x1b[2J" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct preset preset;
		struct error error = { "" };

		assert_int_equal(parse(&preset, cases[i].text, cases[i].length, &error), -EINVAL);
		if (!strstr(error.text, cases[i].sentence))
			fail_msg("case %zu: \"%s\" does not say \"%s\"", i, error.text, cases[i].sentence);
	}
}

static void too_many_lines_are_refused(void **state)
{
	char *text = malloc(PRESET_BYTES_MAX + 1);
	size_t length = 0;
	struct preset preset;
	struct error error;

	(void)state;
	for (int i = 0; i < PRESET_LINE_MAX + 1; i++)
		length += (size_t)sprintf(text + length, "span a=p:b..p:e\n");
	assert_int_equal(preset_parse(&preset, text, length, "test", &error), -EINVAL);
	assert_non_null(strstr(error.text, "more than"));
}

static void names_that_are_none_are_refused(void **state)
{
	static const char *const names[] = { "", ".hidden", "a b", "a\nb", "-*", "nobody-has-this" };
	struct preset preset;
	struct error error;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_true(preset_read(&preset, names[i], &error) < 0);
	assert_int_equal(preset_read(&preset, "/dev/zero", &error), -EINVAL);
	assert_int_equal(preset_read(&preset, "/dev/../tmp", &error), -EINVAL);
	assert_int_equal(preset_read(&preset, "./no-such-file", &error), -ENOENT);
}

static void ones_own_presets_come_first(void **state)
{
	char folder[] = "/tmp/txtrace-preset.XXXXXX", path[128];
	struct preset preset;
	struct error error;
	FILE *file;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/txtrace", folder);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/txtrace/presets", folder);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/txtrace/presets/postgresql", folder);
	file = fopen(path, "w");
	fputs("span mine=p:b..p:e\n", file);
	fclose(file);
	setenv("XDG_CONFIG_HOME", folder, 1);
	assert_int_equal(preset_read(&preset, "postgresql", &error), 0);
	assert_string_equal(preset.spans[0], "mine=p:b..p:e");
	preset_release(&preset);
	assert_int_equal(preset_read(&preset, "mysql", &error), -ENOENT);
	assert_non_null(strstr(error.text, "there is no preset 'mysql'"));
	assert_non_null(strstr(error.text, "postgresql"));
	unlink(path);
	for (char *slash; strlen(path) > strlen(folder); rmdir(path)) {
		slash = strrchr(path, '/');
		*slash = '\0';
	}
	unsetenv("XDG_CONFIG_HOME");
}

static void those_of_txtrace_are_sound(void **state)
{
	DIR *folder = opendir("share/txtrace/presets");
	struct dirent *entry;
	size_t cnt = 0;

	(void)state;
	assert_non_null(folder);
	while ((entry = readdir(folder))) {
		struct foreign_plan_options options = { 0 };
		struct foreign_plan *plan;
		struct preset preset;
		struct error error = { "" };
		char path[320];

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "share/txtrace/presets/%s", entry->d_name);
		if (preset_read(&preset, path, &error))
			fail_msg("%s", error.text);
		options.spans = preset.spans;
		options.span_cnt = preset.span_cnt;
		options.funcs = preset.funcs;
		options.func_cnt = preset.func_cnt;
		if (foreign_plan_new(&plan, &options, &error))
			fail_msg("%s: %s", path, error.text);
		foreign_plan_free(plan);
		preset_release(&preset);
		cnt++;
	}
	closedir(folder);
	assert_true(cnt >= 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_spans_functions_and_comments),
		cmocka_unit_test(bad_files_are_refused_with_the_line),
		cmocka_unit_test(too_many_lines_are_refused),
		cmocka_unit_test(names_that_are_none_are_refused),
		cmocka_unit_test(ones_own_presets_come_first),
		cmocka_unit_test(those_of_txtrace_are_sound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
