/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/commands/wait_analysis.h"

#include <stdlib.h>

#include "cli/print/party_print.h"

static bool has_span(const void *context, bool is_keyed, uint32_t pid, uint64_t span)
{
	const struct analysis_run *run = context;

	return log_filter_has_span(run->input->filter, is_keyed, pid, span);
}

void *wait_analysis_new(struct analysis_run *run, size_t state_bytes, const struct wait_sums_options *options)
{
	struct wait_sums_options all = *options;
	struct wait_analysis *state = calloc(1, state_bytes);

	if (!state)
		return NULL;
	all.max_bytes = run->common->max_memory_bytes;
	all.kernel = run->input->info.kernel;
	if (run->common->scope.where) {
		all.has_span = has_span;
		all.context = run;
	}
	state->sums = wait_sums_new(&all);
	if (state->sums)
		return state;
	free(state);
	return NULL;
}

void wait_analysis_free(void *state)
{
	wait_sums_free(((struct wait_analysis *)state)->sums);
	free(state);
}

const struct wait_sums *wait_analysis_sums(const struct analysis_run *run)
{
	return ((const struct wait_analysis *)run->state)->sums;
}

int wait_analysis_begin_capture(struct analysis_run *run)
{
	return wait_sums_begin_capture(((struct wait_analysis *)run->state)->sums);
}

int wait_analysis_add(struct analysis_run *run, const struct txtrace_record *record)
{
	return wait_sums_add(((struct wait_analysis *)run->state)->sums, record);
}

int wait_analysis_foot(struct analysis_run *run, struct table *table)
{
	wait_totals_add(table, wait_analysis_sums(run));
	return 0;
}
