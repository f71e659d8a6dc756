/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "analyze/compare/explanation.h"
#include "base/json.h"
#include "cli/print/party_print.h"
#include "cli/verdict/verdict_report.h"
#include "cli/verdict/verdict_words.h"

static void label_json(struct json *json, const struct run_set *set, const char *member, uint32_t label)
{
	struct txtrace_string name = label == STRING_POOL_NONE ? (struct txtrace_string){ 0 }
							       : set->by_label[label]->name;

	if (name.length > 0)
		json_member_string(json, member, name.bytes, name.length);
	else
		json_member_null(json, member);
}

static void interval_json(struct json *json, const char *name, const struct interval *interval)
{
	json_name(json, name);
	if (isnan(interval->low)) {
		json_null(json);
		return;
	}
	json_array_begin(json);
	json_double(json, interval->low);
	json_double(json, interval->high);
	json_array_end(json);
}

/* "wall.p99", "calls.fsync.mean": as in a rule, without the label. */
static void metric_json(struct json *json, const struct run_set *set, const struct metric *metric)
{
	static const char *const kinds[] = {
		[METRIC_VALUE] = "time",    [METRIC_CALLS] = "calls",
		[METRIC_BLOCKS] = "blocks", [METRIC_WAITS_ON] = "waits_on",
		[METRIC_COUNT] = "count",   [METRIC_LOWER_BOUNDS] = "lower_bounds",
		[METRIC_HELD] = "held_by"
	};
	struct txtrace_string name = { 0 };
	struct text text = { 0 };
	unsigned int reason;

	json_member_text(json, "kind", kinds[metric->kind]);
	words_append_metric(&text, set, metric);
	json_member_text(json, "figure", text_string(&text));
	text_release(&text);
	if (metric->kind == METRIC_VALUE)
		json_member_text(json, "of", metric_value_name(metric->value));
	if (metric->key != STRING_POOL_NONE && metric->kind != METRIC_VALUE && metric->kind != METRIC_COUNT &&
	    metric->kind != METRIC_LOWER_BOUNDS) {
		enum extra_kind kind = run_set_key(set, metric->key, &name);

		if (kind == EXTRA_WAITS_ON || kind == EXTRA_HELD) {
			struct party party = explanation_party(set, metric->key, &reason);

			json_member_text(json, "reason", wait_reason_name(reason));
			party_json(json, "waker", &party);
		} else {
			json_member_string(json, "of", name.bytes, name.length);
		}
	}
	if (metric->percentile > 0)
		json_member_double(json, "percentile", metric->percentile * 100);
	else
		json_member_null(json, "percentile");
}

static void effect_json(struct json *json, const struct effect *effect)
{
	json_member_double(json, "base", effect->centre[0]);
	json_member_double(json, "new", effect->centre[1]);
	json_member_double(json, "difference", effect->difference);
	interval_json(json, "difference_interval", &effect->difference_interval);
	json_member_double(json, "relative", effect->relative);
	interval_json(json, "relative_interval", &effect->relative_interval);
	json_name(json, "units");
	json_array_begin(json);
	json_u64(json, effect->cnt[0]);
	json_u64(json, effect->cnt[1]);
	json_array_end(json);
}

static void figure_json(struct json *json, const struct verdict_view *view,
			const struct compared_figure *figure)
{
	static const char *const owners[] = {
		[OWNER_CODE] = "code", [OWNER_MACHINE] = "machine", [OWNER_BOTH] = "both"
	};
	struct text text = { 0 };

	json_object_begin(json);
	label_json(json, view->set, "label", figure->label);
	metric_json(json, view->set, &figure->metric);
	json_member_text(json, "owner", owners[figure->owner]);
	json_member_text(json, "verdict", verdict_names[figure->verdict]);
	effect_json(json, &figure->effect);
	json_member_double(json, "matters", figure->matters);
	json_member_double(json, "p", figure->p);
	json_name(json, "units_needed");
	if (figure->verdict == VERDICT_CANT_TELL && figure->units_needed > 0)
		json_u64(json, figure->units_needed);
	else
		json_null(json);
	if (figure->verdict == VERDICT_WORSE || figure->verdict == VERDICT_BETTER)
		words_append_explanation(&text, view->comparison, figure);
	json_member_text(json, "explanation", text.length > 2 ? text_string(&text) + 2 : NULL);
	json_object_end(json);
	text_release(&text);
}

static void change_json(struct json *json, const struct verdict_view *view, const struct label_change *change)
{
	json_object_begin(json);
	json_member_text(json, "change", change->side == SIDE_BASE ? "vanished" : "new");
	label_json(json, view->set, "label", change->label);
	json_member_u64(json, "spans", change->span_cnt);
	label_json(json, view->set, change->side == SIDE_BASE ? "perhaps_renamed_to" : "perhaps_renamed_from",
		   change->renamed);
	json_object_end(json);
}

static void case_json(struct json *json, const struct verdict_view *view, const struct gate_case *one)
{
	const struct gate_rule *rule = &view->gate->rules->rules[one->rule];
	struct text text = { 0 };

	json_object_begin(json);
	label_json(json, view->set, "label", one->label);
	json_member_text(json, "result", gate_result_names[one->result]);
	json_member_double(json, "figure", one->figure);
	interval_json(json, "interval", &one->interval);
	if (gate_is_change(rule)) {
		json_name(json, "effect");
		json_object_begin(json);
		effect_json(json, &one->effect);
		json_member_double(json, "p", one->p);
		json_object_end(json);
	}
	words_append_case(&text, view->set, rule, one,
			  view->comparison ? view->comparison->options.confidence : 0.95);
	json_member_text(json, "words", text_string(&text));
	json_object_end(json);
	text_release(&text);
}

static void rules_json(struct json *json, const struct verdict_view *view)
{
	const struct gate *gate = view->gate;

	json_name(json, "rules");
	json_array_begin(json);
	for (size_t i = 0; gate && i < gate->rules->cnt; i++) {
		json_object_begin(json);
		json_member_text(json, "rule", gate->rules->rules[i].text);
		json_member_text(json, "result", gate_result_names[gate->results[i]]);
		json_member_text(json, "complaint", gate->complaints[i]);
		json_name(json, "cases");
		json_array_begin(json);
		for (size_t k = 0; k < gate->case_cnt; k++) {
			if (gate->cases[k].rule == i)
				case_json(json, view, &gate->cases[k]);
		}
		json_array_end(json);
		json_object_end(json);
	}
	json_array_end(json);
}

static void runs_json(struct json *json, const struct run_set *set)
{
	static const char *const sides[] = { "base", "new" };

	json_name(json, "runs");
	json_array_begin(json);
	for (int side = 0; side < 2; side++) {
		for (size_t i = 0; i < set->run_cnt[side]; i++) {
			const struct compare_run *run = &set->runs[side][i];

			json_object_begin(json);
			json_member_text(json, "side", sides[side]);
			json_member_text(json, "path", run->path);
			json_member_u64(json, "spans", run->census.record_cnt[TXTRACE_RECORD_SPAN]);
			json_member_u64(json, "lower_bounds", run->census.lower_bound_cnt);
			json_member_u64(json, "lost", log_census_lost_cnt(&run->census));
			json_member_bool(json, "complete", log_census_is_complete(&run->census));
			json_object_end(json);
		}
	}
	json_array_end(json);
}

static void comparison_json(struct json *json, const struct verdict_view *view)
{
	const struct comparison *comparison = view->comparison;

	json_name(json, "comparison");
	if (!comparison) {
		json_null(json);
		return;
	}
	json_object_begin(json);
	json_member_text(json, "code", verdict_names[comparison->code]);
	json_member_text(json, "machine", verdict_names[comparison->machine]);
	json_member_text(json, "units",
			 view->set->is_windowed ? "windows"
			 : view->set->is_paired ? "pairs"
						: "runs");
	json_member_double(json, "false_alarms", comparison->options.alpha);
	json_member_double(json, "confidence", comparison->options.confidence);
	json_member_double(json, "min_effect", comparison->options.min_relative);
	json_member_u64(json, "seed", comparison->options.seed);
	json_member_u64(json, "tested", comparison->tested_cnt);
	json_name(json, "figures");
	json_array_begin(json);
	for (size_t i = 0; i < comparison->figure_cnt; i++)
		figure_json(json, view, &comparison->figures[i]);
	json_array_end(json);
	json_name(json, "labels");
	json_array_begin(json);
	for (size_t i = 0; i < comparison->change_cnt; i++)
		change_json(json, view, &comparison->changes[i]);
	json_array_end(json);
	json_object_end(json);
}

static int write_json(const struct verdict_view *view, const struct verdict_document *document,
		      const struct screen *screen)
{
	struct json json;
	int err;

	json_init_file(&json, screen->file);
	json.is_pretty = true;
	json_object_begin(&json);
	json_member_text(&json, "type", view->comparison ? "diff" : "check");
	json_member_text(&json, "version", view->version);
	json_member_u64(&json, "status", (uint64_t)view->status);
	json_member_text(&json, "summary", document->summary);
	runs_json(&json, view->set);
	rules_json(&json, view);
	comparison_json(&json, view);
	json_object_end(&json);
	json_newline(&json);
	err = json_release(&json);
	return err == -ENOMEM ? err : 0; /* what could not be written is seen in the file */
}

const struct verdict_format verdict_format_json = { "json", "one object; --json-schema prints its schema",
						    write_json };
