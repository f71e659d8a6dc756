/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Several files are read as one log, in the order in which they were recorded; what can't be read as one log
 * is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/resource.h>

#include "unit/log_parts.h"

static char *read_set(const char *path, unsigned int *damage_cnt)
{
	struct txtrace_log *log;
	char *text;

	assert_int_equal(txtrace_log_open(&log, path), 0);
	assert_int_equal(txtrace_log_set_threads(log, 2), 0);
	text = read_rest(log, damage_cnt);
	txtrace_log_close(log);
	return text;
}

static void check_set(const char *folder, const char *expected)
{
	unsigned int damage_cnt = 0;
	char *text = read_set(folder, &damage_cnt);

	assert_string_equal(text, expected);
	assert_int_equal(damage_cnt, 0);
	free(text);
}

static void touch(const char *folder, const char *name, const char *content)
{
	char *path = in_folder(folder, name);
	FILE *out = fopen(path, "w");

	fputs(content, out);
	fclose(out);
	free(path);
}

/*
 * Names say nothing: the last part has the name that sorts first. What else is in the folder is left alone.
 */
static void a_folder_is_one_log(void **state)
{
	struct parts parts;
	char *folder = new_folder(), *link_path;

	(void)state;
	begin_parts(&parts, 1);
	write_part_in(&parts, folder, "b.000001.txtrace", PART_CONTINUED);
	write_part_in(&parts, folder, "b.000002.txtrace", PART_CONTINUED);
	write_part_in(&parts, folder, "a.txtrace", PART_SUMMARY);
	touch(folder, "letter", "this is no log");
	touch(folder, "empty.txtrace", "");
	touch(folder, "short.txtrace", "\x89TX");
	link_path = in_folder(folder, "latest.txtrace");
	assert_int_equal(symlink("b.000001.txtrace", link_path), 0);
	free(link_path);
	check_set(folder, end_parts(&parts));
	free_parts(&parts);
	remove_folder(folder);
}

static void several_files_are_one_log(void **state)
{
	struct parts parts;
	char *folder = new_folder(), *paths[3];
	unsigned int damage_cnt = 0;
	struct txtrace_log *log;
	char *text;

	(void)state;
	begin_parts(&parts, 1);
	paths[0] = in_folder(folder, "x");
	paths[1] = in_folder(folder, "y");
	paths[2] = in_folder(folder, "z");
	write_part(&parts, paths[2], PART_CONTINUED);
	write_part(&parts, paths[0], PART_CONTINUED);
	write_part(&parts, paths[1], PART_SUMMARY);
	assert_int_equal(txtrace_log_open_files(&log, (const char *const *)paths, 3), 0);
	assert_int_equal(txtrace_log_file_cnt(log), 3);
	assert_string_equal(txtrace_log_path(log), paths[2]);
	assert_int_equal(txtrace_log_info(log)->part, 0);
	text = read_rest(log, &damage_cnt);
	assert_string_equal(text, end_parts(&parts));
	assert_int_equal(damage_cnt, 0);
	assert_string_equal(txtrace_log_path(log), paths[1]);
	assert_int_equal(txtrace_log_info(log)->part, 2);
	assert_true(txtrace_log_is_complete(log));
	txtrace_log_close(log);
	free(text);
	for (unsigned int i = 0; i < 3; i++)
		free(paths[i]);
	free_parts(&parts);
	remove_folder(folder);
}

/* A recorder that was started again, beside one that crashed. */
static void captures_come_one_after_the_other(void **state)
{
	struct parts first, second;
	char *folder = new_folder(), *expected;
	struct txtrace_log *log;

	(void)state;
	begin_parts(&first, 1);
	begin_parts(&second, 2);
	write_part_in(&second, folder, "a.txtrace", PART_SUMMARY);
	write_part_in(&first, folder, "b.txtrace", PART_CONTINUED);
	write_part_in(&first, folder, "c.txtrace", PART_CRASH);
	end_parts(&first);
	end_parts(&second);
	assert_true(asprintf(&expected, "%s%s", first.text, second.text) > 0);
	check_set(folder, expected);
	assert_int_equal(txtrace_log_open(&log, folder), 0);
	free(read_rest(log, NULL));
	assert_false(txtrace_log_is_complete(log)); /* one crashed */
	txtrace_log_close(log);
	free(expected);
	free_parts(&first);
	free_parts(&second);
	remove_folder(folder);
}

static void the_end_of_a_lone_part_says_that_it_goes_on(void **state)
{
	struct parts parts;
	char *folder = new_folder(), *path = in_folder(folder, "a"), *text;

	(void)state;
	begin_parts(&parts, 1);
	parts.info.part = 6;
	parts.info.first_sequence = 100;
	write_part(&parts, path, PART_CONTINUED);
	text = read_set(path, NULL);
	end_parts(&parts);
	assert_memory_equal(text, parts.text, parts.length);
	assert_memory_equal(text + parts.length, "continued ", 10);
	free(text);
	free(path);
	free_parts(&parts);
	remove_folder(folder);
}

static void a_missing_part_is_told(void **state)
{
	struct parts parts;
	char *folder = new_folder(), *missing = in_folder(folder, "b"), *text;
	unsigned int damage_cnt = 0;
	struct txtrace_log *log;

	(void)state;
	begin_parts(&parts, 1);
	write_part_in(&parts, folder, "a", PART_CONTINUED);
	write_part_in(&parts, folder, "b", PART_CONTINUED);
	write_part_in(&parts, folder, "c", PART_SUMMARY);
	assert_int_equal(unlink(missing), 0);
	assert_int_equal(txtrace_log_open(&log, folder), 0);
	text = read_rest(log, &damage_cnt);
	assert_int_equal(damage_cnt, 1);
	assert_non_null(strstr(
		text,
		"damage offset=0 length=0 records=0 a part of the capture before this file is missing\n"));
	assert_false(txtrace_log_is_complete(log));
	txtrace_log_close(log);
	free(text);
	free(missing);
	free_parts(&parts);
	remove_folder(folder);
}

/* A part lost its last batches, its index and its footer: that shows in the next one. */
static void a_part_that_lost_its_end_is_told(void **state)
{
	struct parts parts;
	char *folder = new_folder(), *cut = in_folder(folder, "a"), *text;
	unsigned int damage_cnt = 0;
	struct txtrace_batch batch = { 0 };
	struct txtrace_record record;
	struct txtrace_log *log;

	(void)state;
	begin_parts(&parts, 1);
	write_part_in(&parts, folder, "a", PART_CONTINUED);
	write_part_in(&parts, folder, "b", PART_SUMMARY);
	assert_int_equal(txtrace_log_open(&log, cut), 0);
	assert_int_equal(txtrace_log_seek_batch(log, 3), 0);
	assert_int_equal(txtrace_log_next(log, &record), 1);
	assert_true(txtrace_log_batch(log, &batch));
	txtrace_log_close(log);
	assert_int_equal(truncate(cut, (off_t)batch.offset_bytes), 0);
	text = read_set(folder, &damage_cnt);
	assert_int_equal(damage_cnt, 1);
	assert_non_null(strstr(text, "batches are missing before this place\n"));
	free(text);
	free(cut);
	free_parts(&parts);
	remove_folder(folder);
}

static void damage_byte(const char *path, off_t at)
{
	int fd = open(path, O_WRONLY);

	assert_int_equal(pwrite(fd, "\xee", 1, at), 1);
	close(fd);
}

/* Its batches know where it belongs. */
static void a_part_without_header_has_its_place(void **state)
{
	struct parts parts;
	char *folder = new_folder(), *path = in_folder(folder, "b"), *text, *begin;
	unsigned int damage_cnt = 0;

	(void)state;
	begin_parts(&parts, 1);
	write_part_in(&parts, folder, "c", PART_CONTINUED);
	write_part_in(&parts, folder, "b", PART_CONTINUED);
	write_part_in(&parts, folder, "a", PART_SUMMARY);
	damage_byte(path, 20);
	text = read_set(folder, &damage_cnt);
	assert_int_equal(damage_cnt, 1);
	begin = strstr(text, "damage ");
	assert_non_null(strstr(begin, "the file's header is damaged\n"));
	memmove(begin, strchr(begin, '\n') + 1, strlen(strchr(begin, '\n') + 1) + 1);
	assert_string_equal(text, end_parts(&parts));
	free(text);
	free(path);
	free_parts(&parts);
	remove_folder(folder);
}

static void check_refusal(const char *folder, int err, const char *words)
{
	struct txtrace_log *log;

	assert_int_equal(txtrace_log_open(&log, folder), err);
	assert_non_null(strstr(txtrace_log_strerror(log, err), words));
	assert_non_null(strstr(txtrace_log_path(log), folder));
	txtrace_log_close(log);
}

static void what_does_not_go_together_is_refused(void **state)
{
	struct parts parts, other;
	char *folder = new_folder(), *a = in_folder(folder, "a"), *b = in_folder(folder, "b"),
	     *c = in_folder(folder, "c");
	const char *const twice[] = { a, a };
	struct txtrace_log *log;

	(void)state;
	begin_parts(&parts, 1);
	begin_parts(&other, 2);
	check_refusal(folder, -ENOMSG, "no log in this directory");
	write_part(&parts, a, PART_CONTINUED);
	assert_int_equal(txtrace_log_open_files(&log, twice, 2), -EEXIST);
	assert_non_null(strstr(txtrace_log_strerror(log, -EEXIST), "same part"));
	txtrace_log_close(log);
	assert_int_equal(link(a, b), 0);
	check_refusal(folder, -EEXIST, "the same part of one capture as");
	assert_int_equal(unlink(b), 0);
	parts.info.part = 0;
	write_part(&parts, b, PART_SUMMARY); /* a copy of part 0 with something else in it */
	check_refusal(folder, -EEXIST, "the same part of one capture as");
	assert_int_equal(unlink(b), 0);
	other.info.boot_id[3] ^= 1;
	write_part(&other, c, PART_SUMMARY);
	check_refusal(folder, -EXDEV, "'txtrace merge' puts such logs together");
	free(a);
	free(b);
	free(c);
	free_parts(&parts);
	free_parts(&other);
	remove_folder(folder);
}

/*
 * While a folder is read, the recorder goes on: a file that has another name by now is found, one that was
 * removed is told.
 */
static void files_are_renamed_and_removed_meanwhile(void **state)
{
	struct parts parts;
	char *folder = new_folder(), *text, *old[3], *new[3];
	unsigned int damage_cnt = 0;
	struct txtrace_log *log;

	(void)state;
	begin_parts(&parts, 1);
	write_part_in(&parts, folder, "a.000001.txtrace", PART_CONTINUED);
	write_part_in(&parts, folder, "a.000002.txtrace", PART_CONTINUED);
	write_part_in(&parts, folder, "a.txtrace", PART_CRASH);
	old[0] = in_folder(folder, "a.txtrace.partial");
	new[0] = in_folder(folder, "a.000003.txtrace");
	assert_int_equal(txtrace_log_open(&log, folder), 0);
	assert_int_equal(rename(old[0], new[0]), 0);
	text = read_rest(log, &damage_cnt);
	assert_string_equal(text, end_parts(&parts));
	assert_int_equal(damage_cnt, 0);
	txtrace_log_close(log);
	free(text);

	old[1] = in_folder(folder, "a.000002.txtrace");
	assert_int_equal(txtrace_log_open(&log, folder), 0);
	assert_int_equal(unlink(old[1]), 0);
	text = read_rest(log, &damage_cnt);
	assert_int_equal(damage_cnt, 2);
	assert_non_null(strstr(text, "this file was removed before it could be read\n"));
	assert_false(txtrace_log_is_complete(log));
	txtrace_log_close(log);
	free(text);
	free(old[0]);
	free(old[1]);
	free(new[0]);
	free_parts(&parts);
	remove_folder(folder);
}

static void a_seek_goes_over_files(void **state)
{
	struct parts parts;
	char *folder = new_folder(), *whole;
	struct txtrace_batch batch = { 0 };
	struct txtrace_record record;
	struct txtrace_log *log;

	(void)state;
	begin_parts(&parts, 1);
	for (unsigned int i = 0; i < 4; i++) {
		char name[8] = { (char)('a' + i), 0 };

		write_part_in(&parts, folder, name, i < 3 ? PART_CONTINUED : PART_SUMMARY);
	}
	whole = read_set(folder, NULL);
	assert_int_equal(txtrace_log_open(&log, folder), 0);
	for (uint64_t sequence = 0; sequence < 4 * (PART_BATCHES + 1); sequence++) {
		char *rest;

		assert_int_equal(txtrace_log_seek_batch(log, sequence), 0);
		if (sequence == 4 * (PART_BATCHES + 1) - 1) {
			assert_int_equal(txtrace_log_next(log, &record), 0);
			break;
		}
		assert_int_equal(txtrace_log_next(log, &record), 1);
		assert_true(txtrace_log_batch(log, &batch));
		/* The sixth block of a part is its index. */
		assert_int_equal(batch.sequence,
				 sequence % (PART_BATCHES + 1) == PART_BATCHES ? sequence + 1 : sequence);
		assert_int_equal(txtrace_log_seek_time(log, batch.first_ns), 0);
		rest = read_rest(log, NULL);
		assert_true(strlen(rest) <= strlen(whole));
		assert_string_equal(rest, whole + strlen(whole) - strlen(rest));
		free(rest);
	}
	txtrace_log_close(log);
	free(whole);
	free_parts(&parts);
	remove_folder(folder);
}

/* One file is open at a time. */
static void many_files_need_few_descriptors(void **state)
{
	struct parts parts;
	struct rlimit before, few;
	char *folder = new_folder();

	(void)state;
	begin_parts(&parts, 1);
	for (unsigned int i = 0; i < 200; i++) {
		char name[16];

		snprintf(name, sizeof(name), "%u", 1000 - i);
		write_part_in(&parts, folder, name, i < 199 ? PART_CONTINUED : PART_SUMMARY);
	}
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = before;
	few.rlim_cur = 16;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	check_set(folder, end_parts(&parts));
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	free_parts(&parts);
	remove_folder(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_folder_is_one_log),
		cmocka_unit_test(several_files_are_one_log),
		cmocka_unit_test(captures_come_one_after_the_other),
		cmocka_unit_test(the_end_of_a_lone_part_says_that_it_goes_on),
		cmocka_unit_test(a_missing_part_is_told),
		cmocka_unit_test(a_part_that_lost_its_end_is_told),
		cmocka_unit_test(a_part_without_header_has_its_place),
		cmocka_unit_test(what_does_not_go_together_is_refused),
		cmocka_unit_test(files_are_renamed_and_removed_meanwhile),
		cmocka_unit_test(a_seek_goes_over_files),
		cmocka_unit_test(many_files_need_few_descriptors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
