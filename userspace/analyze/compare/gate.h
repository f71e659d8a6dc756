/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rules of a gate, applied. Of a change, "holds" means that the interval of
 * the figure lies below the limit, "regressed" that a permutation test
 * (one-sided, corrected for all figures that the gate looks at) puts it above
 * the limit, and all else is "can't tell": docs/ci.md. A figure itself is
 * compared as it was measured where there is one run; of several, if they do
 * not agree, by the interval of their mean.
 */
#ifndef GATE_H
#define GATE_H

#include "analyze/compare/comparison.h"
#include "analyze/compare/gate_rule.h"

enum gate_result {
	GATE_HOLDS = 0,
	GATE_REGRESSED = 1,
	GATE_CANT_TELL = 2,
	GATE_ERROR = 3, /* it matches nothing */
};

extern const char *const gate_result_names[]; /* "holds", "regressed", "can't tell", "error" */

/* One rule on one label (or the log). */
struct gate_case {
	size_t rule;
	uint32_t label; /* STRING_POOL_NONE: the whole log */
	struct metric metric;
	enum gate_result result;
	struct effect effect;      /* of a change */
	double figure;             /* of what is new */
	struct interval interval;  /* of it; NAN: one run */
	double p;                  /* NAN: not tested */
	uint32_t units_needed;     /* CANT_TELL; 0: not known, or more would not help */
	uint64_t spans_needed;     /* CANT_TELL: a run has fewer spans than the percentile takes */
	uint64_t lower_bound_cnt;  /* CANT_TELL: spans that are lower bounds could change it */
};

struct gate {
	const struct gate_rules *rules;
	struct gate_case *cases; /* by rule, then by label */
	size_t case_cnt, case_size;
	enum gate_result *results; /* [rule]: the worst of its cases */
	const char **complaints;   /* [rule]: ERROR: why; static */
	size_t *unmatched_cnt;     /* [rule]: labels that it matches, but that only one side has */
	enum gate_result result;   /* of all */
	size_t cnt[4];             /* rules by result */
};

/* Notes the percentiles that rules want. 0 or -E2BIG. */
int gate_want(const struct gate_rules *rules, struct run_set *set);

/*
 * has_base: false for absolute rules on one side, SIDE_NEW; a rule on a change
 * is then an error. 0 or -ENOMEM.
 */
int gate_init(struct gate *gate, const struct gate_rules *rules, const struct run_set *set,
	      const struct comparison_options *options, bool has_base);
void gate_release(struct gate *gate);

#endif
