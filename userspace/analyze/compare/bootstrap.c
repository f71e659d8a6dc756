/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/compare/bootstrap.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analyze/compare/distribution.h"

double sample_mean(const double *values, size_t cnt)
{
	double sum = 0;

	for (size_t i = 0; i < cnt; i++)
		sum += values[i];
	return cnt ? sum / (double)cnt : 0;
}

double sample_variance(const double *values, size_t cnt)
{
	double mean = sample_mean(values, cnt), sum = 0;

	for (size_t i = 0; i < cnt; i++)
		sum += (values[i] - mean) * (values[i] - mean);
	return cnt > 1 ? sum / (double)(cnt - 1) : 0;
}

static double drawn_mean(const double *values, size_t cnt, struct seeded_random *random)
{
	double sum = 0;

	for (size_t i = 0; i < cnt; i++)
		sum += values[seeded_random_below(random, (uint32_t)cnt)];
	return sum / (double)cnt;
}

/*
 * Quickselect (Hoare): afterwards values[at] is what it would be if all were sorted, what lies before it is
 * no more and what lies behind it no less. Replicates are drawn at random, so that their middle is as good a
 * pivot as any.
 */
static void place(double *values, size_t cnt, size_t at)
{
	size_t low = 0, high = cnt - 1;

	while (low < high) {
		double pivot = values[low + (high - low) / 2];
		size_t i = low, k = high;

		for (;;) {
			double swapped;

			while (values[i] < pivot)
				i++;
			while (values[k] > pivot)
				k--;
			if (i >= k)
				break;
			swapped = values[i];
			values[i++] = values[k];
			values[k--] = swapped;
		}
		if (at <= k)
			high = k;
		else
			low = k + 1;
	}
}

/*
 * Which share of the replicates lies outside, on each side: less than the nominal one, as few units vary less
 * than what they were drawn from.
 */
static double outside_share(double confidence, double degrees, double cnt)
{
	return normal_cdf(sqrt(cnt / (cnt - 1)) * student_quantile((1 - confidence) / 2, degrees));
}

static void cut(double *replicates, double outside, struct interval *interval)
{
	double last = BOOTSTRAP_REPLICATES - 1;

	size_t low = (size_t)floor(outside * last), high = (size_t)ceil((1 - outside) * last);

	place(replicates, BOOTSTRAP_REPLICATES, low);
	place(replicates + low, BOOTSTRAP_REPLICATES - low, high - low);
	interval->low = replicates[low];
	interval->high = replicates[high];
}

int bootstrap_mean(const double *values, size_t cnt, double confidence, struct seeded_random *random,
		   struct interval *interval)
{
	double *replicates;

	*interval = (struct interval){ NAN, NAN };
	if (cnt < 2)
		return 0;
	replicates = malloc(BOOTSTRAP_REPLICATES * sizeof(*replicates));
	if (!replicates)
		return -ENOMEM;
	for (size_t i = 0; i < BOOTSTRAP_REPLICATES; i++)
		replicates[i] = drawn_mean(values, cnt, random);
	cut(replicates, outside_share(confidence, (double)cnt - 1, (double)cnt), interval);
	free(replicates);
	return 0;
}

/* Welch and Satterthwaite's: of as many values of each side as vary. */
static double welch_degrees(const struct two_samples *samples)
{
	double parts[2], below = 0;

	for (int side = 0; side < 2; side++) {
		parts[side] = sample_variance(samples->values[side], samples->cnt[side]) /
			      (double)samples->cnt[side];
		below += parts[side] * parts[side] / (double)(samples->cnt[side] - 1);
	}
	return below > 0 ? (parts[0] + parts[1]) * (parts[0] + parts[1]) / below
			 : (double)(samples->cnt[0] + samples->cnt[1] - 2);
}

static int bootstrap_pairs(const struct two_samples *samples, double confidence, struct seeded_random *random,
			   struct interval *interval)
{
	size_t cnt = samples->cnt[0];
	double *differences = malloc((cnt + 1) * sizeof(*differences));
	int err;

	if (!differences)
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++)
		differences[i] = samples->values[1][i] - samples->values[0][i];
	err = bootstrap_mean(differences, cnt, confidence, random, interval);
	free(differences);
	return err;
}

int bootstrap_difference(const struct two_samples *samples, double confidence, struct seeded_random *random,
			 struct interval *interval)
{
	size_t fewer = samples->cnt[0] < samples->cnt[1] ? samples->cnt[0] : samples->cnt[1];
	double *replicates;

	*interval = (struct interval){ NAN, NAN };
	if (fewer < 2)
		return 0;
	if (samples->is_paired)
		return bootstrap_pairs(samples, confidence, random, interval);
	replicates = malloc(BOOTSTRAP_REPLICATES * sizeof(*replicates));
	if (!replicates)
		return -ENOMEM;
	for (size_t i = 0; i < BOOTSTRAP_REPLICATES; i++)
		replicates[i] = drawn_mean(samples->values[1], samples->cnt[1], random) -
				drawn_mean(samples->values[0], samples->cnt[0], random);
	cut(replicates, outside_share(confidence, welch_degrees(samples), (double)fewer), interval);
	free(replicates);
	return 0;
}
