/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From the sums of waits (by object) to rows by object, reason or label, each
 * with who waited and who ended the waits. Largest first everywhere.
 */
#ifndef BLOCKED_H
#define BLOCKED_H

#include "analyze/wait/wait_sums.h"

enum blocked_by {
	BLOCKED_BY_OBJECT = 0,
	BLOCKED_BY_REASON = 1,
	BLOCKED_BY_LABEL = 2,
};

/* The part of one party in a row. */
struct blocked_share {
	uint32_t row_key;
	uint32_t party;
	uint64_t cnt;
	uint64_t ns;
	uint64_t max_ns;
};

struct blocked_row {
	/*
	 * a number of wait_sums_object(), a reason (WAIT_REASON_COUNT: all others), or a number of
	 * wait_sums_party()
	 */
	uint32_t key;
	uint64_t cnt;
	uint64_t ns;
	uint64_t max_ns;
	uint64_t reason_ns[WAIT_REASON_COUNT + 1]; /* the last: all other objects, whose reason is not kept */
	const struct blocked_share *waiters;
	size_t waiter_cnt;
	const struct blocked_share *wakers;
	size_t waker_cnt;
};

struct blocked {
	struct blocked_row *rows;
	size_t row_cnt;
	struct blocked_share *shares[2]; /* of all rows: waiters, wakers */
};

/* of finished sums. 0 or -ENOMEM */
int blocked_init(struct blocked *blocked, const struct wait_sums *sums, enum blocked_by by);
void blocked_release(struct blocked *blocked);

#endif
