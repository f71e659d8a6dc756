/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The functions of a file whose names match a shell pattern, as --func takes
 * them. Needs no privilege but that of reading.
 */
#ifndef FUNCTION_LISTING_H
#define FUNCTION_LISTING_H

#include <stddef.h>

#include "attach/elf/elf_reader.h"
#include "base/text.h"

/*
 * Appends a line for each function of the file at fd, whose path is `path`,
 * that the pattern means: by its symbol, its C++ name with or without
 * parameters, or either of them behind "BINARY:". Sorted, each symbol once.
 * *cnt is increased by their number. 0 (also if the file is no ELF file), or
 * -ENOMEM.
 */
int function_listing_append(struct text *text, struct elf_reader *reader, const char *path, int fd,
			    const char *pattern, size_t *cnt);

#endif
