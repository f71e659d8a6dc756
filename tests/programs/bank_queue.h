/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bank's queue of transactions: bounded; any number of threads put and
 * take. A transaction's span travels with it: it was begun detached by who put
 * it, and whoever takes it enters it. Its length is a counter of the trace.
 */
#ifndef BANK_QUEUE_H
#define BANK_QUEUE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "txtrace.h"

#define QUEUE_MAX 256

enum kind { DEPOSIT, TRANSFER, WITHDRAW, AUDIT, STATEMENT, KIND_CNT };

struct transaction {
	enum kind kind;
	uint64_t number;
	unsigned from; /* account */
	unsigned to;
	int64_t cents;
	uint64_t submitted_ns; /* if latencies are measured */
	txtrace_span_t span;
};

struct queue {
	pthread_mutex_t lock;
	pthread_cond_t not_empty;
	pthread_cond_t not_full;
	struct transaction items[QUEUE_MAX];
	unsigned first;
	unsigned length;
	bool is_closed;
	bool is_back_office;
};

static inline void queue_init(struct queue *queue, bool is_back_office)
{
	pthread_mutex_init(&queue->lock, NULL);
	pthread_cond_init(&queue->not_empty, NULL);
	pthread_cond_init(&queue->not_full, NULL);
	queue->is_back_office = is_back_office;
}

static inline void queue_report_length(const struct queue *queue, unsigned length)
{
	if (queue->is_back_office)
		TXTRACE_COUNTER("back office queue", length);
	else
		TXTRACE_COUNTER("tellers queue", length);
}

static inline void queue_put(struct queue *queue, const struct transaction *transaction)
{
	pthread_mutex_lock(&queue->lock);
	while (queue->length == QUEUE_MAX)
		pthread_cond_wait(&queue->not_full, &queue->lock);
	queue->items[(queue->first + queue->length++) % QUEUE_MAX] = *transaction;
	unsigned length = queue->length;
	pthread_cond_signal(&queue->not_empty);
	pthread_mutex_unlock(&queue->lock);
	queue_report_length(queue, length);
}

/* False: closed and empty. */
static inline bool queue_take(struct queue *queue, struct transaction *transaction)
{
	pthread_mutex_lock(&queue->lock);
	while (!queue->length && !queue->is_closed)
		pthread_cond_wait(&queue->not_empty, &queue->lock);
	bool is_taken = queue->length > 0;
	if (is_taken) {
		*transaction = queue->items[queue->first];
		queue->first = (queue->first + 1) % QUEUE_MAX;
		queue->length--;
		pthread_cond_signal(&queue->not_full);
	}
	unsigned length = queue->length;
	pthread_mutex_unlock(&queue->lock);
	if (is_taken)
		queue_report_length(queue, length);
	return is_taken;
}

static inline void queue_close(struct queue *queue)
{
	pthread_mutex_lock(&queue->lock);
	queue->is_closed = true;
	pthread_cond_broadcast(&queue->not_empty);
	pthread_mutex_unlock(&queue->lock);
}

#endif
