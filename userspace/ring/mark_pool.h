/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The memory in which one object file of one process marks, read in place: no
 * system call and no allocation per mark. include/txtrace.h says how it is
 * written, txtrace/mark_ring.h how it is laid out.
 *
 *	mark_pool_open(&pool, fd);
 *	mark_pool_accept(pool);                the program marks there from now on
 *	mark_pool_add_lane(pool, place, …);    as the probe `ring` tells
 *	mark_pool_drain(pool, now_ns, …);      again and again
 *	mark_pool_end_thread(pool, tid, …);    what it has marked is still read
 *	mark_pool_refuse(pool);                the program goes back to the probe
 *	mark_pool_close(pool);
 *
 * Nothing in it is trusted: what is read is copied first, and a program that
 * writes nonsense into it gets nonsense about itself. A thread that has taken a
 * slot and not filled it (it was preempted there, a signal handler of its runs,
 * or it jumped away) holds up what it marked later, for MARK_POOL_WAIT_NS; then
 * all slots that were missing by then count as lost, and their chunks are not
 * used again while the thread lives.
 */
#ifndef MARK_POOL_H
#define MARK_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include "txtrace/mark_ring.h"

#define MARK_POOL_WAIT_NS 100000000u
#define MARK_POOL_TEXT_MAX (1u << 20) /* bytes of a text; what is beyond is cut off */

struct mark_pool;

struct mark {
	uint32_t tid;
	uint8_t kind;	    /* enum mark_kind, but PIECE */
	bool is_truncated;  /* the text is longer */
	bool is_unreadable; /* there is no text, or a part of it is lost */
	uint64_t counter;   /* the lowest 56 bits */
	uint64_t *last_ns;  /* the sink's own: 0 at first, the same for all marks that have an order */
	uint64_t id;
	uint64_t name;	  /* an address */
	uint64_t value;	  /* of a mark with a text: 0 */
	const void *text; /* lives until the call returns */
	uint32_t text_length;
};

struct mark_pool_sink {
	void *context;
	/* A non-zero return stops the drain and is its result; the mark counts as taken. */
	int (*take)(void *context, const struct mark *mark);
	/* The thread has lost so many of a kind (its lowest five bits; 0: not known) since the last drain. */
	int (*lose)(void *context, uint32_t tid, uint32_t kind, uint64_t cnt);
};

/*
 * A pool of another process, open for reading and writing at fd,
 * which is taken over. What an earlier reader has left in it is over: each
 * thread is told to the probe anew before it marks again. -EPROTO: it is none, or
 * of another version; -EBUSY: another reader has it, and lives; -ENOMEM; errors
 * of mmap.
 */
int mark_pool_open(struct mark_pool **pool, int fd);

void mark_pool_accept(struct mark_pool *pool);

/* The thread has that lane from then on. 0, -EINVAL (there can be none), -ENOMEM. */
int mark_pool_add_lane(struct mark_pool *pool, uint64_t place, uint32_t tid, uint64_t since_ns);

/*
 * It ended then: what is left is read by the next drain, and its memory given
 * back. A lane that was added since then is of another one with its number. 0:
 * every thread.
 */
void mark_pool_end_thread(struct mark_pool *pool, uint32_t tid, uint64_t end_ns);

int mark_pool_drain(struct mark_pool *pool, uint64_t now_ns, const struct mark_pool_sink *sink);

/* Marks that are still waited for are no older than this; UINT64_MAX: none is waited for. */
uint64_t mark_pool_waits_since_ns(const struct mark_pool *pool);

/* The program uses the probe from its next marks on. Once nobody marks: what is still to be read is there. */
void mark_pool_refuse(struct mark_pool *pool);

void mark_pool_close(struct mark_pool *pool); /* NULL is allowed */

#endif
