/* SPDX-License-Identifier: BSD-2-Clause */
/* How many functions of an ELF file have names. */
#ifndef FUNCTION_COUNT_H
#define FUNCTION_COUNT_H

#include <stdbool.h>
#include <stddef.h>

struct function_count {
	size_t cnt;
	bool is_exported_only; /* the file is stripped: only what other objects may call has a name */
};

/* 0; -ENOEXEC: no ELF file that can be read; -ENOMEM. */
int function_count_read(struct function_count *count, int fd);

#endif
