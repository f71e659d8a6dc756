/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The report by label as people read it, and as JSON. Sort the report before
 * (label_report_sort()).
 *
 * Write errors stay in the file, to be looked at where it is flushed; -ENOMEM
 * is returned.
 */
#ifndef REPORT_PRINT_H
#define REPORT_PRINT_H

#include <stdint.h>

#include "analyze/label/label_report.h"
#include "analyze/span_key.h"
#include "base/json.h"
#include "cli/print/column.h"
#include "txtrace/log.h"

/* All zero: rows are labels, and all are shown. */
struct report_view {
	uint64_t row_limit;		 /* 0: all */
	const char *by;			 /* what rows are, as the user said it: "tag:shard"; NULL: labels */
	const struct span_key *key;	 /* the same; the rows' labels are names that it gave. NULL: labels */
	const struct log_census *census; /* what was lost in the log; NULL: as the report counted it */
	const void *const *rows;	 /* in the order in which they are shown; NULL: that of the report */
};

extern const struct column report_columns[]; /* of a struct label_row; the context is a struct report_view */

/* The tables, and what is below them; the title stands above. */
int report_print(const struct label_report *report, const struct screen *screen,
		 const struct report_view *view);

/* The members of a row, and those of the document behind the rows. */
void report_row_json(const struct report_view *view, const struct label_row *row, struct json *json);
void report_tail_json(const struct label_report *report, const struct report_view *view, struct json *json);

#endif
