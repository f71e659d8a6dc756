/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * System calls by number: what they are called, and what the `object` of a
 * block in them is. One lookup is one step; the table is
 * include/txtrace/syscalls.h.
 */
#ifndef SYSCALL_TABLE_H
#define SYSCALL_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#define SYSCALL_NUMBER_MAX 511

enum syscall_argument {
	SYSCALL_ARGUMENT_NOTHING = 0,
	SYSCALL_ARGUMENT_FD = 1,
	SYSCALL_ARGUMENT_ADDRESS = 2,
	SYSCALL_ARGUMENT_DURATION = 3, /* the object is the ns that a sleep asked for; 0: not known */
	SYSCALL_ARGUMENT_MOMENT = 4,   /* the same */
	/*
	 * the object is the first of several descriptors, and above it, from bit 32 on, how many; 0: not
	 * known
	 */
	SYSCALL_ARGUMENT_POLLED = 5,
	SYSCALL_ARGUMENT_SETS = 6,     /* the same */
	SYSCALL_ARGUMENT_RING = 7,     /* the object is the descriptor of an io_uring */
};

struct syscall_row {
	const char *name;
	int16_t x86_64; /* number; -1: the architecture lacks it */
	int16_t aarch64;
	uint8_t argument; /* enum syscall_argument */
};

struct syscall_table {
	uint16_t rows[SYSCALL_NUMBER_MAX + 1]; /* of a number: 1 + which row; 0: none */
	bool is_known; /* the machine is one that the table knows */
};

/* kernel: of struct txtrace_log_info, "6.18.5 x86_64"; the last word is the machine. */
void syscall_table_init(struct syscall_table *table, const char *kernel);

/* NULL: no such call, or the machine is not known. */
const struct syscall_row *syscall_table_get(const struct syscall_table *table, int32_t number);

#endif
