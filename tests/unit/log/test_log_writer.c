/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The file behind a log: when it gets its name, whose it is, and what is left of it after a crash or on a
 * full disk.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "unit/log_samples.h"
#include "unit/skip.h"

static const struct txtrace_record a_wake = { .kind = TXTRACE_RECORD_WAKE,
					      .wake = { .time_ns = 5, .tid = 7 } };

/* A folder with a name of its own, and paths in it. */
struct place {
	char folder[2000];
	char path[2100];
	char partial[2200];
	char previous[2300];
};

static void make_place(struct place *place)
{
	const char *folder = getenv("TEST_TMPDIR");

	snprintf(place->folder, sizeof(place->folder), "%.1900s/log_writer.XXXXXX", folder ? folder : "/tmp");
	assert_non_null(mkdtemp(place->folder));
	snprintf(place->path, sizeof(place->path), "%s/log", place->folder);
	snprintf(place->partial, sizeof(place->partial), "%s.partial", place->path);
	snprintf(place->previous, sizeof(place->previous), "%s.000001", place->path);
}

static void remove_place(const struct place *place)
{
	unlink(place->path);
	unlink(place->partial);
	unlink(place->previous);
	rmdir(place->folder);
}

static bool exists(const char *path)
{
	return !access(path, F_OK);
}

static void put_file(const char *path, const char *text)
{
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	fputs(text, out);
	fclose(out);
}

static void assert_file_is(const char *path, const char *text)
{
	char bytes[64] = "";
	FILE *in = fopen(path, "r");

	assert_non_null(in);
	assert_true(fread(bytes, 1, sizeof(bytes) - 1, in) > 0);
	fclose(in);
	assert_string_equal(bytes, text);
}

static int try_to_open(const char *path)
{
	struct log_writer_options options = { .codec = LOG_CODEC_ZSTD };
	struct log_writer *writer;
	int err = log_writer_open(&writer, path, &sample_info, &options);

	if (!err)
		log_writer_abort(writer);
	return err;
}

static unsigned int count_records(const char *path, unsigned int *damage_cnt)
{
	struct txtrace_record record;
	struct txtrace_log *log;
	unsigned int cnt = 0;

	assert_int_equal(txtrace_log_open(&log, path), 0);
	*damage_cnt = 0;
	while (txtrace_log_next(log, &record) > 0)
		(*(record.kind == TXTRACE_RECORD_DAMAGE ? damage_cnt : &cnt))++;
	txtrace_log_close(log);
	return cnt;
}

static void the_target_appears_when_it_is_complete(void **state)
{
	struct log_writer *writer;
	struct place place;
	struct stat status;
	unsigned int damage_cnt;

	(void)state;
	make_place(&place);
	put_file(place.path, "what was there");
	writer = open_sample(place.path, LOG_CODEC_ZSTD, 0);
	assert_int_equal(log_writer_add(writer, &a_wake), 0);
	assert_int_equal(log_writer_flush(writer), 0);
	assert_file_is(place.path, "what was there");
	assert_int_equal(stat(place.partial, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0600);
	assert_int_equal((uint64_t)status.st_size, log_writer_bytes(writer));
	assert_int_equal(log_writer_close(writer), 0);
	assert_false(exists(place.partial));
	assert_int_equal(stat(place.path, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0600);
	assert_int_equal(count_records(place.path, &damage_cnt), 1);
	remove_place(&place);
}

static void after_a_crash_what_was_flushed_is_there(void **state)
{
	unsigned int damage_cnt;
	struct place place;
	int status;
	pid_t child;

	(void)state;
	make_place(&place);
	put_file(place.path, "what was there");
	child = fork();
	if (!child) {
		struct log_writer *writer = open_sample(place.path, LOG_CODEC_ZSTD, 0);

		for (unsigned int i = 0; i < 1000; i++) {
			log_writer_add(writer, &a_wake);
			if (i == 899)
				log_writer_flush(writer);
		}
		raise(SIGKILL);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	assert_file_is(place.path, "what was there");
	assert_int_equal(count_records(place.partial, &damage_cnt), 900);
	assert_int_equal(damage_cnt, 0);
	remove_place(&place);
}

static void given_up_it_leaves_batches_but_no_empty_file(void **state)
{
	struct log_writer *writer;
	unsigned int damage_cnt;
	struct place place;

	(void)state;
	make_place(&place);
	writer = open_sample(place.path, LOG_CODEC_ZSTD, 0);
	assert_int_equal(log_writer_add(writer, &a_wake), 0);
	assert_true(exists(place.partial));
	log_writer_abort(writer);
	assert_false(exists(place.partial));

	writer = open_sample(place.path, LOG_CODEC_ZSTD, 0);
	assert_int_equal(log_writer_add(writer, &a_wake), 0);
	assert_int_equal(log_writer_flush(writer), 0);
	log_writer_abort(writer);
	assert_int_equal(count_records(place.partial, &damage_cnt), 1);
	assert_false(exists(place.path));
	remove_place(&place);
}

static void what_a_crash_left_is_kept(void **state)
{
	struct place place;

	(void)state;
	make_place(&place);
	put_file(place.partial, "of a crash");
	assert_int_equal(log_writer_close(open_sample(place.path, LOG_CODEC_ZSTD, 0)), 0);
	assert_file_is(place.previous, "of a crash");
	assert_false(exists(place.partial));
	assert_true(exists(place.path));
	remove_place(&place);
}

static void two_writers_do_not_mix(void **state)
{
	struct log_writer *writer;
	struct place place;

	(void)state;
	make_place(&place);
	writer = open_sample(place.path, LOG_CODEC_ZSTD, 0);
	assert_int_equal(try_to_open(place.path), -EBUSY);
	assert_int_equal(log_writer_add(writer, &a_wake), 0);
	assert_int_equal(log_writer_close(writer), 0);
	assert_int_equal(try_to_open(place.path), 0);
	remove_place(&place);
}

static void bad_paths_are_refused(void **state)
{
	struct place place;
	char path[2200];

	(void)state;
	make_place(&place);
	assert_int_equal(try_to_open(place.folder), -EISDIR);
	snprintf(path, sizeof(path), "%s/missing/log", place.folder);
	assert_int_equal(try_to_open(path), -ENOENT);
	assert_int_equal(try_to_open("/dev/full"), -ENOSPC);
	assert_int_equal(try_to_open("/dev/null"), 0);

	/* A link where the file is to be made: nothing is written through it. */
	put_file(place.path, "untouched");
	assert_int_equal(symlink(place.path, place.partial), 0);
	snprintf(path, sizeof(path), "%s", place.path);
	assert_int_equal(try_to_open(path), -ELOOP);
	assert_file_is(place.path, "untouched");
	remove_place(&place);
}

/* Writes until there is no room; returns the error. The random numbers do not compress. */
static int fill_up(struct log_writer *writer, uint64_t *record_cnt)
{
	struct sample_world world = new_world(3);
	struct txtrace_record record;
	int err = 0;

	for (unsigned int i = 0; i < 1000000 && !err; i++) {
		next_record(&world, &record);
		err = log_writer_add(writer, &record);
		if (!err && i % 1000 == 999) {
			err = log_writer_flush(writer);
			if (!err)
				*record_cnt = log_writer_records(writer);
		}
	}
	return err;
}

/* In a child, whose limits and mounts are its own. Its exit status tells which step failed. */
static int run_out_of_room(const struct place *place, int expected_err)
{
	struct log_writer_options options = { .codec = LOG_CODEC_ZSTD };
	struct log_writer *writer;
	uint64_t record_cnt = 0;
	unsigned int damage_cnt;

	put_file(place->path, "what was there");
	if (log_writer_open(&writer, place->path, &sample_info, &options))
		return 1;
	if (fill_up(writer, &record_cnt) != expected_err)
		return 2;
	if (log_writer_add(writer, &a_wake) != expected_err || log_writer_flush(writer) != expected_err)
		return 3;
	if (log_writer_close(writer) != expected_err)
		return 4;
	if (!record_cnt || count_records(place->partial, &damage_cnt) != record_cnt || damage_cnt)
		return 5;
	assert_file_is(place->path, "what was there");
	return 0;
}

static void assert_child_succeeds(pid_t child)
{
	int status;

	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void a_limit_of_the_file_size_leaves_a_readable_file(void **state)
{
	struct place place;
	pid_t child;

	(void)state;
	make_place(&place);
	child = fork();
	if (!child) {
		struct rlimit limit = { 100000, 100000 };

		signal(SIGXFSZ, SIG_IGN);
		setrlimit(RLIMIT_FSIZE, &limit);
		_exit(run_out_of_room(&place, -EFBIG));
	}
	assert_child_succeeds(child);
	remove_place(&place);
}

static void a_full_disk_leaves_a_readable_file(void **state)
{
	struct place place;
	pid_t child;

	(void)state;
	if (geteuid() != 0 || unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		skip_because("not root, or no mount namespace of our own");
	make_place(&place);
	child = fork();
	if (!child)
		_exit(mount("none", place.folder, "tmpfs", 0, "size=200k")
			      ? 9
			      : run_out_of_room(&place, -ENOSPC));
	assert_child_succeeds(child);
	umount2(place.folder, MNT_DETACH);
	remove_place(&place);
}

static void a_folder_that_vanishes_is_told_at_the_close(void **state)
{
	struct log_writer *writer;
	struct place place;

	(void)state;
	make_place(&place);
	writer = open_sample(place.path, LOG_CODEC_ZSTD, 0);
	remove_place(&place);
	assert_int_equal(log_writer_add(writer, &a_wake), 0);
	assert_int_equal(log_writer_close(writer), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_target_appears_when_it_is_complete),
		cmocka_unit_test(after_a_crash_what_was_flushed_is_there),
		cmocka_unit_test(given_up_it_leaves_batches_but_no_empty_file),
		cmocka_unit_test(what_a_crash_left_is_kept),
		cmocka_unit_test(two_writers_do_not_mix),
		cmocka_unit_test(bad_paths_are_refused),
		cmocka_unit_test(a_limit_of_the_file_size_leaves_a_readable_file),
		cmocka_unit_test(a_full_disk_leaves_a_readable_file),
		cmocka_unit_test(a_folder_that_vanishes_is_told_at_the_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
