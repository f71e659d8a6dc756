/* SPDX-License-Identifier: BSD-2-Clause */
/* A page that stands alone: markup, style, script and the document of view_json.h. */
#ifndef VIEW_PAGE_H
#define VIEW_PAGE_H

#include <stdio.h>

#include "base/text.h"
#include "cli/view/view_log.h"

struct view_page_options {
	size_t max_bytes;
	bool is_beside; /* a part of another page, beside that of another log: the timeline comes first */
};

/* A file of its own: at most 10 MB. */
extern const struct view_page_options view_page_alone;

/*
 * The shortest spans and segments are left out until the page has no more than
 * max_bytes. 0 or a negative errno; -E2BIG: all else is larger.
 */
int view_page_write(FILE *file, const struct view_log *log, const struct view_page_options *options);

/* The hash of the page's script, with quotes, for the policy of a page that it is a part of. */
void view_page_append_policy(struct text *text);

#endif
