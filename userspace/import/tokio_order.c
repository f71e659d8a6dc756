/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/tokio_order.h"

#include <errno.h>
#include <stdlib.h>

#define SIZE_MIN 1024u

void tokio_order_init(struct tokio_order *order)
{
	*order = (struct tokio_order){ 0 };
}

void tokio_order_release(struct tokio_order *order)
{
	free(order->heap);
	tokio_order_init(order);
}

bool tokio_order_is_full(const struct tokio_order *order)
{
	return order->cnt >= TOKIO_ORDER_MAX;
}

static bool is_before(const struct tokio_event *a, const struct tokio_event *b)
{
	bool is_queue = a->kind == TOKIO_QUEUE_SAMPLE;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns;
	if (is_queue != (b->kind == TOKIO_QUEUE_SAMPLE))
		return is_queue;
	return a->number < b->number;
}

int tokio_order_add(struct tokio_order *order, const struct tokio_event *event)
{
	size_t size = order->size ? order->size * 2 : SIZE_MIN, at = order->cnt;
	struct tokio_event added = *event, *grown;

	if (order->cnt == order->size) {
		grown = reallocarray(order->heap, size, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		order->heap = grown;
		order->size = size;
	}
	added.number = order->added_cnt++;
	order->late_cnt += added.time_ns < order->last_ns;
	for (; at > 0 && is_before(&added, &order->heap[(at - 1) / 2]); at = (at - 1) / 2)
		order->heap[at] = order->heap[(at - 1) / 2];
	order->heap[at] = added;
	order->cnt++;
	return 0;
}

bool tokio_order_take(struct tokio_order *order, struct tokio_event *event)
{
	struct tokio_event *heap = order->heap, moved;
	size_t at = 0, child;

	if (order->cnt == 0)
		return false;
	*event = heap[0];
	moved = heap[--order->cnt];
	while ((child = at * 2 + 1) < order->cnt) {
		if (child + 1 < order->cnt && is_before(&heap[child + 1], &heap[child]))
			child++;
		if (!is_before(&heap[child], &moved))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = moved;
	if (event->time_ns > order->last_ns)
		order->last_ns = event->time_ns;
	return true;
}
