/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which instructions are single-stepped. The answers were measured on Linux 6.18:
 * the time of a hit, and whether the kernel mapped a page to execute from.
 */
#include "attach/probes/stepped_code.h"

#include <elf.h>
#include <linux/version.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define CODE(bytes) (const uint8_t *)(bytes), sizeof(bytes) - 1

static void the_kernel_steps_what_it_does_not_emulate(void **state)
{
	static const struct {
		const char *name;
		const uint8_t *code;
		size_t size;
		bool is_stepped;
	} cases[] = {
		{ "push %rbp", CODE("\x55\x5d\xc3"), false },
		{ "push %r15", CODE("\x41\x57\x41\x5f\xc3"), false },
		{ "push %ax", CODE("\x66\x50\x66\x58\xc3"), true },
		{ "push $1", CODE("\x6a\x01\x58\xc3"), true },
		{ "nop", CODE("\x90\xc3"), false },
		{ "xchg %ax,%ax", CODE("\x66\x90\xc3"), false },
		{ "pause", CODE("\xf3\x90\xc3"), false },
		{ "nop of four bytes", CODE("\x0f\x1f\x04\x00\xc3"), true },
		{ "nop of five bytes", CODE("\x66\x0f\x1f\x04\x00\xc3"), false },
		{ "nop of five bytes, the other", CODE("\x0f\x1f\x44\x00\x00\xc3"), false },
		{ "endbr64", CODE("\xf3\x0f\x1e\xfa\xc3"), true },
		{ "jmp", CODE("\xeb\x00\xc3"), false },
		{ "jmp, far", CODE("\xe9\x00\x00\x00\x00\xc3"), false },
		{ "bnd jmp", CODE("\xf2\xeb\x00\xc3"), false },
		{ "jmp *%rax", CODE("\xff\xe0"), true },
		{ "je", CODE("\x74\x00\xc3"), false },
		{ "jne, far", CODE("\x0f\x85\x00\x00\x00\x00\xc3"), false },
		{ "call", CODE("\xe8\x00\x00\x00\x00\xc3"), false },
		{ "ret", CODE("\xc3"), true },
		{ "rep ret", CODE("\xf3\xc3"), true },
		{ "xor %eax,%eax", CODE("\x31\xc0\xc3"), true },
		{ "sub $8,%rsp", CODE("\x48\x83\xec\x08\xc3"), true },
		{ "mov %rsp,%rax", CODE("\x48\x89\xe0\xc3"), true },
		{ "lea 0(%rsi),%rsi", CODE("\x48\x8d\x36\xc3"), true },
		{ "prefixes and no opcode", CODE("\x66\x66\x66"), true },
		{ "half an opcode", CODE("\x0f"), true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool is_stepped = stepped_code_is(cases[i].code, cases[i].size, EM_X86_64,
						  KERNEL_VERSION(6, 18, 0));

		if (is_stepped != cases[i].is_stepped)
			fail_msg("%s: %s", cases[i].name, cases[i].is_stepped ? "not stepped" : "stepped");
	}
}

static void kernels_before_6_18_step_the_nop_of_five_bytes(void **state)
{
	(void)state;
	assert_true(stepped_code_is(CODE("\x0f\x1f\x44\x00\x00"), EM_X86_64, KERNEL_VERSION(6, 17, 255)));
	assert_false(stepped_code_is(CODE("\x0f\x1f\x44\x00\x00"), EM_X86_64, KERNEL_VERSION(6, 18, 0)));
}

static void of_other_machines_nothing_is_said(void **state)
{
	(void)state;
	assert_false(stepped_code_is(CODE("\xc0\x03\x5f\xd6"), EM_AARCH64, KERNEL_VERSION(6, 18, 0)));
	assert_false(stepped_code_is(CODE(""), EM_X86_64, KERNEL_VERSION(6, 18, 0)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_kernel_steps_what_it_does_not_emulate),
		cmocka_unit_test(kernels_before_6_18_step_the_nop_of_five_bytes),
		cmocka_unit_test(of_other_machines_nothing_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
