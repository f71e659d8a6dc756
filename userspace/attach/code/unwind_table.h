/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How to get from a frame of a stack to its caller's, by the .eh_frame of an
 * ELF file for x86-64 or aarch64: what nearly every file has, whether or not
 * its code keeps frame pointers. Bytes in, rules out; nothing in them is
 * trusted, and what can't be understood ends the walk.
 *
 * Of DWARF's expressions only the one of a PLT is understood: compilers write
 * no others for code of their own.
 */
#ifndef UNWIND_TABLE_H
#define UNWIND_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Registers are numbered as DWARF does for x86-64, whose 16 is the return
 * address. Of aarch64 there are those that a function keeps for its caller, the
 * link register x30, sp and pc: x19 to x24 as 0 to 5, x29 (the frame pointer)
 * as 6, sp as 7, x25 to x28 as 8 to 11, x30 as 12, pc as 16.
 */
#define UNWIND_REGISTER_COUNT 17
#define UNWIND_FP 6
#define UNWIND_SP 7
#define UNWIND_LINK 12 /* aarch64 */
#define UNWIND_PC 16
#define UNWIND_FUNCTION_MAX (1u << 20)

enum unwind_rule {
	UNWIND_SAME = 0,      /* the caller's is the same */
	UNWIND_AT = 1,        /* it is in memory, at the frame's address plus an offset */
	UNWIND_UNDEFINED = 2, /* nobody knows it; of the return address: there is no caller */
	UNWIND_STRANGE = 3,   /* it takes more than we understand */
};

/* What holds at one instruction. The frame's address (CFA) is that of a register plus an offset. */
struct unwind_row {
	bool is_plt; /* 8 more than that, in the second half of a PLT's entry */
	uint8_t frame_register;
	uint8_t return_register; /* its rule tells the return address: UNWIND_PC, on aarch64 UNWIND_LINK */
	uint8_t rules[UNWIND_REGISTER_COUNT]; /* enum unwind_rule */
	int32_t frame_offset;
	int32_t offsets[UNWIND_REGISTER_COUNT];
};

struct unwind_function {
	uint64_t begin;
	uint64_t end;
	uint32_t entry; /* offset of its entry in the section */
};

struct unwind_table {
	uint8_t *section; /* owned */
	size_t size;
	uint64_t address; /* of the section, as the file has it */
	struct unwind_function *functions; /* by begin */
	size_t cnt;
};

/* Takes the section (malloc'ed) over, also when it fails. 0 or -ENOMEM; then it is empty. */
int unwind_table_init(struct unwind_table *table, uint8_t *section, size_t size, uint64_t address);
void unwind_table_release(struct unwind_table *table);

/*
 * address: of the instruction, as the file has it. False: it is in no function,
 * or its rules can't be understood.
 */
bool unwind_table_find(const struct unwind_table *table, uint64_t address, struct unwind_row *row);

#endif
