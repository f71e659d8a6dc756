/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long an x86-64 instruction is, and whether it leaves the function. No
 * more of it is understood, and nothing is guessed: what is not in the tables
 * of the architecture's manual has no length.
 */
#ifndef X86_CODE_H
#define X86_CODE_H

#include <stddef.h>
#include <stdint.h>

enum x86_flow {
	X86_GOES_ON = 0,
	X86_RETURNS = 1,
	X86_JUMPS = 2,           /* always, to `target` */
	X86_JUMPS_SOMETIMES = 3, /* to `target`, or goes on */
};

struct x86_instruction {
	size_t length;
	enum x86_flow flow;
	int64_t target; /* jumps: relative to the end of the instruction */
};

/*
 * The instruction at `bytes`, of which `size` are there. 0; -ENOTSUP: none that
 * is known; -EBADMSG: it goes on behind the end.
 */
int x86_instruction_read(struct x86_instruction *instruction, const uint8_t *bytes, size_t size);

#endif
