/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/print/markup.h"
#include "cli/verdict/verdict_report.h"
#include "cli/verdict/verdict_words.h"

/* In it, regressed is a failure, a rule that matches nothing an error, and what can't be told is skipped. */
static const struct {
	const char *element;
	bool is_empty;
} elements[] = {
	[GATE_HOLDS] = { NULL, true },
	[GATE_REGRESSED] = { "failure", false },
	[GATE_CANT_TELL] = { "skipped", false },
	[GATE_ERROR] = { "error", false },
};

static void append_words(struct text *to, const struct verdict_view *view, size_t rule)
{
	const struct gate *gate = view->gate;
	double confidence = view->comparison ? view->comparison->options.confidence : 0.95;
	bool has_any = false;

	if (gate->complaints[rule])
		text_append(to, gate->complaints[rule]);
	for (size_t i = 0; i < gate->case_cnt; i++) {
		if (gate->cases[i].rule != rule || gate->cases[i].result != gate->results[rule])
			continue;
		text_append(to, has_any ? "\n" : "");
		words_append_case(to, view->set, &gate->rules->rules[rule], &gate->cases[i], confidence);
		has_any = true;
	}
}

static void append_case(struct text *text, const struct verdict_view *view, size_t rule)
{
	enum gate_result result = view->gate->results[rule];
	struct text words = { 0 }, name = { 0 }, first = { 0 };

	append_words(&words, view, rule);
	text_append_escaped(&name, view->gate->rules->rules[rule].text,
			    strlen(view->gate->rules->rules[rule].text));
	text_append_bytes(&first, text_string(&words), strcspn(text_string(&words), "\n"));
	text_append(text, "    <testcase classname=\"txtrace.gate\" name=\"");
	markup_append(text, text_string(&name));
	text_append(text, "\">\n");
	if (!elements[result].is_empty) {
		text_append_format(text, "      <%s message=\"", elements[result].element);
		markup_append(text, text_string(&first));
		text_append(text, result == GATE_CANT_TELL ? "\"/>\n" : "\">");
		if (result != GATE_CANT_TELL) {
			markup_append(text, text_string(&words));
			text_append_format(text, "</%s>\n", elements[result].element);
		}
	}
	text_append(text, "      <system-out>");
	markup_append(text, text_string(&words));
	text_append(text, "</system-out>\n    </testcase>\n");
	text->err = text->err ? text->err : words.err ? words.err : name.err ? name.err : first.err;
	text_release(&words);
	text_release(&name);
	text_release(&first);
}

/* Without rules the comparison as a whole is the one case. */
static void append_whole(struct text *text, const struct verdict_view *view,
			 const struct verdict_document *document)
{
	text_append(text, "    <testcase classname=\"txtrace.diff\" name=\"the code is not worse\">\n");
	if (view->status == VERDICT_STATUS_REGRESSED || view->status == VERDICT_STATUS_CANT_TELL) {
		text_append_format(text, "      <%s message=\"",
				   view->status == VERDICT_STATUS_REGRESSED ? "failure" : "skipped");
		markup_append(text, document->summary);
		text_append(text, "\"/>\n");
	}
	text_append(text, "      <system-out>");
	for (size_t i = 0; i < document->section_cnt; i++) {
		for (size_t k = 0; k < document->sections[i].line_cnt; k++) {
			text_append_format(text, "%s: ", document->sections[i].title);
			markup_append(text, document->sections[i].lines[k].text);
			text_append(text, "\n");
		}
	}
	text_append(text, "</system-out>\n    </testcase>\n");
}

static int write_junit(const struct verdict_view *view, const struct verdict_document *document,
		       const struct screen *screen)
{
	const struct gate *gate = view->gate;
	size_t cnt = gate ? gate->rules->cnt : 1,
	       failure_cnt = gate ? gate->cnt[GATE_REGRESSED] : view->status == VERDICT_STATUS_REGRESSED;
	size_t skipped_cnt = gate ? gate->cnt[GATE_CANT_TELL] : view->status == VERDICT_STATUS_CANT_TELL,
	       error_cnt = gate ? gate->cnt[GATE_ERROR] : 0;
	struct text text = { 0 };
	int err;

	text_append(&text, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
	text_append_format(&text, "<testsuites name=\"%s\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\">\n",
			   view->program, cnt, failure_cnt, error_cnt);
	text_append_format(
		&text,
		"  <testsuite name=\"%s\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\">\n",
		view->program, cnt, failure_cnt, error_cnt, skipped_cnt);
	for (size_t i = 0; gate && i < gate->rules->cnt; i++)
		append_case(&text, view, i);
	if (!gate)
		append_whole(&text, view, document);
	text_append(&text, "  </testsuite>\n</testsuites>\n");
	fputs(text_string(&text), screen->file);
	err = text.err;
	text_release(&text);
	return err;
}

const struct verdict_format verdict_format_junit = { "junit", "JUnit XML: each rule a test case",
						     write_junit };
