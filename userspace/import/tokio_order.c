/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/tokio_order.h"

static bool is_before(const void *first, const void *second)
{
	const struct tokio_event *a = first, *b = second;
	bool is_queue = a->kind == TOKIO_QUEUE_SAMPLE;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns;
	if (is_queue != (b->kind == TOKIO_QUEUE_SAMPLE))
		return is_queue;
	return a->number < b->number;
}

static const struct order_heap_kind order_kind = { sizeof(struct tokio_event), is_before };

void tokio_order_init(struct tokio_order *order)
{
	*order = (struct tokio_order){ 0 };
}

void tokio_order_release(struct tokio_order *order)
{
	order_heap_release(&order->heap);
}

bool tokio_order_is_full(const struct tokio_order *order)
{
	return order->heap.cnt >= TOKIO_ORDER_MAX;
}

int tokio_order_add(struct tokio_order *order, const struct tokio_event *event)
{
	struct tokio_event added = *event;

	added.number = order->added_cnt++;
	order->late_cnt += added.time_ns < order->last_ns;
	return order_heap_add(&order->heap, &order_kind, &added);
}

const struct tokio_event *tokio_order_first(const struct tokio_order *order)
{
	return order_heap_first(&order->heap, &order_kind);
}

bool tokio_order_take(struct tokio_order *order, struct tokio_event *event)
{
	if (!order_heap_take(&order->heap, &order_kind, event))
		return false;
	if (event->time_ns > order->last_ns)
		order->last_ns = event->time_ns;
	return true;
}
