/* SPDX-License-Identifier: BSD-2-Clause */
/* What `txtrace show` prints of a span. It runs as a program of its own, with its own limits. */
#ifndef SPAN_PAGE_H
#define SPAN_PAGE_H

#include "cli/top/top_page.h"

/* Text of so many columns, with what it complains about; to be freed. NULL: no memory, or no process. */
char *span_page(const char *path, const struct top_target *target, size_t columns);

#endif
