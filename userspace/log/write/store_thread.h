/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A store that is fed from another thread: batches are copied into a bounded
 * queue (batch_queue.h), and a thread of its own compresses and writes them.
 * Whoever puts them never waits for a disk unless it asks to. The store is this
 * thread's between start and stop, but for what log_store.h allows to any
 * thread.
 */
#ifndef STORE_THREAD_H
#define STORE_THREAD_H

#include "log/write/log_store.h"

struct store_thread;

/* The store stays the caller's. All signals are blocked in the thread. */
int store_thread_start(struct store_thread **thread, struct log_store *store,
		       const struct log_writer_options *options);

/*
 * Copies the batch. 0; -EAGAIN: there is no room, nothing was taken; with waits
 * only if the batch would not fit into the empty queue either; or the store's
 * error, which is final.
 */
int store_thread_put(struct store_thread *thread, const struct log_batch *batch, bool waits);

/*
 * Lets log_store_check() be called behind what was put before, if there is room
 * for that; syncs: waits for it, and returns what it says.
 */
int store_thread_check(struct store_thread *thread, bool syncs);

/*
 * Waits until all that was put is written, ends the thread and frees it.
 * Returns the store's error. NULL is allowed.
 */
int store_thread_stop(struct store_thread *thread);

#endif
