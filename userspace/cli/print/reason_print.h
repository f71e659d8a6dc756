/* SPDX-License-Identifier: BSD-2-Clause */
/* The report by reason to be blocked. -ENOMEM. */
#ifndef REASON_PRINT_H
#define REASON_PRINT_H

#include "analyze/wait/block_report.h"
#include "cli/print/column.h"

extern const struct column reason_columns[]; /* of a struct block_row; the context is the report */

/* The most time first; equal ones in the order of the reasons. */
void reason_order(const struct block_report *report, unsigned int order[BLOCK_ROW_COUNT]);

/* What is said below the table. */
int reason_print_notes(const struct block_report *report, FILE *out);

#endif
