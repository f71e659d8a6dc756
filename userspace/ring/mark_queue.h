/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Marks between the memory of the programs and the merge. Taking one out of a
 * pool is quick, and what comes after is not: so they are taken out while the
 * program goes on, and wait here. Where the queue has no room for what a pool
 * can hold, the pool is left as it is, and the program finds it full.
 *
 * One FIFO for all pools. `turn` ends what was taken in one drain of them.
 */
#ifndef MARK_QUEUE_H
#define MARK_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ring/mark_pool.h"

#define MARK_QUEUE_BYTES (512u << 20) /* at most */

struct mark_queue;

/* Whose marks follow. */
struct mark_owner {
	uint64_t label_base;
	uint32_t tgid;
};

struct queued_mark {
	uint64_t time_ns;
	uint64_t id;
	uint64_t name; /* an address */
	uint64_t value;
	uint32_t tid;
	uint32_t text_length : 21; /* the text lies behind it */
	uint32_t is_truncated : 1;
	uint32_t is_unreadable : 1;
	uint32_t is_owner : 1; /* this is none: it says whose the following are, see mark_queue_own() */
	uint32_t kind : 8;     /* enum mark_kind; 0: it ends a turn, and time_ns is up to when */
};

struct mark_queue *mark_queue_new(void);	/* NULL: no memory */
void mark_queue_free(struct mark_queue *queue); /* NULL is allowed */

/* Whether all fits that one pool can hold. */
bool mark_queue_has_room(const struct mark_queue *queue);

/* These three: 0 or -ENOMEM. */
int mark_queue_own(struct mark_queue *queue, const struct mark_owner *owner);
int mark_queue_add(struct mark_queue *queue, const struct mark *mark, uint64_t time_ns);
int mark_queue_end_turn(struct mark_queue *queue, uint64_t until_ns);

bool mark_queue_is_empty(const struct mark_queue *queue);

/*
 * The first mark or end of a turn; it and its text live until the next call of
 * this kind. *owner: whose it is. NULL: there is none.
 */
const struct queued_mark *mark_queue_take(struct mark_queue *queue, struct mark_owner *owner);

static inline const char *queued_text(const struct queued_mark *mark)
{
	return (const char *)(mark + 1);
}

#endif
