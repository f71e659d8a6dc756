/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pieces of bytes from one thread to another, in order, through memory that is
 * taken once. A piece lies in one stretch. The producer writes into the queue's
 * memory and the consumer reads there; the lock is held for a few instructions,
 * once to reserve, commit, take and release each.
 *
 *	producer                                          consumer
 *	bytes = batch_queue_reserve(queue, size, false)   while ((bytes = batch_queue_take(queue, &size))) {
 *	if (!bytes)                                               use(bytes, size);
 *		there is no room                                  batch_queue_release(queue);
 *	fill(bytes);                                      }
 *	batch_queue_commit(queue);
 *
 * While it is empty it starts over at the beginning of its memory, so that of a
 * large queue that is never full only a part is ever touched.
 */
#ifndef BATCH_QUEUE_H
#define BATCH_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct batch_queue;

struct batch_queue *batch_queue_new(size_t capacity_bytes); /* NULL: no memory */
/* neither side uses it any more. NULL is allowed. */
void batch_queue_free(struct batch_queue *queue);

/* ---- the producer ---- */

/*
 * Memory for a piece of size > 0, aligned to 8 bytes. NULL: there is no room
 * now; with waits: there would not be any in the empty queue.
 */
void *batch_queue_reserve(struct batch_queue *queue, size_t size, bool waits);
void batch_queue_commit(struct batch_queue *queue);

/* Waits until all pieces have been released. */
void batch_queue_wait(struct batch_queue *queue);

/* No more will come. */
void batch_queue_end(struct batch_queue *queue);

/* ---- the consumer ---- */

/* Waits for the next piece. NULL: no more will come. It stays until it is released. */
const void *batch_queue_take(struct batch_queue *queue, size_t *size);
void batch_queue_release(struct batch_queue *queue);

#endif
