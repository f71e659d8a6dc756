/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/tree/flame_rows.h"

#include <errno.h>
#include <stdlib.h>

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
	size_t size = rows->size ? rows->size * 2 : 64;
	struct flame_row *grown;

	if (rows->cnt == rows->size) {
		grown = reallocarray(rows->rows, size, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		rows->rows = grown;
		rows->size = size;
	}
	rows->rows[rows->cnt++] = *row;
	return 0;
}

/* Rows of all below a node, from begin_ns on; *total_ns is increased by their weight. */
static int add_rows(struct flame_rows *rows, const struct tree_node *node, enum flame_weight weight, uint32_t depth, uint64_t begin_ns,
		    uint64_t *total_ns)
{
	uint64_t at_ns = begin_ns;
	int err = 0;

	for (const struct tree_node *child = node->first_child; child && !err; child = child->next) {
		struct flame_row row = { .node = child, .depth = depth, .begin_ns = at_ns, .self_ns = weigh(child, weight) };
		size_t idx = rows->cnt;

		row.total_ns = row.self_ns;
		err = add_row(rows, &row);
		if (!err)
			err = add_rows(rows, child, weight, depth + 1, at_ns, &row.total_ns);
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

int flame_rows_make(struct flame_rows *rows, const struct span_tree *tree, enum flame_weight weight)
{
	int err;

	*rows = (struct flame_rows){ 0 };
	err = add_rows(rows, span_tree_root(tree), weight, 0, 0, &rows->total_ns);
	if (err)
		flame_rows_release(rows);
	return err;
}

void flame_rows_release(struct flame_rows *rows)
{
	free(rows->rows);
	*rows = (struct flame_rows){ 0 };
}
