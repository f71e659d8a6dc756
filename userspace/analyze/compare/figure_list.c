/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/compare/figure_list.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/array.h"

#define RARE 0.01 /* of a kind for each span: less is not compared */

static const struct {
	unsigned int value;
	double percentile;
} wanted[] = {
	{ SPAN_VALUE_WALL, 0.99 }, { SPAN_VALUE_WALL, 0 },     { SPAN_VALUE_WALL, 0.5 },
	{ SPAN_VALUE_ON_CPU, 0 },  { SPAN_VALUE_ON_CPU, 0.5 }, { COMPARE_VALUE_SELF_ON_CPU, 0 },
	{ COMPARE_VALUE_SELF, 0 }, { SPAN_VALUE_RUNNABLE, 0 }, { SPAN_VALUE_DETACHED, 0 },
	{ SPAN_VALUE_UNKNOWN, 0 },
};

#define WANTED_CNT (sizeof(wanted) / sizeof(wanted[0]))

int figure_list_want(struct run_set *set)
{
	int err = 0;

	for (size_t i = 0; i < WANTED_CNT && !err; i++) {
		if (wanted[i].percentile > 0)
			err = run_set_want(set, wanted[i].value, wanted[i].percentile);
	}
	return err;
}

static int add(struct comparison *comparison, uint32_t label, struct metric metric)
{
	struct compared_figure *grown = comparison->figures;

	grown = array_grow(comparison->figures, &comparison->figure_size, comparison->figure_cnt,
			   sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	comparison->figures = grown;
	grown[comparison->figure_cnt++] = (struct compared_figure){ .label = label, .metric = metric };
	return 0;
}

/* Whether most units have enough spans for it. */
static bool has_percentile(const struct run_set *set, const struct compare_label *label,
			   const struct metric *metric)
{
	size_t known_cnt = 0;

	for (int side = 0; side < 2; side++) {
		for (size_t i = 0; i < label->unit_cnt[side]; i++)
			known_cnt += !isnan(metric_of(set, metric, &label->units[side][i]));
	}
	return 2 * known_cnt > label->unit_cnt[0] + label->unit_cnt[1];
}

static int add_values(struct comparison *comparison, uint32_t number)
{
	const struct compare_label *label = comparison->set->by_label[number];
	int err = 0;

	for (size_t i = 0; i < WANTED_CNT && !err; i++) {
		struct metric metric = { .kind = METRIC_VALUE,
					 .value = wanted[i].value,
					 .percentile = wanted[i].percentile };

		if (metric.percentile == 0 || has_percentile(comparison->set, label, &metric))
			err = add(comparison, number, metric);
	}
	for (unsigned int value = SPAN_VALUE_REASON; value < SPAN_VALUE_COUNT && !err; value++) {
		if (label_mean(label, SIDE_BASE, value) > 0 || label_mean(label, SIDE_NEW, value) > 0)
			err = add(comparison, number,
				  (struct metric){ .kind = METRIC_VALUE, .value = value });
	}
	return err;
}

static int compare_keys(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* What is compared of the kinds of keys; -1: nothing, it only explains. */
static int kind_of_key(const struct run_set *set, uint32_t key)
{
	struct txtrace_string name;

	switch (run_set_key(set, key, &name)) {
	case EXTRA_CHILDREN:
		return METRIC_CALLS;
	case EXTRA_SYSCALL:
		return METRIC_BLOCKS;
	case EXTRA_WAITS_ON:
		return METRIC_WAITS_ON;
	case EXTRA_HELD:
		return METRIC_HELD;
	default:
		return -1;
	}
}

/*
 * A child that one side does not know is a label that came or went, which is told as such: marks that were
 * added are no change of the program.
 */
static bool is_known_child(const struct run_set *set, uint32_t key)
{
	const struct compare_label *child;
	struct txtrace_string name;

	run_set_key(set, key, &name);
	child = run_set_find_label(set, name);
	return child && label_span_cnt(child, SIDE_BASE) > 0 && label_span_cnt(child, SIDE_NEW) > 0;
}

static int add_key(struct comparison *comparison, uint32_t number, uint32_t key)
{
	const struct compare_label *label = comparison->set->by_label[number];
	int kind = kind_of_key(comparison->set, key);

	if (kind < 0 || (kind == METRIC_CALLS && !is_known_child(comparison->set, key)))
		return 0;
	if (kind != METRIC_WAITS_ON && kind != METRIC_HELD &&
	    label_extra_mean(label, SIDE_BASE, key) < RARE && label_extra_mean(label, SIDE_NEW, key) < RARE)
		return 0;
	return add(comparison, number, (struct metric){ .kind = (enum metric_kind)kind, .key = key });
}

static int add_extras(struct comparison *comparison, uint32_t number)
{
	const struct compare_label *label = comparison->set->by_label[number];
	size_t cnt = 0, at = 0;
	uint32_t *keys;
	int err = 0;

	for (int side = 0; side < 2; side++) {
		for (size_t i = 0; i < label->unit_cnt[side]; i++)
			cnt += label->units[side][i].extra_cnt;
	}
	keys = malloc((cnt + 1) * sizeof(*keys));
	if (!keys)
		return -ENOMEM;
	for (int side = 0; side < 2; side++) {
		for (size_t i = 0; i < label->unit_cnt[side]; i++) {
			for (size_t k = 0; k < label->units[side][i].extra_cnt; k++)
				keys[at++] = label->units[side][i].extras[k].key;
		}
	}
	qsort(keys, cnt, sizeof(*keys), compare_keys);
	for (size_t i = 0; i < cnt && !err; i++) {
		if (i == 0 || keys[i] != keys[i - 1])
			err = add_key(comparison, number, keys[i]);
	}
	free(keys);
	return err;
}

int figure_list_make(struct comparison *comparison)
{
	int err = 0;

	for (uint32_t i = 0; i < comparison->set->label_cnt && !err; i++) {
		const struct compare_label *label = comparison->set->by_label[i];

		if (label_span_cnt(label, SIDE_BASE) == 0 || label_span_cnt(label, SIDE_NEW) == 0)
			continue;
		err = add_values(comparison, i);
		err = err ? err : add_extras(comparison, i);
	}
	return err;
}

/* ---- the order ---- */

struct ordered {
	struct compared_figure figure;
	double label_weight;
	double label_time; /* all of its spans' */
	size_t made;
};

static int compare_ordered(const void *a, const void *b)
{
	const struct ordered *x = a, *y = b;

	if (x->label_weight != y->label_weight)
		return x->label_weight > y->label_weight ? -1 : 1;
	if (x->label_time != y->label_time)
		return x->label_time > y->label_time ? -1 : 1;
	if (x->figure.label != y->figure.label)
		return x->figure.label < y->figure.label ? -1 : 1;
	return x->made < y->made ? -1 : x->made > y->made;
}

/* Of a figure that tells where a change is, and not only that it arrives: time of the span itself. */
static bool is_own(const struct metric *metric)
{
	return metric->kind == METRIC_WAITS_ON || metric->kind == METRIC_HELD ||
	       (metric->kind == METRIC_VALUE && metric->value >= COMPARE_VALUE_SELF);
}

void figure_list_sort(struct comparison *comparison)
{
	size_t cnt = comparison->figure_cnt, label_cnt = comparison->set->label_cnt;
	struct ordered *order = malloc((cnt + 1) * sizeof(*order));
	double *weights = calloc(label_cnt + 1, sizeof(*weights));

	for (size_t i = 0; order && weights && i < cnt; i++) {
		const struct compared_figure *figure = &comparison->figures[i];
		bool has_changed = figure->verdict == VERDICT_WORSE || figure->verdict == VERDICT_BETTER;
		double weight = figure->weight * (is_own(&figure->metric) ? 1 : 0.5);

		order[i] = (struct ordered){ .figure = *figure, .made = i };
		if (has_changed && weight > weights[figure->label])
			weights[figure->label] = weight;
	}
	for (size_t i = 0; order && weights && i < cnt; i++) {
		const struct compare_label *label = comparison->set->by_label[order[i].figure.label];

		order[i].label_weight = weights[order[i].figure.label];
		order[i].label_time = label_mean(label, SIDE_BASE, SPAN_VALUE_WALL) *
				      (double)label_span_cnt(label, SIDE_BASE);
	}
	if (order && weights) { /* else they stay in the order in which they were made */
		qsort(order, cnt, sizeof(*order), compare_ordered);
		for (size_t i = 0; i < cnt; i++)
			comparison->figures[i] = order[i].figure;
	}
	free(order);
	free(weights);
}
