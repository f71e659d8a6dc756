/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The labels of a comparison whose figures have one verdict, and which of them only contain the change of another one: a
 * span that takes longer makes each span around it take longer as well. Such labels are told below the one that the
 * explanation of their change names as the child that it is in.
 */
#ifndef LABEL_GROUPS_H
#define LABEL_GROUPS_H

#include "analyze/compare/comparison.h"

/* A label, and its figures: figures[first_idx .. end_idx). */
struct grouped_label {
	uint32_t label;
	size_t first_idx, end_idx;
	enum metric_owner owner; /* whose the change is: the code's, if any figure with the verdict is */
	bool has_owner[3];       /* is there a figure of this owner with the verdict? */
	size_t head_idx;         /* of the group: an index of label_groups.labels; its own, if no other label contains the change */
};

struct label_groups {
	enum verdict verdict;
	struct grouped_label *labels; /* in the comparison's order */
	size_t cnt;
};

/* Labels are grouped where the verdict is that they changed, worse or better; each of the others is the head of its own group. */
int label_groups_init(struct label_groups *groups, const struct comparison *comparison, enum verdict verdict); /* 0 or -ENOMEM */
void label_groups_release(struct label_groups *groups);

#endif
