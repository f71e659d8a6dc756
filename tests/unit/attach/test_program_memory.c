/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Strings of other processes by their address: while they live, when they have exec'd, forked or ended, and
 * when they mean harm.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/userfaultfd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/process/proc_maps.h"
#include "attach/process/proc_status.h"
#include "attach/process/program_memory.h"
#include "unit/skip.h"

static const char literal[] = "a literal of this program";
static char writable[] = "a string in writable memory";
static char *at_page_end;   /* its NUL is the last byte before unmapped memory */
static char *without_end;   /* reaches to unmapped memory without a NUL */
static char *across_pages;  /* begins in one page and ends in the next */
static char *never_touched; /* anonymous memory that nobody has used */

/* A child that has all of our memory, and waits to be killed. */
static pid_t child_start(void)
{
	pid_t child = fork();

	if (child == 0)
		for (;;)
			pause();
	assert_true(child > 0);
	return child;
}

static void child_end(pid_t child)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

#define IMAGE 77

/* Notes every file-backed mapping of the process, as a scan does that attaches everything. */
static void note_all(struct program_memory *memory, pid_t pid, uint64_t image, uint64_t now_ns)
{
	struct proc_maps maps;

	assert_int_equal(proc_maps_read(&maps, pid), 0);
	for (size_t i = 0; i < maps.cnt; i++) {
		int fd = proc_mapping_open(&maps.mappings[i], pid);

		if (fd < 0)
			continue;
		assert_int_equal(program_memory_note_mapping(memory, (uint32_t)pid, image, now_ns,
							     &maps.mappings[i], fd),
				 0);
		close(fd);
	}
	proc_maps_release(&maps);
}

static struct event_text label_of(struct program_memory *memory, pid_t pid, const void *address)
{
	struct event_text text;

	assert_int_equal(program_memory_label(memory, (uint32_t)pid, (uintptr_t)address, &text), 0);
	return text;
}

static void assert_label(struct program_memory *memory, pid_t pid, const void *address, const char *expected)
{
	struct event_text text = label_of(memory, pid, address);

	assert_false(text.is_unreadable);
	assert_false(text.is_truncated);
	assert_int_equal(text.length, strlen(expected));
	assert_memory_equal(text.bytes, expected, text.length);
}

static void assert_unreadable(struct program_memory *memory, pid_t pid, const void *address)
{
	struct event_text text = label_of(memory, pid, address);

	assert_true(text.is_unreadable);
	assert_int_equal(text.length, 0);
}

static void strings_of_a_living_process_are_read(void **state)
{
	struct program_memory *memory = program_memory_new(NULL);
	struct program_memory_stats stats;
	pid_t child = child_start();

	(void)state;
	assert_label(memory, child, literal, "a literal of this program");
	assert_label(memory, child, writable, "a string in writable memory");
	assert_label(memory, child, at_page_end, "last bytes of a page");
	assert_label(memory, child, across_pages, "over the edge of a page");
	assert_label(memory, child, at_page_end + strlen(at_page_end), "");
	assert_label(memory, child, NULL, "");
	program_memory_stats(memory, &stats);
	assert_int_equal(stats.label_cnt, 5);
	assert_int_equal(stats.unreadable_cnt, 0);
	child_end(child);

	/* They are known now. What was nowhere but in its memory has gone with it. */
	assert_label(memory, child, at_page_end, "last bytes of a page");
	assert_unreadable(memory, child, at_page_end + 1);
	program_memory_free(memory);
}

static void wild_pointers_are_unreadable(void **state)
{
	static const uint64_t addresses[] = {
		1, 4095, 0x7fffffffffff, 0x800000000000, 0xffffffff81000000, UINT64_MAX - 1, UINT64_MAX
	};
	struct program_memory *memory = program_memory_new(NULL);
	struct program_memory_stats stats;
	pid_t child = child_start();

	(void)state;
	for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++)
		assert_unreadable(memory, child, (const void *)(uintptr_t)addresses[i]);
	program_memory_stats(memory, &stats);
	assert_int_equal(stats.unreadable_cnt, 7);
	assert_int_equal(stats.refused_cnt, 0);
	child_end(child);
	program_memory_free(memory);
}

static void a_string_without_an_end_is_cut_off(void **state)
{
	struct program_memory *memory = program_memory_new(NULL);
	pid_t child = child_start();
	struct event_text text;

	(void)state;
	text = label_of(memory, child, without_end); /* 1000 bytes */
	assert_false(text.is_unreadable);
	assert_true(text.is_truncated);
	assert_int_equal(text.length, PROGRAM_LABEL_BYTES_MAX);
	text = label_of(memory, child, without_end + 1000 - 10);
	assert_true(text.is_truncated);
	assert_int_equal(text.length, 10);
	assert_memory_equal(text.bytes, "xxxxxxxxxx", 10);
	child_end(child);
	program_memory_free(memory);
}

/* The label of a program that exits at once: what was noted while it lived is enough. */
static void labels_are_read_after_the_process_has_ended(void **state)
{
	struct program_memory *memory = program_memory_new(NULL);
	pid_t child = child_start();

	(void)state;
	note_all(memory, child, IMAGE, 1000);
	child_end(child);
	assert_label(memory, child, literal, "a literal of this program");
	assert_label(memory, child, writable, "a string in writable memory"); /* as the file has it */
	assert_unreadable(memory, child, at_page_end);                        /* was in no file */
	program_memory_forget(memory, (uint32_t)child, UINT64_MAX);
	assert_unreadable(memory, child, literal);
	program_memory_free(memory);
}

/* Labels are asked for in the order of the events, which is later than notes are taken. */
static void assert_no_literal(struct program_memory *memory, pid_t pid, const void *address)
{
	struct event_text text = { .length = 1 };

	assert_int_equal(program_memory_literal(memory, (uint32_t)pid, (uintptr_t)address, &text), 0);
	assert_true(text.is_unreadable);
	assert_int_equal(text.length, 0);
}

static void a_literal_is_what_nobody_can_have_changed(void **state)
{
	struct program_memory *memory = program_memory_new(NULL);
	pid_t child = child_start();
	struct event_text text;

	(void)state;
	assert_no_literal(memory, child, writable);
	assert_no_literal(memory, child, at_page_end);
	assert_no_literal(memory, child, never_touched);
	assert_no_literal(memory, child, NULL);
	/* which is known as a label now */
	assert_label(memory, child, writable, "a string in writable memory");
	assert_no_literal(memory, child, writable);
	note_all(memory, child, IMAGE, 1000);
	child_end(child);
	assert_no_literal(memory, child, writable);
	assert_int_equal(program_memory_literal(memory, (uint32_t)child, (uintptr_t)literal, &text), 0);
	assert_false(text.is_unreadable);
	assert_int_equal(text.length, strlen(literal));
	assert_memory_equal(text.bytes, literal, text.length);
	program_memory_free(memory);
}

static void an_exec_separates_what_came_before_from_what_comes_after(void **state)
{
	struct program_memory *memory = program_memory_new(NULL);
	pid_t child = child_start();
	struct proc_mapping other = { .start = (uintptr_t)literal & ~4095ull,
				      .end = ((uintptr_t)literal & ~4095ull) + 8192,
				      .inode = 1,
				      .is_readable = true };
	char text[8192];
	int fd = memfd_create("other", MFD_CLOEXEC);

	(void)state;
	memset(text, 'o', sizeof(text)); /* a file in which "other" text lies wherever one looks */
	text[((uintptr_t)literal & 4095) + 5] = '\0';
	assert_int_equal(write(fd, text, sizeof(text)), sizeof(text));

	note_all(memory, child, IMAGE, 1000);
	child_end(child);
	/* exec at 2000, seen by a scan at 3000; the events before it have not been handled yet */
	assert_int_equal(program_memory_note_mapping(memory, (uint32_t)child, IMAGE + 1, 3000, &other, fd),
			 0);
	assert_label(memory, child, literal, "a literal of this program");
	program_memory_invalidate(memory, (uint32_t)child, 2000);
	assert_label(memory, child, literal, "ooooo");

	/* The exec by which a launched command began is handled after its mappings were noted. They stay. */
	program_memory_invalidate(memory, (uint32_t)child, 2500);
	assert_label(memory, child, literal, "ooooo");
	program_memory_invalidate(memory, (uint32_t)child, 4000);
	assert_unreadable(memory, child, literal);
	close(fd);
	program_memory_free(memory);
}

static void a_forked_child_has_its_parents_mappings(void **state)
{
	struct program_memory *memory = program_memory_new(NULL);
	pid_t parent = child_start();
	const pid_t child = 0x7ffffff0; /* as if it had come and gone before anybody looked */

	(void)state;
	note_all(memory, parent, IMAGE, 1000);
	assert_int_equal(program_memory_note_fork(memory, (uint32_t)parent, (uint32_t)child, 1), 0);
	child_end(parent);
	program_memory_forget(memory, (uint32_t)parent, UINT64_MAX);
	assert_label(memory, child, literal, "a literal of this program");

	/* of a parent that nobody knows */
	assert_int_equal(program_memory_note_fork(memory, 0x7ffffff1, 0x7ffffff2, 1), 0);
	assert_unreadable(memory, 0x7ffffff2, literal);
	program_memory_free(memory);
}

static void a_mapping_that_takes_anothers_place_replaces_it(void **state)
{
	struct program_memory *memory = program_memory_new(NULL);
	const uint32_t pid = 0x7ffffff0;
	struct proc_mapping first = { .start = 0x10000, .end = 0x14000, .inode = 1, .is_readable = true };
	struct proc_mapping second = { .start = 0x12000, .end = 0x13000, .inode = 2, .is_readable = true };
	int one = memfd_create("one", MFD_CLOEXEC), two = memfd_create("two", MFD_CLOEXEC);

	(void)state;
	assert_int_equal(pwrite(one, "one", 4, 0), 4);
	assert_int_equal(pwrite(one, "one again", 10, 0x3000), 10);
	assert_int_equal(pwrite(two, "two", 4, 0), 4);
	assert_int_equal(program_memory_note_mapping(memory, pid, IMAGE, 1000, &first, one), 0);
	/* the next scan */
	assert_int_equal(program_memory_note_mapping(memory, pid, IMAGE, 1000, &first, one), 0);
	assert_label(memory, (pid_t)pid, (const void *)0x10000, "one");
	assert_int_equal(program_memory_note_mapping(memory, pid, IMAGE, 2000, &second, two), 0);
	close(one);
	close(two);
	assert_label(memory, (pid_t)pid, (const void *)0x12000, "two");
	assert_label(memory, (pid_t)pid, (const void *)0x10000, "one"); /* was read before */
	/* what was left of the first one cannot be told */
	assert_unreadable(memory, (pid_t)pid, (const void *)0x13000);
	program_memory_free(memory);
}

/*
 * A page that its program fills on demand (userfaultfd), and does not: whoever reads it waits for ever. We do
 * not read it.
 */
static void a_program_cannot_make_us_wait(void **state)
{
	struct program_memory *memory = program_memory_new(NULL);
	pid_t child;
	int ready[2];
	char is_armed = 0;

	(void)state;
	assert_int_equal(pipe(ready), 0);
	child = fork();
	if (child == 0) {
		struct uffdio_api api = { .api = UFFD_API };
		struct uffdio_register range = { .range = { .start = (uintptr_t)never_touched, .len = 4096 },
						 .mode = UFFDIO_REGISTER_MODE_MISSING };
		int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

		is_armed = fd >= 0 && ioctl(fd, UFFDIO_API, &api) == 0 &&
			   ioctl(fd, UFFDIO_REGISTER, &range) == 0;
		if (write(ready[1], &is_armed, 1) == 1)
			for (;;)
				pause();
	}
	assert_int_equal(read(ready[0], &is_armed, 1), 1);
	close(ready[0]);
	close(ready[1]);
	assert_unreadable(memory, child, never_touched);
	child_end(child);
	program_memory_free(memory);
	if (!is_armed)
		skip_because("this kernel does not let us stop a page fault");
}

static void a_flood_of_labels_spoils_its_own_program_only(void **state)
{
	struct program_memory *memory = program_memory_new(NULL);
	pid_t hostile = child_start(), other = child_start();
	struct program_memory_stats stats;

	(void)state;
	note_all(memory, other, IMAGE, 1000);
	assert_label(memory, hostile, literal, "a literal of this program");
	for (uint64_t i = 1; i < PROGRAM_LABEL_CNT_MAX + 1000; i++)
		label_of(memory, hostile, (const void *)(uintptr_t)i);
	program_memory_stats(memory, &stats);
	/* a label, the most that there may be, and a thousand more */
	assert_int_equal(stats.refused_cnt, 1000);
	assert_label(memory, hostile, literal, "a literal of this program");
	assert_label(memory, other, literal, "a literal of this program");
	child_end(hostile);
	child_end(other);
	program_memory_forget(memory, (uint32_t)hostile, UINT64_MAX);
	program_memory_free(memory);
}

static void all_programs_together_meet_a_limit_and_give_back_what_they_had(void **state)
{
	struct program_memory *memory = program_memory_new(NULL);
	struct proc_mapping mapping = {
		.start = 0x10000, .end = 0x10000 + 0x100000, .inode = 1, .is_readable = true
	};
	struct program_memory_stats stats;
	struct event_text text;
	int fd = memfd_create("labels", MFD_CLOEXEC);
	char bytes[256];
	uint32_t tgid;

	(void)state;
	memset(bytes, 'l', sizeof(bytes));
	for (int i = 0; i < 0x100000 / 256; i++)
		assert_int_equal(write(fd, bytes, sizeof(bytes)), sizeof(bytes));
	for (tgid = 0x70000000; tgid < 0x70000400; tgid++) {
		if (program_memory_note_mapping(memory, tgid, IMAGE, 1000, &mapping, fd))
			break;
		for (uint64_t i = 0; i < 0x100000 / 256; i++)
			program_memory_label(memory, tgid, 0x10000 + i * 256, &text);
	}
	program_memory_stats(memory, &stats);
	assert_true(stats.refused_cnt > 0); /* 1024 programs of 1 MiB do not fit */
	assert_true(text.is_unreadable);
	for (uint32_t i = 0x70000000; i < 0x70000400; i++)
		program_memory_forget(memory, i, UINT64_MAX);
	assert_int_equal(program_memory_note_mapping(memory, 5, IMAGE, 1000, &mapping, fd), 0);
	assert_int_equal(program_memory_label(memory, 5, 0x10000, &text), 0);
	assert_false(text.is_unreadable);
	assert_int_equal(text.length, 256);
	close(fd);
	program_memory_free(memory);
}

static void note_copy(struct program_memory *memory, pid_t pid, const void *address, const char *text)
{
	const struct event_text copy = { .bytes = text ? text : "",
					 .length = text ? (uint32_t)strlen(text) : 0,
					 .is_unreadable = !text };

	assert_int_equal(program_memory_note_copy(memory, (uint32_t)pid, (uintptr_t)address, &copy), 0);
}

/* Whatever the process has there when the event is read. */
static void a_copy_goes_before_what_is_there(void **state)
{
	struct program_memory *memory = program_memory_new(NULL);
	pid_t child = child_start();
	char large[400];

	(void)state;
	note_all(memory, child, IMAGE, 1);
	assert_label(memory, child, writable, "a string in writable memory");
	note_copy(memory, child, writable, "what was there at the mark");
	assert_label(memory, child, writable, "what was there at the mark");
	note_copy(memory, child, writable, "then this");
	assert_label(memory, child, writable, "then this");
	note_copy(memory, child, writable, "");
	assert_label(memory, child, writable, "");
	memset(large, 'x', sizeof(large) - 1);
	large[sizeof(large) - 1] = '\0';
	note_copy(memory, child, writable, large);
	assert_int_equal(label_of(memory, child, writable).length, PROGRAM_LABEL_BYTES_MAX);
	assert_true(label_of(memory, child, writable).is_truncated);
	note_copy(memory, child, writable, NULL); /* it may hold anything by now */
	assert_unreadable(memory, child, writable);
	note_copy(memory, child, literal, NULL); /* a page that it had not touched yet */
	assert_label(memory, child, literal, "a literal of this program");
	child_end(child);
	program_memory_free(memory);
}

/* Nothing is looked up in /proc: the number may be that of any process. */
static void a_file_by_itself_has_what_was_noted(void **state)
{
	struct program_memory *memory = program_memory_new(NULL);
	uint32_t number = PROGRAM_IS_FILE | (uint32_t)getpid();
	struct proc_mapping mapping;
	struct event_text text;
	struct proc_maps maps;
	uint64_t start;
	int fd;

	(void)state;
	assert_int_equal(proc_maps_read(&maps, getpid()), 0);
	mapping = *proc_maps_find(&maps, (uintptr_t)literal);
	fd = proc_mapping_open(&mapping, getpid());
	start = mapping.start;
	mapping.start = 4096; /* wherever the file has it */
	mapping.end -= start - mapping.start;
	assert_int_equal(program_memory_note_mapping(memory, number, 1, 0, &mapping, fd), 0);
	close(fd);
	assert_int_equal(program_memory_literal(memory, number, (uintptr_t)literal - start + 4096, &text), 0);
	assert_int_equal(text.length, strlen(literal));
	assert_memory_equal(text.bytes, literal, text.length);
	assert_int_equal(program_memory_label(memory, number, (uintptr_t)literal, &text), 0);
	assert_true(text.is_unreadable); /* though we have it there */
	proc_maps_release(&maps);
	program_memory_free(memory);
}

static int set_up(void **state)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *pages = mmap(NULL, 6 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	if (pages == MAP_FAILED)
		return -1;
	munmap(pages + page, page);
	at_page_end = strcpy(pages + page - sizeof("last bytes of a page"), "last bytes of a page");
	across_pages = strcpy(pages + 3 * page - 10, "over the edge of a page");
	munmap(pages + 4 * page, page);
	without_end = memset(pages + 4 * page - 1000, 'x', 1000);
	never_touched = pages + 5 * page;
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strings_of_a_living_process_are_read),
		cmocka_unit_test(wild_pointers_are_unreadable),
		cmocka_unit_test(a_string_without_an_end_is_cut_off),
		cmocka_unit_test(labels_are_read_after_the_process_has_ended),
		cmocka_unit_test(a_literal_is_what_nobody_can_have_changed),
		cmocka_unit_test(an_exec_separates_what_came_before_from_what_comes_after),
		cmocka_unit_test(a_forked_child_has_its_parents_mappings),
		cmocka_unit_test(a_mapping_that_takes_anothers_place_replaces_it),
		cmocka_unit_test(a_copy_goes_before_what_is_there),
		cmocka_unit_test(a_file_by_itself_has_what_was_noted),
		cmocka_unit_test(a_program_cannot_make_us_wait),
		cmocka_unit_test(a_flood_of_labels_spoils_its_own_program_only),
		cmocka_unit_test(all_programs_together_meet_a_limit_and_give_back_what_they_had),
	};

	return cmocka_run_group_tests_name("program_memory", tests, set_up, NULL);
}
