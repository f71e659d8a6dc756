/* SPDX-License-Identifier: BSD-2-Clause */
/* What tracing cost, as people read it and as JSON: by label, and in all. Sort the report before. */
#ifndef COST_PRINT_H
#define COST_PRINT_H

#include <stdint.h>

#include "analyze/cost/cost_report.h"
#include "base/json.h"
#include "base/table.h"
#include "cli/cli.h"
#include "cli/print/column.h"

extern const struct column cost_columns[]; /* of a struct cost_row; the context is the report */

/* What is said below the table. 0 or a negative errno. */
int cost_print_notes(struct cli *cli, const struct cost_report *report);

/* The members of a row, and those of the document behind the rows. */
void cost_row_json(const struct cost_report *report, const struct cost_row *row, struct json *json);
void cost_tail_json(const struct cost_report *report, struct json *json);

/* Rows of a table of two columns (name, what): what tracing came to; nothing if the log does not say. */
void cost_add_totals(struct table *table, const struct cost_sums *sums);

/* "cost": {…}, a member of the object that is open. */
void cost_totals_json(struct json *json, const struct cost_sums *sums);

#endif
