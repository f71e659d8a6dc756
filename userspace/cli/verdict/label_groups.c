/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/verdict/label_groups.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/compare/explanation.h"

#define NONE SIZE_MAX

static size_t count_labels(const struct comparison *comparison)
{
	size_t cnt = 0;

	for (size_t i = 0; i < comparison->figure_cnt; i++)
		cnt += i == 0 || comparison->figures[i].label != comparison->figures[i - 1].label;
	return cnt;
}

static enum metric_owner owner_of(const struct grouped_label *label)
{
	return label->has_owner[OWNER_CODE]	 ? OWNER_CODE
	       : label->has_owner[OWNER_MACHINE] ? OWNER_MACHINE
						 : OWNER_BOTH;
}

/* Figures of one label stand together. */
static void collect(struct label_groups *groups, const struct comparison *comparison, size_t *idx_of)
{
	struct grouped_label *label = NULL;
	bool has_any;

	for (size_t i = 0; i < comparison->figure_cnt; i = label->end_idx) {
		label = &groups->labels[groups->cnt];
		*label = (struct grouped_label){ .label = comparison->figures[i].label,
						 .first_idx = i,
						 .end_idx = i };
		has_any = false;
		for (; label->end_idx < comparison->figure_cnt &&
		       comparison->figures[label->end_idx].label == label->label;
		     label->end_idx++) {
			const struct compared_figure *figure = &comparison->figures[label->end_idx];

			if (figure->verdict != groups->verdict)
				continue;
			label->has_owner[figure->owner] = true;
			has_any = true;
		}
		if (!has_any)
			continue;
		label->owner = owner_of(label);
		label->head_idx = groups->cnt;
		idx_of[label->label] = groups->cnt++;
	}
}

/*
 * The child that the first of the label's figures that can be explained is in; STRING_POOL_NONE: it is in no
 * child, or that is not known.
 */
static uint32_t child_with_change(const struct comparison *comparison, const struct grouped_label *label,
				  enum verdict verdict)
{
	for (size_t i = label->first_idx; i < label->end_idx; i++) {
		struct explanation explanation;

		if (comparison->figures[i].verdict != verdict)
			continue;
		explanation_find(&explanation, comparison, &comparison->figures[i]);
		if (explanation.part_cnt > 0)
			return explanation.is_own ? STRING_POOL_NONE : explanation.child;
	}
	return STRING_POOL_NONE;
}

static void find_children(struct label_groups *groups, const struct comparison *comparison,
			  const size_t *idx_of)
{
	for (size_t i = 0; i < groups->cnt; i++) {
		struct grouped_label *label = &groups->labels[i];
		uint32_t child = child_with_change(comparison, label, groups->verdict);

		if (child != STRING_POOL_NONE && idx_of[child] != NONE &&
		    groups->labels[idx_of[child]].owner == label->owner)
			label->head_idx = idx_of[child];
	}
}

/*
 * A child that only contains the change itself leads on to its own child. Of labels that contain each other
 * the first is the head.
 */
static void find_heads(struct label_groups *groups)
{
	for (size_t i = 0; i < groups->cnt; i++) {
		size_t head = groups->labels[i].head_idx, steps = 0;

		while (groups->labels[head].head_idx != head && steps++ < groups->cnt)
			head = groups->labels[head].head_idx;
		groups->labels[i].head_idx = groups->labels[head].head_idx == head ? head : i;
	}
}

int label_groups_init(struct label_groups *groups, const struct comparison *comparison, enum verdict verdict)
{
	size_t label_cnt = comparison->set->label_cnt;
	size_t *idx_of = malloc((label_cnt + 1) * sizeof(*idx_of)); /* by label */

	*groups = (struct label_groups){ .verdict = verdict };
	groups->labels = calloc(count_labels(comparison) + 1, sizeof(*groups->labels));
	if (!idx_of || !groups->labels) {
		free(idx_of);
		label_groups_release(groups);
		return -ENOMEM;
	}
	for (size_t i = 0; i < label_cnt; i++)
		idx_of[i] = NONE;
	collect(groups, comparison, idx_of);
	if (verdict == VERDICT_WORSE || verdict == VERDICT_BETTER) {
		find_children(groups, comparison, idx_of);
		find_heads(groups);
	}
	free(idx_of);
	return 0;
}

void label_groups_release(struct label_groups *groups)
{
	free(groups->labels);
	*groups = (struct label_groups){ 0 };
}
