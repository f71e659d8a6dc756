/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stays and spans end here, whoever ends them: the account is charged, and the
 * records are written. A thread that does so itself has a reading of its clocks
 * at that moment; for all others they are computed (thread_replay_at()).
 * Results are 0, -ENOMEM, or what the sink returned.
 */
#ifndef SPAN_CLOSE_H
#define SPAN_CLOSE_H

#include "attribute/attribution_state.h"

/* A thread, and what it read of its clocks at that moment: NULL if nothing. */
struct own_event {
	struct thread *thread;
	struct thread_reading *reading;
	uint64_t time_ns;
	bool is_reading_lost; /* it goes on from an earlier one, which never came */
};

/* The thread leaves one span. */
int close_stay(struct attribution *attribution, struct stay *stay, const struct own_event *own);

/* It leaves all that it is in. */
int leave_all(struct attribution *attribution, const struct own_event *own);

/*
 * Writes and frees the span, with whoever is in it. own: a thread of its
 * process (of any, if it is keyed) ended it, or cut it off; NULL: all of its
 * process are cut off. end_tid 0: it was cut off.
 */
int finish_span(struct attribution *attribution, struct span *span, const struct own_event *own,
		uint64_t time_ns, uint32_t end_tid);

/* Cuts off the open spans of a process (keyed ones belong to none), or with NULL all. */
int cut_off_spans(struct attribution *attribution, struct process *process, uint64_t time_ns);

#endif
