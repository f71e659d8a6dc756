/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/verdict/verdict_sides.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analyze/compare/metric.h"
#include "analyze/span_value.h"
#include "base/units.h"
#include "cli/print/ledger_part.h"
#include "cli/print/markup.h"
#include "cli/verdict/verdict_words.h"

#define BAR_WIDTH 360.0
#define LABELS_SHOWN 50

/* The value of a span that a part of its ledger is. */
static unsigned int value_of_part(size_t part)
{
	switch (part) {
	case 0:
		return SPAN_VALUE_ON_CPU;
	case 1:
		return SPAN_VALUE_RUNNABLE;
	case LEDGER_PART_DETACHED:
		return SPAN_VALUE_DETACHED;
	case LEDGER_PART_UNKNOWN:
		return SPAN_VALUE_UNKNOWN;
	case LEDGER_PART_INTERRUPT:
		return SPAN_VALUE_INTERRUPT;
	case LEDGER_PART_STOLEN:
		return SPAN_VALUE_STOLEN;
	default:
		return SPAN_VALUE_REASON + (unsigned int)part - 2;
	}
}

static double sum_of_parts(const struct compare_label *label, enum compare_side side)
{
	double sum = 0;

	for (size_t part = 0; part < LEDGER_PART_COUNT; part++)
		sum += label_mean(label, side, value_of_part(part));
	return sum;
}

static const char *time_of(char buffer[UNITS_SIZE], double ns)
{
	return units_format_duration(buffer, ns > 0 ? (uint64_t)llround(ns) : 0);
}

/* A title on each part says what it is, for who points at it, and for screen readers. */
static void append_bar(struct text *text, const struct compare_label *label, enum compare_side side,
		       double scale)
{
	char time[UNITS_SIZE];
	double at = 0;

	text_append_format(text, "<svg width=\"%.0f\" height=\"14\" role=\"img\">", BAR_WIDTH);
	for (size_t part = 0; part < LEDGER_PART_COUNT; part++) {
		double ns = label_mean(label, side, value_of_part(part)), width = ns * scale;

		if (!(width > 0))
			continue;
		text_append_format(text,
				   "<rect class=\"s%s\" x=\"%.1f\" width=\"%.1f\" height=\"14\" "
				   "fill=\"currentColor\"><title>%s %s</title></rect>",
				   ledger_parts[part].style, at, width, ledger_parts[part].title,
				   time_of(time, ns));
		at += width;
	}
	text_append(text, "</svg>");
}

static void append_side(struct text *text, const struct compare_label *label, enum compare_side side,
			double scale)
{
	char count[UNITS_SIZE], wall[UNITS_SIZE], work[UNITS_SIZE];

	text_append_format(text, "<td>%s</td>", side == SIDE_BASE ? "base" : "new");
	if (label_span_cnt(label, side) == 0) {
		text_append(text, "<td class=\"number\">0</td><td></td><td></td><td></td></tr>\n");
		return;
	}
	text_append_format(text,
			   "<td class=\"number\">%s</td><td class=\"number\">%s</td><td "
			   "class=\"number\">%s</td><td>",
			   units_format_count(count, label_span_cnt(label, side)),
			   time_of(wall, label_mean(label, side, SPAN_VALUE_WALL)),
			   time_of(work, label_mean(label, side, SPAN_VALUE_WORK)));
	append_bar(text, label, side, scale);
	text_append(text, "</td></tr>\n");
}

static void append_label(struct text *text, const struct verdict_view *view, uint32_t number)
{
	const struct compare_label *label = view->set->by_label[number];
	double most = fmax(sum_of_parts(label, SIDE_BASE), sum_of_parts(label, SIDE_NEW));
	double scale = most > 0 ? BAR_WIDTH / most : 0;
	struct text words = { 0 };

	words_append_label(&words, view->set, number);
	text_append(text, "<tr><td rowspan=\"2\">");
	markup_append(text, text_string(&words));
	text_append(text, "</td>");
	text->err = text->err ? text->err : words.err;
	text_release(&words);
	append_side(text, label, SIDE_BASE, scale);
	text_append(text, "<tr>");
	append_side(text, label, SIDE_NEW, scale);
}

struct heavy_label {
	double work;
	uint32_t number;
};

static int by_work(const void *a, const void *b)
{
	const struct heavy_label *left = a, *right = b;

	if (left->work != right->work)
		return left->work < right->work ? 1 : -1;
	return left->number < right->number ? -1 : left->number > right->number;
}

static double work_of(const struct compare_label *label)
{
	double work = 0;

	for (unsigned int side = 0; side < 2; side++)
		work += label_mean(label, side, SPAN_VALUE_WORK) * (double)label_span_cnt(label, side);
	return work;
}

/* What the colours of the parts that are there mean. */
static void append_legend(struct text *text, const struct verdict_view *view,
			  const struct heavy_label *labels, size_t cnt)
{
	text_append(text, "<p>");
	for (size_t part = 0; part < LEDGER_PART_COUNT; part++) {
		double ns = 0;

		for (size_t i = 0; i < cnt; i++) {
			const struct compare_label *label = view->set->by_label[labels[i].number];

			ns += label_mean(label, SIDE_BASE, value_of_part(part)) +
			      label_mean(label, SIDE_NEW, value_of_part(part));
		}
		if (ns > 0)
			text_append_format(text, "<span class=\"s%s\">\xe2\x96\xa0</span> %s ",
					   ledger_parts[part].style, ledger_parts[part].title);
	}
	text_append(text, "</p>\n");
}

void verdict_append_sides(struct text *text, const struct verdict_view *view)
{
	struct heavy_label *labels = calloc(view->set->label_cnt ? view->set->label_cnt : 1, sizeof(*labels));
	size_t cnt = 0, shown;

	if (!labels) {
		text->err = -ENOMEM;
		return;
	}
	for (uint32_t i = 0; i < view->set->label_cnt; i++) {
		if (view->set->by_label[i])
			labels[cnt++] = (struct heavy_label){ work_of(view->set->by_label[i]), i };
	}
	qsort(labels, cnt, sizeof(*labels), by_work);
	shown = cnt < LABELS_SHOWN ? cnt : LABELS_SHOWN;
	text_append(
		text,
		"<h2>both sides</h2>\n<p class=\"plain\">The mean of a span, by label; the two bars of "
		"a label have one scale. Point at a part for its name and time.</p>\n<div "
		"class=\"wide\"><table>\n<tr><th>label</th><th>side</th><th class=\"number\">spans</th><th "
		"class=\"number\">wall</th><th class=\"number\">work</th><th>where the work "
		"went</th></tr>\n");
	for (size_t i = 0; i < shown; i++)
		append_label(text, view, labels[i].number);
	text_append(text, "</table></div>\n");
	append_legend(text, view, labels, shown);
	if (shown < cnt)
		text_append_format(text, "<p class=\"plain\">and %zu labels with less work</p>\n",
				   cnt - shown);
	free(labels);
}
