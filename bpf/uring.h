/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * io_uring: what a wait in io_uring_enter is for is what its requests are for. Requests of traced threads are counted by ring and reason from their
 * submission to their completion (tracepoints); by what reason a request was counted is remembered, since it has its file only when it begins. Who waits for
 * a ring while all that is in flight is for one reason waits for that; of several, the one that is completed first decides. A request is completed by whoever
 * ends it, who says so before he wakes the thread; or by the thread itself, and then it is in the thread's list of work at the wakeup.
 */
#ifndef URING_H
#define URING_H

#include "vmlinux.h"

/*
 * A wait for the ring begins: enum block_reason that all requests in flight in it have in common, else BLOCK_POLL. ring: the address of its struct
 * io_ring_ctx.
 */
uint32_t uring_begin_wait(uint64_t ring);

/* enum block_reason of the request that ends the wait now; URING_NOTHING: none does. */
uint32_t uring_end_wait(struct task_struct *wakee, uint64_t ring);
#define URING_NOTHING 0xff

#endif
