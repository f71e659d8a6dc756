/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Blocks in their order, of which threads read, check, unpack and decode those
 * that are not wanted yet. Without threads, all is done when it is wanted.
 *
 *	while (there is a next block && (slot = decode_queue_room(queue))) {
 *		fill in what is to be done;
 *		decode_queue_push(queue);
 *	}
 *	slot = decode_queue_front(queue);      is loaded; it is the caller's until the pop
 *	decode_queue_pop(queue);
 *
 * All calls come from one thread.
 */
#ifndef DECODE_QUEUE_H
#define DECODE_QUEUE_H

#include "log/read/batch_slot.h"

#define DECODE_THREADS_MAX 64

struct decode_queue;

/* thread_cnt is cut to DECODE_THREADS_MAX. 0 or a negative errno. */
int decode_queue_open(struct decode_queue **queue, unsigned int thread_cnt);
void decode_queue_close(struct decode_queue *queue); /* NULL is allowed */

/*
 * The slot to be filled in and pushed next; NULL: there is no room. One more
 * than there are threads are in the queue at most, and the one in front.
 */
struct batch_slot *decode_queue_room(struct decode_queue *queue);
void decode_queue_push(struct decode_queue *queue);

/* NULL: the queue is empty. May wait. */
struct batch_slot *decode_queue_front(struct decode_queue *queue);
void decode_queue_pop(struct decode_queue *queue);

/* Forgets all that are in it. Waits until nobody reads the file any more. */
void decode_queue_clear(struct decode_queue *queue);

#endif
