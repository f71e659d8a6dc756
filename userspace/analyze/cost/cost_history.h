/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When a thread paid for tracing: its events, by time and class, so that those
 * within a stretch of its time can be counted. Events may be added late, as the
 * log tells of a span's begin at its end only.
 *
 * The last events, a hundred at least and mostly a thousand, are known one by
 * one. Of those before only some are, the fewer the longer ago, and the others
 * count as if they had happened with the next one that is: a stretch that
 * begins so long ago is counted to within 1 in 100, mostly 1 in 500.
 */
#ifndef COST_HISTORY_H
#define COST_HISTORY_H

#include <stddef.h>
#include <stdint.h>

#define COST_HISTORY_CLASSES 6
#define COST_HISTORY_LIMIT 4096

struct cost_history_mark {
	uint64_t time_ns;
	uint32_t cnts[COST_HISTORY_CLASSES]; /* up to here, all of this time included; modulo 2^32 */
};

/* All zero to begin with. */
struct cost_history {
	struct cost_history_mark *marks; /* by time; no two alike */
	size_t cnt;
	size_t capacity;
};

void cost_history_release(struct cost_history *history);

size_t cost_history_bytes(const struct cost_history *history);

/* `by` more events (of -1: one less). limit: marks that it may have; 64 it may always. 0 or -ENOMEM. */
int cost_history_add(struct cost_history *history, uint64_t time_ns, unsigned int class, int by,
		     size_t limit);

/* Adds what happened from from_ns to to_ns, both included, to cnts. */
void cost_history_count(const struct cost_history *history, uint64_t from_ns, uint64_t to_ns,
			uint64_t cnts[COST_HISTORY_CLASSES]);

#endif
