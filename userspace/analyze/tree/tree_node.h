/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A tree of sums: a node for each label below each path of labels, and the
 * spans that were there added up. Labels are numbers of the user's. Nodes come
 * from a budget: when it is used up, new labels below a node share one more
 * child, TREE_LABEL_REST.
 */
#ifndef TREE_NODE_H
#define TREE_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id_map.h"
#include "txtrace/log.h"

enum tree_label { /* beyond the numbers of labels */
	TREE_LABEL_REST = UINT32_MAX,               /* all labels for which there was no memory */
	/* no span: below it stand those whose parent is not in the log */
	TREE_LABEL_UNKNOWN_PARENT = UINT32_MAX - 1,
	/* and above, up to the next: no span, but a stack of code, by number */
	TREE_LABEL_STACK = 0x80000000u,
	/* no span: what was more than TREE_HEIGHT_MAX levels down */
	TREE_LABEL_TOO_DEEP = UINT32_MAX - 2,
};

#define TREE_STACK_MAX (1u << 24)

static inline bool tree_label_is_stack(uint32_t label)
{
	return label >= TREE_LABEL_STACK && label < TREE_LABEL_STACK + TREE_STACK_MAX;
}

#define TREE_HEIGHT_MAX 100 /* of what is put below a node at once */
#define TREE_DEPTH_MAX 256  /* no node is so deep: a path that was looked up may add to it */

/*
 * Where the thread that worked for a span was in respect of its parent:
 * docs/attribution.md, "Self and total".
 */
enum tree_place {
	/*
	 * in the parent: what it was charged with is part of the parent's ledger, and taken off the parent's
	 * self
	 */
	TREE_SHARED = 0,
	TREE_APART = 1,   /* not in the parent: nothing of it is in the parent's ledger */
	/*
	 * several threads worked for it: what of it is in the parent's is not known, and nothing is taken off
	 */
	TREE_DIVIDED = 2,
	/*
	 * in the parent for a part of its time, or it overlaps a sibling, outlives the parent, is a lower
	 * bound: likewise
	 */
	TREE_UNSURE = 3,
	TREE_PLACE_COUNT = 4,
};

/* Some spans added up. Sums saturate. self = ledger - shared, part by part. */
struct tree_sums {
	uint64_t cnt;
	uint64_t wall_ns;
	uint64_t work_ns;
	struct txtrace_ledger ledger;
	struct txtrace_ledger shared; /* what children were charged with that is in the ledger, too */
};

struct tree_node {
	uint32_t label; /* or enum tree_label */
	uint32_t height; /* levels below it */
	struct tree_sums exact;
	struct tree_sums *lower_bounds; /* NULL: none */
	uint64_t place_cnt[TREE_PLACE_COUNT]; /* of the spans here that have a parent */
	bool is_at_most; /* self of the exact spans: some of them have children that are divided or unsure */
	struct tree_node *first_child;
	struct tree_node *next; /* of its parent's children */
	size_t child_cnt;

	/* private */
	struct id_map *by_label; /* once there are many children */
};

/* Where nodes come from. All zero but the budget before the first. */
struct tree_nodes {
	struct tree_node *free;
	size_t bytes;
	size_t bytes_max;
};

void tree_nodes_release(struct tree_nodes *nodes); /* the free ones; those in use have to be freed before */

/*
 * The child with this label, made if it is new; the TREE_LABEL_REST child, if
 * there is no budget. NULL: no memory.
 */
struct tree_node *tree_child(struct tree_nodes *nodes, struct tree_node *parent, uint32_t label);

/* The sums of one kind, made if needed. NULL: no memory. */
struct tree_sums *tree_sums_of(struct tree_nodes *nodes, struct tree_node *node, bool is_lower_bound);

/*
 * Moves all below `from` to below `into`, adding up what is there already. 0 or
 * -ENOMEM; on failure a part stays.
 */
int tree_move_children(struct tree_nodes *nodes, struct tree_node *into, struct tree_node *from);

void tree_free_children(struct tree_nodes *nodes, struct tree_node *node);

/*
 * Takes the child out of its parent, and puts it, with all below, below another
 * (adding up what is there). 0 or -ENOMEM.
 */
int tree_move_child(struct tree_nodes *nodes, struct tree_node *into, struct tree_node *from,
		    struct tree_node *child);

/* Children in order, at every level: by what before() says. */
void tree_sort(struct tree_node *node,
	       int (*compare)(const struct tree_node *a, const struct tree_node *b, const void *context),
	       const void *context);

void ledger_add(struct txtrace_ledger *sum, const struct txtrace_ledger *ledger);
/* no part falls below 0 */
void ledger_subtract(struct txtrace_ledger *sum, const struct txtrace_ledger *ledger);
/* no part of it is larger */
bool ledger_fits(const struct txtrace_ledger *part, const struct txtrace_ledger *whole);
struct txtrace_ledger tree_self(const struct tree_sums *sums);

#endif
