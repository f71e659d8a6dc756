/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What was charged to a span and to its children as well, found out as a log
 * tells it: children and stays of threads first, the span itself last.
 * docs/attribution.md, "Self and total", has the rules; they are here. One
 * struct child_lanes to each span that has not come yet.
 *
 * A lane is a thread. Children that one thread worked for gather in it until
 * the span's own stay of that thread comes: then they were in it, or not.
 */
#ifndef CHILD_LANES_H
#define CHILD_LANES_H

#include "analyze/tree/tree_node.h"
#include "txtrace/log.h"

#define CHILD_LANE_MAX 64        /* threads; children on others are unsure */
#define CHILD_LANE_LABEL_MAX 256 /* labels on one thread; children with others are unsure */

/* The stays of threads in a span: from the first enter to the last exit, of one thread, or of several. */
struct span_stays {
	uint64_t cnt; /* records; 0: the span itself tells of its only stay */
	uint32_t pid; /* of the thread */
	uint32_t tid;
	uint64_t enter_ns;
	uint64_t exit_ns;
	bool has_threads; /* several */
};

void span_stays_add(struct span_stays *stays, const struct txtrace_stay *stay);

/* The span has come: if there were no records, its only stay is filled in. */
void span_stays_complete(struct span_stays *stays, const struct txtrace_span *span);

struct child_lane;

/* All zero is empty. */
struct child_lanes {
	struct child_lane *first, **end; /* in the order in which their threads came */
	size_t cnt;
	size_t bytes; /* memory that it holds */
	bool has_doubt; /* some children are divided or unsure */
};

/*
 * A child has ended, with these stays, complete; node: where it is counted,
 * which stays where it is. 0 or -ENOMEM.
 */
int child_lanes_add(struct child_lanes *lanes, const struct txtrace_span *child,
		    const struct span_stays *stays, struct tree_node *node);

/* The span itself had a thread in it, which leaves it now. 0 or -ENOMEM. */
int child_lanes_stay(struct child_lanes *lanes, uint32_t pid, uint32_t tid, uint64_t enter_ns,
		     uint64_t exit_ns);

/*
 * The span itself comes, all of its stays have been told: counts each child's
 * place at its node, and adds to *shared what of the span's ledger is theirs,
 * too.
 */
void child_lanes_judge(struct child_lanes *lanes, const struct txtrace_span *span,
		       struct txtrace_ledger *shared);

void child_lanes_release(struct child_lanes *lanes);

#endif
