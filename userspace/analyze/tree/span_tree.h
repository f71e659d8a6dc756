/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The call tree: spans summed up by label along the path of their parents, with
 * what each kept for itself. Spans in, nodes out; no I/O.
 *
 *	struct span_tree *tree = span_tree_new(0);
 *
 *	span_tree_add(tree, &record);                   each record of a log, in its order: children mostly
 *	                                                come before their parents
 *	span_tree_finish(tree, NULL);
 *	for (node = span_tree_root(tree)->first_child; node; node = node->next)
 *		use(span_tree_label(tree, node), node);
 *	span_tree_free(tree);
 *
 * Until a span comes, what is known of its children waits for it, summed up by
 * label: memory follows the spans that are open at a time, the labels, and the
 * last SPAN_TREE_RECENT spans, for children that end after their parents. It is
 * bounded; when it is used up, the parents that were waited for the longest are
 * taken for unknown ones, and new labels are counted together. Both is told.
 */
#ifndef SPAN_TREE_H
#define SPAN_TREE_H

#include "analyze/tree/tree_node.h"
#include "txtrace/log.h"

#define SPAN_TREE_MEMORY_BYTES (256ull << 20)
#define SPAN_TREE_RECENT 65536

struct span_tree;

/* memory_max_bytes: 0 for SPAN_TREE_MEMORY_BYTES. NULL: no memory. */
struct span_tree *span_tree_new(uint64_t memory_max_bytes);
void span_tree_free(struct span_tree *tree);

/* Takes spans and stays; other records are nothing to it. 0 or -ENOMEM; the tree stays usable. */
int span_tree_add(struct span_tree *tree, const struct txtrace_record *record);

/*
 * Where the code was while that span was worked for: becomes a child of the
 * span's node, labelled TREE_LABEL_STACK + number, with the weight as its work.
 * Only of spans that turn out to be exact. number: below TREE_STACK_MAX. 0 or
 * -ENOMEM.
 */
int span_tree_add_stack(struct span_tree *tree, const struct txtrace_stack *stack, uint32_t number);

/* What comes from here on is of another capture: ids are other spans'. 0 or -ENOMEM. */
int span_tree_begin_capture(struct span_tree *tree);

/*
 * No more spans will come: those whose parents did not are put below a node
 * TREE_LABEL_UNKNOWN_PARENT, and children are put in order, the most work
 * first. With label_glob, the topmost nodes whose label matches become the
 * roots, wherever they stood, and all else goes. 0 or -ENOMEM.
 */
int span_tree_finish(struct span_tree *tree, const char *label_glob);

/* Its children are the spans without a parent; it has no sums itself. */
const struct tree_node *span_tree_root(const struct span_tree *tree);

/* The label of a node: empty if it is unknown, or one of enum tree_label. Owned by the tree. */
struct txtrace_string span_tree_label(const struct span_tree *tree, const struct tree_node *node);

/*
 * What the node is called: its label, or what it stands for, in round brackets.
 * Any bytes. Owned by the tree, or static.
 */
struct txtrace_string span_tree_name(const struct span_tree *tree, const struct tree_node *node);

/* Parents that were given up for want of memory; and whether labels were counted together. */
uint64_t span_tree_given_up_count(const struct span_tree *tree);
bool span_tree_has_rest(const struct span_tree *tree);

#endif
