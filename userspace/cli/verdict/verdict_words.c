/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/verdict/verdict_words.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analyze/compare/explanation.h"
#include "base/units.h"
#include "cli/print/party_print.h"

#define NAME_COLUMNS 60
#define ALL 0.9
#define MOST_OF_IT 0.6

/* ---- names ---- */

void words_append_label(struct text *text, const struct run_set *set, uint32_t label)
{
	struct txtrace_string name = set->by_label[label]->name;

	if (name.length == 0)
		text_append(text, "(unknown label)");
	else
		text_append_escaped(text, name.bytes, name.length);
}

static const char *value_words(unsigned int value)
{
	static const char *const words[COMPARE_VALUE_COUNT] = {
		[SPAN_VALUE_WALL] = "wall",
		[SPAN_VALUE_WORK] = "work",
		[SPAN_VALUE_ON_CPU] = "on-CPU",
		[SPAN_VALUE_RUNNABLE] = "runnable",
		[SPAN_VALUE_BLOCKED] = "blocked",
		[SPAN_VALUE_DETACHED] = "detached",
		[SPAN_VALUE_UNKNOWN] = "unknown",
		[SPAN_VALUE_INTERRUPT] = "interrupt",
		[SPAN_VALUE_STOLEN] = "stolen",
		[COMPARE_VALUE_SELF] = "self",
		[COMPARE_VALUE_SELF_ON_CPU] = "self on-CPU",
	};

	return words[value];
}

static void append_value(struct text *text, unsigned int value)
{
	if (span_value_is_reason(value))
		text_append_format(text, "blocked on %s",
				   txtrace_block_reason_name(value - SPAN_VALUE_REASON));
	else
		text_append(text, value_words(value));
}

static void append_party(struct text *text, const struct party *party)
{
	if (party->kind == PARTY_INTERRUPT)
		text_append(text, "an interrupt");
	else
		party_append(text, party);
}

static void append_key(struct text *text, const struct run_set *set, uint32_t key)
{
	struct txtrace_string name;
	unsigned int reason;
	struct party party;

	if (key == STRING_POOL_NONE)
		return; /* whoever knows the name says it */
	if (run_set_key(set, key, &name) == EXTRA_HELD) {
		party = explanation_party(set, key, &reason);
		append_party(text, &party);
	} else if (run_set_key(set, key, &name) == EXTRA_WAITS_ON) {
		party = explanation_party(set, key, &reason);
		text_append_format(text, "waits (%s) for ", wait_reason_name(reason));
		append_party(text, &party);
	} else {
		text_append_escaped(text, name.bytes, name.length);
	}
}

void words_append_metric(struct text *text, const struct run_set *set, const struct metric *metric)
{
	struct txtrace_string name;

	switch (metric->kind) {
	case METRIC_VALUE:
		append_value(text, metric->value);
		if (metric->percentile > 0)
			text_append_format(text, " p%.10g", metric->percentile * 100);
		else
			text_append(text, " mean");
		break;
	case METRIC_CALLS:
		text_append(text, "calls of ");
		append_key(text, set, metric->key);
		break;
	case METRIC_BLOCKS:
		text_append(text, metric->key != STRING_POOL_NONE &&
						  run_set_key(set, metric->key, &name) == EXTRA_SYSCALL
					  ? "waits in "
					  : "waits for ");
		append_key(text, set, metric->key);
		break;
	case METRIC_WAITS_ON:
		if (metric->key == STRING_POOL_NONE || run_set_key(set, metric->key, &name) != EXTRA_WAITS_ON)
			text_append(text, "waits for ");
		append_key(text, set, metric->key);
		break;
	case METRIC_HELD:
		text_append(text, "on-CPU of the lock's holder ");
		append_key(text, set, metric->key);
		break;
	case METRIC_COUNT:
		text_append(text, "spans");
		break;
	case METRIC_LOWER_BOUNDS:
		text_append(text, "lower bounds");
		break;
	}
}

/* ---- numbers ---- */

static uint64_t whole_ns(double ns)
{
	return ns <= 0 || isnan(ns) ? 0 : ns >= 1.8e19 ? UINT64_MAX : (uint64_t)(ns + 0.5);
}

/* One figure as it is counted: "15.0 ms", "1.02", "0.4 %". */
static void words_append_figure(struct text *text, const struct metric *metric, double figure)
{
	char time[UNITS_SIZE];

	if (isnan(figure))
		text_append(text, "not known");
	else if (metric_is_time(metric))
		text_append(text, units_format_duration(time, whole_ns(figure)));
	else if (metric->kind == METRIC_LOWER_BOUNDS && figure < 1)
		text_append_format(text, "%.3g %%", figure * 100);
	else
		text_append_format(text, "%.*f", figure == floor(figure) ? 0 : 2, figure);
}

/* "12.1 -> 15.0 ms": the unit once, if it is one. */
static void append_times(struct text *text, double from, double to)
{
	char times[2][UNITS_SIZE];
	char *unit, *other;

	units_format_duration(times[0], whole_ns(from));
	units_format_duration(times[1], whole_ns(to));
	unit = strchr(times[0], ' ');
	other = strchr(times[1], ' ');
	if (unit && other && strcmp(unit, other) == 0)
		*unit = '\0';
	text_append_format(text, "%s -> %s", times[0], times[1]);
}

static void append_percent(struct text *text, double share)
{
	double percent = share * 100;

	text_append_format(text, "%+.*f", fabs(percent) < 9.95 ? 1 : 0, fabs(percent) < 0.05 ? 0.0 : percent);
}

static void append_signed(struct text *text, const struct metric *metric, double value)
{
	text_append(text, value < 0 ? "-" : "+");
	words_append_figure(text, metric, fabs(value));
}

void words_append_effect(struct text *text, const struct metric *metric, const struct effect *effect,
			 double confidence)
{
	const struct interval *interval = isnan(effect->relative) ? &effect->difference_interval
								  : &effect->relative_interval;
	bool is_relative = !isnan(effect->relative);

	if (metric_is_time(metric)) {
		append_times(text, effect->centre[0], effect->centre[1]);
	} else {
		words_append_figure(text, metric, effect->centre[0]);
		text_append(text, " -> ");
		words_append_figure(text, metric, effect->centre[1]);
	}
	if (isnan(effect->difference) || (effect->centre[0] == 0 && effect->centre[1] == 0))
		return;
	text_append(text, " (");
	if (is_relative)
		append_percent(text, effect->relative);
	else
		append_signed(text, metric, effect->difference);
	text_append(text, is_relative ? " %" : "");
	if (!isnan(interval->low)) {
		text_append_format(text, ", %.10g %% CI ", confidence * 100);
		for (int i = 0; i < 2; i++) {
			double end = i ? interval->high : interval->low;

			text_append(text, i ? " .. " : "");
			if (is_relative)
				append_percent(text, end);
			else
				append_signed(text, metric, end);
		}
	}
	text_append(text, ")");
}

/* ---- what a change is made of ---- */

static void append_share(struct text *text, const struct explained_part *part)
{
	if (part->share >= ALL)
		text_append(text, ", all of it ");
	else if (part->share >= MOST_OF_IT)
		text_append_format(text, ", most of it (%.0f %%) ", part->share * 100);
	else
		text_append_format(text, ", %.0f %% of it ", part->share * 100);
}

/* "blocked on futex 0x… held by flush" */
static void append_wait(struct text *text, const struct run_set *set, const struct explanation *explanation)
{
	unsigned int reason = explanation->parts[0].value - SPAN_VALUE_REASON;
	const struct waited_object *object = explanation->object;
	bool has_name = object && object->object.kind != WAIT_OBJECT_NONE &&
			object->object.kind != WAIT_OBJECT_UNKNOWN;

	text_append(text, "blocked on ");
	if (!has_name || object->object.kind != WAIT_OBJECT_FUTEX)
		text_append(text, txtrace_block_reason_name(reason));
	if (has_name) {
		text_append(text, object->object.kind == WAIT_OBJECT_FUTEX ? "" : " (");
		wait_object_append(text, &object->object);
		text_append(text, object->object.kind == WAIT_OBJECT_FUTEX ? "" : ")");
	}
	if (explanation->waits_on != STRING_POOL_NONE) {
		struct party party = explanation_party(set, explanation->waits_on, &reason);

		text_append(text, reason == TXTRACE_BLOCK_LOCK ? " held by " : ", ended by ");
		append_party(text, &party);
	}
	if (explanation->child != STRING_POOL_NONE) {
		text_append(text, ", in its child ");
		words_append_label(text, set, explanation->child);
	}
}

static void append_place(struct text *text, const struct run_set *set, const struct explanation *explanation)
{
	unsigned int value = explanation->parts[0].value;

	if (span_value_is_reason(value)) {
		append_wait(text, set, explanation);
		return;
	}
	append_value(text, value);
	if (value != SPAN_VALUE_ON_CPU)
		return;
	if (explanation->is_own)
		text_append(text, " in its own code");
	if (explanation->child != STRING_POOL_NONE) {
		text_append(text, " in its child ");
		words_append_label(text, set, explanation->child);
	}
}

void words_append_explanation(struct text *text, const struct comparison *comparison,
			      const struct compared_figure *figure)
{
	struct explanation explanation;

	explanation_find(&explanation, comparison, figure);
	if (explanation.part_cnt == 0)
		return;
	if (figure->metric.value == SPAN_VALUE_WALL || figure->metric.value == SPAN_VALUE_WORK) {
		append_share(text, &explanation.parts[0]);
	} else {
		/* The figure says already what it is: only where it is. */
		if (figure->metric.value == SPAN_VALUE_ON_CPU && !explanation.is_own &&
		    explanation.child == STRING_POOL_NONE)
			return;
		if (figure->metric.value == SPAN_VALUE_RUNNABLE ||
		    figure->metric.value == SPAN_VALUE_DETACHED || figure->metric.value == SPAN_VALUE_UNKNOWN)
			return;
		text_append(text, ": ");
	}
	append_place(text, comparison->set, &explanation);
	for (size_t i = 1; i < explanation.part_cnt && explanation.parts[0].share < ALL; i++) {
		text_append_format(text, ", %.0f %% ", explanation.parts[i].share * 100);
		append_value(text, explanation.parts[i].value);
	}
}

/* ---- how sure ---- */

void words_append_more(struct text *text, const struct run_set *set, uint32_t units_needed)
{
	size_t fewer = set->run_cnt[0] && set->run_cnt[0] < set->run_cnt[1] ? set->run_cnt[0]
									    : set->run_cnt[1];

	if (units_needed == 0)
		return;
	if (units_needed >= EFFECT_UNITS_MAX)
		text_append_format(text, "; %d runs a side would not be enough either", EFFECT_UNITS_MAX);
	else if (set->is_windowed)
		text_append_format(text,
				   "; windows of so few runs are not enough, %" PRIu32 " runs a side may be",
				   units_needed < 5 ? 5 : units_needed);
	else if (units_needed > fewer)
		text_append_format(text, "; about %zu more run%s a side would be enough",
				   (size_t)units_needed - fewer, units_needed == fewer + 1 ? "" : "s");
	else
		text_append(text, "; a few more runs a side would be enough");
}

/* ---- rules ---- */

static void append_unsure(struct text *text, const struct run_set *set, const struct gate_rule *rule,
			  const struct gate_case *one)
{
	char count[UNITS_SIZE];

	if (one->lower_bound_cnt > 0)
		text_append_format(text, "; %s spans are lower bounds: they may have taken any time",
				   units_format_count(count, one->lower_bound_cnt));
	else if (one->spans_needed > 0)
		text_append_format(text, "; a percentile like this needs %s spans in each run",
				   units_format_count(count, one->spans_needed));
	else if (gate_is_of_log(rule->subject))
		text_append(text, "; a log has no summary, or no spans");
	else
		words_append_more(text, set, one->units_needed);
}

static void append_log_figure(struct text *text, const struct gate_rule *rule, double figure)
{
	if (isnan(figure))
		text_append(text, "not known");
	else if (rule->is_share)
		text_append_format(text, "%.3g %%", figure * 100);
	else
		text_append_format(text, "%.10g", figure);
}

void words_append_case(struct text *text, const struct run_set *set, const struct gate_rule *rule,
		       const struct gate_case *one, double confidence)
{
	if (gate_is_of_log(rule->subject)) {
		append_log_figure(text, rule, one->figure);
		text_append(text, set->run_cnt[SIDE_NEW] > 1 ? ", the most of any run" : "");
	} else {
		words_append_label(text, set, one->label);
		text_append(text, ": ");
		words_append_metric(text, set, &one->metric);
		if (one->metric.key == STRING_POOL_NONE && rule->name[0])
			text_append_escaped(text, rule->name, strlen(rule->name));
		text_append(text, " ");
		if (gate_is_change(rule)) {
			words_append_effect(text, &one->metric, &one->effect, confidence);
		} else if (rule->subject == GATE_LABEL_LOWER_BOUNDS) {
			append_log_figure(text, rule, one->figure);
		} else {
			words_append_figure(text, &one->metric, one->figure);
			if (!isnan(one->interval.low)) {
				text_append_format(text, " (%.10g %% CI ", confidence * 100);
				words_append_figure(text, &one->metric, one->interval.low);
				text_append(text, " .. ");
				words_append_figure(text, &one->metric, one->interval.high);
				text_append(text, ")");
			}
		}
	}
	if (one->result == GATE_CANT_TELL)
		append_unsure(text, set, rule, one);
}
