/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What spans without a parent are charged with twice. A thread can be in
 * several of them: one that was begun detached is entered within another; a
 * span says that it has no parent; a key is entered. Each is charged, but sums
 * over all of them must count no ns of a thread twice: there it is the one's
 * that the thread entered last. So what the others are charged with meanwhile
 * is kept as their overlap, and goes into their records. The same is kept for
 * their children: the call tree takes it off them, too.
 *
 * Of a thread's stays in spans without a parent the one entered last is its
 * root_stay. When the next one is entered, the root_stay and each stay that was
 * entered since gets a cover: all older stays have one already. A cover ends
 * when its stay ends, or when no stay in a span without a parent is left above
 * it. An enter makes no more than 129 covers: of a thread that is in more spans
 * at once, outer children have no overlap.
 */
#ifndef TOP_LEVEL_H
#define TOP_LEVEL_H

#include "attribute/attribution_state.h"
#include "attribute/span_close.h" /* struct own_event */

/* The thread of the event has just entered the span. 0, or what the sink returned. */
int top_level_enter(struct attribution *attribution, const struct event *event, const struct own_event *own);

/* The stay is about to end, at a reading as in span_leave(). */
void top_level_leave(struct attribution *attribution, struct stay *stay, uint64_t time_ns,
		     const struct thread_reading *reading);

/* The overlap of a span that nobody is in any more, whose ledger is this. */
struct txtrace_ledger top_level_overlap(const struct attribution *attribution, const struct span *span,
					const struct txtrace_ledger *ledger);

#endif
