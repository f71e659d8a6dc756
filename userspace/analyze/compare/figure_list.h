/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which figures of a comparison there are: those of each label that both sides
 * have, with percentiles where runs have enough spans; and their order.
 */
#ifndef FIGURE_LIST_H
#define FIGURE_LIST_H

#include "analyze/compare/comparison.h"

/* Notes in the set which percentiles the figures below want; before runs are sampled. 0 or -E2BIG. */
int figure_list_want(struct run_set *set);

int figure_list_make(struct comparison *comparison); /* 0 or -ENOMEM */

/* Labels by the weight of what changed in them; within a label, its wall time first. */
void figure_list_sort(struct comparison *comparison);

#endif
