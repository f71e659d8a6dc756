/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How much one figure changed between two sides, from its value in each unit.
 * Values that are all above 0 are compared as ratios (by their logarithms: a
 * machine that is slower for a while makes everything a multiple longer),
 * others by their differences. The centre of a side is the geometric mean of
 * its units, or the arithmetic one.
 */
#ifndef EFFECT_H
#define EFFECT_H

#include "analyze/compare/bootstrap.h"

struct effect {
	bool is_ratio;
	bool is_paired;
	size_t cnt[2];      /* units that have a value */
	double centre[2];   /* NAN: there are none */
	double difference;  /* new less base */
	double relative;    /* of the base; NAN: that is 0 */
	struct interval difference_interval;
	struct interval relative_interval;
	/*
	 * standard deviation of the units, on the scale of the comparison; paired: of the pairs' differences,
	 * by the root of 2
	 */
	double deviation[2];
};

/* values[side][cnt[side]], NAN where a unit has none. 0 or -ENOMEM. */
int effect_init(struct effect *effect, double *const values[2], const size_t cnt[2], bool is_paired,
		double confidence, struct seeded_random *random);

/* A difference on the scale that units are compared on: of a ratio, its logarithm. */
double effect_scaled(const struct effect *effect, double difference);

/*
 * How many units a side must have to tell a difference of so much (on that
 * scale) in nine of ten cases, when chance alone is to do it once in 1 / alpha.
 * At most EFFECT_UNITS_MAX.
 */
#define EFFECT_UNITS_MAX 1000
size_t effect_units_needed(const struct effect *effect, double scaled_difference, double alpha);

#endif
