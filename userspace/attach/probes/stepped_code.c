/* SPDX-License-Identifier: BSD-2-Clause */
/* After arch/x86/kernel/uprobes.c: branch_setup_xol_ops(), push_setup_xol_ops(). */
#include "attach/probes/stepped_code.h"

#include <elf.h>
#include <linux/version.h>
#include <string.h>

static bool is_nop_of_five(const uint8_t *bytes, size_t size)
{
	static const uint8_t nops[][5] = { { 0x0f, 0x1f, 0x44, 0x00, 0x00 },
					   { 0x66, 0x0f, 0x1f, 0x04, 0x00 } };

	for (size_t i = 0; i < sizeof(nops) / sizeof(nops[0]); i++)
		if (size >= sizeof(nops[i]) && memcmp(bytes, nops[i], sizeof(nops[i])) == 0)
			return true;
	return false;
}

/* At `at` is the opcode. */
static bool is_branch(const uint8_t *bytes, size_t size, size_t at)
{
	uint8_t opcode = bytes[at];

	if (opcode == 0x0f)
		return at + 1 < size && (bytes[at + 1] & 0xf0) == 0x80;
	return opcode == 0xe8 || opcode == 0xe9 || opcode == 0xeb || (opcode & 0xf0) == 0x70;
}

static bool is_emulated(const uint8_t *bytes, size_t size)
{
	static const uint8_t prefixes[] = {
		0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x66, 0x67, 0xf0, 0xf2, 0xf3
	};
	bool is_short = false;
	size_t at = 0;

	if ((bytes[0] & 0xf8) == 0x50 || (size > 1 && bytes[0] == 0x41 && (bytes[1] & 0xf8) == 0x50))
		return true; /* a push, of r8 to r15 with the prefix 41; of another length it is stepped */
	for (; at < size && memchr(prefixes, bytes[at], sizeof(prefixes)); at++)
		is_short |= bytes[at] == 0x66;
	if (at < size && (bytes[at] & 0xf0) == 0x40)
		at++; /* REX */
	if (at >= size)
		return false;
	return bytes[at] == 0x90 || (!is_short && is_branch(bytes, size, at));
}

bool stepped_code_is(const uint8_t *bytes, size_t size, uint16_t machine, uint32_t kernel_version)
{
	if (machine != EM_X86_64 || !size)
		return false;
	if (kernel_version >= KERNEL_VERSION(6, 18, 0) && is_nop_of_five(bytes, size))
		return false;
	return !is_emulated(bytes, size);
}
