/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/compare/gate_figure.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/saturating.h"

static bool fits(double figure, const struct gate_rule *rule)
{
	switch (rule->operator) {
	case GATE_LESS:
		return figure < rule->limit;
	case GATE_AT_MOST:
		return figure <= rule->limit;
	case GATE_EQUAL:
		return figure == rule->limit;
	case GATE_AT_LEAST:
		return figure >= rule->limit;
	default:
		return figure > rule->limit;
	}
}

/* ---- of the whole log ---- */

static uint64_t anomalies(const struct log_census *census, const char *name)
{
	uint64_t cnt = 0;

	for (unsigned int anomaly = 0; anomaly < TXTRACE_ANOMALY_COUNT; anomaly++) {
		if (*name && strcmp(name, txtrace_anomaly_name(anomaly)) != 0)
			continue;
		increase(&cnt, census->summary.anomaly_cnt[anomaly]);
		increase(&cnt, census->earlier_summary.anomaly_cnt[anomaly]);
	}
	return cnt;
}

/* NAN: this log does not tell. */
static double figure_of_log(const struct log_census *census, const struct gate_rule *rule)
{
	uint64_t span_cnt = census->record_cnt[TXTRACE_RECORD_SPAN];

	switch (rule->subject) {
	case GATE_ANOMALIES:
		return census->has_summary ? (double)anomalies(census, rule->name) : NAN;
	case GATE_LOWER_BOUNDS:
		if (!rule->is_share)
			return (double)census->lower_bound_cnt;
		return span_cnt ? (double)census->lower_bound_cnt / (double)span_cnt : NAN;
	case GATE_LOST:
		return (double)log_census_lost_cnt(census);
	case GATE_DROPPED:
		return (double)census->dropped_record_cnt;
	default:
		return (double)census->record_cnt[TXTRACE_RECORD_DAMAGE];
	}
}

/* The worst run decides: what it had is no noise. */
static void judge_log(struct gate_case *one, const struct gate_rule *rule, const struct run_set *set)
{
	for (size_t i = 0; i < set->run_cnt[SIDE_NEW]; i++) {
		double figure = figure_of_log(&set->runs[SIDE_NEW][i].census, rule);

		if (i == 0 || figure > one->figure || isnan(figure))
			one->figure = figure;
		if (isnan(figure) && one->result == GATE_HOLDS)
			one->result = GATE_CANT_TELL;
		else if (!isnan(figure) && !fits(figure, rule))
			one->result = GATE_REGRESSED;
	}
}

/* ---- of a label ---- */

/* How long these spans took in the end is not known: enough of them, and no percentile is. */
static bool is_open(const struct gate_case *one, const struct label_unit *unit)
{
	double all = (double)unit->cnt + (double)unit->lower_bound_cnt;

	return one->metric.percentile > 0 &&
	       (double)unit->lower_bound_cnt > (1 - one->metric.percentile) * all;
}

static double figure_of(const struct run_set *set, const struct gate_case *one, const struct gate_rule *rule,
			const struct label_unit *unit)
{
	if (rule->subject == GATE_LABEL_LOWER_BOUNDS && !rule->is_share)
		return (double)unit->lower_bound_cnt;
	return metric_of(set, &one->metric, unit);
}

static int judge_by_mean(struct gate_case *one, const struct gate_rule *rule, const double *figures,
			 size_t cnt, const struct comparison_options *options)
{
	struct effect effect = { .cnt = { cnt, cnt } };
	struct seeded_random random;
	double off = fabs(one->figure - rule->limit);
	int err;

	seeded_random_init(&random, options->seed);
	err = bootstrap_mean(figures, cnt, options->confidence, &random, &one->interval);
	if (err)
		return err;
	if (fits(one->interval.low, rule) && fits(one->interval.high, rule)) {
		one->result = GATE_HOLDS;
	} else if (!fits(one->interval.low, rule) && !fits(one->interval.high, rule) &&
		   rule->operator!= GATE_EQUAL) {
		one->result = GATE_REGRESSED;
	} else if (rule->operator== GATE_EQUAL) {
		one->result = GATE_REGRESSED; /* a run is not equal */
	} else {
		one->result = GATE_CANT_TELL;
		effect.deviation[0] = sqrt(sample_variance(figures, cnt));
		one->units_needed = off > 0 ? (uint32_t)effect_units_needed(&effect, off,
									    1 - options->confidence)
					    : 0;
		one->units_needed = one->units_needed > cnt ? one->units_needed : (uint32_t)cnt + 1;
	}
	return 0;
}

static int judge_figures(struct gate_case *one, const struct gate_rule *rule, const double *figures,
			 size_t cnt, const struct comparison_options *options)
{
	size_t fit_cnt = 0;

	for (size_t i = 0; i < cnt; i++)
		fit_cnt += fits(figures[i], rule);
	one->figure = sample_mean(figures, cnt);
	one->result = fit_cnt == cnt ? GATE_HOLDS : GATE_REGRESSED;
	return fit_cnt == cnt || fit_cnt == 0 ? 0 : judge_by_mean(one, rule, figures, cnt, options);
}

int gate_figure_judge(struct gate_case *one, const struct gate_rule *rule, const struct run_set *set,
		      const struct comparison_options *options)
{
	int side = side_of_runs(set, SIDE_NEW), err = 0;
	const struct compare_label *label;
	uint64_t open_cnt = 0;
	double *figures;
	size_t cnt = 0;

	if (gate_is_of_log(rule->subject)) {
		judge_log(one, rule, set);
		return 0;
	}
	label = set->by_label[one->label];
	figures = malloc((label->unit_cnt[side] + 1) * sizeof(*figures));
	if (!figures)
		return -ENOMEM;
	for (size_t i = 0; i < label->unit_cnt[side]; i++) {
		double figure = figure_of(set, one, rule, &label->units[side][i]);

		open_cnt += is_open(one, &label->units[side][i]) ? label->units[side][i].lower_bound_cnt : 0;
		if (!isnan(figure))
			figures[cnt++] = figure;
	}
	one->figure = NAN;
	if (cnt > 0)
		err = judge_figures(one, rule, figures, cnt, options);
	free(figures);
	if (cnt == 0 ||
	    (one->metric.percentile > 0 && cnt < label->unit_cnt[side] && one->result == GATE_HOLDS)) {
		one->result = GATE_CANT_TELL;
		one->spans_needed = spans_needed(one->metric.percentile);
	}
	if (one->result == GATE_HOLDS && open_cnt > 0) {
		one->result = GATE_CANT_TELL;
		one->lower_bound_cnt = open_cnt;
	}
	return err;
}
