/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/wait/time_gaps.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "log/format/record_table.h"

#define GAP_MAX 65536

void time_gaps_init(struct time_gaps *gaps)
{
	*gaps = (struct time_gaps){ 0 };
}

void time_gaps_release(struct time_gaps *gaps)
{
	free(gaps->gaps);
	*gaps = (struct time_gaps){ 0 };
}

static int compare(const void *a, const void *b)
{
	const struct time_gap *left = a, *right = b;

	return left->first_ns < right->first_ns ? -1 : left->first_ns > right->first_ns;
}

/* In order, and none overlaps another. */
static void tidy(struct time_gaps *gaps)
{
	size_t cnt = 0;

	if (gaps->cnt)
		qsort(gaps->gaps, gaps->cnt, sizeof(*gaps->gaps), compare);
	for (size_t i = 0; i < gaps->cnt; i++) {
		if (cnt && gaps->gaps[i].first_ns <= gaps->gaps[cnt - 1].last_ns) {
			if (gaps->gaps[i].last_ns > gaps->gaps[cnt - 1].last_ns)
				gaps->gaps[cnt - 1].last_ns = gaps->gaps[i].last_ns;
		} else {
			gaps->gaps[cnt++] = gaps->gaps[i];
		}
	}
	gaps->cnt = cnt;
}

/* Each becomes one with the next one, and with all that is between them. */
static void halve(struct time_gaps *gaps)
{
	tidy(gaps);
	if (gaps->cnt < GAP_MAX)
		return;
	for (size_t i = 0; i < gaps->cnt / 2; i++)
		gaps->gaps[i] = (struct time_gap){ gaps->gaps[2 * i].first_ns,
						   gaps->gaps[2 * i + 1].last_ns };
	gaps->cnt /= 2;
}

static int add(struct time_gaps *gaps, uint64_t first_ns, uint64_t last_ns)
{
	struct time_gap *more;

	if (gaps->cnt == GAP_MAX)
		halve(gaps);
	more = array_grow(gaps->gaps, &gaps->size, gaps->cnt, sizeof(*more));
	if (!more)
		return -ENOMEM;
	gaps->gaps = more;
	gaps->gaps[gaps->cnt++] = (struct time_gap){ first_ns < last_ns ? first_ns : last_ns, last_ns };
	return 0;
}

int time_gaps_add(struct time_gaps *gaps, const struct txtrace_record *record)
{
	uint64_t time_ns = record_finished_ns(record);
	int err = 0;

	if (record->kind == TXTRACE_RECORD_DAMAGE) {
		gaps->is_damaged = true;
		return 0;
	}
	if (gaps->is_damaged && time_ns >= gaps->seen_ns) {
		err = add(gaps, gaps->seen_ns, time_ns);
		gaps->is_damaged = false;
	}
	if (time_ns > gaps->seen_ns)
		gaps->seen_ns = time_ns;
	if (!err && record->kind == TXTRACE_RECORD_LOSS && record->loss.sched_event_cnt)
		err = add(gaps, record->loss.first_ns, record->loss.last_ns);
	if (!err && record->kind == TXTRACE_RECORD_DROPPED)
		err = add(gaps, record->dropped.first_ns, record->dropped.last_ns);
	return err;
}

int time_gaps_finish(struct time_gaps *gaps)
{
	int err = gaps->is_damaged ? add(gaps, gaps->seen_ns, UINT64_MAX) : 0;

	tidy(gaps);
	return err;
}

const struct time_gap *time_gaps_find(const struct time_gaps *gaps, uint64_t from_ns, uint64_t to_ns)
{
	size_t from = 0, to = gaps->cnt;

	while (from < to) { /* the first one that ends at from_ns or later */
		size_t middle = from + (to - from) / 2;

		if (gaps->gaps[middle].last_ns < from_ns)
			from = middle + 1;
		else
			to = middle;
	}
	return from < gaps->cnt && gaps->gaps[from].first_ns <= to_ns ? &gaps->gaps[from] : NULL;
}
