/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Confidence intervals by resampling. What is drawn, with replacement, are
 * whole units (a run, or a window of one), each with one figure: spans within a
 * run are not independent, so a span is never drawn. The interval is
 * Hesterberg's expanded percentile interval (What Teachers Should Know about
 * the Bootstrap, 2014, section 5.3): the plain one is too narrow when there are
 * few units. Figures may be as skewed as they like.
 */
#ifndef BOOTSTRAP_H
#define BOOTSTRAP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/seeded_random.h"

struct interval {
	double low;
	double high; /* both NAN: fewer than two units */
};

#define BOOTSTRAP_REPLICATES 4000

/*
 * Two sides: 0 the base, 1 the new one. Paired: the i-th of both were measured
 * next to each other, and are drawn together.
 */
struct two_samples {
	const double *values[2];
	size_t cnt[2];
	bool is_paired; /* both counts are the same then */
};

/* Of the mean of the new side less that of the base. 0 or -ENOMEM. */
int bootstrap_difference(const struct two_samples *samples, double confidence, struct seeded_random *random,
			 struct interval *interval);

/* Of a mean. */
int bootstrap_mean(const double *values, size_t cnt, double confidence, struct seeded_random *random,
		   struct interval *interval);

double sample_mean(const double *values, size_t cnt);
double sample_variance(const double *values, size_t cnt); /* with cnt - 1; 0 of fewer than two */

#endif
