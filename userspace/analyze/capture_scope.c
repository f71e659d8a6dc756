/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/capture_scope.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/*
 * What stands behind the option, or NULL. What comes behind ", --label" are the user's words, whatever they
 * look like.
 */
static const char *find(const char *options, const char *option)
{
	const char *label = strstr(options, ", --label "), *at = strstr(options, option);

	return at && (!label || at <= label) ? at + strlen(option) : NULL;
}

static bool is_value(const char *value, const char *wanted)
{
	size_t length = strlen(wanted);

	return value && strncmp(value, wanted, length) == 0 &&
	       (value[length] == '\0' || value[length] == ',');
}

/* Saturating, like all that a hostile header may say. */
static uint64_t number(const char *value, uint64_t without)
{
	return value && *value >= '0' && *value <= '9' ? strtoull(value, NULL, 10) : without;
}

void capture_scope_read(struct capture_scope *scope, const struct txtrace_log_info *info)
{
	const char *sched = find(info->options, ", --sched ");

	*scope = (struct capture_scope){
		.has_timeline = !is_value(sched, "ledger") && !is_value(sched, "off"),
		.has_ledgers = !is_value(sched, "off"),
		.is_flight = find(info->options, ", --flight") != NULL,
		.sample_rate = number(find(info->options, ", --sample 1/"), 1),
		.min_duration_ns = number(find(info->options, ", --min-duration "), 0),
		.has_labels = find(info->options, ", --label ") != NULL,
	};
	if (!scope->sample_rate)
		scope->sample_rate = 1;
}

void capture_scope_append(const struct capture_scope *scope, const char *label, struct text *text)
{
	if (!scope->has_ledgers)
		text_append(text, ", --sched off");
	else if (!scope->has_timeline)
		text_append(text, ", --sched ledger");
	if (scope->sample_rate > 1)
		text_append_format(text, ", --sample 1/%" PRIu64, scope->sample_rate);
	if (scope->min_duration_ns)
		text_append_format(text, ", --min-duration %" PRIu64 "ns", scope->min_duration_ns);
	if (scope->is_flight)
		text_append(text, ", --flight");
	if (scope->has_labels)
		text_append_format(text, ", --label %s", label);
}

bool capture_scope_is_limited(const struct capture_scope *scope)
{
	return !scope->has_timeline || !scope->has_ledgers || scope->is_flight || scope->sample_rate > 1 ||
	       scope->min_duration_ns || scope->has_labels;
}

bool capture_scope_has_silent_runs(const struct capture_scope *scope)
{
	return (scope->has_ledgers && !scope->has_timeline) || scope->sample_rate > 1 || scope->has_labels;
}

bool summary_has_left_out(const struct txtrace_summary *summary)
{
	for (unsigned int i = 0; i < TXTRACE_LEFT_OUT_COUNT; i++)
		if (summary->left_out_cnt[i])
			return true;
	return false;
}
