/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/order_heap.h"

#include <errno.h>
#include <stdlib.h>

#define SIZE_MIN 1024u

void order_heap_release(struct order_heap *heap)
{
	free(heap->items);
	*heap = (struct order_heap){ 0 };
}

int order_heap_grow(struct order_heap *heap, size_t item_bytes)
{
	size_t size = heap->size ? heap->size * 2 : SIZE_MIN;
	char *items = reallocarray(heap->items, size, item_bytes);

	if (!items)
		return -ENOMEM;
	heap->items = items;
	heap->size = size;
	return 0;
}
