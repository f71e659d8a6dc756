/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/compare/effect.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analyze/compare/distribution.h"

#define POWER 0.9

/* Copies those that have a value; of pairs those where both do. */
static void gather(struct effect *effect, double *const values[2], const size_t cnt[2], double *to[2])
{
	for (size_t i = 0; effect->is_paired && i < cnt[0]; i++) {
		if (isnan(values[0][i]) || isnan(values[1][i]))
			continue;
		to[0][effect->cnt[0]++] = values[0][i];
		to[1][effect->cnt[1]++] = values[1][i];
	}
	for (int side = 0; side < 2 && !effect->is_paired; side++) {
		for (size_t i = 0; i < cnt[side]; i++) {
			if (!isnan(values[side][i]))
				to[side][effect->cnt[side]++] = values[side][i];
		}
	}
	effect->is_ratio = true;
	for (int side = 0; side < 2; side++) {
		for (size_t i = 0; i < effect->cnt[side]; i++)
			effect->is_ratio &= to[side][i] > 0;
	}
	for (int side = 0; side < 2 && effect->is_ratio; side++) {
		for (size_t i = 0; i < effect->cnt[side]; i++)
			to[side][i] = log(to[side][i]);
	}
}

static void find_deviations(struct effect *effect, double *values[2])
{
	double mean[2] = { sample_mean(values[0], effect->cnt[0]), sample_mean(values[1], effect->cnt[1]) },
	       sum = 0;

	if (!effect->is_paired) {
		for (int side = 0; side < 2; side++)
			effect->deviation[side] = sqrt(sample_variance(values[side], effect->cnt[side]));
		return;
	}
	for (size_t i = 0; i < effect->cnt[0]; i++) {
		double off = values[1][i] - values[0][i] - (mean[1] - mean[0]);

		sum += off * off;
	}
	effect->deviation[0] = effect->deviation[1] = effect->cnt[0] > 1
							      ? sqrt(sum / (double)(effect->cnt[0] - 1) / 2)
							      : 0;
}

/* From the scale of the comparison to what is shown. */
static void convert(struct effect *effect, double scaled, struct interval interval)
{
	double base = effect->centre[0];

	if (effect->is_ratio) {
		effect->relative = expm1(scaled);
		effect->relative_interval = (struct interval){ expm1(interval.low), expm1(interval.high) };
		effect->difference = effect->relative * base;
		effect->difference_interval = (struct interval){ effect->relative_interval.low * base,
								 effect->relative_interval.high * base };
		return;
	}
	effect->difference = scaled;
	effect->difference_interval = interval;
	effect->relative = base > 0 ? scaled / base : NAN;
	effect->relative_interval = (struct interval){ base > 0 ? interval.low / base : NAN,
						       base > 0 ? interval.high / base : NAN };
}

int effect_init(struct effect *effect, double *const values[2], const size_t cnt[2], bool is_paired,
		double confidence, struct seeded_random *random)
{
	double *room = malloc((cnt[0] + cnt[1] + 1) * sizeof(*room)), *kept[2] = { room, room + cnt[0] };
	struct interval interval = { NAN, NAN };
	struct two_samples samples;
	double mean[2];
	int err;

	*effect = (struct effect){ .is_paired = is_paired };
	if (!room)
		return -ENOMEM;
	gather(effect, values, cnt, kept);
	samples = (struct two_samples){ { kept[0], kept[1] }, { effect->cnt[0], effect->cnt[1] }, is_paired };
	err = bootstrap_difference(&samples, confidence, random, &interval);
	for (int side = 0; side < 2; side++) {
		mean[side] = sample_mean(kept[side], effect->cnt[side]);
		effect->centre[side] = effect->cnt[side] == 0 ? NAN
				       : effect->is_ratio     ? exp(mean[side])
							      : mean[side];
	}
	find_deviations(effect, kept);
	convert(effect, effect->cnt[0] && effect->cnt[1] ? mean[1] - mean[0] : NAN, interval);
	free(room);
	return err;
}

double effect_scaled(const struct effect *effect, double difference)
{
	double ratio = difference / effect->centre[0];

	return !effect->is_ratio ? difference : ratio > -1 ? log1p(ratio) : -INFINITY;
}

/* With t for the normal distribution: few units need more. */
static bool is_enough(const struct effect *effect, size_t cnt, double scaled_difference, double alpha)
{
	double variance = effect->deviation[0] * effect->deviation[0] +
			  effect->deviation[1] * effect->deviation[1];
	double degrees = (double)(cnt - 1) * (effect->is_paired ? 1 : 2);
	double steps = student_quantile(1 - alpha / 2, degrees) + student_quantile(POWER, degrees);

	return steps * steps * variance <= (double)cnt * scaled_difference * scaled_difference;
}

size_t effect_units_needed(const struct effect *effect, double scaled_difference, double alpha)
{
	size_t low = 2, high = EFFECT_UNITS_MAX;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (is_enough(effect, middle, scaled_difference, alpha))
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}
