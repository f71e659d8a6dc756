/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files of one log's name: numbers that go on, nothing overwritten, the oldest removed and nothing else,
 * whatever is in the folder.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "log/file/file_number.h"
#include "log/file/file_series.h"
#include "unit/series_folder.h"
#include "unit/skip.h"

static struct file_series *open_series(struct series_folder *folder, const char *name)
{
	struct file_series *series = NULL;

	assert_int_equal(file_series_open(&series, in_folder(folder, name), true), 0);
	return series;
}

/* A file that is begun and gets a text. */
static void begin_file(struct file_series *series, const char *text)
{
	int fd = file_series_begin(series);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, SERIES_LOG, 8), 8);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

/* A recording that makes several files: the texts, of which the last one stays the newest. */
static void record_files(struct series_folder *folder, const char *name, const char *const *texts)
{
	struct file_series *series = open_series(folder, name);

	for (; *texts; texts++) {
		begin_file(series, *texts);
		assert_int_equal(texts[1] ? file_series_number(series) : file_series_finish(series), 0);
	}
	file_series_close(series);
}

#define RECORD(folder, name, ...) record_files(folder, name, (const char *const[]){ __VA_ARGS__, NULL })

/* ---- names ---- */

static void a_number_stands_before_the_last_extension(void **state)
{
	static const struct {
		const char *name;
		uint64_t number;
		const char *numbered;
	} cases[] = {
		{ "app.txtrace", 1, "app.000001.txtrace" },
		{ "app", 12, "app.000012" },
		{ "my.app.log", 999999, "my.app.999999.log" },
		{ "my.app.log", 1000000, "my.app.1000000.log" },
		{ ".hidden", 3, ".hidden.000003" },
		{ ".hidden.txtrace", 3, ".hidden.000003.txtrace" },
		{ "end.", 3, "end.000003." },
		{ "app.000007.txtrace", 8, "app.000007.000008.txtrace" },
		{ "app", FILE_NUMBER_MAX, "app.999999999999999999" },
	};
	char buffer[256];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(file_number_format(cases[i].name, cases[i].number, buffer, sizeof(buffer)),
				 0);
		assert_string_equal(buffer, cases[i].numbered);
		assert_true(file_number_parse(cases[i].name, buffer) == cases[i].number);
		assert_int_equal(file_number_format(cases[i].name, cases[i].number, buffer,
						    strlen(cases[i].numbered)),
				 -ENAMETOOLONG);
	}
	assert_int_equal(file_number_format("/a.b/c", 1, buffer, sizeof(buffer)), 0);
	assert_string_equal(buffer, "/a.b/c.000001");
}

static void other_names_have_no_number(void **state)
{
	static const char *const others[] = {
		"",
		".",
		"app",
		"app.txtrace",
		"app.txtrace.partial",
		"app..txtrace",
		"app.00001.txtrace",
		"app.0000001.txtrace",
		"app.000000.txtrace",
		"app.000001.txtrac",
		"app.000001.txtrace2",
		"app.000001txtrace",
		"app.00000a.txtrace",
		"app.-00001.txtrace",
		"app.+00001.txtrace",
		"app.000001",
		"appp.000001.txtrace",
		"app.1000000000000000000.txtrace",
		"app.99999999999999999999999999.txtrace",
		"a",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_true(file_number_parse("app.txtrace", others[i]) == 0);
}

/* ---- numbering ---- */

static void names_follow_the_order_of_time_over_restarts(void **state)
{
	struct series_folder folder;

	(void)state;
	make_folder(&folder);
	RECORD(&folder, "app.txtrace", "a");
	assert_string_equal(list_folder(&folder), "app.txtrace");
	RECORD(&folder, "app.txtrace", "b", "c", "d");
	assert_string_equal(list_folder(&folder),
			    "app.000001.txtrace app.000002.txtrace app.000003.txtrace app.txtrace");
	RECORD(&folder, "app.txtrace", "e");
	assert_string_equal(text_in(&folder, "app.000001.txtrace"), "a");
	assert_string_equal(text_in(&folder, "app.000002.txtrace"), "b");
	assert_string_equal(text_in(&folder, "app.000003.txtrace"), "c");
	assert_string_equal(text_in(&folder, "app.000004.txtrace"), "d");
	assert_string_equal(text_in(&folder, "app.txtrace"), "e");
	remove_folder(&folder);
}

static void the_newest_one_stays_until_the_next_is_complete(void **state)
{
	struct series_folder folder;
	struct file_series *series;

	(void)state;
	make_folder(&folder);
	RECORD(&folder, "app", "old");
	series = open_series(&folder, "app");
	begin_file(series, "given up");
	assert_string_equal(list_folder(&folder), "app app.partial");
	file_series_discard(series);
	file_series_close(series);
	assert_string_equal(list_folder(&folder), "app");

	series = open_series(&folder, "app");
	begin_file(series, "instead");
	assert_int_equal(file_series_replace(series), 0);
	file_series_close(series);
	assert_string_equal(list_folder(&folder), "app");
	assert_string_equal(text_in(&folder, "app"), "instead");
	remove_folder(&folder);
}

static void what_crashes_left_takes_its_place(void **state)
{
	struct series_folder folder;

	(void)state;
	make_folder(&folder);
	RECORD(&folder, "app.txtrace", "before");
	for (int i = 0; i < 3; i++) {
		struct file_series *series = open_series(&folder, "app.txtrace");
		char text[] = "crash 0";

		text[6] += (char)i;
		begin_file(series, text);
		file_series_close(series); /* and nothing more */
	}
	RECORD(&folder, "app.txtrace", "after");
	assert_string_equal(
		list_folder(&folder),
		"app.000001.txtrace app.000002.txtrace app.000003.txtrace app.000004.txtrace app.txtrace");
	assert_string_equal(text_in(&folder, "app.000001.txtrace"), "before");
	assert_string_equal(text_in(&folder, "app.000002.txtrace"), "crash 0");
	assert_string_equal(text_in(&folder, "app.000004.txtrace"), "crash 2");
	assert_string_equal(text_in(&folder, "app.txtrace"), "after");
	remove_folder(&folder);
}

/* What is no log may be anything: it is kept, and the newest log stays. Of an empty file nothing is lost. */
static void a_partial_that_is_no_log_is_kept_too(void **state)
{
	struct series_folder folder;
	struct file_series *series;

	(void)state;
	make_folder(&folder);
	RECORD(&folder, "app", "log");
	put_text(&folder, "app.partial", "precious");
	series = open_series(&folder, "app");
	begin_file(series, "");
	file_series_discard(series);
	assert_string_equal(list_folder(&folder), "app app.000001");
	assert_string_equal(text_in(&folder, "app.000001"), "precious");
	put_text(&folder, "app.partial", "");
	begin_file(series, "");
	file_series_discard(series);
	assert_string_equal(list_folder(&folder), "app app.000001");
	file_series_close(series);
	remove_folder(&folder);
}

static void two_do_not_write_one_name(void **state)
{
	struct series_folder folder;
	struct file_series *one, *other;
	int fd;

	(void)state;
	make_folder(&folder);
	one = open_series(&folder, "app");
	other = open_series(&folder, "app");
	fd = file_series_begin(one);
	assert_true(fd >= 0);
	assert_int_equal(file_series_begin(other), -EBUSY);
	close(fd);
	fd = file_series_begin(other);
	assert_true(fd >= 0);
	close(fd);
	file_series_close(one);
	file_series_close(other);
	remove_folder(&folder);
}

/* ---- folders that somebody else has been in ---- */

static void numbers_that_are_taken_are_passed_over(void **state)
{
	struct series_folder folder;

	(void)state;
	make_folder(&folder);
	put_text(&folder, "app.000001.txtrace", "foreign");
	assert_int_equal(symlink("/nowhere", in_folder(&folder, "app.000002.txtrace")), 0);
	assert_int_equal(mkdir(in_folder(&folder, "app.000003.txtrace"), 0700), 0);
	put_text(&folder, "app.000007.txtrace", SERIES_LOG "mine"); /* and a gap before it */
	assert_int_equal(mkfifo(in_folder(&folder, "app.000008.txtrace"), 0600), 0);
	RECORD(&folder, "app.txtrace", "a", "b");
	assert_string_equal(list_folder(&folder),
			    "app.000001.txtrace app.000002.txtrace app.000003.txtrace app.000007.txtrace "
			    "app.000008.txtrace app.000009.txtrace app.txtrace");
	assert_string_equal(text_in(&folder, "app.000001.txtrace"), "foreign");
	assert_string_equal(text_in(&folder, "app.000009.txtrace"), "a");
	remove_folder(&folder);
}

static void huge_numbers_do_not_wrap(void **state)
{
	struct series_folder folder;
	struct file_series *series;

	(void)state;
	make_folder(&folder);
	put_text(&folder, "app.99999999999999999999999", SERIES_LOG "no number of ours");
	RECORD(&folder, "app", "a", "b");
	assert_string_equal(text_in(&folder, "app.000001"), "a");
	put_text(&folder, "app.999999999999999998", SERIES_LOG "almost");
	RECORD(&folder, "app", "c");
	assert_string_equal(text_in(&folder, "app.999999999999999999"), "b");
	series = open_series(&folder, "app");
	begin_file(series, "d");
	assert_int_equal(file_series_finish(series), -EOVERFLOW);
	file_series_close(series);
	assert_string_equal(text_in(&folder, "app"), "c");
	assert_string_equal(text_in(&folder, "app.partial"), "d");
	remove_folder(&folder);
}

static void links_and_folders_are_not_written_through(void **state)
{
	struct series_folder folder;
	struct file_series *series;

	(void)state;
	make_folder(&folder);
	put_text(&folder, "other", "untouched");
	assert_int_equal(symlink("other", in_folder(&folder, "app.partial")), 0);
	series = open_series(&folder, "app");
	assert_int_equal(file_series_begin(series), -ELOOP);
	assert_int_equal(unlink(in_folder(&folder, "app.partial")), 0);
	assert_int_equal(mkdir(in_folder(&folder, "app.partial"), 0700), 0);
	assert_int_equal(file_series_begin(series), -EEXIST);
	assert_int_equal(rmdir(in_folder(&folder, "app.partial")), 0);

	/* The newest one is a link: it gets a number, what it points at stays. */
	assert_int_equal(symlink("other", in_folder(&folder, "app")), 0);
	begin_file(series, "new");
	assert_int_equal(file_series_finish(series), 0);
	file_series_close(series);
	assert_string_equal(list_folder(&folder), "app app.000001 other");
	assert_string_equal(text_in(&folder, "other"), "untouched");
	assert_string_equal(text_in(&folder, "app"), "new");
	remove_folder(&folder);
}

static void bad_paths_are_refused(void **state)
{
	struct series_folder folder;
	struct file_series *series = NULL;
	char name[NAME_MAX + 1];

	(void)state;
	make_folder(&folder);
	assert_int_equal(file_series_open(&series, folder.path, true), -EISDIR);
	assert_int_equal(file_series_open(&series, in_folder(&folder, "missing/app"), true), -ENOENT);
	put_text(&folder, "file", "");
	assert_int_equal(file_series_open(&series, in_folder(&folder, "file/app"), true), -ENOTDIR);
	assert_int_equal(file_series_open(&series, "", true), -ENOENT);
	memset(name, 'a', NAME_MAX - 4);
	name[NAME_MAX - 4] = '\0';
	series = open_series(&folder, name);
	assert_int_equal(file_series_begin(series), -ENAMETOOLONG);
	file_series_close(series);
	series = open_series(&folder, "../../../../../../../../../../dev/null");
	assert_true(file_series_is_direct(series));
	file_series_close(series);
	remove_folder(&folder);
}

static void a_folder_that_was_removed_is_told(void **state)
{
	struct series_folder folder;
	struct file_series *series;

	(void)state;
	make_folder(&folder);
	series = open_series(&folder, "app");
	begin_file(series, "");
	remove_folder(&folder);
	assert_int_equal(file_series_number(series), -ENOENT);
	assert_int_equal(file_series_finish(series), -ENOENT);
	assert_int_equal(file_series_begin(series), -ENOENT);
	file_series_close(series);
}

static void a_folder_that_was_renamed_is_found(void **state)
{
	struct series_folder folder;
	struct file_series *series;
	char moved[PATH_MAX];

	(void)state;
	make_folder(&folder);
	series = open_series(&folder, "app");
	begin_file(series, "here");
	snprintf(moved, sizeof(moved), "%s.moved", folder.path);
	assert_int_equal(rename(folder.path, moved), 0);
	assert_int_equal(file_series_finish(series), 0);
	file_series_close(series);
	strcat(folder.path, ".moved");
	assert_string_equal(list_folder(&folder), "app");
	remove_folder(&folder);
}

static void a_folder_that_may_not_be_written_is_told(void **state)
{
	struct series_folder folder;
	struct file_series *series;
	int status;
	pid_t child;

	(void)state;
	if (geteuid() == 0 && !can_become_nobody())
		skip_because(
			"root, who may write anywhere, and there is no other user in this user namespace");
	make_folder(&folder);
	assert_int_equal(chmod(folder.path, 0555), 0);
	series = open_series(&folder, "app");
	child = fork();
	if (!child) {
		if (geteuid() == 0 && setresuid(65534, 65534, 65534))
			_exit(2);
		_exit(file_series_begin(series) != -EACCES);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	file_series_close(series);
	chmod(folder.path, 0755);
	remove_folder(&folder);
}

/* ---- file systems that can't rename without replacing, or link ---- */

static bool forbid(unsigned int call, unsigned int err)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | err),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* Numbers two files, of which the first finds its number taken. Exit status 0: as it should be. */
static int number_without(struct series_folder *folder, bool may_link)
{
	struct file_series *series;

	if (!forbid(__NR_renameat2, EINVAL) || (!may_link && !forbid(__NR_linkat, EPERM)))
		return 77;
	if (renameat2(AT_FDCWD, "a", AT_FDCWD, "b", RENAME_NOREPLACE) != -1 || errno != EINVAL)
		return 77;
	series = open_series(folder, "app");
	begin_file(series, "a");
	if (file_series_number(series))
		return 1;
	begin_file(series, "b");
	return file_series_finish(series) ? 2 : 0;
}

static void numbers_without(bool may_link)
{
	struct series_folder folder;
	pid_t child;
	int status;

	make_folder(&folder);
	put_text(&folder, "app.000001", "foreign");
	child = fork();
	if (!child)
		_exit(number_without(&folder, may_link));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		skip_because("system calls can't be filtered here");
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_string_equal(list_folder(&folder), "app app.000001 app.000002");
	assert_string_equal(text_in(&folder, "app.000001"), "foreign");
	assert_string_equal(text_in(&folder, "app.000002"), "a");
	assert_string_equal(text_in(&folder, "app"), "b");
	remove_folder(&folder);
}

static void it_links_where_it_can_not_rename_without_replacing(void **state)
{
	(void)state;
	numbers_without(true);
}

static void it_looks_where_it_can_not_link_either(void **state)
{
	(void)state;
	numbers_without(false);
}

/* ---- what goes ---- */

static void prune(struct series_folder *folder, const char *name, uint64_t file_cnt, uint64_t total_bytes,
		  uint64_t growing_bytes)
{
	struct file_series_limits limits = { file_cnt, total_bytes };
	struct file_series *series = open_series(folder, name);

	assert_int_equal(file_series_prune(series, &limits, growing_bytes), 0);
	file_series_close(series);
}

static void the_oldest_go_until_the_rest_fits(void **state)
{
	struct series_folder folder;

	(void)state;
	make_folder(&folder);
	RECORD(&folder, "app.txtrace", "1", "2", "3", "4", "5", "6"); /* of nine bytes each */
	prune(&folder, "app.txtrace", 0, 0, UINT64_MAX);
	prune(&folder, "app.txtrace", 6, 54, UINT64_MAX);
	assert_string_equal(list_folder(&folder),
			    "app.000001.txtrace app.000002.txtrace app.000003.txtrace app.000004.txtrace "
			    "app.000005.txtrace app.txtrace");
	prune(&folder, "app.txtrace", 5, 0, UINT64_MAX);
	assert_string_equal(
		list_folder(&folder),
		"app.000002.txtrace app.000003.txtrace app.000004.txtrace app.000005.txtrace app.txtrace");
	prune(&folder, "app.txtrace", 5, 0, 1); /* with one that is being written */
	assert_string_equal(list_folder(&folder),
			    "app.000003.txtrace app.000004.txtrace app.000005.txtrace app.txtrace");
	prune(&folder, "app.txtrace", 0, 45, 18);
	assert_string_equal(list_folder(&folder), "app.000004.txtrace app.000005.txtrace app.txtrace");
	prune(&folder, "app.txtrace", 1, 0, UINT64_MAX);
	assert_string_equal(list_folder(&folder), "app.txtrace"); /* the newest one never */
	prune(&folder, "app.txtrace", 1, 1, 100);
	assert_string_equal(list_folder(&folder), "app.txtrace");
	RECORD(&folder, "app.txtrace", "7");
	assert_string_equal(text_in(&folder, "app.000001.txtrace"), "6");
	remove_folder(&folder);
}

static void only_logs_are_counted_and_removed(void **state)
{
	static const char *const foreign[] = { "app.000001", "app.000002",  "app.000004", "app.000005",
					       "app.000006", "app.0000007", "app.00008",  "bpp.000001" };
	struct series_folder folder;

	(void)state;
	make_folder(&folder);
	put_text(&folder, "target", SERIES_LOG);
	put_text(&folder, foreign[0], "notes of somebody else");
	put_text(&folder, foreign[1], "\x89TXLOG\r");
	put_text(&folder, "app.000003", SERIES_LOG "the only one");
	assert_int_equal(symlink("target", in_folder(&folder, foreign[2])), 0);
	assert_int_equal(mkdir(in_folder(&folder, foreign[3]), 0700), 0);
	assert_int_equal(mkfifo(in_folder(&folder, foreign[4]), 0600), 0);
	put_text(&folder, foreign[5], SERIES_LOG);
	put_text(&folder, foreign[6], SERIES_LOG);
	put_text(&folder, foreign[7], SERIES_LOG);
	prune(&folder, "app", 1, 0, UINT64_MAX);
	assert_string_equal(text_in(&folder, "app.000003"), "the only one");
	prune(&folder, "app", 1, 0, 0);
	assert_string_equal(list_folder(&folder), "app.0000007 app.000001 app.000002 app.000004 app.000005 "
						  "app.000006 app.00008 bpp.000001 target");
	remove_folder(&folder);
}

static void a_recording_knows_which_numbers_are_its_own(void **state)
{
	struct file_series_limits limits = { .file_cnt = 3 };
	struct series_folder folder;
	struct file_series *series;
	uint64_t first, last;

	(void)state;
	make_folder(&folder);
	RECORD(&folder, "app", "old", "old", "old");
	series = open_series(&folder, "app");
	file_series_numbers(series, &first, &last);
	assert_true(!first && !last);
	for (int i = 0; i < 3; i++) {
		begin_file(series, "new");
		assert_int_equal(file_series_number(series), 0);
	}
	file_series_numbers(series, &first, &last); /* 3 is what was the newest before */
	assert_true(first == 4 && last == 6);
	assert_int_equal(file_series_prune(series, &limits, 0), 0);
	file_series_numbers(series, &first, &last);
	assert_true(first == 5 && last == 6);
	assert_true(file_series_older_bytes(series) == 22);
	limits.file_cnt = 1;
	assert_int_equal(file_series_prune(series, &limits, 0), 0);
	file_series_numbers(series, &first, &last);
	assert_true(!first && !last);
	assert_true(file_series_older_bytes(series) == 0);
	begin_file(series, "next");
	assert_int_equal(file_series_number(series), 0);
	assert_string_equal(list_folder(&folder), "app.000007"); /* numbers go on */
	file_series_close(series);
	remove_folder(&folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_number_stands_before_the_last_extension),
		cmocka_unit_test(other_names_have_no_number),
		cmocka_unit_test(names_follow_the_order_of_time_over_restarts),
		cmocka_unit_test(the_newest_one_stays_until_the_next_is_complete),
		cmocka_unit_test(what_crashes_left_takes_its_place),
		cmocka_unit_test(a_partial_that_is_no_log_is_kept_too),
		cmocka_unit_test(two_do_not_write_one_name),
		cmocka_unit_test(numbers_that_are_taken_are_passed_over),
		cmocka_unit_test(huge_numbers_do_not_wrap),
		cmocka_unit_test(links_and_folders_are_not_written_through),
		cmocka_unit_test(bad_paths_are_refused),
		cmocka_unit_test(a_folder_that_was_removed_is_told),
		cmocka_unit_test(a_folder_that_was_renamed_is_found),
		cmocka_unit_test(a_folder_that_may_not_be_written_is_told),
		cmocka_unit_test(it_links_where_it_can_not_rename_without_replacing),
		cmocka_unit_test(it_looks_where_it_can_not_link_either),
		cmocka_unit_test(the_oldest_go_until_the_rest_fits),
		cmocka_unit_test(only_logs_are_counted_and_removed),
		cmocka_unit_test(a_recording_knows_which_numbers_are_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
