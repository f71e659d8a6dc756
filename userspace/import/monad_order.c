/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/monad_order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int monad_order_init(struct monad_order *order)
{
	*order = (struct monad_order){ .free_cnt = MONAD_ORDER_MAX };
	order->events = calloc(MONAD_ORDER_MAX, sizeof(*order->events));
	order->free = calloc(MONAD_ORDER_MAX, sizeof(*order->free));
	order->sorted = calloc(2 * MONAD_ORDER_MAX, sizeof(*order->sorted));
	if (!order->events || !order->free || !order->sorted)
		return -ENOMEM;
	for (size_t i = 0; i < MONAD_ORDER_MAX; i++)
		order->free[i] = (uint16_t)(MONAD_ORDER_MAX - 1 - i);
	return 0;
}

void monad_order_release(struct monad_order *order)
{
	free(order->events);
	free(order->free);
	free(order->sorted);
	*order = (struct monad_order){ 0 };
}

static bool is_before(const struct monad_event *a, const struct monad_event *b)
{
	return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->number < b->number;
}

/* How many of those that are there stay in front of it. */
static size_t place_of(const struct monad_order *order, const struct monad_event *event)
{
	const uint16_t *sorted = order->sorted + order->begin;
	size_t low = 0, high = order->cnt;

	if (high == 0 || !is_before(event, &order->events[sorted[high - 1]]))
		return high;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (is_before(event, &order->events[sorted[middle]]))
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

void monad_order_add(struct monad_order *order, const struct monad_event *event)
{
	size_t place = place_of(order, event);
	uint16_t idx = order->free[--order->free_cnt], *sorted;

	if (order->begin + order->cnt == 2 * MONAD_ORDER_MAX) {
		memmove(order->sorted, order->sorted + order->begin, order->cnt * sizeof(*sorted));
		order->begin = 0;
	}
	sorted = order->sorted + order->begin;
	memmove(sorted + place + 1, sorted + place, (order->cnt - place) * sizeof(*sorted));
	sorted[place] = idx;
	order->events[idx] = *event;
	order->cnt++;
}

struct monad_event *monad_order_take(struct monad_order *order)
{
	uint16_t idx;

	if (order->cnt == 0)
		return NULL;
	idx = order->sorted[order->begin++];
	order->cnt--;
	order->free[order->free_cnt++] = idx;
	return &order->events[idx];
}
