/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ELF files that another process reads: the same is found as here, and whatever happens to that process, we
 * go on.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "attach/elf/elf_reader.h"
#include "record/sandbox/confinement.h"
#include "unit/skip.h"

#define CRASH_CNT 6

static struct elf_reader *open_reader(void)
{
	struct elf_reader *reader;

	if (geteuid() == 0 && !can_become_nobody())
		skip_because(
			"root's rights cannot be given up: there is no other user in this user namespace");
	assert_int_equal(confinement_elf_reader(&reader, false), 0);
	return reader;
}

static int open_self(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

static void functions_are_the_same(void **state)
{
	struct elf_reader *reader = open_reader();
	struct elf_functions there, here;
	int fd = open_self();
	size_t exit_cnt = 0;

	(void)state;
	assert_int_equal(elf_reader_functions(reader, &there, fd), 0);
	assert_int_equal(elf_functions_read(&here, fd), 0);
	print_message("%zu functions\n", here.cnt);
	assert_true(here.cnt > 20);
	assert_int_equal(there.cnt, here.cnt);
	assert_int_equal(there.machine, here.machine);
	assert_int_equal(there.has_unwinder, here.has_unwinder);
	assert_int_equal(there.is_stripped, here.is_stripped);
	assert_int_equal(there.needs_others, here.needs_others);
	assert_int_equal(there.is_go, here.is_go);
	for (size_t i = 0; i < here.cnt; i++) {
		const struct elf_function *parts_there[] = { &there.functions[i] },
					  *parts_here[] = { &here.functions[i] };
		struct function_exits exits_there = { 0 }, exits_here = { 0 };
		int err;

		assert_string_equal(there.functions[i].name, here.functions[i].name);
		assert_int_equal(there.functions[i].address, here.functions[i].address);
		assert_int_equal(there.functions[i].size, here.functions[i].size);
		assert_int_equal(there.functions[i].offset, here.functions[i].offset);
		if (i % 16)
			continue;
		err = elf_reader_exits(&here, parts_here, 1, &exits_here);
		assert_int_equal(elf_reader_exits(&there, parts_there, 1, &exits_there), err);
		assert_int_equal(exits_there.cnt, exits_here.cnt);
		if (exits_here.cnt)
			assert_memory_equal(exits_there.addresses, exits_here.addresses,
					    exits_here.cnt * sizeof(*exits_here.addresses));
		exit_cnt += exits_here.cnt;
		function_exits_release(&exits_there);
		function_exits_release(&exits_here);
	}
	assert_true(exit_cnt > 0);
	elf_functions_release(&there);
	elf_functions_release(&here);
	close(fd);
	elf_reader_free(reader);
}

/* An ELF file with two probes in one note section, one of them with a semaphore. */
struct small_file {
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	Elf64_Shdr sections[3];
	char names[32];
	struct {
		Elf64_Nhdr header;
		char owner[8];
		uint64_t pc, base, semaphore;
		char strings[24];
	} __attribute__((packed)) notes[2];
};

static int make_small_file(void)
{
	struct small_file file = {
		.header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB },
			    .e_machine = EM_X86_64,
			    .e_phnum = 1,
			    .e_phentsize = sizeof(Elf64_Phdr),
			    .e_shnum = 3,
			    .e_shentsize = sizeof(Elf64_Shdr),
			    .e_shstrndx = 1,
			    .e_phoff = offsetof(struct small_file, segment),
			    .e_shoff = offsetof(struct small_file, sections) },
		.segment = { .p_type = PT_LOAD, .p_flags = PF_X | PF_W, .p_filesz = sizeof(file) },
		.sections = { [1] = { .sh_type = SHT_STRTAB,
				      .sh_offset = offsetof(struct small_file, names),
				      .sh_size = 32 },
			      [2] = { .sh_name = 1,
				      .sh_type = SHT_NOTE,
				      .sh_offset = offsetof(struct small_file, notes),
				      .sh_size = sizeof(file.notes) } },
		.names = "\0.note.stapsdt",
	};
	static const char strings[2][24] = { "app\0first\0", "app\0second\0008@%rdi" };
	int fd = memfd_create("small", MFD_CLOEXEC);

	for (size_t i = 0; i < 2; i++) {
		file.notes[i].header = (Elf64_Nhdr){ 8, 48, 3 };
		memcpy(file.notes[i].owner, "stapsdt", 8);
		memcpy(file.notes[i].strings, strings[i], sizeof(strings[i]));
		file.notes[i].pc = 100 + i;
		file.notes[i].semaphore = i ? 200 : 0;
	}
	assert_int_equal(write(fd, &file, sizeof(file)), sizeof(file));
	return fd;
}

static void notes_are_the_same(void **state)
{
	struct elf_reader *reader = open_reader();
	struct elf_notes there;
	int fd = make_small_file();

	(void)state;
	assert_int_equal(elf_reader_notes(reader, &there, fd), 0);
	assert_int_equal(there.cnt, 2);
	assert_int_equal(there.machine, EM_X86_64);
	assert_string_equal(there.notes[0].provider, "app");
	assert_string_equal(there.notes[0].name, "first");
	assert_string_equal(there.notes[0].args, "");
	assert_int_equal(there.notes[0].offset, 100);
	assert_int_equal(there.notes[0].semaphore_offset, 0);
	assert_string_equal(there.notes[1].name, "second");
	assert_string_equal(there.notes[1].args, "8@%rdi");
	assert_int_equal(there.notes[1].offset, 101);
	assert_int_equal(there.notes[1].semaphore_offset, 200);
	elf_notes_release(&there);
	close(fd);
	elf_reader_free(reader);
}

static void what_is_no_elf_file_is_said_as_here(void **state)
{
	struct elf_reader *reader = open_reader();
	int text = memfd_create("text", MFD_CLOEXEC), pipes[2];
	struct elf_functions functions;
	struct function_count count;
	struct elf_reader_news news;
	struct elf_notes notes;

	(void)state;
	assert_int_equal(write(text, "#!/bin/sh\n", 10), 10);
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(elf_reader_notes(reader, &notes, text), -ENOEXEC);
	assert_int_equal(elf_reader_functions(reader, &functions, text), -ENOEXEC);
	assert_int_equal(elf_reader_count(reader, &count, text), -ENOEXEC);
	assert_int_equal(elf_reader_notes(reader, &notes, pipes[0]), -ENOEXEC);
	assert_int_equal(elf_reader_notes(reader, &notes, -1), -EBADF);
	assert_false(elf_reader_take_news(reader, &news));
	close(text);
	close(pipes[0]);
	close(pipes[1]);
	elf_reader_free(reader);
}

/* ---- processes that fail ---- */

/* In the process of one file: what is to happen instead of reading. */
static void crash(void *context)
{
	(void)context;
	raise(SIGKILL);
}

static void stop(void *context)
{
	(void)context;
	raise(SIGSTOP);
}

static void spin(void *context)
{
	(void)context;
	for (;;)
		__asm__ volatile("");
}

/* An answer that promises more than any file has. */
static void promise(void *context)
{
	struct elf_answer answer = { .machine = EM_X86_64,
				     .item_cnt = UINT64_MAX / sizeof(struct elf_note_item) + 2 };

	(void)context;
	send(OUTSIDE_SOCKET_FD, &answer, sizeof(answer), 0);
}

/* One note, as the context has it. */
static void lie(void *context)
{
	const struct elf_note_item *item = context;
	struct elf_answer answer = { .machine = EM_X86_64, .item_cnt = 1, .strings_size = 8 };

	send(OUTSIDE_SOCKET_FD, &answer, sizeof(answer), 0);
	send(OUTSIDE_SOCKET_FD, item, sizeof(*item), 0);
	send(OUTSIDE_SOCKET_FD, "ab\0cdef", 8, 0);
}

static void error_that_is_none(void *context)
{
	struct elf_answer answer = { .err = 7 };

	(void)context;
	send(OUTSIDE_SOCKET_FD, &answer, sizeof(answer), 0);
}

/* The file is unreadable and named; the next one is asked for as ever. */
static void expect_failure(void (*enter)(void *context), void *context, const char *why)
{
	const struct elf_settle settle = { .enter = enter, .context = context };
	struct elf_reader_news news;
	struct elf_reader *reader;
	struct elf_notes notes;
	int fd = make_small_file();

	if (geteuid() == 0 && !can_become_nobody())
		skip_because(
			"root's rights cannot be given up: there is no other user in this user namespace");
	assert_int_equal(elf_reader_new(&reader, &settle), 0);
	assert_int_equal(elf_reader_notes(reader, &notes, fd), -EIO);
	assert_true(elf_reader_take_news(reader, &news));
	assert_int_equal(news.file_cnt, 1);
	assert_string_equal(news.why, why);
	assert_non_null(strstr(news.path, "small"));
	assert_false(elf_reader_take_news(reader, &news));
	assert_int_equal(elf_reader_notes(reader, &notes, fd), -EIO);
	assert_true(elf_reader_take_news(reader, &news));
	close(fd);
	elf_reader_free(reader);
}

static void one_that_crashes_is_given_up(void **state)
{
	(void)state;
	expect_failure(crash, NULL, "the process that reads it ended");
}

/* The first few crash, so that the ones behind them get little time. */
struct sequence {
	int cnt; /* so far; of all processes */
	void (*last)(void *context);
};

static void crash_at_first(void *context)
{
	struct sequence *sequence = context;

	if (__atomic_fetch_add(&sequence->cnt, 1, __ATOMIC_RELAXED) < CRASH_CNT)
		crash(NULL);
	sequence->last(NULL);
}

static void expect_impatience(void (*last)(void *context))
{
	struct sequence *sequence = mmap(NULL, sizeof(*sequence), PROT_READ | PROT_WRITE,
					 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	const struct elf_settle settle = { .enter = crash_at_first, .context = sequence };
	struct elf_reader_news news;
	struct elf_reader *reader;
	struct elf_notes notes;
	int fd = make_small_file();

	if (geteuid() == 0 && !can_become_nobody())
		skip_because(
			"root's rights cannot be given up: there is no other user in this user namespace");
	sequence->last = last;
	assert_int_equal(elf_reader_new(&reader, &settle), 0);
	for (int i = 0; i < CRASH_CNT; i++)
		assert_int_equal(elf_reader_notes(reader, &notes, fd), -EIO);
	assert_true(elf_reader_take_news(reader, &news));
	assert_int_equal(news.file_cnt, CRASH_CNT);
	assert_int_equal(elf_reader_notes(reader, &notes, fd), -EIO);
	assert_true(elf_reader_take_news(reader, &news));
	assert_string_equal(news.why, "the process that reads it took too long");
	close(fd);
	elf_reader_free(reader);
	munmap(sequence, sizeof(*sequence));
}

static void one_that_is_stopped_is_given_up(void **state)
{
	(void)state;
	expect_impatience(stop);
}

static void one_that_takes_for_ever_is_given_up(void **state)
{
	(void)state;
	expect_impatience(spin);
}

static void nonsense_is_not_believed(void **state)
{
	static struct elf_note_item items[] = {
		{ .offset = 100, .provider = 8 },                        /* no string is there */
		{ .offset = 100, .provider = 0, .name = UINT32_MAX },
		{ .offset = 100, .provider = 2, .name = 3 },             /* an empty one */
		{ .offset = 0, .name = 3 },                              /* no place */
		{ .offset = sizeof(struct small_file), .name = 3 },      /* behind the file */
		{ .offset = UINT64_MAX, .name = 3 },
		{ .offset = 100, .semaphore_offset = sizeof(struct small_file) - 1, .name = 3 },
		{ .offset = 100, .semaphore_offset = UINT64_MAX, .name = 3 },
	};

	(void)state;
	expect_failure(promise, NULL, "the process that reads it made no sense");
	expect_failure(error_that_is_none, NULL, "the process that reads it made no sense");
	for (size_t i = 0; i < sizeof(items) / sizeof(items[0]); i++)
		expect_failure(lie, &items[i], "the process that reads it made no sense");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_are_the_same),
		cmocka_unit_test(notes_are_the_same),
		cmocka_unit_test(what_is_no_elf_file_is_said_as_here),
		cmocka_unit_test(one_that_crashes_is_given_up),
		cmocka_unit_test(one_that_is_stopped_is_given_up),
		cmocka_unit_test(one_that_takes_for_ever_is_given_up),
		cmocka_unit_test(nonsense_is_not_believed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
