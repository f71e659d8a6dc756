/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two choices of a fleet's spans, compared by label. A capture is a run: whether
 * the mean wall time of a label changed is decided by a permutation test over
 * the means of captures (analyze/compare/permutation.h), for all labels at once.
 * Errors are those of clickhouse.h.
 */
#ifndef FLEET_DIFF_H
#define FLEET_DIFF_H

#include "fleet/fleet_query.h"

#define FLEET_DIFF_ALPHA 0.01 /* at most so often is a change reported where there is none */

enum fleet_verdict {
	FLEET_UNSURE = 0, /* there are too few captures */
	FLEET_SAME = 1,	  /* no change that is more than captures differ anyway */
	FLEET_SLOWER = 2,
	FLEET_FASTER = 3,
	FLEET_NEW = 4,	/* there are no such spans in the base */
	FLEET_GONE = 5, /* nor in the new side */
};

extern const char *const fleet_verdict_names[];

struct fleet_diff_row {
	struct txtrace_string label;
	const struct fleet_report_row *sides[2]; /* NULL: no spans */
	enum fleet_verdict verdict;
	double p;	      /* corrected for many labels; NAN: not tested */
	size_t most_part;     /* of the ledger: whose mean changed most */
	int64_t mean_more_ns; /* of the wall time */
	int64_t part_more_ns; /* of that part */
};

struct fleet_diff {
	struct fleet_report reports[2];
	struct fleet_captures captures[2];
	struct fleet_diff_row *rows; /* the largest change of all spans together first */
	size_t cnt;
	size_t capture_cnt[2];
	size_t needed_cnt; /* captures on each side, for a verdict */
};

int fleet_diff_ask(struct fleet_diff *diff, struct clickhouse *server, const struct fleet_choice sides[2],
		   bool is_exact, struct error *error);
void fleet_diff_release(struct fleet_diff *diff);

#endif
