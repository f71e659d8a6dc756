/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Items of one size, of which the first one in an order can be taken: for
 * putting a stream into order within a window. It copies items by their bytes.
 *
 *	struct order_heap heap;
 *
 *	order_heap_init(&heap, sizeof(struct event), event_is_before);
 *	err = order_heap_add(&heap, &event);
 *	if (heap.cnt > WINDOW && order_heap_take(&heap, &event))
 *		use(&event);
 *	order_heap_release(&heap);
 */
#ifndef ORDER_HEAP_H
#define ORDER_HEAP_H

#include <stdbool.h>
#include <stddef.h>

struct order_heap {
	size_t cnt;

	/* private */
	char *items;
	size_t size, item_bytes;
	bool (*is_before)(const void *a, const void *b);
};

/* The order is strict: of two items of the same place neither is before the other. */
void order_heap_init(struct order_heap *heap, size_t item_bytes,
		     bool (*is_before)(const void *a, const void *b));
void order_heap_release(struct order_heap *heap);

int order_heap_add(struct order_heap *heap, const void *item); /* 0 or -ENOMEM */
/* The first one, which stays; NULL: there is none. Lives until the next add or take. */
const void *order_heap_first(const struct order_heap *heap);
bool order_heap_take(struct order_heap *heap, void *item); /* false: there is none */

#endif
