/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The report by label as people read it, and as JSON. Sort the report before (label_report_sort()).
 *
 * Write errors stay in the file, to be looked at where it is flushed; -ENOMEM is returned.
 */
#ifndef REPORT_PRINT_H
#define REPORT_PRINT_H

#include <stdint.h>

#include "analyze/label_report.h"
#include "base/json.h"
#include "cli/screen.h"
#include "txtrace/log.h"

/* info may be NULL: then nothing is said of the capture as a whole. row_limit 0: all labels. */
int report_print(const struct label_report *report, const struct txtrace_log_info *info, const struct screen *screen, uint64_t row_limit);

/* One object. Returns json->err. */
int report_json(const struct label_report *report, const struct txtrace_log_info *info, struct json *json);

#endif
