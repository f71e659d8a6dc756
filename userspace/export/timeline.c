/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/timeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "log/format/record_table.h"

#define FIRST_NEST_CNT 8

const char *left_as_name(unsigned int left_as)
{
	return record_name_or_unknown(&record_left_as, left_as);
}

/* ---- the row of a thread ---- */

void nest_row_init(struct nest_row *row, struct nest_budget *budget)
{
	*row = (struct nest_row){ .budget = budget };
}

void nest_row_release(struct nest_row *row)
{
	row->budget->left += (ptrdiff_t)row->cnt;
	free(row->nests);
	*row = (struct nest_row){ .budget = row->budget };
}

/* Forgets the older half of the row. */
static void forget(struct nest_row *row)
{
	size_t cnt = row->cnt / 2;

	row->forgotten_ns = row->nests[cnt - 1].end_ns;
	memmove(row->nests, row->nests + cnt, (row->cnt - cnt) * sizeof(*row->nests));
	row->cnt -= cnt;
	row->budget->left += (ptrdiff_t)cnt;
}

static int push(struct nest_row *row, struct nest nest)
{
	struct nest *nests;

	if (row->budget->left <= 0 && row->cnt >= FIRST_NEST_CNT)
		forget(row);
	nests = array_grow(row->nests, &row->size, row->cnt, sizeof(*nests));
	if (!nests)
		return -ENOMEM;
	row->nests = nests;
	row->nests[row->cnt++] = nest;
	row->budget->left--;
	return 0;
}

int nest_row_take(struct nest_row *row, uint64_t begin_ns, uint64_t end_ns)
{
	struct nest nest = { begin_ns, end_ns, begin_ns };
	size_t first = row->cnt; /* of those that lie within the span */
	int err;

	if (begin_ns > end_ns || begin_ns < row->forgotten_ns)
		return 0;
	if (row->cnt > 0 && end_ns < row->nests[row->cnt - 1].end_ns)
		return 0;
	while (first > 0 && row->nests[first - 1].end_ns > begin_ns &&
	       row->nests[first - 1].begin_ns > begin_ns)
		first--;
	if (first > 0 && row->nests[first - 1].end_ns > begin_ns) {
		/*
		 * It began within a stretch: that is fine only in one that ends with it, behind what has
		 * ended there before.
		 */
		const struct nest *around = &row->nests[first - 1];

		if (around->end_ns != end_ns)
			return 0;
		return begin_ns == around->begin_ns || begin_ns >= around->clear_ns;
	}
	for (size_t i = first; i < row->cnt; i++) {
		const struct nest *within = &row->nests[i];

		nest.clear_ns = within->end_ns < end_ns ? within->end_ns : within->clear_ns;
	}
	row->budget->left += (ptrdiff_t)(row->cnt - first);
	row->cnt = first;
	err = push(row, nest);
	return err ? err : 1;
}

bool span_is_of_thread(const struct txtrace_span *span)
{
	return !(span->flags & TXTRACE_SPAN_MOVED) && span->ledger.detached_ns == 0 &&
	       (span->end_tid == span->tid || span->end_tid == 0);
}

/* ---- rows of slices that do not nest ---- */

uint64_t lane_set_take(struct lane_set *set, uint64_t begin_ns, uint64_t end_ns, uint64_t new_row,
		       bool *is_new)
{
	struct lane *best = NULL, *latest = &set->lanes[0];

	for (unsigned int i = 0; i < set->cnt; i++) {
		struct lane *lane = &set->lanes[i];

		if (lane->end_ns <= begin_ns && (!best || lane->end_ns > best->end_ns))
			best = lane;
		if (lane->end_ns > latest->end_ns)
			latest = lane;
	}
	*is_new = !best;
	if (!best) {
		best = set->cnt < LANE_CNT ? &set->lanes[set->cnt++] : latest;
		best->row = new_row;
	}
	best->end_ns = end_ns;
	return best->row;
}

/* ---- the states of a thread ---- */

const char *state_name(enum thread_state state, unsigned int reason)
{
	static const char *const blocked[TXTRACE_BLOCK_REASON_COUNT] = {
		[TXTRACE_BLOCK_LOCK] = "blocked: lock",
		[TXTRACE_BLOCK_DISK] = "blocked: disk",
		[TXTRACE_BLOCK_NETWORK] = "blocked: network",
		[TXTRACE_BLOCK_SLEEP] = "blocked: sleep",
		[TXTRACE_BLOCK_PAGE_FAULT] = "blocked: page_fault",
		[TXTRACE_BLOCK_PIPE] = "blocked: pipe",
		[TXTRACE_BLOCK_WAIT] = "blocked: wait",
		[TXTRACE_BLOCK_STOPPED] = "blocked: stopped",
		[TXTRACE_BLOCK_OTHER] = "blocked: other",
		[TXTRACE_BLOCK_THROTTLED] = "throttled",
		[TXTRACE_BLOCK_POLL] = "blocked: poll",
	};

	if (state == STATE_RUNNING)
		return "running";
	if (state == STATE_RUNNABLE)
		return "runnable";
	return reason < TXTRACE_BLOCK_REASON_COUNT ? blocked[reason] : "blocked";
}

static uint64_t subtract_saturating(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

unsigned int state_row_run(struct state_row *row, const struct txtrace_run *run,
			   struct state_slice slices[STATE_COUNT])
{
	uint64_t times[STATE_COUNT + 1]; /* slice n lies between n and n + 1 */
	bool is_reason_known = row->has_run && row->left_as == TXTRACE_LEFT_BLOCKED;
	unsigned int cnt = 0;

	times[STATE_RUNNING + 1] = run->end_ns;
	times[STATE_RUNNING] = run->begin_ns;
	times[STATE_RUNNABLE] = subtract_saturating(times[STATE_RUNNING], run->runnable_ns);
	times[STATE_BLOCKED] = subtract_saturating(times[STATE_RUNNABLE], run->blocked_ns);
	for (unsigned int state = 0; state < STATE_COUNT; state++) {
		uint64_t begin_ns = times[state] > row->end_ns ? times[state] : row->end_ns;

		if (begin_ns >= times[state + 1])
			continue;
		slices[cnt++] = (struct state_slice){
			.state = (enum thread_state)state,
			.reason = run->has_wait_end ? run->wait_reason
				  : is_reason_known ? row->reason
						    : TXTRACE_BLOCK_REASON_COUNT,
			.syscall_nr = row->syscall_nr,
			.object = run->has_wait_end ? run->wait_object : row->object,
			.begin_ns = begin_ns,
			.end_ns = times[state + 1],
		};
		row->end_ns = times[state + 1];
	}
	row->has_run = true;
	row->left_as = run->left_as;
	row->reason = run->reason;
	row->syscall_nr = run->syscall_nr;
	row->object = run->object;
	return cnt;
}
