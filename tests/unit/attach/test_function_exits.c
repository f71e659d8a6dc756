/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where functions are left: of code written by hand, and of this program and its C library as they were
 * compiled.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/code/cxx_name.h"
#include "attach/elf/elf_functions.h"
#include "attach/elf/function_exits.h"
#include "attach/elf/x86_code.h"
#include "unit/skip.h"

/* After the manual, each with its length. */
static void instructions_are_as_long_as_the_manual_says(void **state)
{
	static const struct {
		const char *bytes;
		size_t length;
		enum x86_flow flow;
		int64_t target;
	} cases[] = {
		{ "\xc3", 1, X86_RETURNS, 0 },                                             /* ret */
		{ "\xf3\xc3", 2, X86_RETURNS, 0 },                                         /* repz ret */
		{ "\xc2\x08\x00", 3, X86_RETURNS, 0 },                                     /* ret 8 */
		{ "\x55", 1, X86_GOES_ON, 0 },                                             /* push %rbp */
		{ "\x48\x89\xe5", 3, X86_GOES_ON, 0 },                                     /* mov %rsp,%rbp */
		/* mov 0x4030201(%rip),%rax */
		{ "\x48\x8b\x05\x01\x02\x03\x04", 7, X86_GOES_ON, 0 },
		{ "\x48\xb8\x01\x02\x03\x04\x05\x06\x07\x08", 10, X86_GOES_ON, 0 },        /* movabs */
		/* mov $0x201,%ax */
		{ "\x66\xb8\x01\x02", 4, X86_GOES_ON, 0 },
		/* movl $…,8(%rsp) */
		{ "\xc7\x44\x24\x08\x01\x02\x03\x04", 8, X86_GOES_ON, 0 },
		{ "\xf7\xc7\x01\x02\x03\x04", 6, X86_GOES_ON, 0 },                         /* test $…,%edi */
		{ "\xf7\xd7", 2, X86_GOES_ON, 0 },                                         /* not %edi */
		/* testb $1,8(%rdi) */
		{ "\xf6\x47\x08\x01", 4, X86_GOES_ON, 0 },
		/* nopl 0(%rax,%rax,1) */
		{ "\x0f\x1f\x84\x00\x00\x00\x00\x00", 8, X86_GOES_ON, 0 },
		{ "\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00", 10, X86_GOES_ON, 0 },        /* cs nopw */
		{ "\xe8\x10\x00\x00\x00", 5, X86_GOES_ON, 0 },                             /* call */
		/* the call of thread-local storage */
		{ "\x66\x66\x48\xe8\x10\x00\x00\x00", 8, X86_GOES_ON, 0 },
		{ "\xe9\x10\x00\x00\x00", 5, X86_JUMPS, 16 },
		{ "\xeb\xfe", 2, X86_JUMPS, -2 },
		{ "\x74\x05", 2, X86_JUMPS_SOMETIMES, 5 },
		{ "\x0f\x84\xfb\xff\xff\xff", 6, X86_JUMPS_SOMETIMES, -5 },
		{ "\xc5\xf8\x77", 3, X86_GOES_ON, 0 },                                     /* vzeroupper */
		/* vbroadcastss 8(%rsp),%xmm0 */
		{ "\xc4\xe2\x79\x18\x44\x24\x08", 7, X86_GOES_ON, 0 },
		/* vmovdqu64 (%rdi),%zmm0 */
		{ "\x62\xf1\xfe\x48\x6f\x07", 6, X86_GOES_ON, 0 },
		{ "\xc8\x10\x00\x00", 4, X86_GOES_ON, 0 },                                 /* enter */
		/* jmp *%rax: to where is not known */
		{ "\xff\xe0", 2, X86_GOES_ON, 0 },
	};
	struct x86_instruction instruction;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (x86_instruction_read(&instruction, (const uint8_t *)cases[i].bytes, cases[i].length))
			fail_msg("case %zu is not understood", i);
		assert_int_equal(instruction.length, cases[i].length);
		assert_int_equal(instruction.flow, cases[i].flow);
		assert_int_equal(instruction.target, cases[i].target);
		for (size_t cut = 0; cut < cases[i].length; cut++)
			if (i != 1 || cut != 1)
				assert_int_equal(x86_instruction_read(&instruction,
								      (const uint8_t *)cases[i].bytes, cut),
						 -EBADMSG);
	}
	assert_int_equal(x86_instruction_read(&instruction, (const uint8_t *)"\x06", 1), -ENOTSUP);
	assert_int_equal(x86_instruction_read(&instruction, (const uint8_t *)"\x0f\x04", 2), -ENOTSUP);
}

#define PART(address_, bytes) { (address_), sizeof(bytes) - 1, (const uint8_t *)(bytes) }

static void assert_exits(const struct function_part *parts, size_t cnt, uint16_t machine,
			 const uint64_t *wanted, size_t wanted_cnt)
{
	struct function_exits exits;

	assert_int_equal(function_exits_find(&exits, parts, cnt, machine), 0);
	assert_int_equal(exits.cnt, wanted_cnt);
	for (size_t i = 0; i < wanted_cnt; i++)
		assert_int_equal(exits.addresses[i], wanted[i]);
	function_exits_release(&exits);
}

static void returns_and_jumps_to_elsewhere_are_exits(void **state)
{
	/* test %edi,%edi; je +6; call; ret | jmp -7 to the call; jmp far away */
	static const struct function_part x86[] = {
		PART(0x1000, "\x85\xff\x74\x06\xe8\x00\x00\x00\x00\xc3\xeb\xf8\xe9\x00\x10\x00\x00")
	};
	/* a function and its cold part, which jumps back */
	static const struct function_part two[] = { PART(0x1000, "\x0f\x84\xfa\x0f\x00\x00\xc3"),
						    PART(0x2000, "\x90\xe9\x00\xf0\xff\xff\xc3") };
	/* sub sp; ret; b out; b in */
	static const struct function_part arm[] = {
		PART(0x4000, "\xff\x43\x00\xd1\xc0\x03\x5f\xd6\x00\x10\x00\x14\xfd\xff\xff\x17")
	};
	static const uint64_t x86_exits[] = { 0x1009, 0x100c }, two_exits[] = { 0x1006, 0x2006 },
			      arm_exits[] = { 0x4004, 0x4008 };

	(void)state;
	assert_exits(x86, 1, EM_X86_64, x86_exits, 2);
	assert_exits(two, 2, EM_X86_64, two_exits, 2);
	assert_exits(arm, 1, EM_AARCH64, arm_exits, 2);
}

static void what_is_not_understood_has_no_exits_at_all(void **state)
{
	static const struct function_part cases[] = {
		PART(0x1000, "\xc3\x06"),                 /* no instruction */
		PART(0x1000, "\xc3\xe8\x00"),             /* cut off */
		PART(0x1000, "\xeb\x01\xe8\xc3\x00\x00\x00\xc3"), /* a jump into another instruction */
		{ 0x1000, 0, (const uint8_t *)"" },
	};
	struct function_exits exits;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(function_exits_find(&exits, &cases[i], 1, EM_X86_64), -ENOTSUP);
	assert_int_equal(function_exits_find(&exits, &cases[0], 1, EM_386), -ENOTSUP);
}

/* Random bytes are read to their end or refused, and every exit is a return or a jump. */
static void any_bytes_are_safe(void **state)
{
	uint8_t code[64];
	uint64_t random = 1;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		struct function_part part = { 0x1000, 1 + random % sizeof(code), code };
		struct function_exits exits;

		for (size_t i = 0; i < sizeof(code); i++) {
			random = random * 6364136223846793005u + 1442695040888963407u;
			code[i] = (uint8_t)(random >> 56);
		}
		if (function_exits_find(&exits, &part, 1, EM_X86_64))
			continue;
		for (size_t i = 0; i < exits.cnt; i++) {
			assert_in_range(exits.addresses[i], 0x1000, 0x1000 + part.size - 1);
			if (i)
				assert_true(exits.addresses[i] > exits.addresses[i - 1]);
		}
		function_exits_release(&exits);
	}
}

/* Compiled with two ways out, or none. */
__attribute__((noinline)) int exit_twice(int x);
__attribute__((noinline)) int exit_twice(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x;
}

static void functions_of_this_program_are_found_and_understood(void **state)
{
	struct elf_functions functions;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	size_t understood_cnt = 0, sized_cnt = 0;
	bool is_found = false;

	(void)state;
	assert_int_equal(exit_twice(3), 3);
	assert_int_equal(elf_functions_read(&functions, fd), 0);
	for (size_t i = 0; i < functions.cnt; i++) {
		const struct elf_function *function = &functions.functions[i];
		uint8_t *code = elf_function_code(&functions, function);
		struct function_part part = { function->offset, function->size, code };
		struct function_exits exits;

		is_found |= strcmp(function->name, "exit_twice") == 0;
		if (!code)
			continue;
		sized_cnt++;
		if (!function_exits_find(&exits, &part, 1, functions.machine)) {
			understood_cnt++;
			if (strcmp(function->name, "exit_twice") == 0)
				assert_true(exits.cnt >= 1);
			function_exits_release(&exits);
		}
		free(code);
	}
	assert_true(is_found);
	assert_false(functions.is_go);
	assert_int_equal(understood_cnt, sized_cnt); /* all that a compiler made */
	elf_functions_release(&functions);
	close(fd);
}

static void a_file_that_is_no_elf_file_is_refused(void **state)
{
	struct elf_functions functions;
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);

	(void)state;
	assert_int_equal(elf_functions_read(&functions, fd), -ENOEXEC);
	close(fd);
}

static void cxx_names_are_read_and_shortened(void **state)
{
	static const char *const mangled[] = { "_ZN4Bank8transferEii",
					       "_ZNK3FooclEi",
					       "_ZN12_GLOBAL__N_11fEi",
					       "_Z3fooIiEvT_",
					       "main",
					       "_ZN3FoonwEm",
					       "_ZNK3FoocviEv",
					       "_ZZ4mainENKUliE_clEi",
					       "_ZlsRSoRK3Foo",
					       "_Znonsense" };
	static const char *const shortened[] = { "Bank::transfer",
						 "Foo::operator()",
						 "(anonymous namespace)::f",
						 "foo<int>",
						 NULL,
						 "Foo::operator new",
						 "Foo::operator int",
						 "main::{lambda(int)#1}::operator()",
						 "operator<<",
						 NULL };
	enum { CNT = sizeof(mangled) / sizeof(mangled[0]) };
	char *names[CNT];

	(void)state;
	if (cxx_names_read(names, mangled, CNT))
		skip_because("libstdc++.so.6 is not installed");
	for (size_t i = 0; i < CNT; i++) {
		if (!shortened[i]) {
			assert_null(names[i]);
			continue;
		}
		assert_non_null(names[i]);
		cxx_name_shorten(names[i]);
		assert_string_equal(names[i], shortened[i]);
		free(names[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(instructions_are_as_long_as_the_manual_says),
		cmocka_unit_test(returns_and_jumps_to_elsewhere_are_exits),
		cmocka_unit_test(what_is_not_understood_has_no_exits_at_all),
		cmocka_unit_test(any_bytes_are_safe),
		cmocka_unit_test(functions_of_this_program_are_found_and_understood),
		cmocka_unit_test(a_file_that_is_no_elf_file_is_refused),
		cmocka_unit_test(cxx_names_are_read_and_shortened),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
