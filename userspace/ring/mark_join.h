/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Marks that carry no clocks get those that the kernel side would have sent
 * with them. The kernel side tells what a thread's clocks were when it came onto
 * its CPU (WIRE_STAY), once it leaves it or is asked; of a mark in between they
 * differ by the time on the CPU. A mark waits for that, and is then the same
 * record as of a probe. The first one of a stay takes the clocks along; each one,
 * where the kernel hid that the thread came onto its CPU.
 *
 *	mark_join_add(join, record, size);         in the order of a thread
 *	mark_join_stay(join, stay);                as they come
 *	mark_join_settle(join, told_ns, added_ns); every stay, and mark, up to then has been told
 *	mark_join_waits_since_ns(join);            up to there all has been pushed
 *
 * A mark whose stay is not known has no clocks: where the time of its spans went
 * is unknown from there on. If the stay was lost, the loss makes lower bounds of
 * them, too.
 */
#ifndef MARK_JOIN_H
#define MARK_JOIN_H

#include <stddef.h>
#include <stdint.h>

#include "txtrace/event.h"

/* The time of a mark may differ by so much from that of its stay, which another clock has. */
#define MARK_JOIN_JITTER_NS 200u

struct mark_join;

/* A record as the kernel side sends them. A non-zero return is the caller's result. */
typedef int (*mark_join_push)(void *context, const void *record, size_t size);

struct mark_join *mark_join_new(mark_join_push push, void *context); /* NULL: no memory */
void mark_join_free(struct mark_join *join);			     /* NULL is allowed */

/* A struct wire_span or wire_key without clocks, its CPU not known. 0, -ENOMEM, or what push returns. */
int mark_join_add(struct mark_join *join, const struct wire_header *record);
/* In any order. 0 or -ENOMEM. */
int mark_join_stay(struct mark_join *join, const struct wire_stay *stay);

/*
 * told_ns: 0, if that is not known: marks that lie in no stay wait on. added_ns:
 * every mark up to then has been added.
 */
int mark_join_settle(struct mark_join *join, uint64_t told_ns, uint64_t added_ns);

/* The time of the first mark that waits; UINT64_MAX: none does. */
uint64_t mark_join_waits_since_ns(const struct mark_join *join);

size_t mark_join_waiting_cnt(const struct mark_join *join);

/*
 * Threads that have ended: mark_join_settle() forgets them, with both times a
 * second after that.
 */
size_t mark_join_ended_cnt(const struct mark_join *join);

/* The thread ended then; what waits still does. Another one may have its number. */
void mark_join_forget(struct mark_join *join, uint32_t tid, uint64_t time_ns);

#endif
