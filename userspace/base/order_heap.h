/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Items of one size, of which the first one in an order can be taken: for
 * putting a stream into order within a window. It copies items by their bytes.
 *
 *	static const struct order_heap_kind kind = { sizeof(struct event), event_is_before };
 *	struct order_heap heap = { 0 };
 *
 *	err = order_heap_add(&heap, &kind, &event);
 *	if (heap.cnt > WINDOW && order_heap_take(&heap, &kind, &event))
 *		use(&event);
 *	order_heap_release(&heap);
 *
 * The functions stand here so that the compiler knows the size and the order:
 * that makes an import by a fifth faster.
 */
#ifndef ORDER_HEAP_H
#define ORDER_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* The same for all calls with one heap; a constant. */
struct order_heap_kind {
	size_t item_bytes;
	/* strict: of two items of the same place neither is before the other */
	bool (*is_before)(const void *a, const void *b);
};

struct order_heap { /* all zero: empty */
	size_t cnt;

	/* private */
	char *items;
	size_t size;
};

void order_heap_release(struct order_heap *heap); /* it is empty then */

/* The first one, which stays; NULL: there is none. Lives until the next add or take. */
static inline const void *order_heap_first(const struct order_heap *heap)
{
	return heap->cnt > 0 ? heap->items : NULL;
}

int order_heap_grow(struct order_heap *heap, size_t item_bytes); /* private */

/* 0 or -ENOMEM */
static inline int order_heap_add(struct order_heap *heap, const struct order_heap_kind *kind,
				 const void *item)
{
	const size_t bytes = kind->item_bytes;
	size_t at = heap->cnt;
	int err = at == heap->size ? order_heap_grow(heap, bytes) : 0;

	if (err)
		return err;
	for (; at > 0 && kind->is_before(item, heap->items + (at - 1) / 2 * bytes); at = (at - 1) / 2)
		memcpy(heap->items + at * bytes, heap->items + (at - 1) / 2 * bytes, bytes);
	memcpy(heap->items + at * bytes, item, bytes);
	heap->cnt++;
	return 0;
}

/* false: there is none */
static inline bool order_heap_take(struct order_heap *heap, const struct order_heap_kind *kind, void *item)
{
	const size_t bytes = kind->item_bytes;
	char *items = heap->items;
	const char *moved;
	size_t at = 0, child;

	if (heap->cnt == 0)
		return false;
	memcpy(item, items, bytes);
	moved = items + --heap->cnt * bytes;
	while ((child = at * 2 + 1) < heap->cnt) {
		if (child + 1 < heap->cnt &&
		    kind->is_before(items + (child + 1) * bytes, items + child * bytes))
			child++;
		if (!kind->is_before(items + child * bytes, moved))
			break;
		memcpy(items + at * bytes, items + child * bytes, bytes);
		at = child;
	}
	if (at != heap->cnt) /* else it is its own place */
		memcpy(items + at * bytes, moved, bytes);
	return true;
}

#endif
