/* SPDX-License-Identifier: BSD-2-Clause */
/* A call tree as people read it, and its rows for columns. Errors: -ENOMEM. */
#ifndef TREE_PRINT_H
#define TREE_PRINT_H

#include <stdint.h>

#include "analyze/tree/span_tree.h"
#include "cli/print/column.h"

struct tree_view {
	uint64_t depth_max; /* levels; 0: all */
	uint64_t child_max; /* below each node; 0: all */
};

/* The table, and an empty line. */
int tree_print(const struct span_tree *tree, const struct screen *screen, const struct tree_view *view);

/* Rows of a table of two columns: how many spans there are, and what memory was missing. */
void tree_add_foot(const struct span_tree *tree, struct table *table);

/* Flat, parents first: a row names that of its parent. */
struct tree_row {
	const struct span_tree *tree;
	const struct tree_node *node;
	uint64_t row;
	uint64_t parent_row;
	uint64_t depth;
	bool has_parent;
};

/* All zero before. */
struct tree_rows {
	struct tree_row *rows; /* to be freed */
	size_t cnt;
	size_t size;
	uint64_t depth; /* while they are collected */
};

/* All below the node. */
int tree_collect_rows(const struct span_tree *tree, const struct tree_node *node, struct tree_rows *rows);

extern const struct column tree_columns[]; /* of a struct tree_row; the context is nothing to them */

#endif
