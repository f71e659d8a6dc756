/* SPDX-License-Identifier: BSD-2-Clause */
/* What somebody named to be written to: files, pipes, devices, links. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/named_output.h"

static char folder[] = "/tmp/txtrace-named-output.XXXXXX";

static const char *in_folder(const char *name)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	static const char *const names[] = { "file", "link",	"dangling", "null",
					     "pipe", "to-pipe", "made",	    "socket" };

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unlink(in_folder(names[i]));
	return rmdir(folder);
}

static void put(const char *name, const char *text)
{
	FILE *file = fopen(in_folder(name), "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static int special(const char *name)
{
	int fd = -2, err = named_output_special(&fd, in_folder(name), false);

	if (err)
		return err;
	if (fd < 0)
		return 0;
	close(fd);
	return 1;
}

static void files_are_made_anew(void **state)
{
	(void)state;
	put("file", "text");
	assert_int_equal(special("file"), 0);
	assert_int_equal(special("none"), 0);
	assert_int_equal(symlink("file", in_folder("link")), 0);
	assert_int_equal(special("link"), 0);
	assert_int_equal(symlink("nowhere", in_folder("dangling")), 0);
	assert_int_equal(special("dangling"), 0);
	assert_int_equal(special(""), -EISDIR);
	assert_int_equal(special("none/file"), 0);
	assert_int_equal(special("file/file"), -ENOTDIR);
}

static void a_link_to_a_device_is_refused(void **state)
{
	int fd;

	(void)state;
	assert_int_equal(symlink("/dev/null", in_folder("null")), 0);
	assert_int_equal(special("null"), -ELOOP);
	assert_int_equal(named_output_special(&fd, "/dev/null", false), 0);
	assert_true(fd >= 0);
	close(fd);
}

static void a_pipe_that_nobody_reads_is_not_waited_for(void **state)
{
	int reader, fd;

	(void)state;
	assert_int_equal(mkfifo(in_folder("pipe"), 0600), 0);
	assert_int_equal(symlink("pipe", in_folder("to-pipe")), 0);
	assert_int_equal(special("pipe"), -ENXIO);
	assert_int_equal(special("to-pipe"), -ELOOP);
	reader = open(in_folder("pipe"), O_RDONLY | O_NONBLOCK);
	assert_true(reader >= 0);
	assert_int_equal(named_output_special(&fd, in_folder("pipe"), false), 0);
	assert_int_equal(fcntl(fd, F_GETFL) & O_NONBLOCK, 0); /* who writes waits for who reads */
	close(fd);
	close(reader);
}

static void what_we_were_given_is_taken(void **state)
{
	char path[32];
	int pipe_fds[2], fd;
	char byte = 0;

	(void)state;
	assert_int_equal(pipe(pipe_fds), 0);
	snprintf(path, sizeof(path), "/dev/fd/%d", pipe_fds[1]);
	assert_int_equal(named_output_special(&fd, path, false), 0);
	assert_int_equal(write(fd, "x", 1), 1);
	assert_int_equal(read(pipe_fds[0], &byte, 1), 1);
	assert_int_equal(byte, 'x');
	close(fd);
	assert_int_equal(named_output_special(&fd, "/dev/fd/1048000", false), -EBADF);
	close(pipe_fds[0]);
	close(pipe_fds[1]);
}

/* Neither the file nor what a link leads to is written: the name is another file's afterwards. */
static void a_new_file_takes_the_name(void **state)
{
	struct stat before, after, target;
	int fd;

	(void)state;
	put("file", "text");
	assert_int_equal(stat(in_folder("file"), &before), 0);
	unlink(in_folder("made"));
	assert_int_equal(symlink("file", in_folder("made")), 0);
	fd = named_output_make(in_folder("made"));
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "new", 3), 3);
	close(fd);
	assert_int_equal(lstat(in_folder("made"), &after), 0);
	assert_true(S_ISREG(after.st_mode));
	assert_int_equal(after.st_mode & 07777, 0600);
	assert_int_equal(after.st_size, 3);
	assert_int_equal(stat(in_folder("file"), &target), 0);
	assert_int_equal(target.st_ino, before.st_ino);
	assert_int_equal(target.st_size, 4);
	assert_int_equal(named_output_make(in_folder("none/file")), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_are_made_anew),
		cmocka_unit_test(a_link_to_a_device_is_refused),
		cmocka_unit_test(a_pipe_that_nobody_reads_is_not_waited_for),
		cmocka_unit_test(what_we_were_given_is_taken),
		cmocka_unit_test(a_new_file_takes_the_name),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
