/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What each thread did, as a table: for txtrace workers, and for a recorder's
 * last words about threads without spans.
 */
#ifndef WORKER_PRINT_H
#define WORKER_PRINT_H

#include <stdbool.h>
#include <stddef.h>

#include "analyze/thread/worker_report.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/print/column.h"

struct worker_table_options {
	size_t row_limit; /* 0: all */
	bool has_spans;	  /* or columns for runnable and blocked in their place */
	bool has_queue;	  /* a column for the time that workers were idle while there was work */
};

/* "worker-1 4201" */
void worker_append_thread(struct text *text, const struct worker_row *row);

extern const struct column worker_columns[]; /* of a struct worker_row; the context is nothing to them */

/* Whether it stands in the table of such a report. */
bool worker_has_column(const struct worker_report *report, const struct worker_table_options *options,
		       const struct column *column);

/* Of a finished report; an empty line ends it. 0 or -ENOMEM. */
int worker_table_print(const struct worker_report *report, const struct screen *screen,
		       const struct worker_table_options *options);

#endif
