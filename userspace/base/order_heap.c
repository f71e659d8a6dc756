/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/order_heap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SIZE_MIN 1024u

void order_heap_init(struct order_heap *heap, size_t item_bytes,
		     bool (*is_before)(const void *a, const void *b))
{
	*heap = (struct order_heap){ .item_bytes = item_bytes, .is_before = is_before };
}

void order_heap_release(struct order_heap *heap)
{
	free(heap->items);
	order_heap_init(heap, heap->item_bytes, heap->is_before);
}

static char *item_at(const struct order_heap *heap, size_t at)
{
	return heap->items + at * heap->item_bytes;
}

static void put(struct order_heap *heap, size_t at, const void *item)
{
	memcpy(item_at(heap, at), item, heap->item_bytes);
}

static int grow(struct order_heap *heap)
{
	size_t size = heap->size ? heap->size * 2 : SIZE_MIN;
	char *items = reallocarray(heap->items, size, heap->item_bytes);

	if (!items)
		return -ENOMEM;
	heap->items = items;
	heap->size = size;
	return 0;
}

int order_heap_add(struct order_heap *heap, const void *item)
{
	size_t at = heap->cnt;
	int err = at == heap->size ? grow(heap) : 0;

	if (err)
		return err;
	for (; at > 0 && heap->is_before(item, item_at(heap, (at - 1) / 2)); at = (at - 1) / 2)
		put(heap, at, item_at(heap, (at - 1) / 2));
	put(heap, at, item);
	heap->cnt++;
	return 0;
}

const void *order_heap_first(const struct order_heap *heap)
{
	return heap->cnt > 0 ? heap->items : NULL;
}

bool order_heap_take(struct order_heap *heap, void *item)
{
	size_t at = 0, child;
	const char *moved;

	if (heap->cnt == 0)
		return false;
	memcpy(item, heap->items, heap->item_bytes);
	moved = item_at(heap, --heap->cnt);
	while ((child = at * 2 + 1) < heap->cnt) {
		if (child + 1 < heap->cnt && heap->is_before(item_at(heap, child + 1), item_at(heap, child)))
			child++;
		if (!heap->is_before(item_at(heap, child), moved))
			break;
		put(heap, at, item_at(heap, child));
		at = child;
	}
	if (at != heap->cnt) /* else it is its own place */
		put(heap, at, moved);
	return true;
}
