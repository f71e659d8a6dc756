/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two sides, compared: every figure of every label that both have, which of
 * them changed, by how much, and how sure that is. docs/ci.md defines it.
 *
 *	struct comparison comparison;
 *
 *	err = comparison_init(&comparison, &set, &options);
 *	for (size_t i = 0; i < comparison.figure_cnt; i++)
 *		use(&comparison.figures[i]);               what matters most is first
 *	comparison_release(&comparison);
 *
 * The same input and seed give the same result.
 */
#ifndef COMPARISON_H
#define COMPARISON_H

#include "analyze/compare/effect.h"
#include "analyze/compare/metric.h"

enum verdict {
	VERDICT_SAME = 0,      /* it did not change by as much as matters */
	VERDICT_BETTER = 1,
	VERDICT_WORSE = 2,
	VERDICT_CANT_TELL = 3, /* the noise is larger than what matters */
};

#define VERDICT_CNT 4

extern const char *const verdict_names[]; /* "same", "better", "worse", "can't tell" */

struct comparison_options {
	double min_relative; /* what matters: at least this share of the figure itself, */
	double min_part;     /* of what is not on-CPU time, this share of the label's mean wall time, */
	double min_ns;       /* and this much */
	double alpha;        /* the chance of a false alarm, of all figures together */
	double confidence;   /* of the intervals */
	uint64_t seed;
};

#define COMPARISON_DEFAULTS                                                                                 \
	{                                                                                                   \
		.min_relative = 0.02, .min_part = 0.005, .min_ns = 1000, .alpha = 0.01, .confidence = 0.95, \
		.seed = 1                                                                                   \
	}

struct compared_figure {
	uint32_t label;
	struct metric metric;
	enum metric_owner owner;
	enum verdict verdict;
	struct effect effect;
	double matters;      /* a smaller difference does not */
	/* corrected for all that was tested; NAN: was not tested, as it can't matter or can't be told */
	double p;
	/* CANT_TELL: a side, about; 0: more would not help, the spans of a run are too few */
	uint32_t units_needed;
	double weight;       /* by which it is sorted */
};

/* A label that one side lacks. */
struct label_change {
	uint32_t label;
	enum compare_side side; /* which has it */
	uint64_t span_cnt;
	size_t unit_cnt;        /* that have it */
	uint32_t renamed;       /* the other side's label that looks like it; STRING_POOL_NONE: none does */
};

struct comparison {
	const struct run_set *set;
	struct comparison_options options;
	struct compared_figure *figures;
	size_t figure_cnt, figure_size;
	size_t tested_cnt;
	size_t verdict_cnt[VERDICT_CNT];
	struct label_change *changes;
	size_t change_cnt;
	uint32_t units_least; /* a side must have so many for any verdict but "can't tell" */
	enum verdict code;    /* of the code's figures, as a whole */
	enum verdict machine; /* of the machine's */
};

/* 0 or -ENOMEM */
int comparison_init(struct comparison *comparison, const struct run_set *set,
		    const struct comparison_options *options);
void comparison_release(struct comparison *comparison);

/* The figure of a label; NULL: it was not compared. */
const struct compared_figure *comparison_find(const struct comparison *comparison, uint32_t label,
					      const struct metric *metric);

/* Pairs that are too few for any verdict, of runs that apart are enough for one, are taken apart. */
void comparison_part_few_pairs(struct run_set *set, double alpha);

/* Enough units for a test of any figure at all. */
bool comparison_has_units(const struct run_set *set, double alpha, bool is_one_sided);

#endif
