/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/no_spans.h"

#include <string.h>

#include "base/text.h"
#include "base/units.h"

#define NAMED_MAX 5
#define CUT_OFF_LEAST 10
#define ASKED_MAX 1000 /* of more, nobody wants to know which were never called */

static const struct label_row *find_row(const struct label_report *report, const char *label)
{
	for (size_t i = 0; i < label_report_row_count(report); i++) {
		const struct label_row *row = label_report_row(report, i);

		if (row->label.length == strlen(label) && !memcmp(row->label.bytes, label, row->label.length))
			return row;
	}
	return NULL;
}

static void append_name(struct text *text, size_t cnt, const char *label)
{
	if (cnt > NAMED_MAX)
		return;
	text_append(text, cnt > 1 ? ", '" : "'");
	text_append_escaped(text, label, strlen(label));
	text_append(text, "'");
}

static void append_others(struct text *text, size_t cnt)
{
	if (cnt > NAMED_MAX)
		text_append_format(text, " and %zu more", cnt - NAMED_MAX);
}

/* "never called: 'a', 'b' and 3 more"; *cnt: how many. */
static void append_silent(struct text *text, const struct no_spans *facts, bool is_span, size_t *cnt)
{
	const char *label;

	*cnt = 0;
	for (size_t i = 0; (label = foreign_plan_asked(facts->foreign, is_span, i)); i++) {
		if (*label && !find_row(facts->report, label))
			append_name(text, ++*cnt, label);
	}
	append_others(text, *cnt);
}

static bool is_cut_off(const struct label_row *row)
{
	return row && row->lower_bounds && row->lower_bounds->sums.cnt >= CUT_OFF_LEAST &&
	       row->lower_bounds->sums.cnt > row->exact.sums.cnt;
}

/*
 * Of a function that ends by a jump through a register, as compilers make of a call at its end, no way out
 * has a probe.
 */
static void name_cut_off(const struct no_spans *facts, const struct messages *messages)
{
	struct text names = { 0 };
	const char *label;
	size_t cnt = 0;

	if (!facts->foreign || facts->options->foreign.func_returns == FOREIGN_RETURNS_HOOK)
		return;
	if (foreign_plan_asked(facts->foreign, false, ASKED_MAX))
		return;
	for (size_t i = 0; (label = foreign_plan_asked(facts->foreign, false, i)); i++)
		if (is_cut_off(find_row(facts->report, label)))
			append_name(&names, ++cnt, label);
	append_others(&names, cnt);
	if (cnt)
		messages_say(messages, MESSAGE_INFO, "cut_off",
			     "the ends of most calls of %s were missed, as happens if a function ends with "
			     "an indirect jump to another one; "
			     "--func-returns hook sees it, but must not be used where C++ exceptions pass",
			     text_string(&names));
	text_release(&names);
}

/*
 * Where some have spans, those that have none are named if they are few; a preset has many that no program
 * needs.
 */
static void name_silent(const struct no_spans *facts, bool has_any, const struct messages *messages)
{
	struct text functions = { 0 }, spans = { 0 };
	size_t function_cnt = 0, span_cnt = 0;

	if (!facts->foreign || label_report_row_count(facts->report) > ASKED_MAX ||
	    foreign_plan_asked(facts->foreign, false, ASKED_MAX))
		return;
	append_silent(&functions, facts, false, &function_cnt);
	append_silent(&spans, facts, true, &span_cnt);
	if (function_cnt && (!has_any || function_cnt <= NAMED_MAX))
		messages_say(messages, MESSAGE_INFO, "never_called", "never called while it was recorded: %s",
			     text_string(&functions));
	if (span_cnt && (!has_any || (span_cnt <= NAMED_MAX && !facts->options->foreign.preset_cnt)))
		messages_say(messages, MESSAGE_INFO, "never_begun",
			     "never begun while it was recorded, for their probes were not hit: %s",
			     text_string(&spans));
	text_release(&functions);
	text_release(&spans);
}

static void explain_none(const struct no_spans *facts, const struct messages *messages)
{
	const struct child_count *children = &facts->children;
	bool follows = facts->options->targets.follows_children;
	char cnt[UNITS_SIZE], alike[UNITS_SIZE];

	if (facts->left_out_cnt)
		messages_say(messages, MESSAGE_INFO, "no_spans",
			     "no spans: %s were filtered by --sample, --label or --min-duration",
			     units_format_count(cnt, facts->left_out_cnt));
	else if (facts->stray_end_cnt)
		messages_say(
			messages, MESSAGE_INFO, "no_spans",
			"no spans: %s ends belong to spans that began earlier, or whose begin was not hit",
			units_format_count(cnt, facts->stray_end_cnt));
	else if (children->cnt && !follows)
		messages_say(messages, MESSAGE_INFO, "no_spans",
			     "no spans: %s child%s not traced, %s of them running the same program; -f "
			     "follows children",
			     units_format_count(cnt, children->cnt), children->cnt == 1 ? " was" : "ren were",
			     units_format_count(alike, children->alike_cnt));
	else if (facts->site_cnt && !follows)
		messages_say(
			messages, MESSAGE_INFO, "no_spans",
			"no spans: no probe was hit while it was recorded; children are traced with -f only");
	else if (facts->site_cnt)
		messages_say(messages, MESSAGE_INFO, "no_spans",
			     "no spans: no probe was hit while it was recorded");
}

void no_spans_explain(const struct no_spans *facts, const struct messages *messages)
{
	const struct span_choices *choices = &facts->options->choices;
	bool has_any = label_report_row_count(facts->report) > 0;

	if (facts->options->wants_threads)
		return;
	if (!has_any)
		explain_none(facts, messages);
	if (choices->sample_rate <= 1 && !choices->label_cnt && !choices->min_duration_ns &&
	    !facts->options->flight.max_bytes)
		name_silent(facts, has_any, messages);
	name_cut_off(facts, messages);
}
