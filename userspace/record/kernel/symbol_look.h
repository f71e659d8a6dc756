/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions of the kernel by their names, asked of the kernel one by one
 * (bpf/symbol.bpf.c): for a few of them faster than reading all
 * (attach/code/kernel_symbols.h).
 */
#ifndef SYMBOL_LOOK_H
#define SYMBOL_LOOK_H

#include <stdint.h>

#include "attach/code/kernel_symbols.h"

/*
 * The parts of the function of that name, as kernel_symbols_each_part() has
 * them: it itself, and those with the endings that compilers give. A negative
 * errno: the kernel does not say.
 */
int symbol_look_each_part(int prog_fd, const char *name, kernel_part_visit visit, void *context);

/* What the kernel printed of a place: how many bytes its function has; 0: it does not say. */
uint64_t symbol_look_bytes(const char *place);

#endif
