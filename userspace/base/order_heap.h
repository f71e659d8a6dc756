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
 * Streams are nearly in order, or are a few threads' pieces, each in order. So
 * an item that is not before the last one of a line goes to the end of that
 * line, and only what fits behind none of the lines goes into a heap: most adds
 * and takes look at a few items, however many there are.
 *
 * The functions stand here so that the compiler knows the size and the order.
 */
#ifndef ORDER_HEAP_H
#define ORDER_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define ORDER_LINE_CNT 4
#define ORDER_IN_HEAP ORDER_LINE_CNT

/* The same for all calls with one heap; a constant. */
struct order_heap_kind {
	size_t item_bytes;
	/* strict: of two items of the same place neither is before the other */
	bool (*is_before)(const void *a, const void *b);
};

struct order_heap { /* all zero: empty */
	size_t cnt;

	/* private: the lines and the heap hold places in `items` */
	char *items;
	size_t size; /* a power of two: room for so many, in each of the arrays */
	uint32_t *free;
	size_t free_cnt;
	uint32_t *heap;
	size_t heap_cnt;
	struct order_line { /* a ring */
		uint32_t *places;
		size_t at;
		size_t cnt;
	} lines[ORDER_LINE_CNT];
	uint32_t first;	    /* place of the first item; if there is one */
	unsigned int is_in; /* which line it is in, or ORDER_IN_HEAP */
};

void order_heap_release(struct order_heap *heap); /* it is empty then */

/* The first one, which stays; NULL: there is none. Lives until the next add or take. */
static inline const void *order_heap_first(const struct order_heap *heap, const struct order_heap_kind *kind)
{
	return heap->cnt > 0 ? heap->items + heap->first * kind->item_bytes : NULL;
}

int order_heap_grow(struct order_heap *heap, size_t item_bytes); /* private */

/* Private, as are those below: the place at the end of a line, or `at` behind its begin. */
static inline uint32_t *order_line_place(const struct order_heap *heap, const struct order_line *line,
					 size_t at)
{
	return &line->places[(line->at + at) & (heap->size - 1)];
}

static inline bool order_is_before(const struct order_heap *heap, const struct order_heap_kind *kind,
				   uint32_t a, uint32_t b)
{
	return kind->is_before(heap->items + a * kind->item_bytes, heap->items + b * kind->item_bytes);
}

static inline void order_rise(struct order_heap *heap, const struct order_heap_kind *kind, uint32_t place)
{
	size_t at = heap->heap_cnt++;

	for (; at > 0 && order_is_before(heap, kind, place, heap->heap[(at - 1) / 2]); at = (at - 1) / 2)
		heap->heap[at] = heap->heap[(at - 1) / 2];
	heap->heap[at] = place;
}

/* Takes the first one off. */
static inline void order_sink(struct order_heap *heap, const struct order_heap_kind *kind)
{
	uint32_t moved = heap->heap[--heap->heap_cnt];
	size_t at = 0, child;

	while ((child = at * 2 + 1) < heap->heap_cnt) {
		if (child + 1 < heap->heap_cnt &&
		    order_is_before(heap, kind, heap->heap[child + 1], heap->heap[child]))
			child++;
		if (!order_is_before(heap, kind, heap->heap[child], moved))
			break;
		heap->heap[at] = heap->heap[child];
		at = child;
	}
	heap->heap[at] = moved;
}

/* 0 or -ENOMEM */
static inline int order_heap_add(struct order_heap *heap, const struct order_heap_kind *kind,
				 const void *item)
{
	int err = heap->cnt == heap->size ? order_heap_grow(heap, kind->item_bytes) : 0;
	unsigned int to = 0;
	uint32_t place;

	if (err)
		return err;
	place = heap->free[--heap->free_cnt];
	memcpy(heap->items + place * kind->item_bytes, item, kind->item_bytes);
	for (; to < ORDER_LINE_CNT; to++) {
		struct order_line *line = &heap->lines[to];

		if (line->cnt > 0 &&
		    order_is_before(heap, kind, place, *order_line_place(heap, line, line->cnt - 1)))
			continue;
		*order_line_place(heap, line, line->cnt++) = place;
		break;
	}
	if (to == ORDER_IN_HEAP)
		order_rise(heap, kind, place);
	if (heap->cnt++ == 0 || order_is_before(heap, kind, place, heap->first)) {
		heap->first = place;
		heap->is_in = to;
	}
	return 0;
}

static inline void order_find_first(struct order_heap *heap, const struct order_heap_kind *kind)
{
	bool is_found = heap->heap_cnt > 0;

	if (is_found) {
		heap->first = heap->heap[0];
		heap->is_in = ORDER_IN_HEAP;
	}
	for (unsigned int i = 0; i < ORDER_LINE_CNT; i++) {
		uint32_t place;

		if (heap->lines[i].cnt == 0)
			continue;
		place = *order_line_place(heap, &heap->lines[i], 0);
		if (is_found && !order_is_before(heap, kind, place, heap->first))
			continue;
		heap->first = place;
		heap->is_in = i;
		is_found = true;
	}
}

/* false: there is none */
static inline bool order_heap_take(struct order_heap *heap, const struct order_heap_kind *kind, void *item)
{
	if (heap->cnt == 0)
		return false;
	memcpy(item, heap->items + heap->first * kind->item_bytes, kind->item_bytes);
	heap->free[heap->free_cnt++] = heap->first;
	if (heap->is_in == ORDER_IN_HEAP) {
		order_sink(heap, kind);
	} else {
		struct order_line *line = &heap->lines[heap->is_in];

		line->at = (line->at + 1) & (heap->size - 1);
		line->cnt--;
	}
	heap->cnt--;
	order_find_first(heap, kind);
	return true;
}

#endif
