/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Puts events into the order of time. In a file they stand in the order in
 * which the threads' buffers were flushed. The TOKIO_ORDER_MAX events that were
 * added last are held back; one that is older than what has been given out
 * already is given out late, and counted.
 *
 *	while (tokio_order_is_full(&order) && tokio_order_take(&order, &event))
 *		use(&event);
 *	err = tokio_order_add(&order, &next);
 */
#ifndef TOKIO_ORDER_H
#define TOKIO_ORDER_H

#include "base/order_heap.h"
#include "import/tokio_event.h"

#define TOKIO_ORDER_MAX (256u << 10)

struct tokio_order {
	struct order_heap heap; /* of struct tokio_event, the earliest first */
	uint64_t added_cnt;
	uint64_t late_cnt;
	uint64_t last_ns; /* of what was given out */
};

void tokio_order_init(struct tokio_order *order);
void tokio_order_release(struct tokio_order *order);

bool tokio_order_is_full(const struct tokio_order *order);
/* Events of the same time keep their order, but for those of the queue, which come first. 0 or -ENOMEM. */
int tokio_order_add(struct tokio_order *order, const struct tokio_event *event);
/* It stays; NULL: there is none. */
const struct tokio_event *tokio_order_first(const struct tokio_order *order);
bool tokio_order_take(struct tokio_order *order, struct tokio_event *event); /* false: there is none */

#endif
