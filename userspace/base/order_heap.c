/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/order_heap.h"

#include <errno.h>
#include <stdlib.h>

#define SIZE_MIN 1024u

void order_heap_release(struct order_heap *heap)
{
	free(heap->items);
	free(heap->free);
	free(heap->heap);
	for (unsigned int i = 0; i < ORDER_LINE_CNT; i++)
		free(heap->lines[i].places);
	*heap = (struct order_heap){ 0 };
}

/* To so many places, the old ones at its begin. */
static int grow_line(const struct order_heap *heap, struct order_line *line, size_t size)
{
	uint32_t *places = calloc(size, sizeof(*places));

	if (!places)
		return -ENOMEM;
	for (size_t i = 0; i < line->cnt; i++)
		places[i] = *order_line_place(heap, line, i);
	free(line->places);
	line->places = places;
	line->at = 0;
	return 0;
}

static int grow_places(uint32_t **places, size_t size)
{
	uint32_t *grown = reallocarray(*places, size, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	*places = grown;
	return 0;
}

/* It is full. An array that has grown already stays so if another can't. */
int order_heap_grow(struct order_heap *heap, size_t item_bytes)
{
	size_t size = heap->size ? heap->size * 2 : SIZE_MIN;
	char *items;

	if (size > UINT32_MAX)
		return -ENOMEM;
	items = reallocarray(heap->items, size, item_bytes);
	if (!items)
		return -ENOMEM;
	heap->items = items;
	if (grow_places(&heap->free, size) || grow_places(&heap->heap, size))
		return -ENOMEM;
	for (unsigned int i = 0; i < ORDER_LINE_CNT; i++) {
		/* the begin of each is 0 then, so that it is right by the old size, too */
		if (grow_line(heap, &heap->lines[i], size))
			return -ENOMEM;
	}
	for (size_t place = size; place-- > heap->size;)
		heap->free[heap->free_cnt++] = (uint32_t)place;
	heap->size = size;
	return 0;
}
