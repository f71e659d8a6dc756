/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which function of the kernel an address is in: /proc/kallsyms, read once. A
 * function reaches to the next symbol. Where the kernel hides its addresses
 * (kptr_restrict) there are no symbols, and nothing has a name.
 */
#ifndef KERNEL_SYMBOLS_H
#define KERNEL_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

#define KERNEL_SYMBOL_CNT_MAX (1u << 20)
#define KERNEL_SYMBOLS_BYTES_MAX (128u << 20) /* of the text; what is behind is ignored */

struct kernel_symbol {
	uint64_t address;
	/* of the struct kernel_symbols; text symbols alone; may be any bytes but white space */
	const char *name;
};

struct kernel_symbols {
	struct kernel_symbol *symbols; /* by address */
	size_t cnt;
	char *text;
};

/* 0, -ENOMEM, or errors of read; then it is empty. */
int kernel_symbols_read(struct kernel_symbols *symbols);

/* The same from the text of such a file; lines that are none are skipped. */
int kernel_symbols_parse(struct kernel_symbols *symbols, const char *text, size_t length);

void kernel_symbols_release(struct kernel_symbols *symbols);

/* NULL: in none. */
const char *kernel_symbols_find(const struct kernel_symbols *symbols, uint64_t address);

/*
 * Calls visit for each part of the function of that name: the compiler may have
 * split it, or made variants (NAME.cold, NAME.isra.0). A non-zero return stops
 * and is the result.
 */
typedef int (*kernel_part_visit)(void *context, uint64_t begin, uint64_t end);
int kernel_symbols_each_part(const struct kernel_symbols *symbols, const char *name, kernel_part_visit visit,
			     void *context);

#endif
