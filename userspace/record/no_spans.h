/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Why a recording has no spans, or not all that were asked for, or mostly lower
 * bounds, as far as that is known.
 */
#ifndef NO_SPANS_H
#define NO_SPANS_H

#include "analyze/label/label_report.h"
#include "attach/process/child_count.h"
#include "attach/unmodified/foreign_plan.h"
#include "record/messages/messages.h"
#include "record/options/record_options.h"

struct no_spans {
	const struct record_options *options;
	const struct label_report *report;
	const struct foreign_plan *foreign; /* NULL: marks alone */
	/* that the processes had when their probes were attached, and that were not followed */
	struct child_count children;
	size_t site_cnt;                    /* probe sites that were attached */
	uint64_t left_out_cnt;              /* spans that the options left out */
	uint64_t stray_end_cnt;             /* ends of spans that had not begun */
};

/* Says nothing where there is nothing to explain. */
void no_spans_explain(const struct no_spans *facts, const struct messages *messages);

#endif
