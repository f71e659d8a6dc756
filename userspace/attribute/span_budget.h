/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What open spans may take of memory, whatever programs do. A span, each
 * further thread in it, long texts and tags have a price in bytes: the most
 * that the tables can need for it. A process may hold as much as is still free.
 * So one alone gets half of all, two a third each, and none of them can take
 * what is left for the others; the sum never exceeds the limit. Spans with a
 * key count for the process that began them; when that has gone, for each that
 * begins one with a key.
 *
 * What is refused is an event that was lost: counted, and told by LOSS records,
 * one for many of the same CPU.
 */
#ifndef SPAN_BUDGET_H
#define SPAN_BUDGET_H

#include "attribute/attribution_state.h"

/*
 * A process has its first thread: it is new, or its number is used again while
 * spans with keys that it began are open.
 */
void budget_start(struct attribution *attribution, const struct process *process);

/*
 * Its last thread has gone, and its spans without keys. Frees it: at once, or
 * when its spans with keys have ended.
 */
void budget_stop(struct attribution *attribution, struct process *process);

/* There was no room for the event. 0, or what the sink returned. */
int budget_refuse(struct attribution *attribution, const struct event *event);

/*
 * Writes a LOSS record for what was refused on each CPU and has not been told.
 * 0, or what the sink returned.
 */
int budget_tell(struct attribution *attribution);

/* Whether there is room for what the event adds to the tag; if so, it is taken. */
bool budget_tag(struct attribution *attribution, const struct span *span, const struct event_text *text);

/* ---- the same for each begin, enter, leave and end, which takes next to nothing ---- */

/*
 * A span with the stay of one thread, its slots in an index that grows, and its
 * place in a list of all; a stay of a further thread.
 */
#define SPAN_PRICE                                                                           \
	(sizeof(struct span) + sizeof(struct span_account) + sizeof(struct thread_reading) + \
	 5 * sizeof(struct hash_slot))
#define STAY_PRICE (sizeof(struct further_stay) + sizeof(struct thread_reading))

/*
 * A stay in a span without a parent, while the thread is in another one, too:
 * with a reading that nobody else needs; once a span, what comes of it.
 */
#define COVER_PRICE (sizeof(struct cover) + sizeof(struct thread_reading))
#define OVERLAP_PRICE (sizeof(struct txtrace_ledger))

/* Who began the span: it has threads, or the span is keyed. */
struct process *budget_payer(const struct attribution *attribution, const struct span *span);

/* A process without threads has given back so much. */
void budget_disown(struct attribution *attribution, struct process *process, uint64_t bytes);

/* Whether the process holds no more than is free, then. other_bytes: what counts besides what it holds. */
static inline bool budget_take(struct attribution *attribution, struct process *process, uint64_t bytes,
			       uint64_t other_bytes)
{
	struct span_budget *budget = &attribution->budget;

	if (budget->used_bytes + process->open_bytes + other_bytes + 2 * bytes > budget->limit_bytes)
		return false;
	budget->used_bytes += bytes;
	process->open_bytes += bytes;
	return true;
}

static inline void budget_give_back(struct attribution *attribution, struct process *process, uint64_t bytes)
{
	attribution->budget.used_bytes -= bytes;
	process->open_bytes -= bytes;
	if (!process->thread_cnt)
		budget_disown(attribution, process, bytes);
}

static inline bool budget_begin(struct attribution *attribution, struct process *process,
				const struct span_begin *begin)
{
	return budget_take(attribution, process,
			   SPAN_PRICE + span_texts_bytes(begin->label->length,
							 begin->key ? begin->key->length : 0),
			   begin->key ? attribution->budget.orphaned_bytes : 0);
}

/* process: of the thread that enters. */
static inline bool budget_enter(struct attribution *attribution, struct process *process,
				const struct span *span)
{
	return !span->own_stay.thread || budget_take(attribution, process, STAY_PRICE, 0);
}

/* The stay is about to end. */
static inline void budget_leave(struct attribution *attribution, const struct stay *stay)
{
	if (stay != &stay->span->own_stay)
		budget_give_back(attribution, stay->thread->process, STAY_PRICE);
}

/*
 * The span is about to end. thread: of the process that it belongs to, if it is
 * not keyed; NULL: none is at hand.
 */
static inline void budget_end(struct attribution *attribution, const struct span *span,
			      const struct thread *thread)
{
	bool is_at_hand = thread && !(span->flags & TXTRACE_SPAN_KEYED);

	budget_give_back(attribution, is_at_hand ? thread->process : budget_payer(attribution, span),
			 SPAN_PRICE + span_texts_bytes(span->label_length, span->key_length) +
				 span_tag_bytes(span) + (span->overlap ? OVERLAP_PRICE : 0));
}

#endif
