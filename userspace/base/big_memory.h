/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory for tables that may become large and are read here and there: it
 * begins on a line of the cache, and where it is large enough, on a huge page,
 * and asks for such pages, since finding a small page costs as much as reading
 * from it. Anything is in it. Freed with free().
 */
#ifndef BIG_MEMORY_H
#define BIG_MEMORY_H

#include <stddef.h>

void *big_memory_new(size_t size); /* NULL: no memory */

#endif
