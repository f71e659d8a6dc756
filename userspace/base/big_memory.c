/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/big_memory.h"

#include <stdlib.h>
#include <sys/mman.h>

#define LINE_BYTES 64
#define HUGE_PAGE_BYTES ((size_t)2 << 20)

void *big_memory_new(size_t size)
{
	size_t alignment = size >= HUGE_PAGE_BYTES ? HUGE_PAGE_BYTES : LINE_BYTES;
	void *memory = aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);

	if (memory && alignment == HUGE_PAGE_BYTES)
		madvise(memory, size, MADV_HUGEPAGE); /* where that is not to be had, it is slower */
	return memory;
}
