/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/compare/label_change.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define COUNT_RATIO 1.5
#define TIME_RATIO 1.5
#define PAIRS_MAX 1000 /* vanished times new: more are not looked through */

/* The label that most spans of this one are children of; NULL: of none. */
static const struct compare_label *label_parent(const struct run_set *set, const struct compare_label *label,
						enum compare_side side)
{
	const struct compare_label *best = NULL;
	double most = 0;

	for (size_t i = 0; i < set->label_cnt; i++) {
		const struct compare_label *other = set->by_label[i];
		double calls = label_extra_mean(other, side, label->child_key) *
			       (double)label_span_cnt(other, side);

		if (calls > most) {
			most = calls;
			best = other;
		}
	}
	return best;
}

static bool is_near(double a, double b, double ratio)
{
	return a == b || (a <= b * ratio && b <= a * ratio);
}

static double per_run(const struct run_set *set, const struct compare_label *label, enum compare_side side)
{
	return (double)label_span_cnt(label, side) / (double)set->run_cnt[side];
}

/* Whatever children and waits it has, the other one has, about as many. */
static bool has_same_calls(const struct run_set *set, const struct compare_label *gone,
			   const struct compare_label *added)
{
	for (size_t i = 0; i < set->label_cnt; i++) {
		double before = label_extra_mean(gone, SIDE_BASE, set->by_label[i]->child_key);
		double after = label_extra_mean(added, SIDE_NEW, set->by_label[i]->child_key);

		if (!is_near(before, after, COUNT_RATIO) && fmax(before, after) > 0.1)
			return false;
	}
	return true;
}

/* How unlike they are; INFINITY: they are not one. */
static double unlikeness(const struct run_set *set, const struct label_change *gone,
			 const struct label_change *added)
{
	static const unsigned int values[] = { SPAN_VALUE_WALL, SPAN_VALUE_ON_CPU, SPAN_VALUE_BLOCKED };
	const struct compare_label *a = set->by_label[gone->label], *b = set->by_label[added->label];
	double wall = fmax(label_mean(a, SIDE_BASE, SPAN_VALUE_WALL),
			   label_mean(b, SIDE_NEW, SPAN_VALUE_WALL)),
	       sum = 0;

	if (!is_near(per_run(set, a, SIDE_BASE), per_run(set, b, SIDE_NEW), COUNT_RATIO))
		return INFINITY;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		double before = label_mean(a, SIDE_BASE, values[i]),
		       after = label_mean(b, SIDE_NEW, values[i]);

		if (!is_near(before, after, TIME_RATIO) && fabs(after - before) > 0.1 * wall)
			return INFINITY;
		sum += wall > 0 ? fabs(after - before) / wall : 0;
	}
	if (label_parent(set, a, SIDE_BASE) != label_parent(set, b, SIDE_NEW) || !has_same_calls(set, a, b))
		return INFINITY;
	return sum + fabs(log(per_run(set, a, SIDE_BASE) / per_run(set, b, SIDE_NEW)));
}

struct likeness {
	struct label_change *gone;
	struct label_change *added;
	double unlike;
};

static int compare_likeness(const void *a, const void *b)
{
	double x = ((const struct likeness *)a)->unlike, y = ((const struct likeness *)b)->unlike;

	return (x > y) - (x < y);
}

/* The most alike first, each label once. */
static int find_renamed(struct comparison *comparison, size_t pair_cnt)
{
	struct likeness *pairs = malloc((pair_cnt + 1) * sizeof(*pairs));
	size_t cnt = 0;

	if (!pairs)
		return -ENOMEM;
	for (size_t i = 0; i < comparison->change_cnt; i++) {
		for (size_t k = 0; k < comparison->change_cnt; k++) {
			struct likeness pair = { &comparison->changes[i], &comparison->changes[k], 0 };

			if (pair.gone->side != SIDE_BASE || pair.added->side != SIDE_NEW)
				continue;
			pair.unlike = unlikeness(comparison->set, pair.gone, pair.added);
			if (pair.unlike < INFINITY)
				pairs[cnt++] = pair;
		}
	}
	qsort(pairs, cnt, sizeof(*pairs), compare_likeness);
	for (size_t i = 0; i < cnt; i++) {
		if (pairs[i].gone->renamed != STRING_POOL_NONE || pairs[i].added->renamed != STRING_POOL_NONE)
			continue;
		pairs[i].gone->renamed = pairs[i].added->label;
		pairs[i].added->renamed = pairs[i].gone->label;
	}
	free(pairs);
	return 0;
}

static uint64_t spans_of(const struct compare_label *label, enum compare_side side)
{
	return label_span_cnt(label, side) + label_lower_bound_cnt(label, side);
}

static int compare_changes(const void *a, const void *b)
{
	const struct label_change *x = a, *y = b;

	if (x->span_cnt != y->span_cnt)
		return x->span_cnt > y->span_cnt ? -1 : 1;
	return x->label < y->label ? -1 : x->label > y->label;
}

int label_changes_find(struct comparison *comparison)
{
	const struct run_set *set = comparison->set;
	size_t cnt[2] = { 0 };

	comparison->changes = calloc(set->label_cnt + 1, sizeof(*comparison->changes));
	if (!comparison->changes)
		return -ENOMEM;
	for (uint32_t i = 0; i < set->label_cnt; i++) {
		const struct compare_label *label = set->by_label[i];
		bool has[2] = { spans_of(label, SIDE_BASE) > 0, spans_of(label, SIDE_NEW) > 0 };
		enum compare_side side = has[1] ? SIDE_NEW : SIDE_BASE;

		if (has[0] == has[1])
			continue;
		cnt[side]++;
		comparison->changes[comparison->change_cnt++] = (struct label_change){
			i, side, spans_of(label, side), label->unit_cnt[side], STRING_POOL_NONE
		};
	}
	qsort(comparison->changes, comparison->change_cnt, sizeof(*comparison->changes), compare_changes);
	return cnt[0] * cnt[1] <= PAIRS_MAX ? find_renamed(comparison, cnt[0] * cnt[1]) : 0;
}
