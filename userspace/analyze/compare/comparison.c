/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/compare/comparison.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/compare/figure_list.h"
#include "analyze/compare/label_change.h"
#include "analyze/compare/permutation.h"

/* of all on-CPU time: labels with less do not decide whether the whole can be told */
#define LEADING_SHARE 0.05

const char *const verdict_names[] = {
	[VERDICT_SAME] = "same",
	[VERDICT_BETTER] = "better",
	[VERDICT_WORSE] = "worse",
	[VERDICT_CANT_TELL] = "can't tell",
	NULL,
};

bool comparison_has_units(const struct run_set *set, double alpha, bool is_one_sided)
{
	size_t cnt[2] = { set->unit_cnt[0], set->unit_cnt[1] };

	return cnt[0] >= 2 && cnt[1] >= 2 && permutation_least_p(cnt, set->is_paired, is_one_sided) <= alpha;
}

void comparison_part_few_pairs(struct run_set *set, double alpha)
{
	bool can_tell = comparison_has_units(set, alpha, false);

	if (!set->is_paired || can_tell)
		return;
	set->is_paired = false;
	set->is_paired = !comparison_has_units(set, alpha, false);
}

/* ---- each figure by itself ---- */

static bool is_on_cpu(const struct metric *metric)
{
	return metric->kind == METRIC_HELD ||
	       (metric->kind == METRIC_VALUE &&
		(metric->value == SPAN_VALUE_ON_CPU || metric->value == COMPARE_VALUE_SELF_ON_CPU));
}

static double what_matters(const struct comparison *comparison, const struct compared_figure *figure)
{
	const struct comparison_options *options = &comparison->options;
	double base = figure->effect.centre[0], least = options->min_relative * (isnan(base) ? 0 : base),
	       part;

	if (!metric_is_time(&figure->metric))
		return fmax(least, 0.01);
	least = fmax(least, options->min_ns);
	if (is_on_cpu(&figure->metric))
		return least;
	part = options->min_part *
	       label_mean(comparison->set->by_label[figure->label], SIDE_BASE, SPAN_VALUE_WALL);
	return fmax(least, part);
}

/* Chance differs between figures, not between two calls for one of them. */
static void seed_for(struct seeded_random *random, const struct comparison *comparison, size_t figure)
{
	seeded_random_init(random, comparison->options.seed * 0x9e3779b97f4a7c15ULL + figure);
}

static int estimate(struct comparison *comparison, size_t idx, double *row)
{
	const struct run_set *set = comparison->set;
	struct compared_figure *figure = &comparison->figures[idx];
	double *values[2] = { row, row + set->unit_cnt[0] };
	size_t cnt[2] = { set->unit_cnt[0], set->unit_cnt[1] };
	struct seeded_random random;
	int err;

	seed_for(&random, comparison, idx);
	for (int side = 0; side < 2; side++)
		metric_fill(set, &figure->metric, set->by_label[figure->label], (enum compare_side)side,
			    values[side]);
	err = effect_init(&figure->effect, values, cnt, set->is_paired, comparison->options.confidence,
			  &random);
	figure->owner = metric_owner(set, &figure->metric);
	figure->matters = what_matters(comparison, figure);
	figure->p = NAN;
	for (uint32_t i = 0; figure->effect.is_ratio && i < set->unit_cnt[0] + set->unit_cnt[1]; i++)
		row[i] = log(row[i]);
	return err;
}

/*
 * Neither side is so large that a difference could matter; or a unit has too few spans; or windows of a run
 * share one figure.
 */
static bool can_be_tested(const struct comparison *comparison, const struct compared_figure *figure)
{
	const struct effect *effect = &figure->effect;

	if (effect->cnt[0] < 2 || effect->cnt[1] < 2 ||
	    fmax(effect->centre[0], effect->centre[1]) < figure->matters)
		return false;
	return !(comparison->set->is_windowed && metric_is_of_run(&figure->metric));
}

/* ---- all of them together ---- */

static int test_all(struct comparison *comparison, double *rows, size_t *tested, double *floors)
{
	const struct run_set *set = comparison->set;
	size_t width = set->unit_cnt[0] + set->unit_cnt[1], cnt = 0;
	struct seeded_random random;
	struct permutation test;
	double *p;
	int err = 0;

	for (size_t i = 0; i < comparison->figure_cnt && !err; i++) {
		struct compared_figure *figure = &comparison->figures[i];

		err = estimate(comparison, i, rows + cnt * width);
		if (err || !can_be_tested(comparison, figure))
			continue;
		floors[cnt] = fabs(effect_scaled(&figure->effect, figure->matters)) / 10;
		tested[cnt++] = i;
	}
	comparison->tested_cnt = cnt;
	p = malloc((cnt + 1) * sizeof(*p));
	if (!p)
		return -ENOMEM;
	test = (struct permutation){
		{ set->unit_cnt[0], set->unit_cnt[1] }, cnt, rows, floors, set->is_paired, false
	};
	seed_for(&random, comparison, SIZE_MAX);
	err = err || cnt == 0 ? err : permutation_test(&test, &random, p);
	for (size_t i = 0; i < cnt && !err; i++)
		comparison->figures[tested[i]].p = p[i];
	free(p);
	return err;
}

static bool is_within(const struct interval *interval, double bound)
{
	return interval->low > -bound && interval->high < bound;
}

/* What it would take to see the difference that there seems to be, or that there is none that matters. */
static uint32_t units_needed(const struct comparison *comparison, const struct compared_figure *figure)
{
	const struct effect *effect = &figure->effect;
	double size = fabs(effect->difference),
	       goal = size >= figure->matters ? size : fmax(figure->matters - size, figure->matters / 2);
	size_t needed;

	if (effect->cnt[0] < 2 || effect->cnt[1] < 2)
		return comparison->set->unit_cnt[0] < 2 || comparison->set->unit_cnt[1] < 2
			       ? comparison->units_least
			       : 0;
	needed = effect_units_needed(effect, effect_scaled(effect, goal), comparison->options.alpha);
	return needed > comparison->units_least ? (uint32_t)needed : comparison->units_least;
}

static void judge(struct comparison *comparison, struct compared_figure *figure)
{
	const struct effect *effect = &figure->effect;
	bool is_known = effect->cnt[0] >= 2 && effect->cnt[1] >= 2;
	bool is_small = fmax(effect->centre[0], effect->centre[1]) < figure->matters;
	/* The same logs, or copies: however noisy they are, nothing changed. */
	bool is_identical = effect->difference == 0 && effect->deviation[0] == effect->deviation[1];

	if (!isnan(figure->p) && figure->p <= comparison->options.alpha &&
	    fabs(effect->difference) >= figure->matters)
		figure->verdict = effect->difference > 0 ? VERDICT_WORSE : VERDICT_BETTER;
	else if (is_known &&
		 (is_small || is_identical || is_within(&effect->difference_interval, figure->matters)))
		figure->verdict = VERDICT_SAME;
	else
		figure->verdict = VERDICT_CANT_TELL;
	if (figure->verdict == VERDICT_CANT_TELL)
		figure->units_needed = units_needed(comparison, figure);
	comparison->verdict_cnt[figure->verdict]++;
}

/* ---- the whole ---- */

/*
 * Times are sorted by how much of them there is in a run, what lies in the span itself before what its
 * children brought.
 */
static double weight_of(const struct run_set *set, const struct compared_figure *figure)
{
	const struct compare_label *label = set->by_label[figure->label];
	double cnt = ((double)label_span_cnt(label, SIDE_BASE) + (double)label_span_cnt(label, SIDE_NEW)) /
		     (double)(set->run_cnt[0] + set->run_cnt[1]);
	double weight = fabs(figure->effect.difference) * cnt;

	return metric_is_time(&figure->metric) && !isnan(weight) ? weight : 0;
}

static enum verdict worst(enum verdict a, enum verdict b)
{
	static const int ranks[] = {
		[VERDICT_SAME] = 0, [VERDICT_BETTER] = 1, [VERDICT_CANT_TELL] = 2, [VERDICT_WORSE] = 3
	};

	return ranks[a] >= ranks[b] ? a : b;
}

/* What can't be told of a label that hardly runs leaves the whole as it is. */
static bool is_leading(const struct comparison *comparison, const struct compared_figure *figure,
		       double all_on_cpu)
{
	const struct compare_label *label = comparison->set->by_label[figure->label];
	double on_cpu = label_mean(label, SIDE_BASE, SPAN_VALUE_ON_CPU) *
			(double)label_span_cnt(label, SIDE_BASE);

	return figure->metric.kind == METRIC_VALUE && figure->metric.value == SPAN_VALUE_ON_CPU &&
	       figure->metric.percentile == 0 && on_cpu >= LEADING_SHARE * all_on_cpu;
}

static void sum_up(struct comparison *comparison)
{
	double all_on_cpu = 0;

	for (size_t i = 0; i < comparison->set->label_cnt; i++) {
		const struct compare_label *label = comparison->set->by_label[i];

		all_on_cpu += label_mean(label, SIDE_BASE, COMPARE_VALUE_SELF_ON_CPU) *
			      (double)label_span_cnt(label, SIDE_BASE);
	}
	if (comparison->figure_cnt == 0 ||
	    (comparison->verdict_cnt[VERDICT_SAME] < comparison->figure_cnt &&
	     !comparison_has_units(comparison->set, comparison->options.alpha, false)))
		comparison->code = VERDICT_CANT_TELL;
	for (size_t i = 0; i < comparison->figure_cnt; i++) {
		const struct compared_figure *figure = &comparison->figures[i];

		if (figure->verdict == VERDICT_CANT_TELL && !is_leading(comparison, figure, all_on_cpu))
			continue;
		if (figure->owner == OWNER_CODE)
			comparison->code = worst(comparison->code, figure->verdict);
		else if (figure->owner == OWNER_MACHINE)
			comparison->machine = worst(comparison->machine, figure->verdict);
	}
}

static int test_and_judge(struct comparison *comparison)
{
	size_t width = (size_t)comparison->set->unit_cnt[0] + comparison->set->unit_cnt[1],
	       cnt = comparison->figure_cnt + 1;
	double *rows = malloc(cnt * (width + 1) * sizeof(*rows)), *floors = malloc(cnt * sizeof(*floors));
	size_t *tested = malloc(cnt * sizeof(*tested));
	int err = rows && floors && tested ? test_all(comparison, rows, tested, floors) : -ENOMEM;

	free(rows);
	free(floors);
	free(tested);
	for (size_t i = 0; i < comparison->figure_cnt && !err; i++) {
		judge(comparison, &comparison->figures[i]);
		comparison->figures[i].weight = weight_of(comparison->set, &comparison->figures[i]);
	}
	return err;
}

int comparison_init(struct comparison *comparison, const struct run_set *set,
		    const struct comparison_options *options)
{
	int err;

	*comparison = (struct comparison){ .set = set, .options = *options };
	comparison->units_least = (uint32_t)permutation_units_needed(options->alpha, set->is_paired, false);
	err = figure_list_make(comparison);
	err = err ? err : test_and_judge(comparison);
	err = err ? err : label_changes_find(comparison);
	if (err)
		return err;
	figure_list_sort(comparison);
	sum_up(comparison);
	return 0;
}

void comparison_release(struct comparison *comparison)
{
	free(comparison->figures);
	free(comparison->changes);
	*comparison = (struct comparison){ 0 };
}

const struct compared_figure *comparison_find(const struct comparison *comparison, uint32_t label,
					      const struct metric *metric)
{
	for (size_t i = 0; i < comparison->figure_cnt; i++) {
		const struct compared_figure *figure = &comparison->figures[i];

		if (figure->label == label && figure->metric.kind == metric->kind &&
		    figure->metric.value == metric->value &&
		    figure->metric.percentile == metric->percentile && figure->metric.key == metric->key)
			return figure;
	}
	return NULL;
}
