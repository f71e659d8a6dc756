/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/compare/gate.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/compare/gate_figure.h"
#include "analyze/compare/permutation.h"
#include "base/array.h"
#include "base/glob.h"

const char *const gate_result_names[] = {
	[GATE_HOLDS] = "holds",
	[GATE_REGRESSED] = "regressed",
	[GATE_CANT_TELL] = "can't tell",
	[GATE_ERROR] = "error",
	NULL,
};

int gate_want(const struct gate_rules *rules, struct run_set *set)
{
	int err = 0;

	for (size_t i = 0; i < rules->cnt && !err; i++) {
		if (rules->rules[i].subject == GATE_VALUE && rules->rules[i].percentile > 0)
			err = run_set_want(set, rules->rules[i].value, rules->rules[i].percentile);
	}
	return err;
}

/* ---- which labels, which figure ---- */

static struct txtrace_string string(const char *text)
{
	return (struct txtrace_string){ text, strlen(text) };
}

static bool matches(const struct gate_rule *rule, const struct compare_label *label)
{
	if (!rule->is_literal)
		return glob_matches(rule->label, label->name.bytes, label->name.length);
	return label->name.length == strlen(rule->label) &&
	       memcmp(label->name.bytes, rule->label, label->name.length) == 0;
}

static bool is_reason(const char *name)
{
	for (unsigned int reason = 0; reason < TXTRACE_BLOCK_REASON_COUNT; reason++) {
		if (strcmp(txtrace_block_reason_name(reason), name) == 0)
			return true;
	}
	return false;
}

/* A label, or, if no span of one held a lock, a thread in no span. */
static uint32_t find_holder(const struct run_set *set, const char *name)
{
	static const enum party_kind kinds[] = { PARTY_SPAN, PARTY_THREAD };
	uint32_t key = STRING_POOL_NONE;

	for (size_t i = 0; i < 2 && key == STRING_POOL_NONE; i++) {
		char text[2 + GATE_NAME_MAX] = { TXTRACE_BLOCK_LOCK, (char)kinds[i] };

		strcpy(text + 2, name);
		key = run_set_find_key(set, EXTRA_HELD, (struct txtrace_string){ text, 2 + strlen(name) });
	}
	return key;
}

/* NULL, or why there is no such figure. */
static const char *find_metric(const struct run_set *set, const struct gate_rule *rule, struct metric *metric)
{
	static const enum metric_kind kinds[] = {
		[GATE_VALUE] = METRIC_VALUE,   [GATE_CALLS] = METRIC_CALLS,
		[GATE_BLOCKS] = METRIC_BLOCKS, [GATE_WAITS_ON] = METRIC_WAITS_ON,
		[GATE_COUNT] = METRIC_COUNT,   [GATE_LABEL_LOWER_BOUNDS] = METRIC_LOWER_BOUNDS,
		[GATE_HELD_BY] = METRIC_HELD,
	};

	*metric = (struct metric){ .kind = kinds[rule->subject],
				   .value = rule->value,
				   .percentile = rule->percentile,
				   .key = STRING_POOL_NONE };
	if (rule->subject == GATE_CALLS) {
		metric->key = run_set_find_key(set, EXTRA_CALLS, string(rule->name));
		if (metric->key == STRING_POOL_NONE)
			metric->key = run_set_find_key(set, EXTRA_SYSCALL, string(rule->name));
		return metric->key == STRING_POOL_NONE
			       ? "no span has that label, and no span waited in a system call of that name"
			       : NULL;
	}
	if (rule->subject == GATE_BLOCKS) {
		metric->key = run_set_find_key(set, EXTRA_REASON, string(rule->name));
		if (metric->key == STRING_POOL_NONE)
			metric->key = run_set_find_key(set, EXTRA_SYSCALL, string(rule->name));
		return metric->key == STRING_POOL_NONE && !is_reason(rule->name)
			       ? "no span waited in a system call of that name, and it is no reason"
			       : NULL;
	}
	if (rule->subject == GATE_WAITS_ON) {
		metric->key = run_set_find_key(set, EXTRA_WAITED, string(rule->name));
		if (metric->key == STRING_POOL_NONE && !run_set_find_label(set, string(rule->name)))
			return "no span or thread of that name ended a wait of a span";
	}
	if (rule->subject == GATE_HELD_BY) {
		metric->key = find_holder(set, rule->name);
		if (metric->key == STRING_POOL_NONE && !run_set_find_label(set, string(rule->name)))
			return "no span waited for a lock that a span or thread of that name held";
	}
	return NULL;
}

static int add_case(struct gate *gate, struct gate_case added)
{
	struct gate_case *grown = gate->cases;

	grown = array_grow(gate->cases, &gate->case_size, gate->case_cnt, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	gate->cases = grown;
	grown[gate->case_cnt++] = added;
	return 0;
}

static bool has_spans(const struct gate_rule *rule, const struct compare_label *label, enum compare_side side)
{
	bool counts_all = rule->subject == GATE_LABEL_LOWER_BOUNDS;

	return label_span_cnt(label, side) > 0 || (counts_all && label_lower_bound_cnt(label, side) > 0);
}

static int match_labels(struct gate *gate, size_t idx, const struct run_set *set)
{
	const struct gate_rule *rule = &gate->rules->rules[idx];
	struct gate_case one = { .rule = idx, .p = NAN, .interval = { NAN, NAN } };
	size_t before_cnt = gate->case_cnt;
	int err = 0;

	gate->complaints[idx] = find_metric(set, rule, &one.metric);
	for (uint32_t i = 0; i < set->label_cnt && !err && !gate->complaints[idx]; i++) {
		const struct compare_label *label = set->by_label[i];

		if (!matches(rule, label))
			continue;
		one.label = i;
		if (has_spans(rule, label, SIDE_NEW) &&
		    (!gate_is_change(rule) || has_spans(rule, label, SIDE_BASE)))
			err = add_case(gate, one);
		else
			gate->unmatched_cnt[idx]++;
	}
	if (gate->case_cnt == before_cnt && !gate->complaints[idx])
		gate->complaints[idx] = gate->unmatched_cnt[idx] == 0 ? "no label matches"
					: gate_is_change(rule)
						? "only one side has exact spans with such a label"
						: "there are no exact spans with such a label";
	return err;
}

static int find_cases(struct gate *gate, const struct run_set *set, bool has_base)
{
	int err = 0;

	for (size_t i = 0; i < gate->rules->cnt && !err; i++) {
		const struct gate_rule *rule = &gate->rules->rules[i];

		if (gate_is_of_log(rule->subject))
			err = add_case(gate, (struct gate_case){ .rule = i,
								 .label = STRING_POOL_NONE,
								 .p = NAN,
								 .interval = { NAN, NAN } });
		else if (gate_is_change(rule) && !has_base)
			gate->complaints[i] =
				"it is about a change, and there is no base: txtrace diff takes it";
		else
			err = match_labels(gate, i, set);
	}
	return err;
}

/* ---- changes ---- */

/* The limit as a difference on the scale of the figure. */
static double limit_of(const struct gate_rule *rule, const struct effect *effect)
{
	return rule->limit_kind == GATE_RELATIVE ? rule->limit * effect->centre[0] : rule->limit;
}

static bool is_upper(enum gate_operator operator)
{
	return operator == GATE_LESS || operator == GATE_AT_MOST;
}

/*
 * To the row of a test that finds what is above the limit: the new side's units, less the limit; what must be
 * above one is turned round. What can't be: a limit of -100 % and less.
 */
static void shift(const struct run_set *set, const struct gate_rule *rule, const struct effect *effect,
		  double *row)
{
	double by = effect_scaled(effect, limit_of(rule, effect)), sign = is_upper(rule->operator) ? 1 : -1;
	size_t cnt = (size_t)set->unit_cnt[0] + set->unit_cnt[1];

	for (size_t i = 0; i < cnt; i++) {
		if (effect->is_ratio)
			row[i] = log(row[i]);
		row[i] = sign * (row[i] - (i >= set->unit_cnt[0] ? by : 0));
	}
}

static bool is_testable(const struct run_set *set, const struct gate_case *one)
{
	return one->effect.cnt[0] >= 2 && one->effect.cnt[1] >= 2 &&
	       !(set->is_windowed && metric_is_of_run(&one->metric));
}

static int estimate(struct gate *gate, size_t idx, const struct run_set *set,
		    const struct comparison_options *options, double *row)
{
	struct gate_case *one = &gate->cases[idx];
	const struct compare_label *label = set->by_label[one->label];
	double *values[2] = { row, row + set->unit_cnt[0] };
	size_t cnt[2] = { set->unit_cnt[0], set->unit_cnt[1] };
	struct seeded_random random;

	seeded_random_init(&random, options->seed + 0x9e3779b97f4a7c15ULL * (idx + 1));
	metric_fill(set, &one->metric, label, SIDE_BASE, values[0]);
	metric_fill(set, &one->metric, label, SIDE_NEW, values[1]);
	return effect_init(&one->effect, values, cnt, set->is_paired, options->confidence, &random);
}

static int test_changes(struct gate *gate, const struct run_set *set,
			const struct comparison_options *options, double *rows, double *floors,
			size_t *tested)
{
	size_t width = (size_t)set->unit_cnt[0] + set->unit_cnt[1], cnt = 0;
	struct seeded_random random;
	struct permutation test;
	double *p;
	int err = 0;

	for (size_t i = 0; i < gate->case_cnt && !err; i++) {
		struct gate_case *one = &gate->cases[i];
		const struct gate_rule *rule = &gate->rules->rules[one->rule];
		double *row = rows + cnt * width, largest;

		if (!gate_is_change(rule))
			continue;
		err = estimate(gate, i, set, options, row);
		if (err || !is_testable(set, one))
			continue;
		largest = fmax(one->effect.centre[0], one->effect.centre[1]);
		floors[cnt] = (one->effect.is_ratio ? 1 : largest) * options->min_relative / 10 + 1e-12;
		shift(set, rule, &one->effect, row);
		tested[cnt++] = i;
	}
	p = malloc((cnt + 1) * sizeof(*p));
	if (!p)
		return -ENOMEM;
	test = (struct permutation){
		{ set->unit_cnt[0], set->unit_cnt[1] }, cnt, rows, floors, set->is_paired, true
	};
	seeded_random_init(&random, options->seed);
	err = err || cnt == 0 ? err : permutation_test(&test, &random, p);
	for (size_t i = 0; i < cnt && !err; i++)
		gate->cases[tested[i]].p = p[i];
	free(p);
	return err;
}

static void need_more(struct gate_case *one, const struct gate_rule *rule, const struct run_set *set,
		      const struct comparison_options *options)
{
	const struct effect *effect = &one->effect;
	size_t least = permutation_units_needed(options->alpha, set->is_paired, true), needed = least;
	double goal = fabs(effect->difference - limit_of(rule, effect));

	if (effect->cnt[0] >= 2 && effect->cnt[1] >= 2 && goal > 0)
		needed = effect_units_needed(effect, effect_scaled(effect, goal), options->alpha);
	one->units_needed = (uint32_t)(needed > least ? needed : least);
	if (one->metric.percentile > 0 &&
	    (effect->cnt[0] < set->unit_cnt[0] || effect->cnt[1] < set->unit_cnt[1]))
		one->spans_needed = spans_needed(one->metric.percentile);
}

static void judge_change(struct gate_case *one, const struct gate_rule *rule, const struct run_set *set,
			 const struct comparison_options *options)
{
	const struct effect *effect = &one->effect;
	double limit = limit_of(rule, effect);
	const struct interval *interval = &effect->difference_interval;
	bool is_none = effect->centre[0] == 0 && effect->centre[1] == 0 && rule->limit_kind == GATE_RELATIVE;
	bool holds = false;

	switch (rule->operator) {
	case GATE_LESS:
		holds = interval->high < limit;
		break;
	case GATE_AT_MOST:
		holds = interval->high <= limit;
		break;
	case GATE_AT_LEAST:
		holds = interval->low >= limit;
		break;
	default:
		holds = interval->low > limit;
		break;
	}
	one->figure = effect->centre[1];
	if (is_testable(set, one) && (holds || (is_none && is_upper(rule->operator)))) {
		one->result = GATE_HOLDS;
	} else if (one->p <= options->alpha) {
		one->result = GATE_REGRESSED;
	} else {
		one->result = GATE_CANT_TELL;
		need_more(one, rule, set, options);
	}
}

/* ---- all of it ---- */

static int judge_changes(struct gate *gate, const struct run_set *set,
			 const struct comparison_options *options)
{
	size_t width = (size_t)set->unit_cnt[0] + set->unit_cnt[1], cnt = gate->case_cnt + 1;
	double *rows = malloc(cnt * (width + 1) * sizeof(*rows)), *floors = malloc(cnt * sizeof(*floors));
	size_t *tested = malloc(cnt * sizeof(*tested));
	int err = rows && floors && tested ? test_changes(gate, set, options, rows, floors, tested) : -ENOMEM;

	free(rows);
	free(floors);
	free(tested);
	for (size_t i = 0; i < gate->case_cnt && !err; i++) {
		const struct gate_rule *rule = &gate->rules->rules[gate->cases[i].rule];

		if (gate_is_change(rule))
			judge_change(&gate->cases[i], rule, set, options);
	}
	return err;
}

static enum gate_result worse(enum gate_result a, enum gate_result b)
{
	static const int ranks[] = {
		[GATE_HOLDS] = 0, [GATE_CANT_TELL] = 1, [GATE_REGRESSED] = 2, [GATE_ERROR] = 3
	};

	return ranks[a] >= ranks[b] ? a : b;
}

static void sum_up(struct gate *gate)
{
	for (size_t i = 0; i < gate->rules->cnt; i++)
		gate->results[i] = gate->complaints[i] ? GATE_ERROR : GATE_HOLDS;
	for (size_t i = 0; i < gate->case_cnt; i++)
		gate->results[gate->cases[i].rule] = worse(gate->results[gate->cases[i].rule],
							   gate->cases[i].result);
	for (size_t i = 0; i < gate->rules->cnt; i++) {
		gate->result = worse(gate->result, gate->results[i]);
		gate->cnt[gate->results[i]]++;
	}
}

int gate_init(struct gate *gate, const struct gate_rules *rules, const struct run_set *set,
	      const struct comparison_options *options, bool has_base)
{
	int err;

	*gate = (struct gate){ .rules = rules };
	gate->results = calloc(rules->cnt + 1, sizeof(*gate->results));
	gate->complaints = calloc(rules->cnt + 1, sizeof(*gate->complaints));
	gate->unmatched_cnt = calloc(rules->cnt + 1, sizeof(*gate->unmatched_cnt));
	if (!gate->results || !gate->complaints || !gate->unmatched_cnt)
		return -ENOMEM;
	err = find_cases(gate, set, has_base);
	err = err || !has_base ? err : judge_changes(gate, set, options);
	for (size_t i = 0; i < gate->case_cnt && !err; i++) {
		if (!gate_is_change(&rules->rules[gate->cases[i].rule]))
			err = gate_figure_judge(&gate->cases[i], &rules->rules[gate->cases[i].rule], set,
						options);
	}
	if (!err)
		sum_up(gate);
	return err;
}

void gate_release(struct gate *gate)
{
	free(gate->cases);
	free(gate->results);
	free(gate->complaints);
	free(gate->unmatched_cnt);
	*gate = (struct gate){ 0 };
}
