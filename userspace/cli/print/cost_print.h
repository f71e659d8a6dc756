/* SPDX-License-Identifier: BSD-2-Clause */
/* What tracing cost, as people read it and as JSON: by label, and in all. Sort the report before. */
#ifndef COST_PRINT_H
#define COST_PRINT_H

#include <stdint.h>

#include "analyze/cost/cost_report.h"
#include "base/json.h"
#include "base/table.h"
#include "cli/cli.h"
#include "cli/files/log_input.h"

struct cost_view {
	uint64_t row_limit; /* 0: all */
	const char *by;     /* what rows are, as the user said it; NULL: labels */
};

/* 0 or a negative errno. */
int cost_print(struct cli *cli, const struct cost_report *report, const struct log_input *input,
	       const struct cost_view *view);
int cost_json(struct cli *cli, const struct cost_report *report, const struct log_input *input,
	      const struct cost_view *view);

/* Rows of a table of two columns (name, what): what tracing came to; nothing if the log does not say. */
void cost_add_totals(struct table *table, const struct cost_sums *sums);

/* "cost": {…}, a member of the object that is open. */
void cost_totals_json(struct json *json, const struct cost_sums *sums);

#endif
