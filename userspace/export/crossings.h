/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which spans leave their thread's row in a picture. Two spans of a thread may
 * cross: a query BEGIN begins before the transaction that it opens, and ends in
 * it. Only one of the two can be drawn on the thread's row, and the other goes
 * to a row of its own. A picture is drawn in one pass, in the order in which
 * spans end, so this is found out in a first pass over the log: of two spans
 * that cross, the shorter one leaves. A transaction thus stays above its
 * queries.
 *
 *	struct crossings *crossings = crossings_new();
 *
 *	err = crossings_see(crossings, &span);           for every span, in the log's order
 *	if (crossings_has(crossings, &span)) ...         in the second pass
 *
 * Of each thread the last 48 to 64 spans are compared, and at most a million
 * spans and 16,384 threads are remembered. What is beyond that is missed: of
 * those two spans, the one that ends later leaves when the picture is drawn.
 */
#ifndef CROSSINGS_H
#define CROSSINGS_H

#include <stdbool.h>

#include "txtrace/log.h"

struct crossings;

struct crossings *crossings_new(void); /* NULL: no memory */
void crossings_free(struct crossings *crossings);

int crossings_see(struct crossings *crossings, const struct txtrace_span *span); /* 0 or -ENOMEM */

/* Whether the span leaves its thread's row. */
bool crossings_has(const struct crossings *crossings, const struct txtrace_span *span);

#endif
