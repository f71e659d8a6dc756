/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The waits of one run, from wait_sums, to figures of labels: how long each
 * waited, for what reason, on whom; and what most of it was for.
 */
#ifndef RUN_WAITS_H
#define RUN_WAITS_H

#include "analyze/compare/lock_holds.h"
#include "analyze/compare/run_set.h"

struct run_waits {
	struct run_set *set;
	const struct wait_sums *sums; /* finished, by object */
	const struct lock_holds *holds; /* finished */
	bool wants_objects;
	int (*add)(void *context, uint32_t label, uint32_t key, double ns); /* 0 or -ENOMEM */
	uint64_t (*span_cnt)(void *context, uint32_t label);
	void *context;
};

/*
 * Calls add() for what labels of the set waited; with objects, notes those of
 * this run in the set where it waited longer than in runs before.
 */
int run_waits_tell(const struct run_waits *waits);

#endif
