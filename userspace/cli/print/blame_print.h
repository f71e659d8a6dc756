/* SPDX-License-Identifier: BSD-2-Clause */
/* What `txtrace blame` shows. */
#ifndef BLAME_PRINT_H
#define BLAME_PRINT_H

#include "analyze/wait/blame.h"
#include "analyze/log_census.h"
#include "base/json.h"
#include "cli/screen.h"

struct blame_view {
	const struct wait_sums *sums;
	const struct blame *blame;
	const struct txtrace_log_info *info;
	const struct log_census *census;
	size_t limit; /* rows, and sentences; 0: all */
};

int blame_print(const struct blame_view *view, const struct screen *screen); /* 0 or -ENOMEM */
void blame_json(const struct blame_view *view, struct json *json); /* all pairs */

#endif
