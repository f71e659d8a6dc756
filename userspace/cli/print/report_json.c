/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "base/text.h"
#include "cli/print/ledger_part.h"
#include "cli/print/mixed_programs.h"
#include "cli/print/report_print.h"

static void sums_json(struct json *json, const char *name, const struct span_sums *sums)
{
	json_name(json, name);
	json_object_begin(json);
	json_member_u64(json, "count", sums->cnt);
	json_member_u64(json, "wall_ns", sums->wall_ns);
	json_member_u64(json, "work_ns", sums->work_ns);
	ledger_json(json, &sums->ledger);
	json_object_end(json);
}

static void wall_json(struct json *json, const struct span_figures *figures)
{
	const struct quantile *wall = &figures->wall_ns;

	json_name(json, "wall_ns");
	json_object_begin(json);
	json_member_u64(json, "min", wall->min);
	json_member_u64(json, "p50", quantile_at(wall, 0.5));
	json_member_u64(json, "p90", quantile_at(wall, 0.9));
	json_member_u64(json, "p99", quantile_at(wall, 0.99));
	json_member_u64(json, "max", wall->max);
	json_member_u64(json, "mean", figures->sums.cnt ? figures->sums.wall_ns / figures->sums.cnt : 0);
	json_member_u64(json, "sum", figures->sums.wall_ns);
	json_object_end(json);
}

static struct txtrace_ledger mean_ledger(const struct span_sums *sums)
{
	struct txtrace_ledger mean = sums->ledger;
	uint64_t cnt = sums->cnt ? sums->cnt : 1;

	mean.on_cpu_ns /= cnt;
	mean.runnable_ns /= cnt;
	for (unsigned int i = 0; i < TXTRACE_BLOCK_REASON_COUNT; i++)
		mean.blocked_ns[i] /= cnt;
	mean.detached_ns /= cnt;
	mean.unknown_ns /= cnt;
	mean.interrupt_ns /= cnt;
	mean.stolen_ns /= cnt;
	return mean;
}

/* The members of one side of a label: exact, or lower bounds. */
static void figures_json(struct json *json, const struct span_figures *figures)
{
	struct txtrace_ledger mean = mean_ledger(&figures->sums);

	json_member_u64(json, "count", figures->sums.cnt);
	wall_json(json, figures);
	json_name(json, "mean");
	json_object_begin(json);
	json_member_u64(json, "work_ns", figures->sums.cnt ? figures->sums.work_ns / figures->sums.cnt : 0);
	ledger_json(json, &mean);
	json_object_end(json);
	json_name(json, "percent");
	json_object_begin(json);
	ledger_json_percent(json, &figures->sums.ledger);
	json_object_end(json);
	sums_json(json, "sum", &figures->sums);
}

static void name_json(struct json *json, const struct label_row *row, const struct report_view *view)
{
	struct text hex = { 0 };

	json_name(json, view->by ? "name" : "label");
	for (size_t i = 0; view->key && view->key->is_bytes && i < row->label.length; i++)
		text_append_format(&hex, "%02x", (unsigned char)row->label.bytes[i]);
	if (row->is_rest || row->label.length == 0)
		json_null(json);
	else if (hex.length > 0)
		json_string(json, text_string(&hex), hex.length);
	else
		json_string(json, row->label.bytes, row->label.length);
	text_release(&hex);
}

void report_row_json(const struct report_view *view, const struct label_row *row, struct json *json)
{
	name_json(json, row, view);
	if (row->is_rest)
		json_member_bool(json, "is_rest", true);
	figures_json(json, &row->exact);
	json_name(json, "lower_bounds");
	if (row->lower_bounds) {
		json_object_begin(json);
		figures_json(json, row->lower_bounds);
		json_object_end(json);
	} else {
		json_null(json);
	}
}

static void totals_json(struct json *json, const char *name, const struct span_sums totals[2])
{
	json_name(json, name);
	json_object_begin(json);
	sums_json(json, "exact", &totals[0]);
	sums_json(json, "lower_bounds", &totals[1]);
	json_object_end(json);
}

/* The rows that add up spans of different programs, and these. */
static void mixed_json(struct json *json, const struct label_report *report, const struct report_view *view)
{
	json_name(json, "mixed_programs");
	json_array_begin(json);
	for (size_t i = 0; i < label_report_row_count(report); i++) {
		const struct label_row *row = label_report_row(report, i);

		if (!span_programs_is_mixed(row->programs))
			continue;
		json_object_begin(json);
		name_json(json, row, view);
		mixed_programs_json(json, label_report_programs(report), row->programs);
		json_object_end(json);
	}
	json_array_end(json);
}

void report_tail_json(const struct label_report *report, const struct report_view *view, struct json *json)
{
	struct span_sums totals[2];

	label_report_totals(report, totals);
	totals_json(json, "totals", totals);
	totals_json(json, "without_parent", label_report_top_level(report));
	mixed_json(json, report, view);
	json_member_u64(json, "unfinished", label_report_census(report)->unfinished_cnt);
	json_member_bool(json, "coarse", label_report_is_coarse(report));
}
