/* SPDX-License-Identifier: BSD-2-Clause */
/* How txtrace gas shows a trace: never as time. */
#ifndef GAS_PRINT_H
#define GAS_PRINT_H

#include "analyze/tree/gas_tree.h"
#include "cli/cli.h"

/* Each: 0, or a negative errno. */
int gas_print_tables(struct cli *cli, const struct gas_tree *tree, uint64_t limit);
/* A line for each span, as the workbench's own analysis prints it. */
int gas_print_spans(struct cli *cli, const struct gas_tree *tree);
/* Folded stacks, sorted; weights are milligas, or whole gas of a trace in JSON. */
int gas_print_folded(struct cli *cli, const struct gas_tree *tree);
int gas_print_json(struct cli *cli, const struct gas_tree *tree);

#endif
