/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which of many figures differ between two sides: a permutation test that
 * corrects for there being many (Westfall and Young's step-down maxT; Ge,
 * Dudoit and Speed, Resampling-based multiple testing for microarray data
 * analysis, 2003, box 2). If the sides were the same, it would not matter which
 * unit (a run) is on which of them; so all ways to deal the units to the sides
 * are tried, of all figures at once, and p is the share of them in which any
 * figure looks at least as different as this one does. It assumes no
 * distribution, needs no independence between figures, and keeps the chance of
 * one false alarm or more, among all figures, below p.
 *
 * Few units can be dealt in few ways: with 4 and 4 units no p is below 2/70,
 * whatever the figures say.
 */
#ifndef PERMUTATION_H
#define PERMUTATION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/seeded_random.h"

#define PERMUTATION_WAYS_MAX 20000 /* more are drawn at random, as many */

struct permutation {
	size_t cnt[2];      /* units of the base, of the new side */
	size_t figure_cnt;
	const double *values; /* [figure][unit], the base's units first; NAN: this unit has none */
	/*
	 * [figure]: added to the standard error, so that a figure that hardly varies does not make a mountain
	 * of nothing
	 */
	const double *floors;
	/* unit i of both sides belong together: they are exchanged with each other only */
	bool is_paired;
	bool is_one_sided;  /* only more on the new side counts */
};

/* p[figure_cnt], corrected. 0 or -ENOMEM. */
int permutation_test(const struct permutation *test, struct seeded_random *random, double *p);

/* The least p that so many units can give. */
double permutation_least_p(const size_t cnt[2], bool is_paired, bool is_one_sided);

/* As many units on each side as it takes for a p of at most alpha. */
size_t permutation_units_needed(double alpha, bool is_paired, bool is_one_sided);

#endif
