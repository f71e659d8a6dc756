/* SPDX-License-Identifier: BSD-2-Clause */
/* Who made whom wait, as people read it. */
#ifndef BLAME_PRINT_H
#define BLAME_PRINT_H

#include "analyze/wait/blame.h"
#include "cli/screen.h"

struct blame_view {
	const struct wait_sums *sums;
	const struct blame *blame;
	size_t limit; /* rows, and sentences; 0: all */
};

/* The matrix, and the pairs in words; there is one at least. 0 or -ENOMEM. */
int blame_print(const struct blame_view *view, const struct screen *screen);

#endif
