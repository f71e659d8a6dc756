/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whose child a span is that begins. Its parent is the one that it names; if it
 * names none, the span that its thread entered last and is still in; if it says
 * that it has none, or the thread is in no span, it is a root. A keyed span is
 * one always: its key says what it belongs to, on whatever thread and in
 * whatever process it happens to begin.
 */
#ifndef SPAN_PARENT_H
#define SPAN_PARENT_H

#include "attribute/attribution_state.h"

/* Sets begin->parent and begin->parent_flags for a begin of this thread. */
void find_parent(const struct attribution *attribution, const struct event *event,
		 const struct thread *thread, struct span_begin *begin);

#endif
