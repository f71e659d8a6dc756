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
#include "cli/screen.h"
#include "txtrace/log.h"

/* All zero: rows are labels, and all are shown. */
struct report_view {
	uint64_t row_limit;         /* 0: all */
	const char *by;             /* what rows are, as the user said it: "tag:shard"; NULL: labels */
	const struct span_key *key; /* the same; the rows' labels are names that it gave. NULL: labels */
};

/* info may be NULL: then nothing is said of the capture as a whole. */
int report_print(const struct label_report *report, const struct txtrace_log_info *info,
		 const struct screen *screen, const struct report_view *view);

/* One object, with all rows. Returns json->err. */
int report_json(const struct label_report *report, const struct txtrace_log_info *info,
		const struct report_view *view, struct json *json);

#endif
