/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From --span, --func and --preset to the plan of probes; and what has to be
 * said about it. NULL plans are allowed: nothing was asked for.
 */
#ifndef FOREIGN_SPANS_H
#define FOREIGN_SPANS_H

#include "attach/unmodified/foreign_plan.h"
#include "record/messages/messages.h"
#include "record/options/record_options.h"

/* Whether any is asked for. */
bool foreign_spans_are_wanted(const struct record_options *options);

/* Whether this kernel tells which probe was hit. */
bool foreign_spans_can_be(const struct kernel_features *features);

/* *plan stays NULL if nothing is asked for. 0 or a negative errno and a sentence. */
int foreign_spans_open(struct foreign_plan **plan, const struct record_options *options,
		       const struct kernel_features *features, struct error *error);

/* Says what has been noticed since the last time. */
void foreign_spans_warn(struct foreign_plan *plan, const struct messages *messages);

/*
 * A running process has been attached to: says what of the plan is missing
 * there. -ENOENT and a sentence if nothing is there, and nothing else was
 * attached either; site_cnt: how many sites were. others: what probes of others
 * there are.
 */
int foreign_spans_check(struct foreign_plan *plan, int site_cnt, pid_t pid, const char *others,
			const struct messages *messages, struct error *error);

/* Recording is over: says what was never found. */
void foreign_spans_finish(struct foreign_plan *plan, const struct messages *messages);

#endif
