/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/verdict/verdict_document.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/compare/explanation.h"
#include "base/saturating.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/verdict/label_groups.h"
#include "cli/verdict/verdict_notes.h"
#include "cli/verdict/verdict_words.h"

int verdict_status_of(const struct comparison *comparison, const struct gate *gate)
{
	static const int of_gate[] = {
		[GATE_HOLDS] = VERDICT_STATUS_HOLDS,
		[GATE_REGRESSED] = VERDICT_STATUS_REGRESSED,
		[GATE_CANT_TELL] = VERDICT_STATUS_CANT_TELL,
		[GATE_ERROR] = VERDICT_STATUS_FAILED,
	};

	if (gate)
		return of_gate[gate->result];
	if (!comparison || comparison->code == VERDICT_SAME || comparison->code == VERDICT_BETTER)
		return VERDICT_STATUS_HOLDS;
	return comparison->code == VERDICT_WORSE ? VERDICT_STATUS_REGRESSED : VERDICT_STATUS_CANT_TELL;
}

/* ---- sections ---- */

static struct document_section *new_section(struct verdict_document *document, const char *title)
{
	struct document_section *section = &document->sections[document->section_cnt++];

	section->title = title;
	return section;
}

/* A section without lines is none. */
static void drop_if_empty(struct verdict_document *document)
{
	if (document->sections[document->section_cnt - 1].line_cnt == 0)
		document->section_cnt--;
}

/* ---- rules ---- */

static enum line_kind kind_of_result(enum gate_result result)
{
	return result == GATE_HOLDS ? LINE_GOOD : result == GATE_CANT_TELL ? LINE_UNSURE : LINE_BAD;
}

/* Cases that are worst for the rule first; the rest is counted. */
static int add_cases(struct document_section *section, const struct verdict_view *view, size_t rule,
		     struct text *text)
{
	const struct gate *gate = view->gate;
	double confidence = view->comparison ? view->comparison->options.confidence : 0.95;
	size_t shown = 0, hidden = 0;
	int err = 0;

	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < gate->case_cnt && !err; i++) {
			const struct gate_case *one = &gate->cases[i];

			if (one->rule != rule || (one->result == gate->results[rule]) != (pass == 0))
				continue;
			if (view->limit && shown >= view->limit) {
				hidden++;
				continue;
			}
			shown++;
			words_append_case(text, view->set, &gate->rules->rules[rule], one, confidence);
			err = document_section_add(section, text, kind_of_result(one->result), true);
		}
	}
	if (hidden > 0 && !err) {
		text_append_format(text, "and %zu more labels", hidden);
		err = document_section_add(section, text, LINE_NEUTRAL, true);
	}
	return err;
}

static int add_rules(struct verdict_document *document, const struct verdict_view *view, struct text *text)
{
	struct document_section *section = new_section(document, "rules");
	const struct gate *gate = view->gate;
	int err = 0;

	for (size_t i = 0; i < gate->rules->cnt && !err; i++) {
		const struct gate_rule *rule = &gate->rules->rules[i];

		text_append_format(text, "%s: ", gate_result_names[gate->results[i]]);
		text_append_escaped(text, rule->text, strlen(rule->text));
		if (gate->complaints[i])
			text_append_format(text, ": %s", gate->complaints[i]);
		err = document_section_add(section, text, kind_of_result(gate->results[i]), false);
		err = err ? err : add_cases(section, view, i, text);
		if (gate->unmatched_cnt[i] > 0 && !gate->complaints[i] && !err) {
			text_append_format(text,
					   "%zu more label%s that match%s can't be held to it: one side has "
					   "no exact spans of %s",
					   gate->unmatched_cnt[i], gate->unmatched_cnt[i] == 1 ? "" : "s",
					   gate->unmatched_cnt[i] == 1 ? "es" : "",
					   gate->unmatched_cnt[i] == 1 ? "it" : "them");
			err = document_section_add(section, text, LINE_NEUTRAL, true);
		}
	}
	drop_if_empty(document);
	return err;
}

/* ---- figures ---- */

/*
 * The same change, seen once more: the median beside the mean, what the explanation of another figure tells.
 */
static bool is_said(const struct comparison *comparison, const struct compared_figure *figure)
{
	struct metric other = { .kind = METRIC_VALUE, .value = figure->metric.value };
	const struct compared_figure *told;
	struct txtrace_string name;

	if (figure->metric.kind == METRIC_WAITS_ON &&
	    run_set_key(comparison->set, figure->metric.key, &name) == EXTRA_WAITS_ON)
		other.value = SPAN_VALUE_REASON + (unsigned char)name.bytes[0];
	else if (figure->metric.kind == METRIC_VALUE && figure->metric.value == COMPARE_VALUE_SELF)
		other.value = SPAN_VALUE_WALL;
	else if (figure->metric.kind == METRIC_VALUE && figure->metric.value == COMPARE_VALUE_SELF_ON_CPU)
		other.value = SPAN_VALUE_ON_CPU;
	else if (figure->metric.kind != METRIC_VALUE || figure->metric.percentile != 0.5)
		return false;
	told = comparison_find(comparison, figure->label, &other);
	return told && told->verdict == figure->verdict;
}

/* Of what can't be told, the times that people look for. */
static bool is_shown(const struct comparison *comparison, const struct compared_figure *figure,
		     enum verdict verdict)
{
	bool is_head = figure->metric.kind == METRIC_VALUE &&
		       (figure->metric.value == SPAN_VALUE_WALL ||
			figure->metric.value == SPAN_VALUE_ON_CPU) &&
		       figure->metric.percentile != 0.5;

	if (figure->verdict != verdict || (verdict == VERDICT_CANT_TELL && !is_head))
		return false;
	return verdict == VERDICT_CANT_TELL || !is_said(comparison, figure);
}

static bool is_any_shown(const struct comparison *comparison, const struct grouped_label *label,
			 enum verdict verdict)
{
	for (size_t i = label->first_idx; i < label->end_idx; i++) {
		if (is_shown(comparison, &comparison->figures[i], verdict))
			return true;
	}
	return false;
}

/*
 * Each line names the label, also below another line of it: lines are searched for, sorted and quoted alone.
 * A section of the code holds all figures of a label that the code made worse: those of the machine say so.
 */
static int add_figure(struct document_section *section, const struct verdict_view *view,
		      const struct compared_figure *figure, enum line_kind kind, bool is_detail,
		      struct text *text)
{
	words_append_label(text, view->set, figure->label);
	text_append(text, ": ");
	words_append_metric(text, view->set, &figure->metric);
	text_append(text, " ");
	words_append_effect(text, &figure->metric, &figure->effect, view->comparison->options.confidence);
	if (figure->verdict == VERDICT_CANT_TELL)
		words_append_more(text, view->set, figure->units_needed);
	else
		words_append_explanation(text, view->comparison, figure);
	if (figure->owner == OWNER_MACHINE && figure->verdict == VERDICT_WORSE && kind == LINE_BAD)
		text_append(text, "; this is the machine's");
	return document_section_add(section, text, kind, is_detail);
}

struct figure_section {
	const char *title;
	enum verdict verdict;
	enum metric_owner owner; /* OWNER_ANY: whosever */
	enum line_kind kind;
};

#define OWNER_ANY ((enum metric_owner)3)

/* Does the figure say no more than that a child has the change, which is a label of the same group? */
static bool is_of_group(const struct comparison *comparison, const struct compared_figure *figure,
			const struct label_groups *groups, size_t head_idx)
{
	struct explanation explanation;

	explanation_find(&explanation, comparison, figure);
	if (explanation.part_cnt == 0 || explanation.is_own)
		return false;
	for (size_t i = 0; i < groups->cnt; i++)
		if (groups->labels[i].label == explanation.child)
			return groups->labels[i].head_idx == head_idx;
	return false;
}

/*
 * All that is shown of a label. Of one that only contains the change of its group: the first figure, and
 * those that tell of something else.
 */
static int add_label(struct document_section *section, const struct verdict_view *view,
		     const struct figure_section *of, const struct label_groups *groups,
		     const struct grouped_label *label, struct text *text)
{
	const struct comparison *comparison = view->comparison;
	bool is_contained = &groups->labels[label->head_idx] != label;
	size_t shown_cnt = 0;
	int err = 0;

	for (size_t i = label->first_idx; i < label->end_idx && !err; i++) {
		const struct compared_figure *figure = &comparison->figures[i];

		if (!is_shown(comparison, figure, of->verdict))
			continue;
		if (is_contained && shown_cnt > 0 && is_of_group(comparison, figure, groups, label->head_idx))
			continue;
		err = add_figure(section, view, figure, of->kind, is_contained || shown_cnt > 0, text);
		shown_cnt++;
	}
	return err;
}

static int add_containing(struct document_section *section, const struct verdict_view *view,
			  const struct figure_section *of, const struct label_groups *groups, size_t head_idx,
			  struct text *text)
{
	size_t cnt = 0;
	int err = 0;

	for (size_t i = 0; i < groups->cnt && !err; i++) {
		if (i == head_idx || groups->labels[i].head_idx != head_idx)
			continue;
		cnt++;
		if (!view->limit || cnt <= view->limit)
			err = add_label(section, view, of, groups, &groups->labels[i], text);
	}
	if (view->limit && cnt > view->limit && !err) {
		text_append_format(text, "and %zu more label%s", cnt - view->limit,
				   cnt - view->limit == 1 ? " that contains it" : "s that contain it");
		err = document_section_add(section, text, of->kind, true);
	}
	return err;
}

static int add_figures(struct verdict_document *document, const struct verdict_view *view,
		       const struct figure_section *of, const struct label_groups *groups, struct text *text)
{
	struct document_section *section = new_section(document, of->title);
	size_t group_cnt = 0;
	int err = 0;

	for (size_t i = 0; i < groups->cnt && !err; i++) {
		const struct grouped_label *label = &groups->labels[i];

		if (label->head_idx != i || (of->owner != OWNER_ANY && label->owner != of->owner) ||
		    !is_any_shown(view->comparison, label, of->verdict))
			continue;
		if (view->limit && group_cnt >= view->limit) {
			section->left_out_cnt++;
			continue;
		}
		group_cnt++;
		err = add_label(section, view, of, groups, label, text);
		err = err ? err : add_containing(section, view, of, groups, i, text);
	}
	drop_if_empty(document);
	return err;
}

/* ---- labels ---- */

static int add_changes(struct verdict_document *document, const struct verdict_view *view, struct text *text)
{
	static const char *const words[] = { [SIDE_BASE] = "vanished", [SIDE_NEW] = "new" };
	const struct comparison *comparison = view->comparison;
	struct document_section *section = new_section(document, "labels that came or went");
	char count[UNITS_SIZE];
	int err = 0;

	for (size_t i = 0; i < comparison->change_cnt && !err; i++) {
		const struct label_change *change = &comparison->changes[i];
		bool is_renamed = change->renamed != STRING_POOL_NONE;

		if (is_renamed && change->side == SIDE_BASE)
			continue; /* it is told with the new one */
		if (view->limit && section->line_cnt >= view->limit) {
			section->left_out_cnt++;
			continue;
		}
		text_append_format(text, "%s: ", is_renamed ? "perhaps renamed" : words[change->side]);
		if (is_renamed) {
			words_append_label(text, view->set, change->renamed);
			text_append(text, " -> ");
		}
		words_append_label(text, view->set, change->label);
		text_append_format(text, " (%s spans in %zu of %" PRIu32 " %s)",
				   units_format_count(count, change->span_cnt), change->unit_cnt,
				   view->set->unit_cnt[change->side],
				   view->set->is_windowed ? "windows" : "runs");
		err = document_section_add(section, text, LINE_NEUTRAL, false);
	}
	drop_if_empty(document);
	return err;
}

/* ---- the whole ---- */

#define LABELS_NAMED 3

/*
 * " in 4 labels (commit, flush, tx and 1 more)", " and in 2 labels that contain them": those of which a
 * figure of this owner has the verdict.
 */
static void append_labels_with(struct text *text, const struct verdict_view *view,
			       const struct label_groups *groups, enum metric_owner owner)
{
	uint32_t named[LABELS_NAMED];
	size_t cnt = 0, containing_cnt = 0;

	for (size_t i = 0; i < groups->cnt; i++) {
		const struct grouped_label *label = &groups->labels[i];

		if (!label->has_owner[owner])
			continue;
		if (label->head_idx != i && groups->labels[label->head_idx].has_owner[owner]) {
			containing_cnt++;
			continue;
		}
		if (cnt < LABELS_NAMED)
			named[cnt] = label->label;
		cnt++;
	}
	text_append_format(text, " in %zu label%s", cnt, cnt == 1 ? "" : "s");
	for (size_t i = 0; i < cnt && i < LABELS_NAMED; i++) {
		text_append(text, i ? ", " : " (");
		words_append_label(text, view->set, named[i]);
	}
	if (cnt > LABELS_NAMED)
		text_append_format(text, " and %zu more", cnt - LABELS_NAMED);
	text_append(text, cnt ? ")" : "");
	if (containing_cnt > 0)
		text_append_format(text, " and in %zu label%s that contain%s %s", containing_cnt,
				   containing_cnt == 1 ? "" : "s", containing_cnt == 1 ? "s" : "",
				   cnt == 1 ? "it" : "them");
}

static void sum_up_owner(struct text *text, const struct verdict_view *view,
			 const struct label_groups groups[], const char *who, enum verdict verdict,
			 enum metric_owner owner)
{
	text_append_format(text, "%s: %s", who, verdict_names[verdict]);
	if (verdict == VERDICT_WORSE || verdict == VERDICT_BETTER)
		append_labels_with(text, view, &groups[verdict], owner);
	if (verdict == VERDICT_CANT_TELL && view->comparison->figure_cnt == 0)
		text_append(text, ", as no label has exact spans on both sides");
	else if (verdict == VERDICT_CANT_TELL &&
		 !comparison_has_units(view->set, view->comparison->options.alpha, false))
		text_append_format(text, ", as %zu and %zu runs are too few: it takes %" PRIu32 " a side",
				   view->set->run_cnt[0], view->set->run_cnt[1],
				   view->comparison->units_least);
}

static void append_summary(struct text *text, const struct verdict_view *view,
			   const struct label_groups groups[])
{
	const struct comparison *comparison = view->comparison;
	static const struct {
		enum gate_result result;
		const char *words;
	} others[] = { { GATE_REGRESSED, "regressed" },
		       { GATE_CANT_TELL, "can't tell" },
		       { GATE_ERROR, "without anything that matches" } };
	const struct gate *gate = view->gate;

	if (gate)
		text_append_format(text, "gate: %s (of %zu rule%s %zu hold%s",
				   gate_result_names[gate->result], gate->rules->cnt,
				   gate->rules->cnt == 1 ? "" : "s", gate->cnt[GATE_HOLDS],
				   gate->cnt[GATE_HOLDS] == 1 ? "s" : "");
	for (size_t i = 0; gate && i < sizeof(others) / sizeof(others[0]); i++) {
		if (gate->cnt[others[i].result] > 0)
			text_append_format(text, ", %zu %s", gate->cnt[others[i].result], others[i].words);
	}
	text_append(text, gate ? ")" : "");
	if (!comparison)
		return;
	text_append(text, gate ? "; " : "");
	sum_up_owner(text, view, groups, "the code", comparison->code, OWNER_CODE);
	text_append(text, "; ");
	sum_up_owner(text, view, groups, "the machine", comparison->machine, OWNER_MACHINE);
	text_append_format(text, "; %zu figures compared: %zu worse, %zu better, %zu same, %zu can't tell",
			   comparison->figure_cnt, comparison->verdict_cnt[VERDICT_WORSE],
			   comparison->verdict_cnt[VERDICT_BETTER], comparison->verdict_cnt[VERDICT_SAME],
			   comparison->verdict_cnt[VERDICT_CANT_TELL]);
}

static int add_comparison(struct verdict_document *document, const struct verdict_view *view,
			  const struct label_groups groups[], struct text *text)
{
	static const struct figure_section sections[] = {
		{ "worse: the code", VERDICT_WORSE, OWNER_CODE, LINE_BAD },
		{ "worse, and not known whose", VERDICT_WORSE, OWNER_BOTH, LINE_BAD },
		{ "worse: the machine", VERDICT_WORSE, OWNER_MACHINE, LINE_NEUTRAL },
		{ "better", VERDICT_BETTER, OWNER_ANY, LINE_GOOD },
		{ "can't tell", VERDICT_CANT_TELL, OWNER_ANY, LINE_UNSURE },
	};
	int err = 0;

	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]) && !err; i++)
		err = add_figures(document, view, &sections[i], &groups[sections[i].verdict], text);
	return err ? err : add_changes(document, view, text);
}

static int add_sections(struct verdict_document *document, const struct verdict_view *view,
			const struct label_groups groups[], struct text *text)
{
	struct document_section *notes;
	int err;

	append_summary(text, view, groups);
	document->summary = text->err ? NULL : strdup(text_string(text));
	text_clear(text);
	err = document->summary ? 0 : -ENOMEM;
	err = err || !view->gate ? err : add_rules(document, view, text);
	err = err || !view->comparison ? err : add_comparison(document, view, groups, text);
	if (err)
		return err;
	notes = new_section(document, "notes");
	err = verdict_notes_add(notes, view, text);
	drop_if_empty(document);
	return err;
}

int verdict_document_init(struct verdict_document *document, const struct verdict_view *view)
{
	static const enum line_kind kinds[] = { LINE_GOOD, LINE_BAD, LINE_BAD, LINE_UNSURE };
	struct label_groups groups[VERDICT_CNT] = { 0 };
	struct text text = { 0 };
	int err = 0;

	*document = (struct verdict_document){ .kind = kinds[view->status] };
	for (int i = 0; i < VERDICT_CNT && view->comparison && !err; i++)
		err = label_groups_init(&groups[i], view->comparison, (enum verdict)i);
	err = err ? err : add_sections(document, view, groups, &text);
	for (int i = 0; i < VERDICT_CNT; i++)
		label_groups_release(&groups[i]);
	text_release(&text);
	return err;
}

void verdict_document_release(struct verdict_document *document)
{
	for (size_t i = 0; i < document->section_cnt; i++)
		document_section_release(&document->sections[i]);
	free(document->summary);
	*document = (struct verdict_document){ 0 };
}
