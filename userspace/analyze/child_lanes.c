/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/child_lanes.h"

#include <errno.h>
#include <stdlib.h>

struct lane_label {
	struct lane_label *next;
	struct tree_node *node;
	uint64_t cnt;
};

/* Plain children of one thread, none of which overlaps another: so their ledgers add up. */
struct child_lane {
	struct child_lane *next;
	uint32_t tid;
	uint64_t begin_ns; /* of the first to begin */
	uint64_t end_ns;   /* of the last to end */
	struct txtrace_ledger ledger;
	struct lane_label *labels; /* the one that came last in front */
	size_t label_cnt;
};

bool span_is_plain(const struct txtrace_span *span)
{
	return !(span->flags & TXTRACE_SPAN_MOVED) && span->ledger.detached_ns == 0;
}

static int find_lane(struct child_lanes *lanes, const struct txtrace_span *child, struct child_lane **found)
{
	struct child_lane *lane = lanes->first;

	while (lane && lane->tid != child->tid)
		lane = lane->next;
	*found = lane;
	if (lane || lanes->cnt == CHILD_LANE_MAX)
		return 0;
	lane = calloc(1, sizeof(*lane));
	if (!lane)
		return -ENOMEM;
	lane->tid = child->tid;
	lane->begin_ns = child->begin_ns;
	if (!lanes->end)
		lanes->end = &lanes->first;
	*lanes->end = lane;
	lanes->end = &lane->next;
	lanes->cnt++;
	lanes->bytes += sizeof(*lane) + 16;
	*found = lane;
	return 0;
}

static int find_label(struct child_lanes *lanes, struct child_lane *lane, struct tree_node *node, struct lane_label **found)
{
	struct lane_label **link = &lane->labels, *label;

	while (*link && (*link)->node != node)
		link = &(*link)->next;
	label = *link;
	if (label) {
		*link = label->next;
	} else {
		*found = NULL;
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
	*found = label;
	return 0;
}

int child_lanes_add(struct child_lanes *lanes, const struct txtrace_span *child, struct tree_node *node)
{
	struct lane_label *label = NULL;
	struct child_lane *lane = NULL;
	int err = 0;

	if (!span_is_plain(child)) {
		node->place_cnt[TREE_MOVED]++;
		return 0;
	}
	if (!(child->flags & TXTRACE_SPAN_LOWER_BOUND) && child->end_ns >= child->begin_ns)
		err = find_lane(lanes, child, &lane);
	if (!err && lane && child->begin_ns >= lane->end_ns)
		err = find_label(lanes, lane, node, &label);
	if (err)
		return err;
	if (!label) {
		node->place_cnt[TREE_UNSURE]++;
		return 0;
	}
	label->cnt++;
	lane->end_ns = child->end_ns;
	ledger_add(&lane->ledger, &child->ledger);
	return 0;
}

static enum tree_place place_of(const struct child_lane *lane, const struct txtrace_span *parent, const struct txtrace_ledger *left)
{
	if (!(parent->flags & TXTRACE_SPAN_MOVED) && lane->tid != parent->tid)
		return TREE_APART;
	if (lane->begin_ns < parent->begin_ns || lane->end_ns > parent->end_ns || !ledger_fits(&lane->ledger, left))
		return TREE_UNSURE;
	return span_is_plain(parent) ? TREE_SHARED : TREE_ASSUMED;
}

void child_lanes_judge(const struct child_lanes *lanes, const struct txtrace_span *parent, struct txtrace_ledger *shared)
{
	struct txtrace_ledger left = parent->ledger;

	for (const struct child_lane *lane = lanes->first; lane; lane = lane->next) {
		enum tree_place place = place_of(lane, parent, &left);

		for (const struct lane_label *label = lane->labels; label; label = label->next)
			label->node->place_cnt[place] += label->cnt;
		if (place != TREE_SHARED && place != TREE_ASSUMED)
			continue;
		ledger_subtract(&left, &lane->ledger);
		ledger_add(shared, &lane->ledger);
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
