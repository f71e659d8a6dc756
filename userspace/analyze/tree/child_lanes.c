/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/tree/child_lanes.h"

#include <errno.h>
#include <stdlib.h>

/* Children with one label on one thread. */
struct lane_label {
	struct lane_label *next;
	struct tree_node *node;
	uint64_t open_cnt;   /* no stay of the parent has come since */
	uint64_t shared_cnt; /* within one */
};

/* Children of one thread, none of which overlaps another: so their ledgers add up. */
struct child_lane {
	struct child_lane *next;
	uint32_t pid;
	uint32_t tid;
	uint64_t end_ns; /* of the last child to leave the thread */
	struct txtrace_ledger open;
	uint64_t open_begin_ns;
	bool has_open;
	struct txtrace_ledger shared;
	uint64_t enter_ns; /* the last stay of the parent; both 0 if there was none */
	uint64_t exit_ns;
	struct lane_label *labels; /* the one that came last in front */
	size_t label_cnt;
};

/* ---- stays ---- */

void span_stays_add(struct span_stays *stays, const struct txtrace_stay *stay)
{
	if (stays->cnt == 0) {
		stays->pid = stay->pid;
		stays->tid = stay->tid;
		stays->enter_ns = stay->enter_ns;
	}
	stays->has_threads |= stays->pid != stay->pid || stays->tid != stay->tid;
	if (stay->enter_ns < stays->enter_ns)
		stays->enter_ns = stay->enter_ns;
	if (stay->exit_ns > stays->exit_ns)
		stays->exit_ns = stay->exit_ns;
	stays->cnt++;
}

void span_stays_complete(struct span_stays *stays, const struct txtrace_span *span)
{
	if (stays->cnt > 0)
		return;
	*stays = (struct span_stays){ .pid = span->pid,
				      .tid = span->end_tid ? span->end_tid : span->tid,
				      .exit_ns = span->end_ns };
	stays->enter_ns = span->begin_ns + span->ledger.detached_ns;
}

/* ---- lanes ---- */

static struct child_lane *find_lane(const struct child_lanes *lanes, uint32_t pid, uint32_t tid)
{
	struct child_lane *lane = lanes->first;

	while (lane && (lane->tid != tid || lane->pid != pid))
		lane = lane->next;
	return lane;
}

/* *made is NULL when there are too many. */
static int make_lane(struct child_lanes *lanes, uint32_t pid, uint32_t tid, struct child_lane **made)
{
	struct child_lane *lane = find_lane(lanes, pid, tid);

	*made = lane;
	if (lane || lanes->cnt == CHILD_LANE_MAX)
		return 0;
	lane = calloc(1, sizeof(*lane));
	if (!lane)
		return -ENOMEM;
	lane->pid = pid;
	lane->tid = tid;
	if (!lanes->end)
		lanes->end = &lanes->first;
	*lanes->end = lane;
	lanes->end = &lane->next;
	lanes->cnt++;
	lanes->bytes += sizeof(*lane) + 16;
	*made = lane;
	return 0;
}

static int make_label(struct child_lanes *lanes, struct child_lane *lane, struct tree_node *node,
		      struct lane_label **made)
{
	struct lane_label **link = &lane->labels, *label;

	while (*link && (*link)->node != node)
		link = &(*link)->next;
	label = *link;
	if (label) {
		*link = label->next;
	} else {
		*made = NULL;
		if (lane->label_cnt == CHILD_LANE_LABEL_MAX)
			return 0;
		label = calloc(1, sizeof(*label));
		if (!label)
			return -ENOMEM;
		label->node = node;
		lane->label_cnt++;
		lanes->bytes += sizeof(*label) + 16;
	}
	label->next = lane->labels;
	lane->labels = label;
	*made = label;
	return 0;
}

/*
 * The child does not touch a sibling on the thread, nor does its stay lie across the end of a stay of the
 * parent.
 */
static bool fits_lane(const struct child_lane *lane, const struct span_stays *stays)
{
	bool is_past = stays->exit_ns <= lane->exit_ns;

	if (stays->enter_ns < lane->end_ns || stays->exit_ns < stays->enter_ns)
		return false;
	return is_past ? stays->enter_ns >= lane->enter_ns : stays->enter_ns >= lane->exit_ns;
}

static void gather(struct child_lane *lane, struct lane_label *label, const struct txtrace_span *child,
		   const struct span_stays *stays)
{
	struct txtrace_ledger charge = child->ledger;

	charge.detached_ns = 0; /* nobody was in it: it is in no one else's account */
	lane->end_ns = stays->exit_ns;
	/* the child was still open when the parent's stay, in which it lies, had ended */
	if (stays->exit_ns <= lane->exit_ns) {
		ledger_add(&lane->shared, &charge);
		label->shared_cnt++;
		return;
	}
	if (!lane->has_open)
		lane->open_begin_ns = stays->enter_ns;
	lane->has_open = true;
	ledger_add(&lane->open, &charge);
	label->open_cnt++;
}

int child_lanes_add(struct child_lanes *lanes, const struct txtrace_span *child,
		    const struct span_stays *stays, struct tree_node *node)
{
	struct lane_label *label = NULL;
	struct child_lane *lane = NULL;
	int err = 0;

	if (stays->has_threads) {
		node->place_cnt[TREE_DIVIDED]++;
		lanes->has_doubt = true;
		return 0;
	}
	if (!(child->flags & TXTRACE_SPAN_LOWER_BOUND))
		err = make_lane(lanes, stays->pid, stays->tid, &lane);
	if (!err && lane && fits_lane(lane, stays))
		err = make_label(lanes, lane, node, &label);
	if (err)
		return err;
	if (label) {
		gather(lane, label, child, stays);
	} else {
		node->place_cnt[TREE_UNSURE]++;
		lanes->has_doubt = true;
	}
	return 0;
}

/* What has gathered is somewhere else than in a stay. */
static void settle(struct child_lane *lane, enum tree_place place)
{
	for (struct lane_label *label = lane->labels; label; label = label->next) {
		if (place == TREE_SHARED)
			label->shared_cnt += label->open_cnt;
		else
			label->node->place_cnt[place] += label->open_cnt;
		label->open_cnt = 0;
	}
	if (place == TREE_SHARED)
		ledger_add(&lane->shared, &lane->open);
	lane->open = (struct txtrace_ledger){ 0 };
	lane->has_open = false;
}

int child_lanes_stay(struct child_lanes *lanes, uint32_t pid, uint32_t tid, uint64_t enter_ns,
		     uint64_t exit_ns)
{
	struct child_lane *lane;
	int err = make_lane(lanes, pid, tid, &lane);

	if (err || !lane)
		return err;
	if (lane->has_open) {
		bool is_before = lane->end_ns <= enter_ns && lane->open_begin_ns < enter_ns;
		bool is_within = lane->open_begin_ns >= enter_ns && lane->end_ns <= exit_ns;

		settle(lane, is_before ? TREE_APART : is_within ? TREE_SHARED : TREE_UNSURE);
		lanes->has_doubt |= !is_before && !is_within;
	}
	lane->enter_ns = enter_ns;
	lane->exit_ns = exit_ns;
	return 0;
}

void child_lanes_judge(struct child_lanes *lanes, const struct txtrace_span *span,
		       struct txtrace_ledger *shared)
{
	struct txtrace_ledger left = span->ledger;

	for (struct child_lane *lane = lanes->first; lane; lane = lane->next) {
		bool fits = ledger_fits(&lane->shared, &left); /* or the log contradicts itself */

		settle(lane, TREE_APART);
		for (const struct lane_label *label = lane->labels; label; label = label->next)
			label->node->place_cnt[fits ? TREE_SHARED : TREE_UNSURE] += label->shared_cnt;
		lanes->has_doubt |= !fits;
		if (!fits)
			continue;
		ledger_subtract(&left, &lane->shared);
		ledger_add(shared, &lane->shared);
	}
}

void child_lanes_release(struct child_lanes *lanes)
{
	while (lanes->first) {
		struct child_lane *lane = lanes->first;

		lanes->first = lane->next;
		while (lane->labels) {
			struct lane_label *label = lane->labels;

			lane->labels = label->next;
			free(label);
		}
		free(lane);
	}
	*lanes = (struct child_lanes){ 0 };
}
