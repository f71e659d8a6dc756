/* SPDX-License-Identifier: BSD-2-Clause */
#include "attribute/span_parent.h"

#define PARENT_FLAGS (TXTRACE_SPAN_ROOT | TXTRACE_SPAN_PARENT_KEYED | TXTRACE_SPAN_PARENT_LOST)

/* The parent is this open span, or, if that is left out, the parent that it has itself. */
static void take(const struct span *parent, uint32_t how, struct span_begin *begin)
{
	if (parent->is_left_out) {
		begin->parent = parent->parent;
		begin->parent_flags = (parent->flags & PARENT_FLAGS) | (parent->parent ? how : 0);
	/* 0 is no span, though a program that calls the probes itself may begin one */
	} else if (parent->id) {
		begin->parent = parent->id;
		begin->parent_flags = how |
				      (parent->flags & TXTRACE_SPAN_KEYED ? TXTRACE_SPAN_PARENT_KEYED : 0);
	}
}

static void take_named(const struct attribution *attribution, const struct event *event,
		       struct span_begin *begin)
{
	uint32_t how = event->flags & WIRE_IS_NESTED ? TXTRACE_SPAN_NESTED : 0;
	const struct span *parent = attribution->filter.wants_label
					    ? span_table_get(&attribution->spans, event->tgid,
							     event->span.parent)
					    : NULL;

	if (parent) {
		take(parent, how, begin);
	} else {
		begin->parent = event->span.parent;
		begin->parent_flags = how;
	}
}

/* Events that were lost since it began may have ended the span, or may have taken the thread out of it. */
static bool may_be_over(const struct attribution *attribution, const struct span *span)
{
	return span->begin_ns <= attribution->span_loss_until_ns ||
	       (span->flags & TXTRACE_SPAN_KEYED && span->begin_ns <= attribution->key_loss_until_ns);
}

/*
 * To go on taking a span for the parent that may be over would hang all that the thread does from then on
 * below it.
 */
static void take_innermost(const struct attribution *attribution, const struct thread *thread,
			   struct span_begin *begin)
{
	if (may_be_over(attribution, thread->stays->span))
		begin->parent_flags = TXTRACE_SPAN_PARENT_LOST;
	else
		take(thread->stays->span, TXTRACE_SPAN_NESTED, begin);
}

void find_parent(const struct attribution *attribution, const struct event *event,
		 const struct thread *thread, struct span_begin *begin)
{
	begin->parent = 0;
	begin->parent_flags = TXTRACE_SPAN_ROOT;
	if (begin->key || event->span.parent == WIRE_PARENT_ROOT)
		return;
	if (event->span.parent)
		take_named(attribution, event, begin);
	else if (event->kind == EVENT_BEGIN && thread->stays)
		take_innermost(attribution, thread, begin);
}
