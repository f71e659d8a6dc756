/* SPDX-License-Identifier: BSD-2-Clause */
#include "log/read/decode_queue.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

enum slot_state {
	SLOT_QUEUED = 0, /* nobody has begun with it */
	SLOT_BUSY = 1,   /* a thread has */
	SLOT_LOADED = 2,
};

struct queued_slot {
	struct batch_slot slot;
	enum slot_state state; /* under the lock, once there are threads */
};

struct decode_queue {
	struct queued_slot *ring;
	unsigned int capacity;
	unsigned int front; /* index of the first in the ring */
	unsigned int cnt;
	pthread_t *threads;
	unsigned int thread_cnt;
	bool is_closing;
	pthread_mutex_t lock; /* of front, cnt, is_closing, and the states */
	pthread_cond_t queued;
	pthread_cond_t loaded;
};

static struct queued_slot *at(struct decode_queue *queue, unsigned int idx)
{
	return &queue->ring[(queue->front + idx) % queue->capacity];
}

static struct queued_slot *find_queued(struct decode_queue *queue)
{
	for (unsigned int i = 0; i < queue->cnt; i++) {
		if (at(queue, i)->state == SLOT_QUEUED)
			return at(queue, i);
	}
	return NULL;
}

static void *work(void *argument)
{
	struct decode_queue *queue = argument;
	struct queued_slot *next;

	pthread_mutex_lock(&queue->lock);
	while (!queue->is_closing) {
		next = find_queued(queue);
		if (!next) {
			pthread_cond_wait(&queue->queued, &queue->lock);
			continue;
		}
		next->state = SLOT_BUSY;
		pthread_mutex_unlock(&queue->lock);
		batch_slot_load(&next->slot, true);
		pthread_mutex_lock(&queue->lock);
		next->state = SLOT_LOADED;
		pthread_cond_signal(&queue->loaded);
	}
	pthread_mutex_unlock(&queue->lock);
	return NULL;
}

/* ---- threads ---- */

/* Signals are the caller's: none of them comes to a thread that he does not know of. */
static int start_threads(struct decode_queue *queue, unsigned int thread_cnt)
{
	sigset_t all, before;
	int err = 0;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (!err && queue->thread_cnt < thread_cnt) {
		err = pthread_create(&queue->threads[queue->thread_cnt], NULL, work, queue);
		queue->thread_cnt += !err;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -err;
}

static void stop_threads(struct decode_queue *queue)
{
	pthread_mutex_lock(&queue->lock);
	queue->is_closing = true;
	pthread_cond_broadcast(&queue->queued);
	pthread_mutex_unlock(&queue->lock);
	for (unsigned int i = 0; i < queue->thread_cnt; i++)
		pthread_join(queue->threads[i], NULL);
}

static int init_slots(struct decode_queue *queue)
{
	int err = queue->ring && queue->threads ? 0 : -ENOMEM;

	for (unsigned int i = 0; queue->ring && i < queue->capacity; i++)
		err = batch_slot_init(&queue->ring[i].slot) ? -ENOMEM : err;
	return err;
}

int decode_queue_open(struct decode_queue **result, unsigned int thread_cnt)
{
	struct decode_queue *queue = calloc(1, sizeof(*queue));
	int err;

	if (!queue)
		return -ENOMEM;
	thread_cnt = thread_cnt < DECODE_THREADS_MAX ? thread_cnt : DECODE_THREADS_MAX;
	queue->capacity = thread_cnt ? thread_cnt + 2 : 1;
	queue->ring = calloc(queue->capacity, sizeof(*queue->ring));
	queue->threads = calloc(thread_cnt + 1, sizeof(*queue->threads));
	pthread_mutex_init(&queue->lock, NULL);
	pthread_cond_init(&queue->queued, NULL);
	pthread_cond_init(&queue->loaded, NULL);
	err = init_slots(queue);
	if (!err)
		err = start_threads(queue, thread_cnt);
	if (err)
		decode_queue_close(queue);
	else
		*result = queue;
	return err;
}

void decode_queue_close(struct decode_queue *queue)
{
	if (!queue)
		return;
	decode_queue_clear(queue);
	stop_threads(queue);
	for (unsigned int i = 0; queue->ring && i < queue->capacity; i++)
		batch_slot_release(&queue->ring[i].slot);
	pthread_cond_destroy(&queue->loaded);
	pthread_cond_destroy(&queue->queued);
	pthread_mutex_destroy(&queue->lock);
	free(queue->threads);
	free(queue->ring);
	free(queue);
}

/* ---- the queue ---- */

struct batch_slot *decode_queue_room(struct decode_queue *queue)
{
	return queue->cnt < queue->capacity ? &at(queue, queue->cnt)->slot : NULL;
}

void decode_queue_push(struct decode_queue *queue)
{
	struct queued_slot *last = at(queue, queue->cnt);

	pthread_mutex_lock(&queue->lock);
	atomic_store_explicit(&last->slot.is_wanted, false, memory_order_relaxed);
	last->state = SLOT_QUEUED;
	queue->cnt++;
	pthread_cond_signal(&queue->queued);
	pthread_mutex_unlock(&queue->lock);
}

struct batch_slot *decode_queue_front(struct decode_queue *queue)
{
	struct queued_slot *front = at(queue, 0);
	bool is_mine;

	if (!queue->cnt)
		return NULL;
	pthread_mutex_lock(&queue->lock);
	is_mine = front->state == SLOT_QUEUED;
	if (is_mine) {
		front->state = SLOT_LOADED;
	} else if (front->state == SLOT_BUSY) {
		batch_slot_hurry(&front->slot);
		while (front->state == SLOT_BUSY)
			pthread_cond_wait(&queue->loaded, &queue->lock);
	}
	pthread_mutex_unlock(&queue->lock);
	if (is_mine)
		batch_slot_load(&front->slot, false);
	return &front->slot;
}

void decode_queue_pop(struct decode_queue *queue)
{
	pthread_mutex_lock(&queue->lock);
	queue->front = (queue->front + 1) % queue->capacity;
	queue->cnt--;
	pthread_mutex_unlock(&queue->lock);
}

void decode_queue_clear(struct decode_queue *queue)
{
	pthread_mutex_lock(&queue->lock);
	for (unsigned int i = 0; i < queue->cnt; i++) {
		struct queued_slot *slot = at(queue, i);

		if (slot->state == SLOT_QUEUED)
			slot->state = SLOT_LOADED;
		batch_slot_hurry(&slot->slot);
		while (slot->state == SLOT_BUSY)
			pthread_cond_wait(&queue->loaded, &queue->lock);
	}
	queue->cnt = 0;
	pthread_mutex_unlock(&queue->lock);
}
