/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A call tree as people read it, and as JSON. Errors: -ENOMEM; what could not
 * be written is left to cli_finish().
 */
#ifndef TREE_PRINT_H
#define TREE_PRINT_H

#include <stdint.h>

#include "analyze/tree/span_tree.h"
#include "cli/cli.h"
#include "cli/files/log_input.h"

struct tree_view {
	uint64_t depth_max; /* levels; 0: all */
	uint64_t child_max; /* below each node; 0: all */
};

int tree_print(struct cli *cli, const struct span_tree *tree, const struct log_input *input,
	       const struct tree_view *view);

/* One object, with a row for each node, parents first. */
int tree_print_json(struct cli *cli, const struct span_tree *tree, const struct log_input *input);

#endif
