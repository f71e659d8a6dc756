/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of code: maps of JIT compilers, kallsyms, what a page fault waits for, and the symbolizer with files
 * that are none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "attach/code/code_file.h"
#include "attach/code/kernel_symbols.h"
#include "attach/process/perf_map.h"
#include "attach/code/symbolizer.h"
#include "record/stacks/code_stacks.h"
#include "record/sandbox/confinement.h"
#include "record/kernel/fault_ranges.h"
#include "txtrace/event.h"
#include "unit/skip.h"

static struct perf_map map_of(const char *text)
{
	struct perf_map map;

	assert_int_equal(perf_map_parse(&map, strdup(text), strlen(text)), 0);
	return map;
}

static void expect_entry(const struct perf_map *map, uint64_t address, const char *name)
{
	const struct perf_map_entry *entry = perf_map_find(map, address);

	if (!name) {
		assert_null(entry);
		return;
	}
	assert_non_null(entry);
	assert_int_equal(entry->name_length, strlen(name));
	assert_memory_equal(entry->name, name, strlen(name));
}

static void made_code_has_the_name_that_was_told_last(void **state)
{
	struct perf_map map = map_of("2000 10 second\n1000 100 first\n1000 80 first again\n0x3000 0x8 with "
				     "prefix\n10a0 10 inside\n");

	(void)state;
	expect_entry(&map, 0x0fff, NULL);
	expect_entry(&map, 0x1000, "first again");
	expect_entry(&map, 0x107f, "first again");
	expect_entry(&map, 0x1080, NULL);
	expect_entry(&map, 0x10a8, "inside");
	expect_entry(&map, 0x200f, "second");
	expect_entry(&map, 0x2010, NULL);
	expect_entry(&map, 0x3007, "with prefix");
	perf_map_release(&map);
}

static void lines_of_rubbish_are_skipped(void **state)
{
	struct perf_map map = map_of("\n \nx 10 a\n10 x a\n10\n10 20\n10 20 \n"
				     "ffffffffffffffff 10 over the end\n11111111111111111 1 too long\n10 0 "
				     "empty\n50 10 good\n60 8");

	(void)state;
	assert_int_equal(map.cnt, 1);
	expect_entry(&map, 0x55, "good");
	perf_map_release(&map);
	map = map_of("");
	expect_entry(&map, 0, NULL);
	perf_map_release(&map);
}

static const char kallsyms[] = "0000000000000000 A fixed_percpu_data\n"
			       "ffffffff81000000 T _stext\n"
			       "ffffffff81000100 T handle_userfault\n"
			       "ffffffff81000300 t other\n"
			       "ffffffff81000400 t do_swap_page\n"
			       "ffffffff81000500 t do_swap_page.cold\n"
			       "ffffffff81000520 D no_code\n"
			       "ffffffff81000540 T filemap_fault_of_others\n"
			       "ffffffff81000600 T filemap_fault\n"
			       "ffffffffc0000000 t module_function\t[module]\n"
			       "rubbish\n";

static void kernel_addresses_have_names(void **state)
{
	struct kernel_symbols symbols;

	(void)state;
	assert_int_equal(kernel_symbols_parse(&symbols, kallsyms, strlen(kallsyms)), 0);
	assert_null(kernel_symbols_find(&symbols, 0x1000));
	assert_string_equal(kernel_symbols_find(&symbols, 0xffffffff81000000), "_stext");
	assert_string_equal(kernel_symbols_find(&symbols, 0xffffffff810002ff), "handle_userfault");
	assert_string_equal(kernel_symbols_find(&symbols, 0xffffffff81000530), "do_swap_page.cold");
	assert_string_equal(kernel_symbols_find(&symbols, 0xffffffffc0000010), "module_function");
	kernel_symbols_release(&symbols);
}

static int each_part(const void *symbols, const char *name, kernel_part_visit visit, void *context)
{
	return kernel_symbols_each_part(symbols, name, visit, context);
}

static size_t find_faults(struct fault_range ranges[FAULT_RANGE_MAX], const struct kernel_symbols *symbols)
{
	const struct fault_symbols source = { each_part, symbols };

	return fault_ranges_find(ranges, &source);
}

static void faults_are_told_by_the_functions_they_wait_in(void **state)
{
	struct fault_range ranges[FAULT_RANGE_MAX];
	struct kernel_symbols symbols;

	(void)state;
	assert_int_equal(kernel_symbols_parse(&symbols, kallsyms, strlen(kallsyms)), 0);
	assert_int_equal(find_faults(ranges, &symbols), 4);
	assert_int_equal(ranges[0].fault, FAULT_USERFAULTFD);
	assert_true(ranges[0].begin == 0xffffffff81000100 && ranges[0].end == 0xffffffff81000300);
	assert_int_equal(ranges[1].fault, FAULT_FILE);
	assert_true(ranges[1].begin == 0xffffffff81000600 && ranges[1].end == 0xffffffffc0000000);
	assert_int_equal(ranges[2].fault, FAULT_SWAP);
	assert_true(ranges[2].begin == 0xffffffff81000400 && ranges[2].end == 0xffffffff81000500);
	assert_int_equal(ranges[3].fault, FAULT_SWAP);
	assert_true(ranges[3].end == 0xffffffff81000540);
	kernel_symbols_release(&symbols);
}

/* Up to 6.4 the architecture's code takes the lock of the address space; handle_mm_fault() takes others. */
static void old_kernels_take_the_lock_elsewhere(void **state)
{
	static const char old[] = "ffffffff81000000 T _stext\n"
				  "ffffffff81000100 t rwsem_down_read_slowpath\n"
				  "ffffffff81000200 T handle_mm_fault\n"
				  "ffffffff81000300 t other\n",
			  fresh[] = "ffffffff81000000 T _stext\n"
				    "ffffffff81000100 t rwsem_down_read_slowpath\n"
				    "ffffffff81000200 T handle_mm_fault\n"
				    "ffffffff81000300 T lock_mm_and_find_vma\n"
				    "ffffffff81000400 t other\n";
	struct fault_range ranges[FAULT_RANGE_MAX];
	struct kernel_symbols symbols;

	(void)state;
	assert_int_equal(kernel_symbols_parse(&symbols, old, strlen(old)), 0);
	assert_int_equal(find_faults(ranges, &symbols), 2);
	assert_true(ranges[0].begin == 0xffffffff81000100 && ranges[0].fault == FAULT_MMAP_LOCK);
	assert_true(ranges[1].begin == 0xffffffff81000200 && ranges[1].fault == FAULT_UNKNOWN);
	kernel_symbols_release(&symbols);
	assert_int_equal(kernel_symbols_parse(&symbols, fresh, strlen(fresh)), 0);
	assert_int_equal(find_faults(ranges, &symbols), 1);
	assert_true(ranges[0].begin == 0xffffffff81000300 && ranges[0].fault == FAULT_MMAP_LOCK);
	kernel_symbols_release(&symbols);
}

/* ---- the symbolizer ---- */

#define ANSWER_MAX 8

struct answers {
	char names[ANSWER_MAX][256];
	char source[ANSWER_MAX][64];
	size_t cnt;
};

static int take_answer(void *context, const struct symbol_answer *answer)
{
	struct answers *answers = context;

	assert_true(answer->cookie < ANSWER_MAX);
	snprintf(answers->names[answer->cookie], sizeof(answers->names[0]), "%.*s", (int)answer->names_length,
		 answer->names_length ? answer->names : "");
	snprintf(answers->source[answer->cookie], sizeof(answers->source[0]), "%s", answer->source);
	answers->cnt++;
	return 0;
}

static int file_of(const void *bytes, size_t size)
{
	int fd = memfd_create("code", MFD_CLOEXEC);

	assert_int_equal(write(fd, bytes, size), size);
	return fd;
}

__attribute__((noinline)) void test_code_names_known_function(void);
void test_code_names_known_function(void)
{
	__asm__ volatile("");
}

/* Where the linker has put it: what is in memory, less where the program was loaded. */
static uint64_t address_in_file(void *function, int fd)
{
	struct code_file *file = code_file_new(0, dup(fd), "test");
	uint64_t start = 0, offset, address = 0, begin, end;
	char line[512];
	FILE *maps = fopen("/proc/self/maps", "re");

	while (!start && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx %*s %lx", &begin, &end, &offset) == 3 &&
		    (uint64_t)function >= begin && (uint64_t)function < end)
			start = begin;
	}
	fclose(maps);
	assert_true(start && code_file_address(file, offset + ((uint64_t)function - start), &address));
	code_file_free(file);
	return address;
}

/* As the recorder has it: what libdw takes is allowed. */
static void settle(void *context)
{
	(void)context;
	confinement_begin_symbols();
}

static const struct outside_settle confined = { settle, NULL };

static void functions_are_named_whatever_else_is_asked(void **state)
{
	static const char rubbish[] = "\x7f"
				      "ELF\2\1\1 this is no ELF file, but begins like one, and is long "
				      "enough to have a header and more";
	int fds[] = { open("/proc/self/exe", O_RDONLY | O_CLOEXEC), file_of(rubbish, sizeof(rubbish)),
		      file_of("", 0) };
	struct answers answers = { .cnt = 0 };
	struct symbolizer *symbolizer;

	(void)state;
	if (geteuid() == 0 && !can_become_nobody())
		skip_because(
			"root's rights cannot be given up: there is no other user in this user namespace");
	assert_int_equal(symbolizer_new(&symbolizer, &confined), 0);
	for (uint32_t i = 0; i < 3; i++) {
		struct symbol_query query = {
			.cookie = i, .file = i + 1, .fd = fds[(i + 1) % 3], .address = 0x1000
		};

		if (i == 2)
			query.address = address_in_file((void *)test_code_names_known_function, fds[0]);
		assert_int_equal(symbolizer_ask(symbolizer, &query), 0);
	}
	assert_int_equal(symbolizer_poll(symbolizer, take_answer, &answers, 60000000000), 0);
	assert_int_equal(answers.cnt, 3);
	assert_false(symbolizer_has_failed(symbolizer));
	assert_string_equal(answers.names[0], "");
	assert_string_equal(answers.names[1], "");
	assert_string_equal(answers.names[2], "test_code_names_known_function");
	assert_string_equal(answers.source[2], "test_code_names.c");
	symbolizer_free(symbolizer);
	for (size_t i = 0; i < 3; i++)
		close(fds[i]);
}

/*
 * The program's own bytes, with some of them changed: whatever libdw makes of it, each question is answered.
 */
/* ---- futexes ---- */

struct told {
	char name[256];
	size_t cnt;
};

static int take_told(void *context, const struct txtrace_record *record)
{
	struct told *told = context;

	assert_int_equal(record->kind, TXTRACE_RECORD_OBJECT);
	snprintf(told->name, sizeof(told->name), "%.*s", (int)record->object.name.length,
		 record->object.name.bytes);
	told->cnt++;
	return 0;
}

/* A file may end before the symbolizer has had the time to answer. */
static void a_futex_whose_frames_have_no_names_at_the_end_of_a_file_is_told_in_the_next(void **state)
{
	const struct {
		struct wire_stack stack;
		uint64_t user[1];
	} wait = {
		.stack = { .header = { .kind = WIRE_STACK,
				       .size = sizeof(wait),
				       .time_ns = 1000,
				       .tgid = (uint32_t)getpid(),
				       .tid = (uint32_t)getpid() },
			   .begin_ns = 900,
			   .object = 0x1000,
			   .what = WIRE_STACK_FUTEX,
			   .user_cnt = 1 },
		.user = { (uintptr_t)test_code_names_known_function },
	};
	struct code_stacks *stacks = code_stacks_new(false, &confined);
	struct wire_stack_number number;
	struct told told = { .cnt = 0 };

	(void)state;
	if (geteuid() == 0 && !can_become_nobody()) {
		code_stacks_free(stacks);
		skip_because(
			"root's rights cannot be given up: there is no other user in this user namespace");
	}
	assert_non_null(stacks);
	code_stacks_set_sink(stacks, take_told, &told);
	assert_int_equal(code_stacks_take(stacks, &wait, sizeof(wait), &number), 0);
	assert_int_equal(code_stacks_end_file(stacks, 2000, 0, false), 0);
	if (!told.cnt)
		assert_int_equal(code_stacks_end_file(stacks, 3000, 60000000000, true), 0);
	assert_int_equal(told.cnt, 1);
	assert_memory_equal(told.name, "test_code_names_known_function test_code_names.c:", 49);
	code_stacks_free(stacks);
}

static void files_that_lie_are_survived(void **state)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	size_t size = (size_t)lseek(fd, 0, SEEK_END);
	uint8_t *bytes = malloc(size);
	uint64_t address = address_in_file((void *)test_code_names_known_function, fd);

	(void)state;
	assert_int_equal(pread(fd, bytes, size, 0), size);
	for (uint32_t round = 0; round < 8; round++) {
		struct answers answers = { .cnt = 0 };
		struct symbolizer *symbolizer;
		struct symbol_query query = { .file = 1, .address = address };
		uint64_t random = 88172645463325252u + round;

		/* but for the header, or nobody would look further */
		for (size_t i = 0; i < size / 50; i++) {
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			bytes[64 + random % (size - 64)] = (uint8_t)(random >> 40);
		}
		query.fd = file_of(bytes, size);
		assert_int_equal(symbolizer_new(&symbolizer, &confined), 0);
		assert_int_equal(symbolizer_ask(symbolizer, &query), 0);
		assert_int_equal(symbolizer_poll(symbolizer, take_answer, &answers, 60000000000), 0);
		assert_int_equal(answers.cnt, 1);
		symbolizer_free(symbolizer);
		close(query.fd);
	}
	free(bytes);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(made_code_has_the_name_that_was_told_last),
		cmocka_unit_test(lines_of_rubbish_are_skipped),
		cmocka_unit_test(kernel_addresses_have_names),
		cmocka_unit_test(faults_are_told_by_the_functions_they_wait_in),
		cmocka_unit_test(old_kernels_take_the_lock_elsewhere),
		cmocka_unit_test(functions_are_named_whatever_else_is_asked),
		cmocka_unit_test(files_that_lie_are_survived),
		cmocka_unit_test(a_futex_whose_frames_have_no_names_at_the_end_of_a_file_is_told_in_the_next),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
