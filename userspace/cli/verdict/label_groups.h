/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The labels of a comparison with figures of one verdict, in groups. A span
 * that takes longer makes every span around it take longer as well. If the
 * explanation of a label's change names a child, and that child has changed
 * too, the label belongs to the child's group: it only contains the change.
 */
#ifndef LABEL_GROUPS_H
#define LABEL_GROUPS_H

#include "analyze/compare/comparison.h"

/* A label, and its figures: figures[first_idx .. end_idx). */
struct grouped_label {
	uint32_t label;
	size_t first_idx, end_idx;
	enum metric_owner owner; /* the code, if any figure with the verdict is the code's */
	bool has_owner[3];       /* is there a figure of this owner with the verdict? */
	/* in label_groups.labels: the label of the group that has the change itself */
	size_t head_idx;
};

struct label_groups {
	enum verdict verdict;
	struct grouped_label *labels; /* in the comparison's order */
	size_t cnt;
};

/*
 * Labels are grouped where the verdict is that they changed, worse or better;
 * each of the others is the head of its own group.
 */
/* 0 or -ENOMEM */
int label_groups_init(struct label_groups *groups, const struct comparison *comparison, enum verdict verdict);
void label_groups_release(struct label_groups *groups);

#endif
