/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Waits in io_uring_enter are charged to what the requests in flight are for.
 * Requests of traced threads are counted by ring and reason, from their
 * submission to their completion (tracepoints). The reason in which a request
 * was counted is remembered, since a request has its file only when it begins.
 * If all requests in flight are for one reason, the wait is for that; of
 * several, the one that is completed first decides. Completions are told before
 * the thread is woken, or, where the thread completes requests itself, they are
 * in its list of work at the wakeup.
 */
#ifndef URING_H
#define URING_H

#include "vmlinux.h"

/*
 * A wait for the ring begins: enum block_reason that all requests in flight in
 * it have in common, else BLOCK_POLL. ring: the address of its struct
 * io_ring_ctx.
 */
uint32_t uring_begin_wait(uint64_t ring);

/* enum block_reason of the request that ends the wait now; URING_NOTHING: none does. */
uint32_t uring_end_wait(struct task_struct *wakee, uint64_t ring);
#define URING_NOTHING 0xff

#endif
