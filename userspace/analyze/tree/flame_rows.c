/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/tree/flame_rows.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/saturating.h"

const char *const flame_weights[] = {
	[FLAME_WALL] = "wall",       [FLAME_ON_CPU] = "on-cpu",     [FLAME_RUNNABLE] = "runnable",
	[FLAME_BLOCKED] = "blocked", [FLAME_DETACHED] = "detached", NULL,
};

static uint64_t weigh(const struct tree_node *node, enum flame_weight weight)
{
	struct txtrace_ledger self = tree_self(&node->exact);

	switch (weight) {
	case FLAME_ON_CPU:
		return self.on_cpu_ns;
	case FLAME_RUNNABLE:
		return self.runnable_ns;
	case FLAME_BLOCKED:
		return txtrace_ledger_blocked_ns(&self);
	case FLAME_DETACHED:
		return self.detached_ns;
	default:
		return txtrace_ledger_sum_ns(&self);
	}
}

static int add_row(struct flame_rows *rows, const struct flame_row *row)
{
	struct flame_row *grown;

	grown = array_grow(rows->rows, &rows->size, rows->cnt, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	rows->rows = grown;
	rows->rows[rows->cnt++] = *row;
	return 0;
}

/* What rows are made of. */
struct making {
	struct flame_rows *rows;
	enum flame_weight weight;
	const struct flame_stacks *stacks; /* NULL: none */
};

/* The rows of functions, from begin_ns on: they refer to the frames' names, which are the stacks'. */
static int add_frames(struct making *making, const struct tree_node *node, const struct flame_frame *frame,
		      uint32_t depth, uint64_t begin_ns)
{
	int err = 0;

	for (const struct flame_frame *child = frame->first_child; child && !err; child = child->next) {
		struct flame_row row = { .node = node,
					 .function = child->name,
					 .depth = depth,
					 .begin_ns = begin_ns,
					 .self_ns = child->self_ns,
					 .total_ns = child->total_ns };

		err = add_row(making->rows, &row);
		if (making->rows->depth <= depth)
			making->rows->depth = depth + 1;
		if (!err)
			err = add_frames(making, node, child, depth + 1, begin_ns);
		increase(&begin_ns, child->total_ns);
	}
	return err;
}

static int add_code(struct making *making, const struct tree_node *node, uint32_t depth, uint64_t begin_ns,
		    uint64_t self_ns)
{
	struct flame_frame *frame = flame_stacks_divide(making->stacks, node, self_ns);
	int err = frame ? add_frames(making, node, frame, depth, begin_ns) : -ENOMEM;

	flame_frame_free(frame);
	return err;
}

/* Rows of all below a node, from begin_ns on; *total_ns is increased by their weight. */
static int add_rows(struct making *making, const struct tree_node *node, uint32_t depth, uint64_t begin_ns,
		    uint64_t *total_ns)
{
	struct flame_rows *rows = making->rows;
	uint64_t at_ns = begin_ns;
	int err = 0;

	for (const struct tree_node *child = node->first_child; child && !err; child = child->next) {
		struct flame_row row = { .node = child,
					 .depth = depth,
					 .begin_ns = at_ns,
					 .self_ns = weigh(child, making->weight) };
		size_t idx = rows->cnt;
		uint64_t code_ns = making->stacks ? row.self_ns : 0;

		if (tree_label_is_stack(child->label))
			continue;
		row.total_ns = row.self_ns;
		row.self_ns -= code_ns;
		err = add_row(rows, &row);
		if (!err && code_ns > 0)
			err = add_code(making, child, depth + 1, at_ns, code_ns);
		if (!err)
			err = add_rows(making, child, depth + 1, add_saturating(at_ns, code_ns),
				       &row.total_ns);
		if (err)
			break;
		rows->rows[idx].total_ns = row.total_ns;
		if (row.total_ns == 0)
			rows->cnt = idx; /* nor has anything below it */
		else if (rows->depth <= depth)
			rows->depth = depth + 1;
		increase(&at_ns, row.total_ns);
		increase(total_ns, row.total_ns);
	}
	return err;
}

int flame_rows_make(struct flame_rows *rows, const struct span_tree *tree, enum flame_weight weight,
		    const struct flame_stacks *stacks)
{
	struct making making = { .rows = rows, .weight = weight, .stacks = stacks };
	int err;

	*rows = (struct flame_rows){ 0 };
	err = add_rows(&making, span_tree_root(tree), 0, 0, &rows->total_ns);
	if (err)
		flame_rows_release(rows);
	return err;
}

void flame_rows_release(struct flame_rows *rows)
{
	free(rows->rows);
	*rows = (struct flame_rows){ 0 };
}
