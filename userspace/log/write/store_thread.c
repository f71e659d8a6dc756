/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A piece of the queue is a struct parcel, and behind it, of a batch: where its sections end, how many spans
 * each label has, the payload.
 */
#include "log/write/store_thread.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "log/write/batch_queue.h"

enum parcel_kind {
	PARCEL_BATCH,
	PARCEL_CHECK,
	PARCEL_SYNC,
};

struct parcel {
	enum parcel_kind kind;
	uint32_t payload_bytes;
	uint32_t label_bytes;
	struct log_batch batch;
};

/* What stands before each label. */
struct label_head {
	uint64_t span_cnt;
	uint64_t length;
};

struct label_bytes {
	uint8_t *at; /* NULL: they are only counted */
	size_t length;
};

struct store_thread {
	pthread_t thread;
	void (*enter)(void *context);
	void *context;
	sem_t has_entered;
	struct log_store *store;
	struct batch_queue *queue;
};

/* ---- the thread ---- */

static void visit_label_bytes(const void *labels, label_visitor visit, void *context)
{
	const struct parcel *parcel = labels;
	const uint8_t *at = (const uint8_t *)(parcel->batch.content.cuts + parcel->batch.content.cut_cnt),
		      *end = at + parcel->label_bytes;

	while (at < end) {
		struct label_head head;

		memcpy(&head, at, sizeof(head));
		visit(context, (const char *)at + sizeof(head), head.length, head.span_cnt);
		at += sizeof(head) + head.length;
	}
}

static void open_parcel(struct log_store *store, const struct parcel *parcel)
{
	struct parcel opened = *parcel;
	struct batch *content = &opened.batch.content;

	if (parcel->kind != PARCEL_BATCH) {
		log_store_check(store, parcel->kind == PARCEL_SYNC);
		return;
	}
	content->cuts = (const uint32_t *)(parcel + 1);
	content->payload = (const uint8_t *)(content->cuts + content->cut_cnt) + parcel->label_bytes;
	opened.batch.visit_labels = visit_label_bytes;
	opened.batch.labels = &opened;
	log_store_put(store, &opened.batch);
}

/* After an error the queue is emptied all the same: nobody waits for what will not happen. */
static void *run(void *context)
{
	struct store_thread *thread = context;
	const struct parcel *parcel;
	size_t size;

	if (thread->enter)
		thread->enter(thread->context);
	sem_post(&thread->has_entered);
	while ((parcel = batch_queue_take(thread->queue, &size))) {
		open_parcel(thread->store, parcel);
		batch_queue_release(thread->queue);
	}
	return NULL;
}

/* ---- the other side ---- */

int store_thread_start(struct store_thread **result, struct log_store *store,
		       const struct log_writer_options *options)
{
	struct store_thread *thread = calloc(1, sizeof(*thread));
	sigset_t all, before;
	int err = -ENOMEM;

	if (!thread)
		return err;
	thread->store = store;
	sem_init(&thread->has_entered, 0, 0);
	thread->enter = options->enter_thread;
	thread->context = options->context;
	thread->queue = batch_queue_new(options->queue_bytes);
	if (thread->queue) {
		sigfillset(&all);
		sigdelset(&all, SIGSYS); /* a refused system call ends nobody who can handle it */
		pthread_sigmask(SIG_SETMASK, &all, &before);
		err = -pthread_create(&thread->thread, NULL, run, thread);
		pthread_sigmask(SIG_SETMASK, &before, NULL);
	}
	if (err) {
		batch_queue_free(thread->queue);
		free(thread);
		return err;
	}
	while (sem_wait(&thread->has_entered) && errno == EINTR)
		;
	*result = thread;
	return 0;
}

static void add_label(void *context, const char *label, size_t length, uint64_t span_cnt)
{
	struct label_head head = { span_cnt, length };
	struct label_bytes *bytes = context;

	if (bytes->at) {
		memcpy(bytes->at + bytes->length, &head, sizeof(head));
		if (length)
			memcpy(bytes->at + bytes->length + sizeof(head), label, length);
	}
	bytes->length += sizeof(head) + length;
}

int store_thread_put(struct store_thread *thread, const struct log_batch *batch, bool waits)
{
	const struct batch *content = &batch->content;
	size_t cut_bytes = content->cut_cnt * sizeof(*content->cuts);
	struct label_bytes labels = { 0 };
	struct parcel *parcel;
	int err = log_store_error(thread->store);

	if (err)
		return err;
	batch->visit_labels(batch->labels, add_label, &labels);
	parcel = batch_queue_reserve(thread->queue,
				     sizeof(*parcel) + cut_bytes + labels.length +
					     content->cuts[content->cut_cnt - 1],
				     waits);
	if (!parcel)
		return -EAGAIN;
	*parcel = (struct parcel){
		.kind = PARCEL_BATCH,
		.payload_bytes = content->cuts[content->cut_cnt - 1],
		.label_bytes = (uint32_t)labels.length,
		.batch = *batch,
	};
	memcpy(parcel + 1, content->cuts, cut_bytes);
	labels = (struct label_bytes){ .at = (uint8_t *)(parcel + 1) + cut_bytes };
	batch->visit_labels(batch->labels, add_label, &labels);
	memcpy(labels.at + labels.length, content->payload, parcel->payload_bytes);
	batch_queue_commit(thread->queue);
	return 0;
}

int store_thread_check(struct store_thread *thread, bool syncs)
{
	struct parcel *parcel = batch_queue_reserve(thread->queue, sizeof(*parcel), syncs);

	if (parcel) {
		*parcel = (struct parcel){ .kind = syncs ? PARCEL_SYNC : PARCEL_CHECK };
		batch_queue_commit(thread->queue);
	}
	if (syncs)
		batch_queue_wait(thread->queue);
	return log_store_error(thread->store);
}

int store_thread_stop(struct store_thread *thread)
{
	int err;

	if (!thread)
		return 0;
	batch_queue_end(thread->queue);
	pthread_join(thread->thread, NULL);
	err = log_store_error(thread->store);
	batch_queue_free(thread->queue);
	free(thread);
	return err;
}
