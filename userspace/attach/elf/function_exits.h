/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where a function is left: its return instructions, and its jumps to other
 * functions. A probe there costs as much as one on the return address and
 * leaves the stack as it is, so that exceptions find their way: the kernel's
 * uretprobe ends a C++ program whose exception passes it.
 *
 * A probe must never sit within an instruction. So all of the function is read,
 * and nothing is known of a function in which anything is not understood:
 * unknown instructions, a last one that goes on behind the end, jumps to where
 * no instruction begins.
 */
#ifndef FUNCTION_EXITS_H
#define FUNCTION_EXITS_H

#include <stddef.h>
#include <stdint.h>

#define FUNCTION_BYTES_MAX (1u << 20)
#define FUNCTION_EXIT_MAX 1024

/* A range of code and its bytes. */
struct function_part {
	uint64_t address;
	uint64_t size;
	const uint8_t *code;
};

struct function_exits {
	uint64_t *addresses; /* ascending in each part */
	size_t cnt;
};

/*
 * The function has one part, or a second one that the compiler put elsewhere
 * since it is rarely run (NAME.cold); jumps between its parts do not leave it.
 * 0; -ENOTSUP: it is not understood, or has more exits than FUNCTION_EXIT_MAX;
 * -ENOMEM. machine: EM_X86_64, EM_AARCH64. A function that never comes back has
 * none.
 */
int function_exits_find(struct function_exits *exits, const struct function_part *parts, size_t part_cnt,
			uint16_t machine);
void function_exits_release(struct function_exits *exits);

#endif
