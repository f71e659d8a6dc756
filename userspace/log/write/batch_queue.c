/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From `tail` on there are pieces, up to `head`; or, if the producer has started over, up to `end`, and from
 * 0 to `head`. Each has its size before it.
 */
#include "log/write/batch_queue.h"

#include <pthread.h>
#include <stdlib.h>

#define ALIGNMENT 8u

struct piece {
	uint64_t size; /* of its bytes */
	uint8_t bytes[];
};

struct batch_queue {
	pthread_mutex_t lock;
	pthread_cond_t has_piece;
	pthread_cond_t has_room;
	uint8_t *memory;
	size_t capacity;
	size_t head;
	size_t tail;
	size_t end;      /* where the pieces before the start ended; only if is_split */
	bool is_split;   /* head has started over, tail has not yet */
	size_t cnt;      /* pieces that were committed and not yet released */
	bool has_ended;
	struct piece *reserved; /* the producer's */
};

struct batch_queue *batch_queue_new(size_t capacity_bytes)
{
	struct batch_queue *queue = calloc(1, sizeof(*queue));

	if (!queue)
		return NULL;
	queue->capacity = capacity_bytes / ALIGNMENT * ALIGNMENT;
	queue->memory = malloc(queue->capacity ? queue->capacity : ALIGNMENT);
	if (!queue->memory) {
		free(queue);
		return NULL;
	}
	pthread_mutex_init(&queue->lock, NULL);
	pthread_cond_init(&queue->has_piece, NULL);
	pthread_cond_init(&queue->has_room, NULL);
	return queue;
}

void batch_queue_free(struct batch_queue *queue)
{
	if (!queue)
		return;
	pthread_mutex_destroy(&queue->lock);
	pthread_cond_destroy(&queue->has_piece);
	pthread_cond_destroy(&queue->has_room);
	free(queue->memory);
	free(queue);
}

static size_t needed(size_t size)
{
	return sizeof(struct piece) + (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/*
 * Moves head to where a piece of that many bytes fits. What the consumer has taken counts as long as it is
 * not released.
 */
static bool find_room(struct batch_queue *queue, size_t need)
{
	if (!queue->cnt) {
		queue->head = queue->tail = 0;
		queue->is_split = false;
	}
	if (queue->is_split)
		return need <= queue->tail - queue->head;
	if (need <= queue->capacity - queue->head)
		return true;
	if (need > queue->tail)
		return false;
	queue->end = queue->head;
	queue->head = 0;
	queue->is_split = true;
	return true;
}

void *batch_queue_reserve(struct batch_queue *queue, size_t size, bool waits)
{
	size_t need = needed(size);
	bool has_room;

	if (size > queue->capacity || need > queue->capacity)
		return NULL;
	pthread_mutex_lock(&queue->lock);
	while (!(has_room = find_room(queue, need)) && waits)
		pthread_cond_wait(&queue->has_room, &queue->lock);
	queue->reserved = (struct piece *)(queue->memory + queue->head);
	pthread_mutex_unlock(&queue->lock);
	if (!has_room)
		return NULL;
	queue->reserved->size = size;
	return queue->reserved->bytes;
}

void batch_queue_commit(struct batch_queue *queue)
{
	pthread_mutex_lock(&queue->lock);
	queue->head += needed(queue->reserved->size);
	queue->cnt++;
	pthread_cond_signal(&queue->has_piece);
	pthread_mutex_unlock(&queue->lock);
}

void batch_queue_wait(struct batch_queue *queue)
{
	pthread_mutex_lock(&queue->lock);
	while (queue->cnt)
		pthread_cond_wait(&queue->has_room, &queue->lock);
	pthread_mutex_unlock(&queue->lock);
}

void batch_queue_end(struct batch_queue *queue)
{
	pthread_mutex_lock(&queue->lock);
	queue->has_ended = true;
	pthread_cond_signal(&queue->has_piece);
	pthread_mutex_unlock(&queue->lock);
}

const void *batch_queue_take(struct batch_queue *queue, size_t *size)
{
	const struct piece *piece = NULL;

	pthread_mutex_lock(&queue->lock);
	while (!queue->cnt && !queue->has_ended)
		pthread_cond_wait(&queue->has_piece, &queue->lock);
	if (queue->cnt) {
		if (queue->is_split && queue->tail == queue->end) {
			queue->tail = 0;
			queue->is_split = false;
		}
		piece = (const struct piece *)(queue->memory + queue->tail);
		*size = piece->size;
	}
	pthread_mutex_unlock(&queue->lock);
	return piece ? piece->bytes : NULL;
}

void batch_queue_release(struct batch_queue *queue)
{
	const struct piece *piece;

	pthread_mutex_lock(&queue->lock);
	piece = (const struct piece *)(queue->memory + queue->tail);
	queue->tail += needed(piece->size);
	queue->cnt--;
	pthread_cond_signal(&queue->has_room);
	pthread_mutex_unlock(&queue->lock);
}
