/* SPDX-License-Identifier: BSD-2-Clause */
/* The arguments of USDT notes, as compilers really wrote them and as they never would. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "attach/probes/usdt_argument.h"

#define NONE FOREIGN_NO_REGISTER

static const struct {
	uint16_t machine;
	const char *arguments;
	size_t idx;
	int err;
	struct foreign_value value;
} cases[] = {
	/* postgresql, hotspot, ruby */
	{ EM_X86_64, "4@%ebx", 0, 0, { FOREIGN_REGISTER, 4, 0, 0, 40, NONE, 0, 0, 0, 0 } },
	{ EM_X86_64, "4@60(%rax)", 0, 0, { FOREIGN_MEMORY, 4, 0, 0, 80, NONE, 0, 0, 60, 0 } },
	{ EM_X86_64,
	  "4@(%r12) 4@4(%r12) 2@12(%r12) 1@14(%r12) -4@%r13d",
	  0,
	  0,
	  { FOREIGN_MEMORY, 4, 0, 0, 24, NONE, 0, 0, 0, 0 } },
	{ EM_X86_64,
	  "4@(%r12) 4@4(%r12) 2@12(%r12) 1@14(%r12) -4@%r13d",
	  2,
	  0,
	  { FOREIGN_MEMORY, 2, 0, 0, 24, NONE, 0, 0, 12, 0 } },
	{ EM_X86_64,
	  "4@(%r12) 4@4(%r12) 2@12(%r12) 1@14(%r12) -4@%r13d",
	  4,
	  0,
	  { FOREIGN_REGISTER, 4, 1, 0, 16, NONE, 0, 0, 0, 0 } },
	{ EM_X86_64, "8@-144(%rbp)", 0, 0, { FOREIGN_MEMORY, 8, 0, 0, 32, NONE, 0, 0, -144, 0 } },
	{ EM_X86_64,
	  "8@%r13 -4@%r14d 8@%rdi -4@$-1 1@%r15b",
	  3,
	  0,
	  { FOREIGN_CONSTANT, 4, 1, 0, NONE, NONE, 0, 0, -1, 0 } },
	{ EM_X86_64,
	  "8@%r13 -4@%r14d 8@%rdi -4@$-1 1@%r15b",
	  4,
	  0,
	  { FOREIGN_REGISTER, 1, 0, 0, 0, NONE, 0, 0, 0, 0 } },
	{ EM_X86_64, "1@%dil", 0, 0, { FOREIGN_REGISTER, 1, 0, 0, 112, NONE, 0, 0, 0, 0 } },
	{ EM_X86_64, "-4@112(%rsp)", 0, 0, { FOREIGN_MEMORY, 4, 1, 0, 152, NONE, 0, 0, 112, 0 } },
	/* others that compilers write */
	{ EM_X86_64, "8@-8(%rbp,%rax,4)", 0, 0, { FOREIGN_MEMORY, 8, 0, 0, 32, 80, 2, 0, -8, 0 } },
	{ EM_X86_64, "8@(%rbx,%rcx)", 0, 0, { FOREIGN_MEMORY, 8, 0, 0, 40, 88, 0, 0, 0, 0 } },
	{ EM_X86_64, "8@16(,%rcx,8)", 0, 0, { FOREIGN_MEMORY, 8, 0, 0, NONE, 88, 3, 0, 16, 0 } },
	{ EM_X86_64, "8@$0xfffffffffffffffe", 0, 0, { FOREIGN_CONSTANT, 8, 0, 0, NONE, NONE, 0, 0, -2, 0 } },
	{ EM_X86_64, "  8@%rdi   -8@%rsi ", 1, 0, { FOREIGN_REGISTER, 8, 1, 0, 104, NONE, 0, 0, 0, 0 } },
	{ EM_X86_64, "-4@NBuffers(%rip) -4@%eax", 0, -ENOTSUP, { 0 } },
	{ EM_X86_64, "-4@40+CheckpointStats(%rip)", 0, -ENOTSUP, { 0 } },
	{ EM_X86_64, "-4@16(%rip)", 0, -ENOTSUP, { 0 } },
	{ EM_X86_64, "-4@NBuffers(%rip) -4@%eax", 1, 0, { FOREIGN_REGISTER, 4, 1, 0, 80, NONE, 0, 0, 0, 0 } },
	{ EM_X86_64, "8f@%xmm0", 0, -ENOTSUP, { 0 } },
	{ EM_X86_64, "1@%ah", 0, -ENOTSUP, { 0 } },
	{ EM_X86_64, "4@%ebx", 1, -ENOENT, { 0 } },
	{ EM_X86_64, "", 0, -ENOENT, { 0 } },
	{ EM_X86_64, "3@%ebx", 0, -EBADMSG, { 0 } },
	{ EM_X86_64, "@%ebx", 0, -EBADMSG, { 0 } },
	{ EM_X86_64, "8@", 0, -ENOTSUP, { 0 } },
	{ EM_X86_64, "8@(", 0, -EBADMSG, { 0 } },
	{ EM_X86_64, "8@(%rbx,%rcx,3)", 0, -EBADMSG, { 0 } },
	{ EM_X86_64, "8@%", 0, -ENOTSUP, { 0 } },
	{ EM_X86_64, "8@%rdi+", 0, -ENOTSUP, { 0 } },
	{ EM_AARCH64, "-4@x0 8@x2 8@x1", 0, 0, { FOREIGN_REGISTER, 4, 1, 0, 0, NONE, 0, 0, 0, 0 } },
	{ EM_AARCH64, "-4@x0 8@x2 8@x1", 2, 0, { FOREIGN_REGISTER, 8, 0, 0, 8, NONE, 0, 0, 0, 0 } },
	{ EM_AARCH64, "4@[sp, 12] 8@[x19] 8@w3", 0, 0, { FOREIGN_MEMORY, 4, 0, 0, 248, NONE, 0, 0, 12, 0 } },
	{ EM_AARCH64, "4@[sp, 12] 8@[x19] 8@w3", 1, 0, { FOREIGN_MEMORY, 8, 0, 0, 152, NONE, 0, 0, 0, 0 } },
	{ EM_AARCH64, "4@[sp, 12] 8@[x19] 8@w3", 2, 0, { FOREIGN_REGISTER, 8, 0, 0, 24, NONE, 0, 0, 0, 0 } },
	{ EM_AARCH64, "8@[x0, x1]", 0, 0, { FOREIGN_MEMORY, 8, 0, 0, 0, 8, 0, 0, 0, 0 } },
	{ EM_AARCH64, "-4@-5", 0, 0, { FOREIGN_CONSTANT, 4, 1, 0, NONE, NONE, 0, 0, -5, 0 } },
	{ EM_AARCH64, "8@x31", 0, -ENOTSUP, { 0 } },
	{ EM_AARCH64, "8@[x0", 0, -ENOTSUP, { 0 } },
};

static void arguments_are_found_where_the_note_says(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct foreign_value value = { 0 };
		int err = usdt_argument_find(&value, cases[i].arguments, cases[i].idx, cases[i].machine);

		if (err != cases[i].err || (!err && memcmp(&value, &cases[i].value, sizeof(value)) != 0))
			fail_msg("argument %zu of \"%s\": %d, source %d, register %d, index %d, offset %ld",
				 cases[i].idx, cases[i].arguments, err, value.source, value.register_offset,
				 value.index_offset, (long)value.offset);
	}
}

static void they_are_counted(void **state)
{
	(void)state;
	assert_int_equal(usdt_argument_cnt(""), 0);
	assert_int_equal(usdt_argument_cnt("4@%ebx"), 1);
	assert_int_equal(usdt_argument_cnt("4@[sp, 12] 8@[x19] 8@w3"), 3);
	assert_int_equal(usdt_argument_cnt(" 4@%ebx  "), 1);
}

static void a_function_has_its_arguments_in_registers(void **state)
{
	struct foreign_value value = { 0 };

	(void)state;
	assert_int_equal(usdt_argument_of_function(&value, 0, EM_X86_64), 0);
	assert_int_equal(value.register_offset, 112);
	assert_int_equal(usdt_argument_of_function(&value, 5, EM_X86_64), 0);
	assert_int_equal(value.register_offset, 64);
	assert_int_equal(usdt_argument_of_function(&value, 6, EM_X86_64), -ENOTSUP);
	assert_int_equal(usdt_argument_of_function(&value, 7, EM_AARCH64), 0);
	assert_int_equal(value.register_offset, 56);
	usdt_return_value(&value, EM_X86_64);
	assert_int_equal(value.register_offset, 80);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arguments_are_found_where_the_note_says),
		cmocka_unit_test(they_are_counted),
		cmocka_unit_test(a_function_has_its_arguments_in_registers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
