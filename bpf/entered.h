/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What each thread has entered and not left, the last entered on top: with it,
 * a span that names no parent is recorded or left out as the transaction is
 * that it belongs to. Only with --sample and --label; without them nothing here
 * is called.
 *
 * Bounds. The stack of a thread has ENTERED_DEPTH places: what is entered on a
 * full one is not remembered, so a span within it is judged by the span on top,
 * and one that says it has no parent is left out (span_filter.bpf.c). A thread
 * for which there is no room in the table is the same: its spans that name no
 * parent are left out. Both are counted. That a span has ended is told to other
 * threads that are in it by a mark, of which the last 65,536 are kept.
 */
#ifndef ENTERED_H
#define ENTERED_H

#include "vmlinux.h"
#include "txtrace/event.h"

#include <bpf/bpf_helpers.h>

#define ENTERED_DEPTH 32

/* What a span within it is recorded with. Else the id of a parent, or WIRE_PARENT_ROOT. */
#define WITHIN_NESTED 0                       /* the recorder knows: what the thread is in */
#define WITHIN_LEFT_OUT 0xfffffffffffffffeull /* nothing: the transaction is not sampled */

struct entered {
	uint64_t id; /* of a keyed span: a hash of its key */
	uint64_t within;
	uint32_t depth; /* entered so many times more than left; 0: it was left while others were above it */
	uint32_t is_keyed;
};

/* NULL: the thread is in nothing. *is_known: whether that is so, or there was no room to know. */
const struct entered *entered_top(bool *is_known);

/* False: there was no room. */
bool entered_push(uint64_t id, uint64_t within, bool is_keyed);

/* The thread leaves the span; has_ended: so does everybody. */
void entered_leave(uint64_t id, bool is_keyed, bool has_ended);

/* Not only the thread that began the span enters it: whoever ends it says so to the others. */
void entered_share(uint64_t id, bool is_keyed);

/* A span begins with the key of one that may have ended before. */
void entered_renew(uint64_t id, bool is_keyed);

/* A thread has gone, or left all: the one of this number. */
void entered_forget(uint32_t tid);

#endif
