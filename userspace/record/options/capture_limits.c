/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/options/capture_limits.h"

#include <inttypes.h>

#include "event/sched_mode.h"

/* The labels come last: they may be long, and the header's room ends somewhere. */
void capture_limits_append(struct text *text, const struct record_options *options)
{
	const struct span_choices *choices = &options->choices;

	if (options->sched != SCHED_TIMELINE)
		text_append_format(text, ", --sched %s", sched_mode_names[options->sched]);
	if (choices->sample_rate > 1)
		text_append_format(text, ", --sample 1/%" PRIu64, choices->sample_rate);
	if (choices->min_duration_ns)
		text_append_format(text, ", --min-duration %" PRIu64 "ns", choices->min_duration_ns);
	if (options->flight.max_bytes)
		text_append(text, ", --flight");
	for (size_t i = 0; i < choices->label_cnt; i++)
		text_append_format(text, ", --label %s", choices->labels[i]);
}

bool capture_limits_have_silent_runs(const struct record_options *options)
{
	return options->sched == SCHED_LEDGER || options->choices.sample_rate > 1 ||
	       options->choices.label_cnt;
}
