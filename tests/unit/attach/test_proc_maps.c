/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a process has mapped: from text as the kernel writes it, of this process, and of files that are no
 * longer where they were.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/process/proc_maps.h"

static const char maps_text[] =
	"55d0c0000000-55d0c0002000 r--p 00000000 fe:01 131074                     /usr/bin/bank\n"
	"55d0c0002000-55d0c0006000 r-xp 00002000 fe:01 131074                     /usr/bin/bank\n"
	"55d0c0008000-55d0c0009000 rw-p 00007000 fe:01 131074                     /usr/bin/bank\n"
	"55d0c1000000-55d0c1021000 rw-p 00000000 00:00 0                          [heap]\n"
	"7f0000000000-7f0000001000 r-xp 00000000 fe:01 99                         /opt/a b/lib x.so "
	"(deleted)\n"
	"7f0000001000-7f0000002000 r-xs 00001000 103:0a 18446744073709551615      /opt/new\\012line\\040.so\n"
	"7f0000002000-7f0000003000 rw-p 00000000 00:00 0 \n"
	"7f0000003000-7f0000004000 r-xp 00000000 fe:01 131074                     /usr/bin/bank\n"
	"7ffc00000000-7ffc00002000 r-xp 00000000 00:00 0                          [vdso]\n";

static void each_line_with_a_file_is_a_mapping(void **state)
{
	struct proc_maps maps;

	(void)state;
	assert_int_equal(proc_maps_parse(&maps, maps_text, strlen(maps_text)), 0);
	assert_int_equal(maps.cnt, 6);

	assert_int_equal(maps.mappings[1].start, 0x55d0c0002000);
	assert_int_equal(maps.mappings[1].end, 0x55d0c0006000);
	assert_int_equal(maps.mappings[1].offset, 0x2000);
	assert_int_equal(maps.mappings[1].inode, 131074);
	assert_int_equal(maps.mappings[1].dev_major, 0xfe);
	assert_int_equal(maps.mappings[1].dev_minor, 1);
	assert_true(maps.mappings[1].is_readable && maps.mappings[1].is_executable);
	assert_false(maps.mappings[1].is_writable || maps.mappings[1].is_shared ||
		     maps.mappings[1].is_deleted);
	assert_string_equal(maps.mappings[1].path, "/usr/bin/bank");
	assert_true(maps.mappings[2].is_writable);

	assert_string_equal(maps.mappings[3].path, "/opt/a b/lib x.so");
	assert_true(maps.mappings[3].is_deleted);

	/*
	 * A newline is the one character that the kernel escapes; a backslash of the name stands for itself.
	 */
	assert_string_equal(maps.mappings[4].path, "/opt/new\nline\\040.so");
	assert_true(maps.mappings[4].is_shared);
	assert_int_equal(maps.mappings[4].inode, UINT64_MAX);
	assert_int_equal(maps.mappings[4].dev_major, 0x103);
	proc_maps_release(&maps);
}

static void an_address_finds_its_mapping(void **state)
{
	struct proc_maps maps;

	(void)state;
	assert_int_equal(proc_maps_parse(&maps, maps_text, strlen(maps_text)), 0);
	assert_null(proc_maps_find(&maps, 0));
	assert_null(proc_maps_find(&maps, 0x55d0bfffffff));
	assert_ptr_equal(proc_maps_find(&maps, 0x55d0c0000000), &maps.mappings[0]);
	assert_ptr_equal(proc_maps_find(&maps, 0x55d0c0001fff), &maps.mappings[0]);
	assert_ptr_equal(proc_maps_find(&maps, 0x55d0c0002000), &maps.mappings[1]);
	assert_null(proc_maps_find(&maps, 0x55d0c0006000));
	assert_ptr_equal(proc_maps_find(&maps, 0x7f0000003fff), &maps.mappings[5]);
	assert_null(proc_maps_find(&maps, UINT64_MAX));
	proc_maps_release(&maps);
}

struct visited {
	uint64_t starts[8];
	size_t cnt;
	size_t stop_after;
};

static int visit_object(void *context, const struct proc_mapping *mapping)
{
	struct visited *visited = context;

	visited->starts[visited->cnt++] = mapping->start;
	return visited->cnt == visited->stop_after ? -EINTR : 0;
}

static void an_object_is_a_file_with_an_executable_mapping(void **state)
{
	struct visited visited = { .stop_after = SIZE_MAX };
	struct proc_maps maps;

	(void)state;
	assert_int_equal(proc_maps_parse(&maps, maps_text, strlen(maps_text)), 0);
	assert_int_equal(proc_maps_each_object(&maps, visit_object, &visited), 0);
	assert_int_equal(visited.cnt, 3); /* the bank once, though it is mapped executable twice */
	assert_int_equal(visited.starts[0], 0x7f0000000000);
	assert_int_equal(visited.starts[1], 0x55d0c0002000);
	assert_int_equal(visited.starts[2], 0x7f0000001000);

	visited = (struct visited){ .stop_after = 2 };
	assert_int_equal(proc_maps_each_object(&maps, visit_object, &visited), -EINTR);
	assert_int_equal(visited.cnt, 2);
	proc_maps_release(&maps);
}

static void lines_that_are_none_are_skipped(void **state)
{
	static const char *const lines[] = {
		"",
		"\n\n\n",
		"x",
		"-",
		"0-",
		"1-2",
		"1-2 ",
		"1-2 r-x",
		"1-2 r-xp",
		"1-2 r-xp 0",
		"1-2 r-xp 0 fe",
		"1-2 r-xp 0 fe:1",
		"1-2 r-xp 0 fe:1 7",
		"1-2 r-xp 0 fe:1 7 relative",
		"1-2 r-xp 0 fe:1 0 /no/inode",
		"2-1 r-xp 0 fe:1 7 /backwards",
		"fffffffffffffffff-2 r-xp 0 fe:1 7 /number/too/long",
		"1-2 r-xp 0 fe:1 99999999999999999999 /inode/too/long",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct proc_maps maps;

		assert_int_equal(proc_maps_parse(&maps, lines[i], strlen(lines[i])), 0);
		if (maps.cnt)
			fail_msg("'%s' is taken for a mapping", lines[i]);
		proc_maps_release(&maps);
	}
}

static void this_process_is_found_and_opened(void **state)
{
	const struct proc_mapping *mapping;
	struct proc_maps maps;
	struct stat opened, own;
	int fd;

	(void)state;
	assert_int_equal(proc_maps_read(&maps, getpid()), 0);
	assert_int_equal(maps.pid, getpid());
	mapping = proc_maps_find(&maps, (uintptr_t)this_process_is_found_and_opened);
	assert_non_null(mapping);
	assert_true(mapping->is_executable);
	fd = proc_mapping_open(mapping, maps.pid);
	assert_true(fd >= 0);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(fstat(fd, &opened), 0);
	assert_int_equal(stat("/proc/self/exe", &own), 0);
	assert_int_equal(opened.st_ino, own.st_ino);
	close(fd);
	proc_maps_release(&maps);
}

static void no_process_is_no_mappings(void **state)
{
	struct proc_maps maps;
	pid_t child = fork();

	(void)state;
	if (child == 0)
		_exit(0);
	waitpid(child, NULL, 0);
	assert_int_equal(proc_maps_read(&maps, child), -ESRCH);
}

static char folder[PATH_MAX];

/* A file of one page with that text, mapped executable. */
static void *map_file(const char *path, const char *text)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
	void *address;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	address = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(address, MAP_FAILED);
	close(fd);
	return address;
}

/* Opens the mapping of this process at the address, and reads what the file begins with; or the error. */
static int open_and_read(const void *address, char *text, size_t size)
{
	const struct proc_mapping *mapping;
	struct proc_maps maps;
	ssize_t length;
	int fd;

	assert_int_equal(proc_maps_read(&maps, getpid()), 0);
	mapping = proc_maps_find(&maps, (uintptr_t)address);
	assert_non_null(mapping);
	fd = proc_mapping_open(mapping, getpid());
	proc_maps_release(&maps);
	if (fd < 0)
		return fd;
	length = read(fd, text, size - 1);
	text[length > 0 ? length : 0] = '\0';
	close(fd);
	return 0;
}

static void a_file_with_an_ugly_name_is_opened(void **state)
{
	char path[PATH_MAX + 64], text[64];
	void *address;

	(void)state;
	snprintf(path, sizeof(path), "%s/two\nlines (deleted)", folder);
	address = map_file(path, "ugly");
	assert_int_equal(open_and_read(address, text, sizeof(text)), 0);
	assert_string_equal(text, "ugly");
	munmap(address, 4096);
	unlink(path);
}

/*
 * Whoever may follow map_files gets the file that is mapped; whoever may not is told, and never gets another
 * one.
 */
static void a_replaced_file_is_never_taken_for_the_mapped_one(void **state)
{
	char path[PATH_MAX + 64], text[64];
	void *address, *other;
	int err;

	(void)state;
	snprintf(path, sizeof(path), "%s/replaced", folder);
	address = map_file(path, "the old one");
	unlink(path);
	other = map_file(path, "the new one");
	err = open_and_read(address, text, sizeof(text));
	if (err == 0)
		assert_string_equal(text, "the old one");
	else
		assert_int_equal(err, -ESTALE);
	assert_int_equal(open_and_read(other, text, sizeof(text)), 0);
	assert_string_equal(text, "the new one");
	munmap(address, 4096);
	munmap(other, 4096);
	unlink(path);
}

static void *wait_for_ever(void *argument)
{
	for (;;)
		pause();
	return argument;
}

/* The main thread of a process may end before the others: its pid has no maps then, but its threads have. */
static void a_process_whose_first_thread_has_ended_is_read(void **state)
{
	struct proc_maps maps = { 0 };
	pid_t child = fork();
	int err;

	(void)state;
	if (child == 0) {
		pthread_t thread;

		pthread_create(&thread, NULL, wait_for_ever, NULL);
		pthread_exit(NULL);
	}
	for (int i = 0; i < 120000; i++) {
		err = proc_maps_read(&maps, child);
		if (err || maps.pid != child)
			break;
		proc_maps_release(&maps);
		usleep(1000);
	}
	assert_int_equal(err, 0);
	assert_int_not_equal(maps.pid, child);
	assert_non_null(proc_maps_find(&maps, (uintptr_t)wait_for_ever));
	proc_maps_release(&maps);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static int set_up(void **state)
{
	const char *tmpdir = getenv("TEST_TMPDIR");

	(void)state;
	snprintf(folder, sizeof(folder), "%s/maps.XXXXXX", tmpdir ? tmpdir : "/tmp");
	return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	return rmdir(folder);
}

/* Memory with that name, in each of the ways in which kernels show it; the first one counts. */
static void named_contexts(void **state)
{
	static const struct {
		const char *line;
		uint64_t start;
	} lines[] = {
		{ "7f0000001000-7f0000002000 rw-s 00000000 00:01 12   /memfd:OTEL_CTX (deleted)\n",
		  0x7f0000001000 },
		{ "7f0000003000-7f0000004000 rw-p 00000000 00:00 0    [anon:OTEL_CTX]\n", 0x7f0000003000 },
		{ "7f0000005000-7f0000006000 rw-s 00000000 00:01 13   [anon_shmem:OTEL_CTX]\n",
		  0x7f0000005000 },
		{ "7f0000007000-7f0000008000 rw-s 00000000 00:01 14   /tmp/memfd:OTEL_CTX\n", 0 },
		{ "7f0000007000-7f0000008000 rw-p 00000000 00:00 0    [anon:OTEL_CT]\n", 0 },
		{ "OTEL_CTX\n[anon:OTEL_CTX]\n", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct proc_maps maps;

		assert_int_equal(proc_maps_parse(&maps, lines[i].line, strlen(lines[i].line)), 0);
		assert_int_equal(maps.otel_context, lines[i].start);
		proc_maps_release(&maps);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(named_contexts),
		cmocka_unit_test(each_line_with_a_file_is_a_mapping),
		cmocka_unit_test(an_address_finds_its_mapping),
		cmocka_unit_test(an_object_is_a_file_with_an_executable_mapping),
		cmocka_unit_test(lines_that_are_none_are_skipped),
		cmocka_unit_test(this_process_is_found_and_opened),
		cmocka_unit_test(no_process_is_no_mappings),
		cmocka_unit_test(a_file_with_an_ugly_name_is_opened),
		cmocka_unit_test(a_replaced_file_is_never_taken_for_the_mapped_one),
		cmocka_unit_test(a_process_whose_first_thread_has_ended_is_read),
	};

	return cmocka_run_group_tests_name("proc_maps", tests, set_up, tear_down);
}
