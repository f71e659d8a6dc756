/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A call tree as the rows of a flame graph: a frame for each node, as wide as
 * its own weight and that of all frames below it. Of exact spans only. With
 * stacks of code, the functions below each node divide its own weight among
 * them.
 */
#ifndef FLAME_ROWS_H
#define FLAME_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/tree/flame_stacks.h"
#include "analyze/tree/span_tree.h"

#define FLAME_DEPTH_MAX (TREE_DEPTH_MAX + FLAME_STACK_DEPTH_MAX)

/* What weighs: the work of self, or parts of it. */
enum flame_weight {
	FLAME_WALL = 0, /* all parts: self's share of the wall time, unless several threads worked at once */
	FLAME_ON_CPU = 1,
	FLAME_RUNNABLE = 2,
	FLAME_BLOCKED = 3,
	FLAME_DETACHED = 4,
};

extern const char *const flame_weights[]; /* "wall", "on-cpu", …, by the numbers above; ends with NULL */

struct flame_row {
	const struct tree_node *node;
	/* of the code that worked for the spans of the node; bytes NULL: the row is the node's */
	struct txtrace_string function;
	uint32_t depth;    /* the roots' is 0 */
	uint64_t begin_ns; /* of all weights, in the order of the tree */
	uint64_t self_ns;
	uint64_t total_ns; /* self and all below; never 0 */
};

struct flame_rows {
	struct flame_row *rows; /* parents before their children */
	size_t cnt;
	size_t size;
	uint64_t total_ns;
	uint32_t depth; /* levels */
};

/*
 * Nodes without weight are left out. stacks: NULL for none; they must live as
 * long as the rows. 0 or -ENOMEM, and then there is nothing to be released.
 */
int flame_rows_make(struct flame_rows *rows, const struct span_tree *tree, enum flame_weight weight,
		    const struct flame_stacks *stacks);
void flame_rows_release(struct flame_rows *rows);

#endif
