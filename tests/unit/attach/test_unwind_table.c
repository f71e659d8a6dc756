/* SPDX-License-Identifier: BSD-2-Clause */
/* Rules of frames: of a section that is written by hand, of this program itself, and of rubbish. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <fcntl.h>
#include <unistd.h>

#include "attach/code/code_file.h"
#include "attach/code/unwind_table.h"

#define SECTION_ADDRESS 0x1000

/*
 * One function at 0x2000, 32 bytes long: pushes rbp at +1, takes its value from rsp at +4, and rbx at -24
 * from +8 on.
 */
static const uint8_t section[] = {
	/* CIE: code 1, data -8, return address 16, pcrel sdata4 */
	0x14, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b,
	/* CFA = rsp + 8, return address at CFA - 8 */
	0x0c, 7, 8, 0x90, 1, 0, 0,
	0x1c, 0, 0, 0, 0x1c, 0, 0, 0,                                    /* FDE of the CIE at 0 */
	/* 0x2000 - 0x1020, 32 bytes, no augmentation */
	0xe0, 0x0f, 0, 0, 32, 0, 0, 0, 0,
	/* +1: CFA = rsp + 16, rbp at CFA - 16 */
	0x41, 0x0e, 16, 0x86, 2,
	0x43, 0x0d, 6,                                                   /* +4: CFA = rbp + 16 */
	0x44, 0x83, 3, 0, 0, 0, 0,                                       /* +8: rbx at CFA - 24 */
	0, 0, 0, 0,
};

/*
 * One for aarch64 there: from +4 on 32 bytes of stack, x29 and x30 in them, signed; from +8 on x19 (and x8,
 * which nobody needs); at +16 it takes all back.
 */
static const uint8_t aarch64_section[] = {
	/* CIE: code 4, data -8, return address 30, pcrel sdata4 */
	0x10, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 4, 0x78, 30, 1, 0x1b,
	0x0c, 31, 0,                                                     /* CFA = sp */
	0x20, 0, 0, 0, 0x18, 0, 0, 0,                                    /* FDE of the CIE at 0 */
	/* 0x2000 - 0x101c, 32 bytes, no augmentation */
	0xe4, 0x0f, 0, 0, 32, 0, 0, 0, 0,
	/* +4: CFA = sp + 32, x29 at CFA - 32, x30 at CFA - 24 */
	0x41, 0x2d, 0x0e, 32, 0x9d, 4, 0x9e, 3,
	/* +8: x19 at CFA - 16, x8 at CFA - 8 */
	0x41, 0x93, 2, 0x88, 1,
	/* +16: x29, x30 are the caller's again, CFA = sp */
	0x42, 0xdd, 0xde, 0x0e, 0, 0,
	0, 0, 0, 0,
};

static struct unwind_table table_of(const uint8_t *bytes, size_t size)
{
	struct unwind_table table;
	uint8_t *copy = malloc(size);

	memcpy(copy, bytes, size);
	assert_int_equal(unwind_table_init(&table, copy, size, SECTION_ADDRESS), 0);
	return table;
}

static void rules_hold_from_their_instruction_on(void **state)
{
	struct unwind_table table = table_of(section, sizeof(section));
	struct unwind_row row;

	(void)state;
	assert_int_equal(table.cnt, 1);
	assert_int_equal(table.functions[0].begin, 0x2000);
	assert_int_equal(table.functions[0].end, 0x2020);
	assert_false(unwind_table_find(&table, 0x1fff, &row));
	assert_false(unwind_table_find(&table, 0x2020, &row));

	assert_true(unwind_table_find(&table, 0x2000, &row));
	assert_int_equal(row.frame_register, 7);
	assert_int_equal(row.frame_offset, 8);
	assert_int_equal(row.return_register, UNWIND_PC);
	assert_int_equal(row.rules[16], UNWIND_AT);
	assert_int_equal(row.offsets[16], -8);
	assert_int_equal(row.rules[6], UNWIND_SAME);

	assert_true(unwind_table_find(&table, 0x2001, &row));
	assert_int_equal(row.frame_offset, 16);
	assert_int_equal(row.rules[6], UNWIND_AT);
	assert_int_equal(row.offsets[6], -16);

	assert_true(unwind_table_find(&table, 0x2007, &row));
	assert_int_equal(row.frame_register, 6);
	assert_int_equal(row.rules[3], UNWIND_SAME);
	assert_true(unwind_table_find(&table, 0x201f, &row));
	assert_int_equal(row.rules[3], UNWIND_AT);
	assert_int_equal(row.offsets[3], -24);
	unwind_table_release(&table);
}

static void aarch64_returns_by_its_link_register(void **state)
{
	struct unwind_table table = table_of(aarch64_section, sizeof(aarch64_section));
	struct unwind_row row;

	(void)state;
	assert_int_equal(table.cnt, 1);
	assert_true(unwind_table_find(&table, 0x2000, &row));
	assert_int_equal(row.frame_register, UNWIND_SP);
	assert_int_equal(row.frame_offset, 0);
	assert_int_equal(row.return_register, UNWIND_LINK);
	assert_int_equal(row.rules[UNWIND_LINK], UNWIND_SAME);

	assert_true(unwind_table_find(&table, 0x2004, &row));
	assert_int_equal(row.frame_register, UNWIND_SP);
	assert_int_equal(row.frame_offset, 32);
	assert_int_equal(row.rules[UNWIND_FP], UNWIND_AT);
	assert_int_equal(row.offsets[UNWIND_FP], -32);
	assert_int_equal(row.rules[UNWIND_LINK], UNWIND_AT);
	assert_int_equal(row.offsets[UNWIND_LINK], -24);
	assert_int_equal(row.rules[0], UNWIND_SAME);

	assert_true(unwind_table_find(&table, 0x200c, &row));
	assert_int_equal(row.rules[0], UNWIND_AT); /* x19 */
	assert_int_equal(row.offsets[0], -16);
	assert_int_equal(row.rules[8], UNWIND_SAME); /* x25, and not x8 */

	assert_true(unwind_table_find(&table, 0x2010, &row));
	assert_int_equal(row.frame_offset, 0);
	assert_int_equal(row.rules[UNWIND_FP], UNWIND_SAME);
	assert_int_equal(row.rules[UNWIND_LINK], UNWIND_SAME);
	assert_int_equal(row.rules[0], UNWIND_AT);
	unwind_table_release(&table);
}

/*
 * Every byte changed in every way that matters, and every length: it ends, and stays within the section (the
 * sanitizer sees to that).
 */
static void survives(const uint8_t *bytes, size_t section_size)
{
	uint8_t broken[128];
	struct unwind_row row;

	for (size_t at = 0; at < section_size; at++) {
		for (unsigned int value = 0; value < 256; value += 5) {
			struct unwind_table table;

			memcpy(broken, bytes, section_size);
			broken[at] = (uint8_t)value;
			table = table_of(broken, section_size);
			for (uint64_t address = 0x1ff0; address < 0x2030; address += 7)
				unwind_table_find(&table, address, &row);
			unwind_table_release(&table);
		}
	}
	for (size_t size = 1; size < section_size; size++) {
		struct unwind_table table = table_of(bytes, size);

		unwind_table_find(&table, 0x2010, &row);
		unwind_table_release(&table);
	}
}

static void rubbish_does_no_harm(void **state)
{
	(void)state;
	survives(section, sizeof(section));
	survives(aarch64_section, sizeof(aarch64_section));
}

/*
 * The compiler says the same of this very program as the processor: the return address of a function that has
 * just been entered is on top of its stack.
 */
static void this_program_has_rules(void **state)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct code_file *file = code_file_new(0, fd, "/usr/bin/test_unwind_table");
	struct unwind_row row;

	(void)state;
	assert_non_null(file);
	assert_string_equal(file->name, "test_unwind_table");
	assert_false(file->is_libc);
	assert_true(file->segments.cnt > 0);
	code_file_unwind(file, 0, &row);
	assert_true(file->unwind.cnt > 10);
	for (size_t i = 0; i < file->unwind.cnt; i++) {
		const struct unwind_function *function = &file->unwind.functions[i];

		for (uint64_t address = function->begin; address < function->end; address += 3)
			code_file_unwind(file, address, &row);
	}
	code_file_free(file);
}

/* Another process says the same; when it has been ended, nothing is known, and nobody waits. */
static void a_process_of_its_own_says_the_same(void **state)
{
	const struct outside_settle settle = { 0 };
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct code_file *here = code_file_new(0, fd, "here"), *outside;
	struct unwind_row row, other;
	struct unwinder *unwinder;
	size_t known_cnt = 0;

	(void)state;
	assert_non_null(here);
	assert_int_equal(unwinder_new(&unwinder, &settle), 0);
	outside = code_file_new_outside(unwinder, 7, dup(fd), "outside");
	assert_non_null(outside);
	assert_int_equal(outside->segments.cnt, here->segments.cnt);
	assert_memory_equal(&outside->segments, &here->segments, sizeof(here->segments));
	code_file_unwind(here, 0, &row);
	assert_true(here->unwind.cnt > 10);
	for (size_t i = 0; i < here->unwind.cnt; i++) {
		memset(&row, 0, sizeof(row));
		memset(&other, 0, sizeof(other));
		known_cnt += code_file_unwind(here, here->unwind.functions[i].begin, &row);
		code_file_unwind(outside, here->unwind.functions[i].begin, &other);
		assert_memory_equal(&row, &other, sizeof(row));
	}
	assert_true(known_cnt > 10);
	assert_false(unwinder_row(unwinder, 8, here->unwind.functions[0].begin, &row));
	assert_false(unwinder_has_failed(unwinder));
	code_file_free(outside);
	outside = code_file_new_outside(unwinder, 9, open("/dev/null", O_RDONLY | O_CLOEXEC), "");
	assert_non_null(outside);
	assert_int_equal(outside->segments.cnt, 0);
	unwinder_free(unwinder);
	code_file_free(outside);
	code_file_free(here);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_hold_from_their_instruction_on),
		cmocka_unit_test(aarch64_returns_by_its_link_register),
		cmocka_unit_test(rubbish_does_no_harm),
		cmocka_unit_test(this_program_has_rules),
		cmocka_unit_test(a_process_of_its_own_says_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
