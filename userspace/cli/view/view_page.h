/* SPDX-License-Identifier: BSD-2-Clause */
/* A page that stands alone: markup, style, script and the document of view_json.h. */
#ifndef VIEW_PAGE_H
#define VIEW_PAGE_H

#include <stdio.h>

#include "analyze/log_census.h"
#include "cli/view/view_data.h"
#include "txtrace/log.h"

#define VIEW_PAGE_MAX_BYTES (10000000u)

/*
 * The shortest spans and segments are left out until the page has no more than
 * VIEW_PAGE_MAX_BYTES. 0 or a negative errno; -E2BIG: all else is larger.
 */
int view_page_write(FILE *file, struct view_data *data, const struct txtrace_log_info *info,
		    const struct log_census *census);

#endif
