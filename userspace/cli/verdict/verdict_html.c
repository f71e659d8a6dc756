/* SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "cli/print/markup.h"
#include "cli/verdict/verdict_report.h"
#include "cli/verdict/verdict_sides.h"
#include "cli/verdict/verdict_words.h"
#include "cli/view/view_page.h"

#define PICTURE_WIDTH 240
#define PICTURE_SPAN 0.5 /* a picture shows -50 % to +50 % */

static const char *const classes[] = {
	[LINE_BAD] = "bad", [LINE_GOOD] = "good", [LINE_UNSURE] = "unsure", [LINE_NEUTRAL] = "plain"
};

static void append_section(struct text *text, const struct document_section *section)
{
	text_append(text, "<h2>");
	markup_append(text, section->title);
	text_append(text, "</h2>\n<ul>\n");
	for (size_t i = 0; i < section->line_cnt; i++) {
		text_append_format(text, "<li class=\"%s%s\">", classes[section->lines[i].kind],
				   section->lines[i].is_detail ? " detail" : "");
		markup_append(text, section->lines[i].text);
		text_append(text, "</li>\n");
	}
	if (section->left_out_cnt > 0)
		text_append_format(text, "<li>and %zu more</li>\n", section->left_out_cnt);
	text_append(text, "</ul>\n");
}

static double place(double relative)
{
	double at = (relative / PICTURE_SPAN + 1) / 2;

	return PICTURE_WIDTH * fmin(fmax(at, 0), 1);
}

/* The interval as a bar, the estimate as a dot, none as a line in the middle. */
static void append_picture(struct text *text, const struct effect *effect)
{
	double low = place(effect->relative_interval.low), high = place(effect->relative_interval.high);

	if (isnan(effect->relative) || isnan(effect->relative_interval.low))
		return;
	text_append_format(text,
			   "<svg width=\"%d\" height=\"14\"><line x1=\"%d\" x2=\"%d\" y1=\"0\" y2=\"14\" "
			   "stroke=\"#999\"/>",
			   PICTURE_WIDTH, PICTURE_WIDTH / 2, PICTURE_WIDTH / 2);
	text_append_format(text,
			   "<rect x=\"%.1f\" width=\"%.1f\" y=\"5\" height=\"4\" fill=\"currentColor\" "
			   "fill-opacity=\".5\"/>",
			   low, fmax(high - low, 1));
	text_append_format(text, "<circle cx=\"%.1f\" cy=\"7\" r=\"3.5\" fill=\"currentColor\"/></svg>",
			   place(effect->relative));
}

static void append_figure(struct text *text, const struct verdict_view *view,
			  const struct compared_figure *figure)
{
	static const char *const rows[] = { [VERDICT_SAME] = "same",
					    [VERDICT_BETTER] = "better",
					    [VERDICT_WORSE] = "worse",
					    [VERDICT_CANT_TELL] = "unsure" };
	struct text words = { 0 };

	text_append_format(text, "<tr class=\"%s\"><td>", rows[figure->verdict]);
	words_append_label(&words, view->set, figure->label);
	markup_append(text, text_string(&words));
	text_clear(&words);
	text_append(text, "</td><td>");
	words_append_metric(&words, view->set, &figure->metric);
	markup_append(text, text_string(&words));
	text_clear(&words);
	text_append(text, "</td><td>");
	words_append_effect(&words, &figure->metric, &figure->effect, view->comparison->options.confidence);
	markup_append(text, text_string(&words));
	text_append(text, "</td><td>");
	append_picture(text, &figure->effect);
	text_append_format(text, "</td><td>%s</td></tr>\n", verdict_names[figure->verdict]);
	text->err = text->err ? text->err : words.err;
	text_release(&words);
}

static void append_figures(struct text *text, const struct verdict_view *view)
{
	text_append(
		text,
		"<h2>all figures</h2>\n<p class=\"plain\">The line is no change, the ends are -50 % and +50 "
		"%, where what is beyond is cut "
		"off; a bar is the interval. Figures that are 0 on both sides are left out.</p>\n<div "
		"class=\"wide\"><table>\n"
		"<tr><th>label</th><th>figure</th><th>base -&gt; new</th><th></th><th>verdict</th></tr>\n");
	for (size_t i = 0; i < view->comparison->figure_cnt; i++) {
		const struct compared_figure *figure = &view->comparison->figures[i];

		if (figure->effect.centre[0] != 0 || figure->effect.centre[1] != 0)
			append_figure(text, view, figure);
	}
	text_append(text, "</table></div>\n");
}

/* A document as an attribute. It is ours, and what it has of a log is escaped in it. */
static void append_document(struct text *text, const struct text *document)
{
	const char *at = text_string(document), *end = at + document->length;

	while (at < end) {
		size_t plain = strcspn(at, "&\"");

		text_append_bytes(text, at, plain);
		at += plain;
		if (at < end)
			text_append(text, *at++ == '&' ? "&amp;" : "&quot;");
	}
}

static void append_run(struct text *text, const char *side, const char *path, const struct text *document)
{
	text_append_format(text, "<figure><figcaption>%s: ", side);
	markup_append(text, path);
	text_append_format(text, "</figcaption><iframe title=\"%s\" sandbox=\"allow-scripts\" srcdoc=\"",
			   side);
	append_document(text, document);
	text_append(text, "\"></iframe></figure>\n");
}

/* Beside each other, where there is room. */
static void append_runs(struct text *text, const struct verdict_view *view)
{
	text_append(text,
		    "<h2>timelines</h2>\n<p class=\"plain\">The first run of each side, as txtrace view "
		    "shows it.</p>\n<div class=\"sides\">\n");
	append_run(text, "base", view->set->runs[SIDE_BASE][0].path, &view->pages[SIDE_BASE]);
	append_run(text, "new", view->set->runs[SIDE_NEW][0].path, &view->pages[SIDE_NEW]);
	text_append(text, "</div>\n");
}

static int write_html(const struct verdict_view *view, const struct verdict_document *document,
		      const struct screen *screen)
{
	struct text text = { 0 }, policy = { 0 };
	int err;

	if (view->pages)
		view_page_append_policy(&policy);
	markup_begin_page(&text, view->program, view->pages ? text_string(&policy) : NULL);
	text_append_format(&text, "<p class=\"summary %s\">", classes[document->kind]);
	markup_append(&text, document->summary);
	text_append(&text, "</p>\n");
	for (size_t i = 0; i < document->section_cnt; i++)
		append_section(&text, &document->sections[i]);
	if (view->comparison)
		verdict_append_sides(&text, view);
	if (view->comparison && view->comparison->figure_cnt > 0)
		append_figures(&text, view);
	if (view->pages)
		append_runs(&text, view);
	markup_end_page(&text, view->version);
	fputs(text_string(&text), screen->file);
	err = text.err ? text.err : policy.err;
	text_release(&text);
	text_release(&policy);
	return err;
}

const struct verdict_format verdict_format_html = { "html", "one page, complete in itself", write_html };
