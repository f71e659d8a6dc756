/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A rule on a figure itself, of the runs of what is new: as measured in one; in
 * several, they agree, or the interval of their mean decides.
 */
#ifndef GATE_FIGURE_H
#define GATE_FIGURE_H

#include "analyze/compare/gate.h"

/* one: a case of an absolute rule. 0 or -ENOMEM. */
int gate_figure_judge(struct gate_case *one, const struct gate_rule *rule, const struct run_set *set,
		      const struct comparison_options *options);

#endif
