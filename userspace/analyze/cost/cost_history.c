/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/cost/cost_history.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 16
#define LEAST_LIMIT 64 /* a share of 1 leaves 33 at most */

void cost_history_release(struct cost_history *history)
{
	free(history->marks);
	memset(history, 0, sizeof(*history));
}

size_t cost_history_bytes(const struct cost_history *history)
{
	return history->capacity * sizeof(*history->marks);
}

/* Of all classes, modulo 2^32. */
static uint32_t total(const struct cost_history_mark *mark)
{
	uint32_t sum = 0;

	for (unsigned int class = 0; class < COST_HISTORY_CLASSES; class++)
		sum += mark->cnts[class];
	return sum;
}

/*
 * From the newest back: a mark stays if without it the gap would be more than one in `share` of what came
 * since. Returns how many stay; moves: they do.
 */
static size_t choose(struct cost_history *history, uint64_t share, bool moves)
{
	size_t last = history->cnt - 1, to = history->cnt - 1;
	uint32_t newest = total(&history->marks[last]), kept = newest;

	for (size_t i = last; i-- > 0;) {
		uint32_t before = i ? total(&history->marks[i - 1]) : 0;

		if (i && (uint64_t)(kept - before) * share <= newest - before)
			continue;
		kept = total(&history->marks[i]);
		to--;
		if (moves)
			history->marks[to] = history->marks[i];
	}
	return history->cnt - to;
}

static void thin_out(struct cost_history *history)
{
	uint64_t share = history->cnt / 2;
	size_t kept;

	while (share > 1 && choose(history, share, false) > history->cnt / 4 * 3)
		share /= 2;
	kept = choose(history, share, true);
	memmove(history->marks, &history->marks[history->cnt - kept], kept * sizeof(*history->marks));
	history->cnt = kept;
}

static int make_room(struct cost_history *history, size_t limit)
{
	size_t capacity = history->capacity ? history->capacity * 2 : FIRST_CAPACITY;
	struct cost_history_mark *marks;

	if (history->cnt < history->capacity)
		return 0;
	if (capacity > limit && capacity > LEAST_LIMIT) {
		thin_out(history);
		return 0;
	}
	marks = reallocarray(history->marks, capacity, sizeof(*marks));
	if (!marks)
		return -ENOMEM;
	history->marks = marks;
	history->capacity = capacity;
	return 0;
}

/* How many marks are at or before this time. Most times are late ones. */
static size_t marks_until(const struct cost_history *history, uint64_t time_ns)
{
	size_t low = 0, high = history->cnt;

	if (high && history->marks[high - 1].time_ns <= time_ns)
		return high;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (history->marks[middle].time_ns <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int cost_history_add(struct cost_history *history, uint64_t time_ns, unsigned int class, int by, size_t limit)
{
	size_t at = marks_until(history, time_ns);
	int err = 0;

	if (!at || history->marks[at - 1].time_ns != time_ns) {
		err = make_room(history, limit);
		if (err)
			return err;
		at = marks_until(history, time_ns);
		memmove(&history->marks[at + 1], &history->marks[at],
			(history->cnt - at) * sizeof(*history->marks));
		if (at)
			history->marks[at] = history->marks[at - 1];
		else
			memset(&history->marks[at], 0, sizeof(*history->marks));
		history->marks[at++].time_ns = time_ns;
		history->cnt++;
	}
	for (size_t i = at - 1; i < history->cnt; i++)
		history->marks[i].cnts[class] += (uint32_t)by;
	return 0;
}

void cost_history_count(const struct cost_history *history, uint64_t from_ns, uint64_t to_ns,
			uint64_t cnts[COST_HISTORY_CLASSES])
{
	size_t before = from_ns ? marks_until(history, from_ns - 1) : 0, until = marks_until(history, to_ns);

	if (until <= before)
		return;
	for (unsigned int class = 0; class < COST_HISTORY_CLASSES; class++)
		cnts[class] += (uint32_t)(history->marks[until - 1].cnts[class] -
					  (before ? history->marks[before - 1].cnts[class] : 0));
}
