/* SPDX-License-Identifier: BSD-2-Clause */
/* What -o means, and how the files that a recording left are named to people and to commands. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>

#include "record/options/log_place.h"
#include "unit/series_folder.h"

static void a_directory_gets_the_default_name(void **state)
{
	struct series_folder folder;
	char path[PATH_MAX], expected[PATH_MAX];

	(void)state;
	make_folder(&folder);
	snprintf(expected, sizeof(expected), "%s/txtrace.txtrace", folder.path);
	assert_int_equal(log_place_path(folder.path, path, sizeof(path)), 0);
	assert_string_equal(path, expected);
	assert_int_equal(log_place_path(in_folder(&folder, ""), path, sizeof(path)), 0);
	assert_string_equal(path, expected);
	assert_int_equal(log_place_path("app.txtrace", path, sizeof(path)), 0);
	assert_string_equal(path, "app.txtrace");
	assert_int_equal(log_place_path("app.txtrace", path, 11), -ENAMETOOLONG);
	remove_folder(&folder);
}

/* Relative names: the folder is the working directory meanwhile. */
static void assert_told(struct series_folder *folder, const char *name, struct log_file_names names,
			size_t cnt, const char *words, const char *arguments)
{
	struct text text = { 0 };
	char path[PATH_MAX];

	assert_int_equal(chdir(folder->path), 0);
	snprintf(path, sizeof(path), "%s", name);
	assert_int_equal(log_place_cnt(path, &names), cnt);
	log_place_append(&text, path, &names);
	assert_string_equal(text_string(&text), words);
	text_clear(&text);
	log_place_append_arguments(&text, path, &names);
	assert_string_equal(text_string(&text), arguments);
	text_release(&text);
	assert_int_equal(chdir("/"), 0);
}

static void files_are_named_from_the_oldest(void **state)
{
	struct series_folder folder;
	char name[64];

	(void)state;
	make_folder(&folder);
	assert_told(&folder, "a.log", (struct log_file_names){ 0 }, 0, "", "");
	assert_told(&folder, "a.log", (struct log_file_names){ .is_complete = true }, 1, "'a.log'", "a.log");
	assert_told(&folder, "a\033.log", (struct log_file_names){ .is_partial = true }, 1,
		    "'a\\e.log.partial'", "a\\e.log.partial");
	put_text(&folder, "a.000001.log", "of another recording");
	put_text(&folder, "a.000002.log", "");
	put_text(&folder, "a.000004.log", "");
	assert_told(&folder, "a.log", (struct log_file_names){ 2, 4, .is_complete = true }, 3,
		    "'a.000002.log', 'a.000004.log' and 'a.log'", "a.000002.log a.000004.log a.log");
	assert_told(&folder, "a.log", (struct log_file_names){ 2, 2, .is_partial = true }, 2,
		    "'a.000002.log' and 'a.log.partial'", "a.000002.log a.log.partial");
	assert_told(&folder, "a.log", (struct log_file_names){ .first_number = 2, .last_number = 4 }, 2,
		    "'a.000002.log' and 'a.000004.log'", "a.000002.log a.000004.log");
	for (int i = 5; i <= 12; i++) {
		snprintf(name, sizeof(name), "a.%06d.log", i);
		put_text(&folder, name, "");
		snprintf(name, sizeof(name), "a.%06d", i);
		put_text(&folder, name, "");
	}
	assert_told(&folder, "a.log", (struct log_file_names){ 2, 12, .is_complete = true }, 11,
		    "'a.000002.log' to 'a.log'", "a.*log");
	remove_folder(&folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_directory_gets_the_default_name),
		cmocka_unit_test(files_are_named_from_the_oldest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
