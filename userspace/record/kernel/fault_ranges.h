/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the kernel waits for what in a page fault: the functions that every
 * such wait goes through, by their place in memory, so that the kernel side can
 * tell one from another by the return addresses alone. Names differ little
 * between kernels; a kernel that lacks one, or hides them all, leaves it
 * unknown.
 */
#ifndef FAULT_RANGES_H
#define FAULT_RANGES_H

#include <stddef.h>
#include <stdint.h>

#include "attach/code/kernel_symbols.h"

#define FAULT_RANGE_MAX 16

struct fault_range {
	uint64_t begin;
	uint64_t end;
	uint64_t fault; /* enum block_fault; FAULT_UNKNOWN: a lock that is taken in here is another one */
};

/* Where the parts of a function are known from: as kernel_symbols_each_part(). */
struct fault_symbols {
	int (*each_part)(const void *symbols, const char *name, kernel_part_visit visit, void *context);
	const void *symbols;
};

/* How many; the rest is left alone. */
size_t fault_ranges_find(struct fault_range ranges[FAULT_RANGE_MAX], const struct fault_symbols *symbols);

#endif
