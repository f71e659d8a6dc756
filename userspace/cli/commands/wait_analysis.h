/* SPDX-License-Identifier: BSD-2-Clause */
/* What blocked and blame have in common: they sum up the waits of a log. */
#ifndef WAIT_ANALYSIS_H
#define WAIT_ANALYSIS_H

#include "analyze/wait/wait_sums.h"
#include "cli/commands/analysis.h"

/* The state of the analysis begins with it. */
struct wait_analysis {
	struct wait_sums *sums;
};

/* A state of so many bytes, all zero behind its beginning. NULL: no memory. */
void *wait_analysis_new(struct analysis_run *run, size_t state_bytes,
			const struct wait_sums_options *options);
void wait_analysis_free(void *state);

int wait_analysis_begin_capture(struct analysis_run *run);
int wait_analysis_add(struct analysis_run *run, const struct txtrace_record *record);
int wait_analysis_foot(struct analysis_run *run, struct table *table);

const struct wait_sums *wait_analysis_sums(const struct analysis_run *run);

#endif
