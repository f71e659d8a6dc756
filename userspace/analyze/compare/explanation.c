/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/compare/explanation.h"

#include <math.h>

#define SHARE_MIN 0.05
#define MOST 0.5
#define OBJECT_SHARE_MIN 0.5 /* of the waits for a reason: less, and the object is one of many */

static bool is_part(unsigned int value)
{
	return value == SPAN_VALUE_ON_CPU || value == SPAN_VALUE_RUNNABLE || value == SPAN_VALUE_DETACHED ||
	       value == SPAN_VALUE_UNKNOWN || value == SPAN_VALUE_INTERRUPT ||
	       value == SPAN_VALUE_STOLEN || span_value_is_reason(value);
}

static double change_of(const struct compare_label *label, unsigned int value, bool is_of_slowest)
{
	if (is_of_slowest)
		return label_tail(label, SIDE_NEW, value) - label_tail(label, SIDE_BASE, value);
	return label_mean(label, SIDE_NEW, value) - label_mean(label, SIDE_BASE, value);
}

static void insert(struct explanation *explanation, struct explained_part part)
{
	size_t to = explanation->part_cnt < EXPLAINED_PARTS_MAX ? explanation->part_cnt++
								: EXPLAINED_PARTS_MAX;

	for (; to > 0 && explanation->parts[to - 1].share < part.share; to--) {
		if (to < EXPLAINED_PARTS_MAX)
			explanation->parts[to] = explanation->parts[to - 1];
	}
	if (to < EXPLAINED_PARTS_MAX)
		explanation->parts[to] = part;
}

/* A sum over parts that goes the other way than the figure explains nothing. */
static void divide(struct explanation *explanation, const struct compare_label *label, double difference)
{
	double sum = 0;

	for (unsigned int value = 0; value < SPAN_VALUE_COUNT; value++)
		sum += is_part(value) ? change_of(label, value, explanation->is_of_slowest) : 0;
	if (sum * difference <= 0 || isnan(sum))
		return;
	for (unsigned int value = 0; value < SPAN_VALUE_COUNT; value++) {
		double change = is_part(value) ? change_of(label, value, explanation->is_of_slowest) : 0;

		if (change / sum >= SHARE_MIN)
			insert(explanation, (struct explained_part){ value, change, change / sum });
	}
}

/* What it was called before; NULL: it is told under the name that it has now. */
static const struct compare_label *name_before(const struct comparison *comparison, uint32_t label)
{
	for (size_t i = 0; i < comparison->change_cnt; i++) {
		const struct label_change *change = &comparison->changes[i];

		if (change->label == label && change->renamed != STRING_POOL_NONE)
			return change->side == SIDE_NEW ? comparison->set->by_label[change->renamed] : NULL;
	}
	return comparison->set->by_label[label];
}

/*
 * By how much the spans of a child's label made this one's longer: so many more of them, each so much longer.
 */
static double brought(const struct comparison *comparison, const struct compare_label *label, uint32_t child,
		      unsigned int value)
{
	const struct compare_label *now = comparison->set->by_label[child],
				   *before = name_before(comparison, child);

	if (!before)
		return 0;
	return label_extra_mean(label, SIDE_NEW, now->call_key) * label_mean(now, SIDE_NEW, value) -
	       label_extra_mean(label, SIDE_BASE, before->call_key) * label_mean(before, SIDE_BASE, value);
}

static void locate_on_cpu(struct explanation *explanation, const struct comparison *comparison,
			  const struct compare_label *label)
{
	double all = change_of(label, SPAN_VALUE_ON_CPU, false),
	       own = change_of(label, COMPARE_VALUE_SELF_ON_CPU, false), most = 0;

	explanation->is_own = all != 0 && own / all >= MOST;
	for (uint32_t i = 0; i < comparison->set->label_cnt && !explanation->is_own && all != 0; i++) {
		double share = brought(comparison, label, i, COMPARE_VALUE_SELF_ON_CPU) / all;

		if (share < MOST || share <= most)
			continue;
		most = share;
		explanation->child = i;
	}
}

/* How much more a label waited for a reason, by whom it was ended: the sum, and the largest. */
static double waited_more(const struct run_set *set, const struct compare_label *label, unsigned int reason,
			  double sign, uint32_t *waits_on)
{
	double sum = 0, most = 0;

	*waits_on = STRING_POOL_NONE;
	for (uint32_t key = 0; key < string_pool_count(set->keys); key++) {
		struct txtrace_string name;
		double change;

		if (run_set_key(set, key, &name) != EXTRA_WAITS_ON || (unsigned char)name.bytes[0] != reason)
			continue;
		change = sign *
			 (label_extra_mean(label, SIDE_NEW, key) - label_extra_mean(label, SIDE_BASE, key));
		sum += change;
		if (change > most) {
			most = change;
			*waits_on = key;
		}
	}
	return sum;
}

static void locate_wait(struct explanation *explanation, const struct comparison *comparison,
			const struct compare_label *label, unsigned int value)
{
	const struct run_set *set = comparison->set;
	unsigned int reason = value - SPAN_VALUE_REASON;
	double all = change_of(label, value, false), sign = all < 0 ? -1 : 1, most = 0;
	double own = waited_more(set, label, reason, sign, &explanation->waits_on);
	const struct compare_label *waiter = label;

	if (own < MOST * fabs(all)) {
		for (uint32_t i = 0; i < set->label_cnt; i++) {
			const struct compare_label *child = set->by_label[i];
			double more = child == label ? 0 : sign * brought(comparison, label, i, value);

			/*
			 * Of a child and its own child, which both have it, the lower one: it has it, and is
			 * called as often or more.
			 */
			if (more < MOST * fabs(all) ||
			    (most > 0 && label_extra_mean(waiter, SIDE_NEW, child->call_key) <= 0))
				continue;
			most = more;
			waiter = child;
			explanation->child = i;
		}
		waited_more(set, waiter, reason, sign, &explanation->waits_on);
	}
	if (waiter->objects && waiter->objects[reason].per_span > 0 &&
	    waiter->objects[reason].share >= OBJECT_SHARE_MIN)
		explanation->object = &waiter->objects[reason];
}

void explanation_find(struct explanation *explanation, const struct comparison *comparison,
		      const struct compared_figure *figure)
{
	const struct compare_label *label = comparison->set->by_label[figure->label];
	const struct metric *metric = &figure->metric;
	unsigned int largest;

	*explanation = (struct explanation){ .child = STRING_POOL_NONE, .waits_on = STRING_POOL_NONE };
	if (metric->kind != METRIC_VALUE)
		return;
	explanation->is_of_slowest = metric->percentile >= 0.99 &&
				     !isnan(change_of(label, SPAN_VALUE_WALL, true));
	if (metric->value == SPAN_VALUE_WALL || metric->value == SPAN_VALUE_WORK)
		divide(explanation, label, figure->effect.difference);
	else if (is_part(metric->value))
		insert(explanation, (struct explained_part){ metric->value, figure->effect.difference, 1 });
	if (explanation->part_cnt == 0)
		return;
	largest = explanation->parts[0].value;
	if (largest == SPAN_VALUE_ON_CPU)
		locate_on_cpu(explanation, comparison, label);
	else if (span_value_is_reason(largest))
		locate_wait(explanation, comparison, label, largest);
}

struct party explanation_party(const struct run_set *set, uint32_t key, unsigned int *reason)
{
	struct txtrace_string name;

	run_set_key(set, key, &name);
	*reason = (unsigned char)name.bytes[0];
	return (struct party){ (enum party_kind)(unsigned char)name.bytes[1],
			       { name.bytes + 2, name.length - 2 } };
}
