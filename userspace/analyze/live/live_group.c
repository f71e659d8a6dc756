/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/live/live_group.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/tree/tree_node.h"
#include "base/saturating.h"

struct live_second {
	uint64_t number;
	struct live_figures figures;
};

void live_figures_release(struct live_figures *figures)
{
	quantile_release(&figures->wall);
	*figures = (struct live_figures){ 0 };
}

void live_group_release(struct live_group *group)
{
	for (size_t i = 0; i < LIVE_PLACES; i++) {
		if (group->seconds[i])
			live_figures_release(&group->seconds[i]->figures);
		free(group->seconds[i]);
	}
	free(group->key);
}

/* Made, or emptied of what was there a minute ago; NULL: no memory. */
static struct live_figures *figures_of(struct live_group *group, uint64_t number)
{
	struct live_second **second = &group->seconds[number % LIVE_PLACES];

	if (!*second) {
		*second = calloc(1, sizeof(**second));
		if (!*second)
			return NULL;
	} else if ((*second)->number != number) {
		live_figures_release(&(*second)->figures);
	}
	(*second)->number = number;
	return &(*second)->figures;
}

static bool is_stale(const struct live_group *group, uint64_t number)
{
	const struct live_second *second = group->seconds[number % LIVE_PLACES];

	return second && second->number > number;
}

int live_group_add(struct live_group *group, uint64_t second, const struct txtrace_span *span)
{
	uint64_t wall_ns = span->end_ns > span->begin_ns ? span->end_ns - span->begin_ns : 0;
	struct live_figures *figures;
	size_t bytes = 0;
	int err;

	if (is_stale(group, second)) /* it comes more than a minute late */
		return 0;
	figures = figures_of(group, second);
	if (!figures)
		return -ENOMEM;
	if (second > group->last_second)
		group->last_second = second;
	figures->cnt++;
	if (span->flags & TXTRACE_SPAN_LOWER_BOUND) {
		figures->inexact_cnt++;
		return 0;
	}
	err = quantile_add(&figures->wall, wall_ns, true, &bytes);
	if (err)
		return err;
	ledger_add(&figures->ledger, &span->ledger);
	if (!figures->slowest.id || wall_ns > figures->slowest.wall_ns)
		figures->slowest = (struct txtrace_span_id){ span->id, span->pid, span->flags, wall_ns };
	return 0;
}

/* The one with the least time makes room, and its time goes with it. */
static void add_waker(struct live_waker wakers[LIVE_WAKERS], uint32_t name, uint64_t ns)
{
	size_t at = 0;

	while (at < LIVE_WAKERS - 1 && wakers[at].ns && wakers[at].name != name)
		at++; /* the last place has the least, or nothing */
	if (wakers[at].name != name)
		wakers[at] = (struct live_waker){ .name = name };
	increase(&wakers[at].ns, ns);
	for (; at > 0 && wakers[at].ns > wakers[at - 1].ns; at--) {
		struct live_waker waker = wakers[at];

		wakers[at] = wakers[at - 1];
		wakers[at - 1] = waker;
	}
}

void live_group_blame(struct live_group *group, uint64_t second, uint32_t name, uint64_t ns)
{
	struct live_second *there = group->seconds[second % LIVE_PLACES];

	if (ns && there && there->number == second)
		add_waker(there->figures.wakers, name, ns);
}

static bool is_within(const struct live_second *second, uint64_t begin, uint64_t end)
{
	return second && second->number >= begin && second->number < end;
}

bool live_group_has_any(const struct live_group *group, uint64_t end)
{
	bool result = false;

	for (size_t i = 0; !result && i < LIVE_PLACES; i++)
		result = is_within(group->seconds[i], end > LIVE_SECONDS ? end - LIVE_SECONDS : 0, end);
	return result;
}

int live_group_sum(const struct live_group *group, uint64_t begin, uint64_t end, struct live_figures *figures)
{
	size_t bytes = 0;
	int err = 0;

	for (size_t i = 0; !err && i < LIVE_PLACES; i++) {
		const struct live_second *second = group->seconds[i];

		if (!is_within(second, begin, end))
			continue;
		figures->cnt += second->figures.cnt;
		figures->inexact_cnt += second->figures.inexact_cnt;
		ledger_add(&figures->ledger, &second->figures.ledger);
		if (second->figures.slowest.id &&
		    (!figures->slowest.id || second->figures.slowest.wall_ns > figures->slowest.wall_ns))
			figures->slowest = second->figures.slowest;
		for (size_t j = 0; j < LIVE_WAKERS && second->figures.wakers[j].ns; j++)
			add_waker(figures->wakers, second->figures.wakers[j].name,
				  second->figures.wakers[j].ns);
		err = quantile_merge(&figures->wall, &second->figures.wall, &bytes);
	}
	return err;
}
