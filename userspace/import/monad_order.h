/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Puts events of a ring into the order of time, and of their numbers where times
 * are equal, within a window of MONAD_ORDER_MAX events. They come almost in
 * order: an event is put behind the last one mostly, which is what this is made
 * for.
 */
#ifndef MONAD_ORDER_H
#define MONAD_ORDER_H

#include "import/monad_story.h"

#define MONAD_ORDER_MAX (16u << 10)

struct monad_order {
	struct monad_event *events;
	uint16_t *free; /* places of events */
	size_t free_cnt;
	uint16_t *sorted; /* places, the earliest first: room for twice as many */
	size_t begin, cnt;
};

int monad_order_init(struct monad_order *order); /* 0 or -ENOMEM; then release, too */
void monad_order_release(struct monad_order *order);

/* Copies it. There are less than MONAD_ORDER_MAX. */
void monad_order_add(struct monad_order *order, const struct monad_event *event);

/* The earliest one, which lives until the next add; NULL: there is none. */
struct monad_event *monad_order_take(struct monad_order *order);

#endif
