/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/compare/permutation.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define WORK_MAX 4e8 /* values looked at: with very many figures, fewer ways are drawn */
#define DRAWN_MIN 2000
#define EQUAL (1 - 1e-9) /* sums in another order differ in their last bits */

struct trial {
	const struct permutation *test;
	size_t unit_cnt;
	/*
	 * [figure][unit]: less the figure's mean, missing ones 0; paired: [pair][figure], the new side less
	 * the base's
	 */
	double *centred;
	double *squares;   /* paired: [figure], the sum of those differences' squares, */
	double *pair_cnt;  /* and how many there are: however they are dealt */
	bool *is_missing;  /* [figure]: some unit lacks it */
	unsigned char *is_new; /* [unit]: the side that it is dealt to; paired: [pair], exchanged or not */
	size_t *order;     /* figures, the most different first */
	double *seen;      /* [figure]: how different it is, as measured */
	double *now;       /* the same, as dealt */
	uint64_t *as_large;
	uint64_t way_cnt;
};

/* ---- how different ---- */

static double welch(double sum, double square, double cnt, double other_sum, double other_square,
		    double other_cnt, double floor_)
{
	double mean, other_mean, variance, other_variance;

	if (cnt < 2 || other_cnt < 2)
		return 0;
	mean = sum / cnt;
	other_mean = other_sum / other_cnt;
	variance = (square - cnt * mean * mean) / (cnt - 1);
	other_variance = (other_square - other_cnt * other_mean * other_mean) / (other_cnt - 1);
	variance = variance > 0 ? variance / cnt : 0;
	other_variance = other_variance > 0 ? other_variance / other_cnt : 0;
	return (other_mean - mean) / (sqrt(variance + other_variance) + floor_);
}

static double unpaired(const struct trial *trial, size_t figure)
{
	const double *values = trial->centred + figure * trial->unit_cnt,
		     *raw = trial->test->values + figure * trial->unit_cnt;
	double sum[2] = { 0 }, square[2] = { 0 }, cnt[2] = { 0 };

	for (size_t i = 0; i < trial->unit_cnt; i++) {
		unsigned char side = trial->is_new[i];

		sum[side] += values[i];
		square[side] += values[i] * values[i];
		cnt[side] += trial->is_missing[figure] ? !isnan(raw[i]) : 1;
	}
	return welch(sum[0], square[0], cnt[0], sum[1], square[1], cnt[1], trial->test->floors[figure]);
}

static double paired(const struct trial *trial, size_t figure, double sum)
{
	double cnt = trial->pair_cnt[figure], mean, variance;

	if (cnt < 2)
		return 0;
	mean = sum / cnt;
	variance = (trial->squares[figure] - cnt * mean * mean) / (cnt - 1);
	return mean / (sqrt(variance > 0 ? variance / cnt : 0) + trial->test->floors[figure]);
}

/* Of all figures at once: their sums do not wait for each other. */
static void add_pairs(const struct trial *trial, double *sums)
{
	size_t cnt = trial->test->figure_cnt;

	memset(sums, 0, cnt * sizeof(*sums));
	for (size_t pair = 0; pair < trial->test->cnt[0]; pair++) {
		const double *differences = trial->centred + pair * cnt;
		double sign = trial->is_new[pair] ? -1 : 1;

		for (size_t i = 0; i < cnt; i++)
			sums[i] += sign * differences[i];
	}
}

static void measure(const struct trial *trial, double *to)
{
	if (trial->test->is_paired)
		add_pairs(trial, to);
	for (size_t i = 0; i < trial->test->figure_cnt; i++) {
		double t = trial->test->is_paired ? paired(trial, i, to[i]) : unpaired(trial, i);

		to[i] = trial->test->is_one_sided ? t : fabs(t);
	}
}

/* ---- all ways ---- */

/* Of this figure and those that are less different as measured, the most different as dealt. */
static void count_way(struct trial *trial)
{
	double most = -INFINITY;

	measure(trial, trial->now);
	for (size_t i = trial->test->figure_cnt; i-- > 0;) {
		size_t figure = trial->order[i];
		double seen = trial->seen[figure];

		most = trial->now[figure] > most ? trial->now[figure] : most;
		trial->as_large[figure] += most >= (seen > 0 ? seen * EQUAL : seen);
	}
	trial->way_cnt++;
}

static double ways(const struct permutation *test)
{
	double result = 1;

	if (test->is_paired)
		return exp2((double)test->cnt[0]);
	for (size_t i = 0; i < test->cnt[1]; i++)
		result = result * (double)(test->cnt[0] + test->cnt[1] - i) / (double)(i + 1);
	return result;
}

/* The next way to deal, in the order of the numbers that is_new spells; false: that was the last. */
static bool next_way(struct trial *trial)
{
	unsigned char *is_new = trial->is_new;
	size_t i = 0, ones = 0;

	if (trial->test->is_paired) {
		for (; i < trial->test->cnt[0] && is_new[i]; i++)
			is_new[i] = 0;
		if (i < trial->test->cnt[0])
			is_new[i] = 1;
		return i < trial->test->cnt[0];
	}
	/* The first 1 with a 0 behind it moves there; those before it go back to the start. */
	for (; i + 1 < trial->unit_cnt; i++) {
		if (is_new[i] && !is_new[i + 1])
			break;
		ones += is_new[i];
	}
	if (i + 1 >= trial->unit_cnt)
		return false;
	is_new[i] = 0;
	is_new[i + 1] = 1;
	for (size_t k = 0; k < i; k++)
		is_new[k] = k < ones;
	return true;
}

static void try_all(struct trial *trial)
{
	for (size_t i = 0; i < trial->unit_cnt; i++)
		trial->is_new[i] = !trial->test->is_paired && i < trial->test->cnt[1];
	do {
		count_way(trial);
	} while (next_way(trial));
}

/* As measured is one of the ways. */
static void try_some(struct trial *trial, struct seeded_random *random)
{
	double each = (double)trial->test->figure_cnt * (double)trial->unit_cnt, cnt = WORK_MAX / each;

	cnt = cnt > PERMUTATION_WAYS_MAX ? PERMUTATION_WAYS_MAX : cnt < DRAWN_MIN ? DRAWN_MIN : cnt;
	count_way(trial);
	for (size_t drawn = 0; drawn < (size_t)cnt; drawn++) {
		for (size_t i = 0; trial->test->is_paired && i < trial->test->cnt[0]; i++)
			trial->is_new[i] = seeded_random_next(random) >> 63;
		for (size_t i = trial->unit_cnt; !trial->test->is_paired && i > 1; i--) {
			size_t other = seeded_random_below(random, (uint32_t)i);
			unsigned char side = trial->is_new[i - 1];

			trial->is_new[i - 1] = trial->is_new[other];
			trial->is_new[other] = side;
		}
		count_way(trial);
	}
}

/* ---- the test ---- */

static void centre(struct trial *trial, size_t figure)
{
	const double *raw = trial->test->values + figure * trial->unit_cnt;
	double *to = trial->centred + figure * trial->unit_cnt, sum = 0, cnt = 0;

	for (size_t i = 0; i < trial->unit_cnt; i++) {
		if (isnan(raw[i])) {
			trial->is_missing[figure] = true;
			continue;
		}
		sum += raw[i];
		cnt++;
	}
	for (size_t i = 0; i < trial->unit_cnt; i++)
		to[i] = isnan(raw[i]) ? 0 : raw[i] - sum / cnt;
}

static void subtract(struct trial *trial, size_t figure)
{
	size_t pair_cnt = trial->test->cnt[0];
	const double *raw = trial->test->values + figure * trial->unit_cnt;

	for (size_t i = 0; i < pair_cnt; i++) {
		double difference = raw[pair_cnt + i] - raw[i];

		if (isnan(difference))
			continue;
		trial->centred[i * trial->test->figure_cnt + figure] = difference;
		trial->squares[figure] += difference * difference;
		trial->pair_cnt[figure]++;
	}
}

struct placed {
	double seen;
	size_t figure;
};

static int compare_placed(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	if (x->seen != y->seen)
		return x->seen > y->seen ? -1 : 1;
	return x->figure < y->figure ? -1 : x->figure > y->figure;
}

static int sort(struct trial *trial)
{
	size_t cnt = trial->test->figure_cnt;
	struct placed *placed = malloc((cnt + 1) * sizeof(*placed));

	if (!placed)
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++)
		placed[i] = (struct placed){ trial->seen[i], i };
	qsort(placed, cnt, sizeof(*placed), compare_placed);
	for (size_t i = 0; i < cnt; i++)
		trial->order[i] = placed[i].figure;
	free(placed);
	return 0;
}

static int init(struct trial *trial, const struct permutation *test)
{
	size_t figures = test->figure_cnt + 1, units = test->cnt[0] + test->cnt[1];

	*trial = (struct trial){ .test = test, .unit_cnt = units };
	trial->centred = calloc(figures, (units + 1) * sizeof(double));
	trial->squares = calloc(figures, sizeof(double));
	trial->pair_cnt = calloc(figures, sizeof(double));
	trial->is_missing = calloc(figures, sizeof(bool));
	trial->is_new = calloc(units + 1, 1);
	trial->order = calloc(figures, sizeof(size_t));
	trial->seen = calloc(figures, sizeof(double));
	trial->now = calloc(figures, sizeof(double));
	trial->as_large = calloc(figures, sizeof(uint64_t));
	if (!trial->centred || !trial->squares || !trial->pair_cnt)
		return -ENOMEM;
	if (!trial->is_missing || !trial->is_new || !trial->order || !trial->seen || !trial->now ||
	    !trial->as_large)
		return -ENOMEM;
	for (size_t i = 0; i < test->figure_cnt; i++) {
		if (test->is_paired)
			subtract(trial, i);
		else
			centre(trial, i);
	}
	for (size_t i = 0; i < units; i++)
		trial->is_new[i] = !test->is_paired && i >= test->cnt[0];
	measure(trial, trial->seen);
	return sort(trial);
}

static void release(struct trial *trial)
{
	free(trial->centred);
	free(trial->squares);
	free(trial->pair_cnt);
	free(trial->is_missing);
	free(trial->is_new);
	free(trial->order);
	free(trial->seen);
	free(trial->now);
	free(trial->as_large);
}

int permutation_test(const struct permutation *test, struct seeded_random *random, double *p)
{
	struct trial trial;
	double most = 0;
	int err = init(&trial, test);

	if (!err && ways(test) <= PERMUTATION_WAYS_MAX)
		try_all(&trial);
	else if (!err)
		try_some(&trial, random);
	for (size_t i = 0; !err && i < test->figure_cnt; i++) {
		double share = (double)trial.as_large[trial.order[i]] / (double)trial.way_cnt;

		most = share > most ? share : most;
		p[trial.order[i]] = most;
	}
	release(&trial);
	return err;
}

double permutation_least_p(const size_t cnt[2], bool is_paired, bool is_one_sided)
{
	struct permutation test = { .cnt = { cnt[0], cnt[1] }, .is_paired = is_paired };
	double all = ways(&test);
	/* The mirror image is as different: of unequal sides there is none. */
	bool has_mirror = !is_one_sided && (is_paired || cnt[0] == cnt[1]);

	if (all > PERMUTATION_WAYS_MAX)
		return 1.0 / PERMUTATION_WAYS_MAX;
	return (has_mirror ? 2 : 1) / all;
}

size_t permutation_units_needed(double alpha, bool is_paired, bool is_one_sided)
{
	size_t cnt = 2;

	while (cnt < 64 && permutation_least_p((size_t[2]){ cnt, cnt }, is_paired, is_one_sided) > alpha)
		cnt++;
	return cnt;
}
