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

#include "attach/code_file.h"
#include "attach/unwind_table.h"
#include "unit/skip.h"

#define SECTION_ADDRESS 0x1000

/* One function at 0x2000, 32 bytes long: pushes rbp at +1, takes its value from rsp at +4, and rbx at -24 from +8 on. */
static const uint8_t section[] = {
	0x14, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, /* CIE: code 1, data -8, return address 16, pcrel sdata4 */
	0x0c, 7, 8, 0x90, 1, 0, 0,                                       /* CFA = rsp + 8, return address at CFA - 8 */
	0x1c, 0, 0, 0, 0x1c, 0, 0, 0,                                    /* FDE of the CIE at 0 */
	0xe0, 0x0f, 0, 0, 32, 0, 0, 0, 0,                                /* 0x2000 - 0x1020, 32 bytes, no augmentation */
	0x41, 0x0e, 16, 0x86, 2,                                         /* +1: CFA = rsp + 16, rbp at CFA - 16 */
	0x43, 0x0d, 6,                                                   /* +4: CFA = rbp + 16 */
	0x44, 0x83, 3, 0, 0, 0, 0,                                       /* +8: rbx at CFA - 24 */
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

/* Every byte changed in every way that matters, and every length: it ends, and stays within the section (the sanitizer sees to that). */
static void rubbish_does_no_harm(void **state)
{
	uint8_t broken[sizeof(section)];
	struct unwind_row row;

	(void)state;
	for (size_t at = 0; at < sizeof(section); at++) {
		for (unsigned int value = 0; value < 256; value += 5) {
			struct unwind_table table;

			memcpy(broken, section, sizeof(section));
			broken[at] = (uint8_t)value;
			table = table_of(broken, sizeof(broken));
			for (uint64_t address = 0x1ff0; address < 0x2030; address += 7)
				unwind_table_find(&table, address, &row);
			unwind_table_release(&table);
		}
	}
	for (size_t size = 1; size < sizeof(section); size++) {
		struct unwind_table table = table_of(section, size);

		unwind_table_find(&table, 0x2010, &row);
		unwind_table_release(&table);
	}
}

/* The compiler says the same of this very program as the processor: the return address of a function that has just been entered is on top of its stack. */
static void this_program_has_rules(void **state)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct code_file *file = code_file_new(0, fd, "/usr/bin/test_unwind_table");
	struct unwind_row row;

	(void)state;
#if !defined(__x86_64__)
	skip_because("frames are found by these rules on x86-64 alone");
#endif
	assert_non_null(file);
	assert_string_equal(file->name, "test_unwind_table");
	assert_false(file->is_libc);
	assert_true(file->segment_cnt > 0);
	code_file_unwind(file, 0, &row);
	assert_true(file->unwind.cnt > 10);
	for (size_t i = 0; i < file->unwind.cnt; i++) {
		const struct unwind_function *function = &file->unwind.functions[i];

		for (uint64_t address = function->begin; address < function->end; address += 3)
			code_file_unwind(file, address, &row);
	}
	code_file_free(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_hold_from_their_instruction_on),
		cmocka_unit_test(rubbish_does_no_harm),
		cmocka_unit_test(this_program_has_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
