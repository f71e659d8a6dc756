/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From the registers of a thread and a copy of its stack to the addresses of
 * the code that called: by the rules of the mapped files (unwind_table.h), and
 * where those have none, by the frame pointer, if what it points to looks like
 * a frame.
 */
#ifndef STACK_UNWIND_H
#define STACK_UNWIND_H

#include "attach/code/code_map.h"

struct stack_unwind; /* the rules that were used lately */

struct stack_unwind *stack_unwind_new(void); /* NULL: no memory */
void stack_unwind_free(struct stack_unwind *unwind); /* NULL is allowed */

struct stack_copy {
	struct code_moment moment;
	const uint64_t *registers; /* UNWIND_REGISTER_COUNT of them */
	const uint8_t *bytes;      /* of the stack, from the stack pointer on */
	size_t byte_cnt;
};

/*
 * The address of the code, then return addresses, innermost first: how many; at
 * most max. *is_whole: the last one is where the thread began; if not, the copy
 * ended, or somebody's rules are not known.
 */
size_t stack_unwind_walk(struct stack_unwind *unwind, struct code_map *map, const struct stack_copy *copy,
			 uint64_t *addresses, size_t max, bool *is_whole);

#endif
