/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/compare/metric.h"

#include <math.h>

static const struct {
	const char *name;
	enum metric_owner owner;
} values[COMPARE_VALUE_COUNT] = {
	[SPAN_VALUE_WALL] = { "wall", OWNER_BOTH },
	[SPAN_VALUE_WORK] = { "work", OWNER_BOTH },
	[SPAN_VALUE_ON_CPU] = { "on_cpu", OWNER_CODE },
	[SPAN_VALUE_RUNNABLE] = { "runnable", OWNER_MACHINE },
	[SPAN_VALUE_BLOCKED] = { "blocked", OWNER_BOTH },
	[SPAN_VALUE_DETACHED] = { "detached", OWNER_CODE },
	[SPAN_VALUE_UNKNOWN] = { "unknown", OWNER_BOTH },
	[SPAN_VALUE_REASON + TXTRACE_BLOCK_LOCK] = { "blocked.lock", OWNER_CODE },
	[SPAN_VALUE_REASON + TXTRACE_BLOCK_DISK] = { "blocked.disk", OWNER_MACHINE },
	[SPAN_VALUE_REASON + TXTRACE_BLOCK_NETWORK] = { "blocked.network", OWNER_BOTH },
	[SPAN_VALUE_REASON + TXTRACE_BLOCK_SLEEP] = { "blocked.sleep", OWNER_CODE },
	[SPAN_VALUE_REASON + TXTRACE_BLOCK_PAGE_FAULT] = { "blocked.page_fault", OWNER_MACHINE },
	[SPAN_VALUE_REASON + TXTRACE_BLOCK_PIPE] = { "blocked.pipe", OWNER_CODE },
	[SPAN_VALUE_REASON + TXTRACE_BLOCK_WAIT] = { "blocked.wait", OWNER_CODE },
	[SPAN_VALUE_REASON + TXTRACE_BLOCK_STOPPED] = { "blocked.stopped", OWNER_MACHINE },
	[SPAN_VALUE_REASON + TXTRACE_BLOCK_OTHER] = { "blocked.other", OWNER_BOTH },
	[SPAN_VALUE_REASON + TXTRACE_BLOCK_THROTTLED] = { "blocked.throttled", OWNER_MACHINE },
	[SPAN_VALUE_REASON + TXTRACE_BLOCK_POLL] = { "blocked.poll", OWNER_BOTH },
	[SPAN_VALUE_INTERRUPT] = { "interrupt", OWNER_MACHINE },
	[SPAN_VALUE_STOLEN] = { "stolen", OWNER_MACHINE },
	[COMPARE_VALUE_SELF] = { "self", OWNER_BOTH },
	[COMPARE_VALUE_SELF_ON_CPU] = { "self_on_cpu", OWNER_CODE },
};

const char *metric_value_name(unsigned int value)
{
	return value < COMPARE_VALUE_COUNT ? values[value].name : NULL;
}

bool metric_is_time(const struct metric *metric)
{
	return metric->kind == METRIC_VALUE || metric->kind == METRIC_WAITS_ON || metric->kind == METRIC_HELD;
}

bool metric_is_of_run(const struct metric *metric)
{
	return metric->kind == METRIC_WAITS_ON || metric->kind == METRIC_HELD;
}

enum metric_owner metric_owner(const struct run_set *set, const struct metric *metric)
{
	struct txtrace_string name;
	unsigned int reason;

	if (metric->kind == METRIC_VALUE)
		return values[metric->value].owner;
	if (metric->kind != METRIC_WAITS_ON)
		return metric->kind == METRIC_CALLS || metric->kind == METRIC_BLOCKS ||
				       metric->kind == METRIC_HELD
			       ? OWNER_CODE
			       : OWNER_BOTH;
	if (metric->key == STRING_POOL_NONE || run_set_key(set, metric->key, &name) != EXTRA_WAITS_ON)
		return OWNER_BOTH;
	reason = (unsigned char)name.bytes[0];
	return reason < TXTRACE_BLOCK_REASON_COUNT ? values[SPAN_VALUE_REASON + reason].owner : OWNER_BOTH;
}

double metric_of(const struct run_set *set, const struct metric *metric, const struct label_unit *unit)
{
	double all;
	int percentile;

	if (metric->kind == METRIC_COUNT)
		return unit ? (double)unit->cnt : 0;
	if (!unit)
		return NAN;
	all = (double)unit->cnt + (double)unit->lower_bound_cnt;
	if (metric->kind == METRIC_LOWER_BOUNDS)
		return all > 0 ? (double)unit->lower_bound_cnt / all : NAN;
	if (unit->cnt == 0)
		return NAN;
	if (metric->kind != METRIC_VALUE)
		return metric->key == STRING_POOL_NONE ? 0 : label_unit_extra(unit, metric->key);
	if (metric->percentile == 0)
		return unit->mean[metric->value];
	percentile = run_set_percentile(set, metric->percentile);
	return percentile < 0 ? NAN
			      : unit->percentiles[metric->value * set->percentile_cnt + (size_t)percentile];
}

void metric_fill(const struct run_set *set, const struct metric *metric, const struct compare_label *label,
		 enum compare_side side, double *to)
{
	for (uint32_t i = 0; i < set->unit_cnt[side]; i++)
		to[i] = metric_of(set, metric, NULL);
	for (size_t i = 0; i < label->unit_cnt[side]; i++)
		to[label->units[side][i].unit] = metric_of(set, metric, &label->units[side][i]);
}

uint64_t label_span_cnt(const struct compare_label *label, enum compare_side side)
{
	uint64_t cnt = 0;

	for (size_t i = 0; i < label->unit_cnt[side]; i++)
		cnt += label->units[side][i].cnt;
	return cnt;
}

uint64_t label_lower_bound_cnt(const struct compare_label *label, enum compare_side side)
{
	uint64_t cnt = 0;

	for (size_t i = 0; i < label->unit_cnt[side]; i++)
		cnt += label->units[side][i].lower_bound_cnt;
	return cnt;
}

double label_mean(const struct compare_label *label, enum compare_side side, unsigned int value)
{
	double sum = 0, cnt = 0;

	for (size_t i = 0; i < label->unit_cnt[side]; i++) {
		const struct label_unit *unit = &label->units[side][i];

		if (unit->cnt == 0)
			continue;
		sum += unit->mean[value] * (double)unit->cnt;
		cnt += (double)unit->cnt;
	}
	return cnt > 0 ? sum / cnt : 0;
}

double label_tail(const struct compare_label *label, enum compare_side side, unsigned int value)
{
	double sum = 0, cnt = 0;

	for (size_t i = 0; i < label->unit_cnt[side]; i++) {
		const struct label_unit *unit = &label->units[side][i];

		if (isnan(unit->tail[value]) || unit->cnt == 0)
			continue;
		sum += unit->tail[value] * (double)unit->cnt;
		cnt += (double)unit->cnt;
	}
	return cnt > 0 ? sum / cnt : NAN;
}

double label_extra_mean(const struct compare_label *label, enum compare_side side, uint32_t key)
{
	double sum = 0, cnt = 0;

	for (size_t i = 0; i < label->unit_cnt[side]; i++) {
		sum += label_unit_extra(&label->units[side][i], key) * (double)label->units[side][i].cnt;
		cnt += (double)label->units[side][i].cnt;
	}
	return cnt > 0 ? sum / cnt : 0;
}
