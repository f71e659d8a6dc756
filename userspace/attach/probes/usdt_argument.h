/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The arguments of a USDT probe, as its note describes them: "-4@%esi
 * 8@-16(%rbp) 8@$5 4@x0 8@[sp, 24]". What it says is turned into a place that
 * the BPF programs can read. Pure.
 */
#ifndef USDT_ARGUMENT_H
#define USDT_ARGUMENT_H

#include <stddef.h>
#include <stdint.h>

#include "txtrace/foreign.h"

/*
 * The idx-th argument of a note for a machine (EM_X86_64, EM_AARCH64). 0;
 * -ENOENT: it has not so many; -ENOTSUP: it lies where it cannot be read (a
 * floating-point register, a symbol); -EBADMSG: the note is damaged.
 * value->name and is_string are left alone.
 */
int usdt_argument_find(struct foreign_value *value, const char *arguments, size_t idx, uint16_t machine);

/* How many arguments the note has. */
size_t usdt_argument_cnt(const char *arguments);

/*
 * The idx-th argument of a function at its first instruction, by the ABI: whole
 * registers. -ENOTSUP: it is on the stack.
 */
int usdt_argument_of_function(struct foreign_value *value, size_t idx, uint16_t machine);

/* What a function returns, at its end. */
void usdt_return_value(struct foreign_value *value, uint16_t machine);

#endif
