/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a row of the live view counts: spans that have ended, by the second in
 * which they did, for the last minute. Seconds count from the begin of the log.
 */
#ifndef LIVE_GROUP_H
#define LIVE_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/quantile.h"
#include "txtrace/log.h"

#define LIVE_SECONDS 60 /* the longest window */
#define LIVE_PLACES 64	/* and seconds that are not over yet */
#define LIVE_WAKERS 4	/* of a second: the rarer ones are forgotten */

/* Who ended waits, by its number among the names of the view. */
struct live_waker {
	uint32_t name;
	uint64_t ns; /* how long they had waited */
};

struct live_second;

struct live_group {
	char *key; /* what its spans have in common; owned */
	size_t key_length;
	uint64_t last_second; /* with something in it */
	uint64_t open_cnt;    /* spans that have begun and not ended, as far as the log tells */
	struct live_second *seconds[LIVE_PLACES]; /* NULL, or of any second with that remainder */
};

/* A window of one group. All zero is empty. */
struct live_figures {
	uint64_t cnt;	      /* spans that have ended */
	uint64_t inexact_cnt; /* of these, lower bounds: they are in nothing else */
	struct quantile wall;
	struct txtrace_ledger ledger; /* sums */
	struct txtrace_span_id {
		uint64_t id;
		uint32_t pid;
		uint32_t flags;
		uint64_t wall_ns;
	} slowest;			       /* id 0: there is none */
	struct live_waker wakers[LIVE_WAKERS]; /* the most time first; ns 0: no more */
};

void live_group_release(struct live_group *group);

/* 0 or -ENOMEM. */
int live_group_add(struct live_group *group, uint64_t second, const struct txtrace_span *span);

/* In a second in which a span of the group has ended. */
void live_group_blame(struct live_group *group, uint64_t second, uint32_t name, uint64_t ns);

/* Whether a span has ended in the minute before that second. */
bool live_group_has_any(const struct live_group *group, uint64_t end);

/* Adds the seconds from begin up to, and without, end. 0 or -ENOMEM. */
int live_group_sum(const struct live_group *group, uint64_t begin, uint64_t end,
		   struct live_figures *figures);
void live_figures_release(struct live_figures *figures);

#endif
