/* SPDX-License-Identifier: BSD-2-Clause */
#include "attribute/top_level.h"

#include <errno.h>

#include "attribute/span_budget.h"

/* A thread that never ends what it begins does not make each root that it enters cost more. */
#define COVER_WALK_MAX 128

static bool is_root(const struct span *span)
{
	return !span->parent && !span->is_left_out;
}

static struct cover *cover_of(const struct attribution *attribution, struct stay *stay)
{
	uint32_t number = *stay_cover(stay);

	return number ? pool_item(&attribution->spans.covers, number - 1) : NULL;
}

/*
 * Whether there is room for the span's overlap, and for the cover of the thread's stay in it; if so, it is
 * taken.
 */
static bool has_room(struct attribution *attribution, const struct thread *thread, const struct span *span)
{
	struct process *payer = span->overlap ? NULL : budget_payer(attribution, span);

	if (payer && !budget_take(attribution, payer, OVERLAP_PRICE, 0))
		return false;
	if (budget_take(attribution, thread->process, COVER_PRICE, 0))
		return true;
	if (payer)
		budget_give_back(attribution, payer, OVERLAP_PRICE);
	return false;
}

/* 0 or -ENOMEM. */
static int make_overlap(struct attribution *attribution, struct span *span)
{
	struct txtrace_ledger *overlap;
	uint32_t number;

	if (span->overlap)
		return 0;
	overlap = pool_take(&attribution->spans.overlaps, &number);
	if (!overlap)
		return -ENOMEM;
	*overlap = (struct txtrace_ledger){ 0 };
	span->overlap = number + 1;
	return 0;
}

/*
 * *link: where its place is in the thread's list of covers; then, where that of the next one is. 0, -ENOMEM,
 * or -ENOSPC: the budget has no room, and the span is marked.
 */
static int begin_cover(struct attribution *attribution, const struct own_event *own, struct stay *stay,
		       struct cover ***link)
{
	struct cover *cover;
	uint32_t number;

	if (!has_room(attribution, own->thread, stay->span)) {
		mark_lossy(stay->span);
		return -ENOSPC;
	}
	cover = make_overlap(attribution, stay->span) ? NULL : pool_take(&attribution->spans.covers, &number);
	if (!cover)
		return -ENOMEM;
	*cover = (struct cover){ .stay = stay,
				 .below = **link,
				 .link = *link,
				 .reading = own->reading,
				 .since_ns = own->time_ns,
				 .number = number };
	if (own->reading)
		own->reading->user_cnt++;
	if (cover->below)
		cover->below->link = &cover->below;
	**link = cover;
	*link = &cover->below;
	*stay_cover(stay) = number + 1;
	return 0;
}

/* All that the thread entered since its last root, and that root: the last entered first. */
static int begin_covers(struct attribution *attribution, const struct event *event,
			const struct own_event *own)
{
	struct thread *thread = own->thread;
	struct cover **link = &thread->covers;
	struct stay *stay = thread->stays->next_of_thread;
	bool has_refused = false;
	int err = 0;

	for (int i = 0; i < COVER_WALK_MAX && stay && stay != thread->root_stay && err != -ENOMEM; i++) {
		err = stay->span->is_left_out ? 0 : begin_cover(attribution, own, stay, &link);
		has_refused |= err == -ENOSPC;
		stay = stay->next_of_thread;
	}
	if (thread->root_stay && err != -ENOMEM) {
		err = begin_cover(attribution, own, thread->root_stay, &link);
		has_refused |= err == -ENOSPC;
	}
	if (err == -ENOMEM)
		return err;
	return has_refused ? budget_refuse(attribution, event) : 0;
}

int top_level_enter(struct attribution *attribution, const struct event *event, const struct own_event *own)
{
	struct thread *thread = own->thread;
	int err;

	if (!is_root(thread->stays->span))
		return 0;
	err = begin_covers(attribution, event, own);
	thread->root_stay = thread->stays;
	return err;
}

static void end_cover(struct attribution *attribution, struct cover *cover, uint64_t time_ns,
		      const struct thread_reading *reading)
{
	struct stay *stay = cover->stay;

	/* That readings do not belong together is judged where the stay ends. */
	(void)charge_between(pool_item(&attribution->spans.overlaps, stay->span->overlap - 1), cover->reading,
			     cover->since_ns, reading, time_ns);
	*cover->link = cover->below;
	if (cover->below)
		cover->below->link = cover->link;
	if (cover->reading)
		thread_table_let_go(&attribution->threads, cover->reading);
	*stay_cover(stay) = 0;
	pool_give_back(&attribution->spans.covers, cover->number);
	budget_give_back(attribution, stay->thread->process, COVER_PRICE);
}

/* The last root has gone: down to the one below it, nothing is covered any more. */
static void uncover(struct attribution *attribution, struct thread *thread, uint64_t time_ns,
		    const struct thread_reading *reading)
{
	thread->root_stay = NULL;
	while (thread->covers && !thread->root_stay) {
		struct stay *stay = thread->covers->stay;

		if (is_root(stay->span))
			thread->root_stay = stay;
		end_cover(attribution, thread->covers, time_ns, reading);
	}
}

void top_level_leave(struct attribution *attribution, struct stay *stay, uint64_t time_ns,
		     const struct thread_reading *reading)
{
	struct cover *cover = cover_of(attribution, stay);

	if (cover)
		end_cover(attribution, cover, time_ns, reading);
	else if (stay == stay->thread->root_stay)
		uncover(attribution, stay->thread, time_ns, reading);
}

/*
 * Clocks that could not be read at an end of the span, or of what overlaps it, are unknown in the one and not
 * in the other.
 */
static bool is_part_of(const struct txtrace_ledger *overlap, const struct txtrace_ledger *ledger)
{
	for (unsigned int i = 0; i < TXTRACE_BLOCK_REASON_COUNT; i++)
		if (overlap->blocked_ns[i] > ledger->blocked_ns[i])
			return false;
	return overlap->on_cpu_ns <= ledger->on_cpu_ns && overlap->runnable_ns <= ledger->runnable_ns &&
	       overlap->unknown_ns <= ledger->unknown_ns && overlap->interrupt_ns <= ledger->interrupt_ns &&
	       overlap->stolen_ns <= ledger->stolen_ns;
}

struct txtrace_ledger top_level_overlap(const struct attribution *attribution, const struct span *span,
					const struct txtrace_ledger *ledger)
{
	struct txtrace_ledger overlap = { 0 };

	if (!span->overlap)
		return overlap;
	overlap = *(const struct txtrace_ledger *)pool_item(&attribution->spans.overlaps, span->overlap - 1);
	if (is_part_of(&overlap, ledger))
		return overlap;
	overlap = *ledger; /* what of it is the span's alone is not known: so nothing is */
	overlap.detached_ns = 0;
	return overlap;
}
