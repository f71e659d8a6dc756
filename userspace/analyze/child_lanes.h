/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The children of one span that has not come yet, by the thread that worked for them: when the span comes, what they were charged with can be
 * found in its ledger, or not. docs/attribution.md, "Self and total", has the rules; they are here.
 */
#ifndef CHILD_LANES_H
#define CHILD_LANES_H

#include "analyze/tree_node.h"
#include "txtrace/log.h"

#define CHILD_LANE_MAX 64        /* threads; children on others are unsure */
#define CHILD_LANE_LABEL_MAX 256 /* labels on one thread; children with others are unsure */

struct child_lane;

/* All zero is empty. */
struct child_lanes {
	struct child_lane *first, **end; /* in the order in which their threads came */
	size_t cnt;
	size_t bytes; /* memory that it holds */
};

/* One thread worked for it, all the time: it was begun and entered by `tid` and left by it when it ended. */
bool span_is_plain(const struct txtrace_span *span);

/* A child that ended before its parent; node: where it is counted, which stays where it is. 0 or -ENOMEM. */
int child_lanes_add(struct child_lanes *lanes, const struct txtrace_span *child, struct tree_node *node);

/* The parent comes: counts each child's place at its node, and adds to *shared what of the parent's ledger is theirs, too. */
void child_lanes_judge(const struct child_lanes *lanes, const struct txtrace_span *parent, struct txtrace_ledger *shared);

void child_lanes_release(struct child_lanes *lanes);

#endif
