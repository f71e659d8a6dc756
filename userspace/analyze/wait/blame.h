/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From the sums of waits (by reason) to the matrix: which labels waited (rows),
 * on whom (columns), and the pairs. Largest first everywhere.
 */
#ifndef BLAME_H
#define BLAME_H

#include "analyze/wait/wait_sums.h"

struct blame_pair {
	uint32_t waiter; /* parties of the sums */
	uint32_t waker;
	uint64_t cnt;
	uint64_t ns;
	uint64_t max_ns;
	uint64_t reason_ns[WAIT_REASON_COUNT];
};

/* One row or column, added up. */
struct blame_side {
	uint32_t party;
	uint64_t cnt;
	uint64_t ns;
};

/*
 * The pairs add up to the rows, to the columns, and to the time that spans
 * waited (wait_totals.in_span_ns).
 */
struct blame {
	struct blame_pair *pairs;
	size_t pair_cnt;
	struct blame_side *rows;
	size_t row_cnt;
	struct blame_side *columns;
	size_t column_cnt;
	struct blame_pair unseen; /* waits whose wakeup is not in the log: in no row and no column */
};

int blame_init(struct blame *blame, const struct wait_sums *sums); /* of finished sums. 0 or -ENOMEM */
void blame_release(struct blame *blame);

#endif
