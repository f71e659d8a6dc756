/* SPDX-License-Identifier: BSD-2-Clause */
/* How txtrace gas shows a trace besides its tables: never as time. */
#ifndef GAS_PRINT_H
#define GAS_PRINT_H

#include "analyze/tree/gas_rows.h"
#include "base/json.h"
#include "cli/cli.h"

/* A line for each span, as the workbench's own analysis prints it. 0, or a negative errno. */
int gas_print_spans(struct cli *cli, const struct gas_tree *tree);
/*
 * Folded stacks, sorted; weights are milligas, or whole gas of a trace in JSON.
 * 0, or a negative errno.
 */
int gas_print_folded(struct cli *cli, const struct gas_tree *tree);
/* The members of a document, with all charges and spans. */
void gas_members_json(struct json *json, const struct gas_tree *tree, const struct gas_rows *rows);

#endif
