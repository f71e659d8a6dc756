/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a change is made of: which parts of the ledger, and where the largest of
 * them comes from: the span's own code, a child span, a lock and who held it.
 * Of a high percentile of the wall time the slowest spans are looked at, else
 * all. Words for a change that a test has found; what is in here is no test of
 * its own.
 */
#ifndef EXPLANATION_H
#define EXPLANATION_H

#include "analyze/compare/comparison.h"

#define EXPLAINED_PARTS_MAX 4

struct explained_part {
	unsigned int value; /* SPAN_VALUE_ON_CPU, RUNNABLE, DETACHED, UNKNOWN, or a reason */
	double difference_ns;
	double share;       /* of the difference of all parts */
};

struct explanation {
	bool is_of_slowest;
	/* the largest first; those of 5 % and more, that go the same way */
	struct explained_part parts[EXPLAINED_PARTS_MAX];
	size_t part_cnt;    /* 0: there is nothing to say */

	/* Of the largest part. */
	/*
	 * the label of the child spans that most of it is in; STRING_POOL_NONE: it is not known to be in any
	 */
	uint32_t child;
	bool is_own;        /* on-CPU: most of it is in the span itself */
	const struct waited_object *object; /* that most of the waiting was for; NULL: there is none */
	uint32_t waits_on;  /* a key of EXTRA_WAITS_ON: who ended the waits; STRING_POOL_NONE */
};

void explanation_find(struct explanation *explanation, const struct comparison *comparison,
		      const struct compared_figure *figure);

/* Who: of a key of EXTRA_WAITS_ON. */
struct party explanation_party(const struct run_set *set, uint32_t key, unsigned int *reason);

#endif
