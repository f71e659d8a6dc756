/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/verdict/verdict_notes.h"

#include <inttypes.h>
#include <string.h>

#include "base/saturating.h"
#include "base/units.h"

#define PATHS_SHOWN 3

struct side_sums {
	uint64_t span_cnt;
	uint64_t lower_bound_cnt;
	uint64_t lost_cnt;
	uint64_t dropped_cnt;
};

static struct side_sums sum_side(const struct run_set *set, enum compare_side side)
{
	struct side_sums sums = { 0 };

	for (size_t i = 0; i < set->run_cnt[side]; i++) {
		const struct log_census *census = &set->runs[side][i].census;

		increase(&sums.span_cnt, census->record_cnt[TXTRACE_RECORD_SPAN]);
		increase(&sums.lower_bound_cnt, census->lower_bound_cnt);
		increase(&sums.lost_cnt, log_census_lost_cnt(census));
		increase(&sums.dropped_cnt, census->dropped_record_cnt);
	}
	return sums;
}

static void append_runs(struct text *text, const struct run_set *set, enum compare_side side,
			const char *name)
{
	char count[UNITS_SIZE];

	text_append_format(text, "%s%s%zu run%s (", name, *name ? " " : "", set->run_cnt[side],
			   set->run_cnt[side] == 1 ? "" : "s");
	for (size_t i = 0; i < set->run_cnt[side] && i < PATHS_SHOWN; i++) {
		text_append(text, i ? ", " : "");
		text_append_escaped(text, set->runs[side][i].path, strlen(set->runs[side][i].path));
	}
	text_append_format(text, "%s), %s spans", set->run_cnt[side] > PATHS_SHOWN ? ", \xe2\x80\xa6" : "",
			   units_format_count(count, sum_side(set, side).span_cnt));
}

static void append_losses(struct text *text, const struct side_sums *sums, const char *name)
{
	char counts[2][UNITS_SIZE];

	text_append_format(text, "%s%s%s of %s spans", name, *name ? " " : "",
			   units_format_count(counts[0], sums->lower_bound_cnt),
			   units_format_count(counts[1], sums->span_cnt));
	if (sums->lost_cnt > 0)
		text_append_format(text, ", %s events lost", units_format_count(counts[0], sums->lost_cnt));
	if (sums->dropped_cnt > 0)
		text_append_format(text, ", %s records dropped",
				   units_format_count(counts[0], sums->dropped_cnt));
}

/* The first run that is of another host or kernel than the first of all; NULL: none is. */
static const struct compare_run *stranger(const struct run_set *set)
{
	const struct txtrace_log_info *first = &set->runs[SIDE_NEW][0].info;

	for (int side = 0; side < 2; side++) {
		for (size_t i = 0; i < set->run_cnt[side]; i++) {
			const struct txtrace_log_info *info = &set->runs[side][i].info;

			if (strcmp(info->host, first->host) != 0 || strcmp(info->kernel, first->kernel) != 0)
				return &set->runs[side][i];
		}
	}
	return NULL;
}

static int add_about_runs(struct document_section *section, const struct verdict_view *view,
			  struct text *text)
{
	const struct run_set *set = view->set;
	const struct compare_run *other = stranger(set);
	int err;

	if (view->comparison) {
		append_runs(text, set, SIDE_BASE, "base");
		text_append(text, "; ");
	}
	append_runs(text, set, SIDE_NEW, view->comparison ? "new" : "");
	err = document_section_add(section, text, LINE_NEUTRAL, false);
	if (set->is_paired && !err) {
		text_append(
			text,
			"the runs of both sides were recorded in turn: each is compared with its neighbour");
		err = document_section_add(section, text, LINE_NEUTRAL, false);
	}
	if (set->is_windowed && !err) {
		text_append_format(
			text,
			"a weaker verdict: with so few runs, windows of them are compared (%" PRIu32
			" and %" PRIu32 "); it says that these recordings differ, not that the programs do. "
					"5 runs a side can show that",
			set->unit_cnt[0], set->unit_cnt[1]);
		err = document_section_add(section, text, LINE_UNSURE, false);
	}
	if (other && !err) {
		text_append(text, "not all runs are of one machine: '");
		text_append_escaped(text, other->path, strlen(other->path));
		text_append(text, "' is of ");
		text_append_escaped(text, other->info.host, strlen(other->info.host));
		text_append(text, ", Linux ");
		text_append_escaped(text, other->info.kernel, strlen(other->info.kernel));
		err = document_section_add(section, text, LINE_UNSURE, false);
	}
	return err;
}

static int add_left_out(struct document_section *section, const struct verdict_view *view, struct text *text)
{
	struct side_sums base = sum_side(view->set, SIDE_BASE), new = sum_side(view->set, SIDE_NEW);
	bool has_loss = base.lower_bound_cnt || base.lost_cnt || base.dropped_cnt || new.lower_bound_cnt ||
			new.lost_cnt || new.dropped_cnt;

	if (!has_loss) {
		text_append(text, "no span is a lower bound, 0 events lost");
	} else {
		text_append(text, "lower bounds are left out: ");
		if (view->comparison) {
			append_losses(text, &base, "base");
			text_append(text, "; ");
		}
		append_losses(text, &new, view->comparison ? "new" : "");
	}
	return document_section_add(section, text, has_loss ? LINE_UNSURE : LINE_NEUTRAL, false);
}

static int add_limits(struct document_section *section, const struct verdict_view *view, struct text *text)
{
	const struct run_set *set = view->set;
	char count[UNITS_SIZE];
	int err = 0;

	if (view->incomplete_cnt > 0) {
		text_append_format(
			text,
			"%zu log%s damaged, cut off or not closed: what is missing is not in the figures",
			view->incomplete_cnt, view->incomplete_cnt == 1 ? " is" : "s are");
		err = document_section_add(section, text, LINE_UNSURE, false);
	}
	if (set->unlabelled_cnt > 0 && !err) {
		text_append_format(text, "more than %d labels: %s spans of the others are left out",
				   LABELS_MAX, units_format_count(count, set->unlabelled_cnt));
		err = document_section_add(section, text, LINE_UNSURE, false);
	}
	if (set->uncounted_cnt > 0 && !err) {
		text_append_format(text,
				   "not followed, for want of room: %s children, waits or holders of locks",
				   units_format_count(count, set->uncounted_cnt));
		err = document_section_add(section, text, LINE_UNSURE, false);
	}
	if (set->is_coarse && !err) {
		text_append(text, "memory was used up: percentiles are less precise");
		err = document_section_add(section, text, LINE_UNSURE, false);
	}
	return err;
}

int verdict_notes_add(struct document_section *section, const struct verdict_view *view, struct text *text)
{
	const struct comparison *comparison = view->comparison;
	int err = add_about_runs(section, view, text);

	err = err ? err : add_left_out(section, view, text);
	err = err ? err : add_limits(section, view, text);
	if (comparison && !err) {
		text_append_format(text,
				   "false alarms, of all figures together: in at most %.3g %% of comparisons "
				   "of what is the same; a change "
				   "of less than %.3g %% does not matter",
				   comparison->options.alpha * 100, comparison->options.min_relative * 100);
		err = document_section_add(section, text, LINE_NEUTRAL, false);
	}
	return err;
}
