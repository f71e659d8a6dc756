/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/print/cost_print.h"

#include <inttypes.h>
#include <string.h>

#include "base/saturating.h"
#include "base/units.h"
#include "cli/files/capture_info.h"
#include "cli/print/analysis_frame.h"
#include "cli/print/mixed_programs.h"

#define NOTHING "\xc2\xb7"

static const char *const class_titles[COST_CLASS_COUNT] = {
	[COST_SPAN] = "begin, enter, exit, end",
	[COST_KEY] = "the same by key",
	[COST_TEXT] = "tag, attribute",
	[COST_MARK] = "instant, counter, link",
	[COST_SWITCH] = "switch",
	[COST_WAKE] = "wakeup",
	[COST_OTHER] = "thread, exec",
};

/* ---- what one event costs ---- */

static void add_ns(struct table *table, bool is_known, uint64_t ps)
{
	char time[UNITS_SIZE];

	table_cell(table, is_known ? TABLE_PLAIN : TABLE_DIM,
		   is_known ? units_format_duration(time, ps / 1000) : "unknown");
}

static const char *entry_text(unsigned int entries)
{
	static const char *const texts[] = { "by a trap", "by a call", "by a tracepoint" };

	entries &= ~(1u << TXTRACE_COST_ENTRY_WITHIN);
	for (unsigned int entry = TXTRACE_COST_ENTRY_TRAP; entry <= TXTRACE_COST_ENTRY_TRACEPOINT; entry++)
		if (entries == 1u << entry)
			return texts[entry - 1];
	return "";
}

static void add_class(struct table *table, const struct cost_sums *sums, enum cost_class of)
{
	const struct cost_class_sums *class = &sums->classes[of];
	struct cost_price price = cost_sums_price(sums, of);
	char count[UNITS_SIZE], timed[UNITS_SIZE];

	table_cell(table, TABLE_BOLD, class_titles[of]);
	table_cell(table, TABLE_PLAIN, units_format_count(count, class->event_cnt));
	add_ns(table, price.has_entry || price.has_body, add_saturating(price.entry_ps, price.body_ps));
	add_ns(table, price.has_entry, price.entry_ps);
	add_ns(table, price.has_body, price.body_ps);
	table_cell(table, TABLE_PLAIN, units_format_count(timed, class->timed_event_cnt));
	table_cell(table, TABLE_PLAIN,
		   price.has_entry ? units_format_count(count, class->calibration_cnt) : NOTHING);
	if (of == COST_SPAN && sums->step_cnt)
		table_cell_format(table, TABLE_DIM, "%s; %s single-stepped", entry_text(class->entries),
				  units_format_count(count, sums->step_cnt));
	else
		table_cell(table, TABLE_DIM, entry_text(class->entries));
}

static int print_classes(struct cli *cli, const struct cost_sums *sums)
{
	static const char one[] = "one costs";
	static const char basis[] = "taken from so many runs";
	static const struct table_column columns[] = {
		{ "events", TABLE_LEFT, NULL },	      { "sent", TABLE_RIGHT, NULL },
		{ "in all", TABLE_RIGHT, one },	      { "to get there", TABLE_RIGHT, one },
		{ "BPF", TABLE_RIGHT, one },	      { "timed", TABLE_RIGHT, basis },
		{ "calibrated", TABLE_RIGHT, basis }, { "reached", TABLE_LEFT, NULL },
	};
	struct table *table = table_new(columns, sizeof(columns) / sizeof(columns[0]));
	int err;

	for (enum cost_class of = 0; of < COST_CLASS_COUNT; of++)
		if (sums->classes[of].event_cnt)
			add_class(table, sums, of);
	err = screen_print_table(&cli->out, table);
	table_free(table);
	return err;
}

/* ---- in all ---- */

static void add_total(struct table *table, const char *name, const struct text *what)
{
	table_cell(table, TABLE_DIM, name);
	table_cell(table, TABLE_PLAIN, text_string(what));
}

void cost_add_totals(struct table *table, const struct cost_sums *sums)
{
	char total[UNITS_SIZE], events[UNITS_SIZE], cpu[UNITS_SIZE], share[UNITS_SIZE], ring[UNITS_SIZE],
		log[UNITS_SIZE];
	struct text text = { 0 };

	if (!sums->record_cnt)
		return;
	text_append_format(&text, "%s%s of CPU for %s events, an estimate",
			   cost_sums_is_whole(sums) ? "" : "at least ",
			   units_format_duration(total, cost_sums_total_ns(sums)),
			   units_format_count(events, sums->event_cnt));
	add_total(table, "tracing cost", &text);
	text_clear(&text);
	text_append_format(&text, "%s, %s of a CPU; %s through the rings, %s written",
			   units_format_duration(cpu, sums->cpu_ns),
			   units_format_share(share, sums->cpu_ns, sums->observed_ns),
			   units_format_size(ring, sums->ring_bytes),
			   units_format_size(log, sums->log_bytes));
	add_total(table, "the recorder", &text);
	text_release(&text);
}

static int print_totals(struct cli *cli, const struct cost_sums *sums)
{
	static const struct table_column columns[] = { { NULL, TABLE_LEFT, NULL },
						       { NULL, TABLE_LEFT, NULL } };
	struct table *table = table_new(columns, 2);
	int err;

	cost_add_totals(table, sums);
	err = screen_print_table(&cli->out, table);
	table_free(table);
	return err;
}

/* ---- by label ---- */

static uint64_t hit_cnt(const struct cost_row *row)
{
	uint64_t cnt = 0;

	for (unsigned int of = 0; of < COST_HIT_CLASS_COUNT; of++)
		increase(&cnt, row->cnts[of]);
	return cnt;
}

static void add_mean(struct table *table, uint64_t cnt, uint64_t span_cnt)
{
	if (cnt)
		table_cell_format(table, TABLE_PLAIN, "%.1f", (double)cnt / (double)span_cnt);
	else
		table_cell(table, TABLE_DIM, NOTHING);
}

static void add_share(struct table *table, bool is_known, uint64_t part, uint64_t whole)
{
	char share[UNITS_SIZE];

	table_cell(table, is_known ? TABLE_PLAIN : TABLE_DIM,
		   is_known && whole ? units_format_share(share, part, whole) : NOTHING);
}

static void append_name(struct text *text, const struct cost_row *row)
{
	if (row->is_rest)
		text_append(text, "(all others)");
	else if (!row->label.length)
		text_append(text, "(unknown)");
	else
		text_append_escaped(text, row->label.bytes, row->label.length);
}

static void add_row(struct table *table, const struct cost_report *report, const struct cost_row *row)
{
	uint64_t added_ns = cost_report_added_ns(report, row);
	bool is_known = cost_report_sums(report)->record_cnt > 0;
	char count[UNITS_SIZE], time[UNITS_SIZE];
	struct text label = { 0 };

	append_name(&label, row);
	table_cell(table, TABLE_BOLD, text_string(&label));
	table_cell(table, TABLE_PLAIN, units_format_count(count, row->span_cnt));
	add_mean(table, hit_cnt(row), row->span_cnt);
	add_mean(table, row->cnts[COST_SWITCH], row->span_cnt);
	add_mean(table, row->cnts[COST_WAKE], row->span_cnt);
	table_cell(table, TABLE_PLAIN, units_format_duration(time, row->on_cpu_ns / row->span_cnt));
	table_cell(table, is_known ? TABLE_PLAIN : TABLE_DIM,
		   is_known ? units_format_duration(time, added_ns / row->span_cnt) : NOTHING);
	add_share(table, is_known, added_ns, row->wall_ns);
	add_share(table, is_known, added_ns, row->on_cpu_ns);
	text_release(&label);
}

static int print_rows(struct cli *cli, const struct cost_report *report, const struct cost_view *view)
{
	static const char each[] = "for each span";
	static const char adds[] = "that added";
	const struct table_column columns[] = {
		{ view->by ? view->by : "label", TABLE_LEFT, NULL },
		{ "spans", TABLE_RIGHT, NULL },
		{ "hits", TABLE_RIGHT, each },
		{ "switches", TABLE_RIGHT, each },
		{ "wakeups", TABLE_RIGHT, each },
		{ "on-CPU", TABLE_RIGHT, each },
		{ "to each", TABLE_RIGHT, adds },
		{ "of wall", TABLE_RIGHT, adds },
		{ "of on-CPU", TABLE_RIGHT, adds },
	};
	struct table *table = table_new(columns, sizeof(columns) / sizeof(columns[0]));
	size_t cnt = cost_report_row_cnt(report),
	       shown = view->row_limit && view->row_limit < cnt ? view->row_limit : cnt;
	char count[UNITS_SIZE];
	int err;

	for (size_t i = 0; i < shown; i++)
		if (cost_report_row(report, i)->span_cnt)
			add_row(table, report, cost_report_row(report, i));
	err = screen_print_table(&cli->out, table);
	table_free(table);
	if (shown < cnt)
		fprintf(cli->out.file, "%s more: --limit 0 shows all\n",
			units_format_count(count, cnt - shown));
	return err;
}

static int print_mixed(struct cli *cli, const struct cost_report *report)
{
	struct mixed_programs mixed = { .known = cost_report_programs(report) };
	struct text name = { 0 };
	int err;

	for (size_t i = 0; i < cost_report_row_cnt(report); i++) {
		text_clear(&name);
		append_name(&name, cost_report_row(report, i));
		mixed_programs_add(&mixed, text_string(&name), cost_report_row(report, i)->programs);
	}
	err = mixed_programs_print(&mixed, "spans", cli->out.file);
	text_release(&name);
	return err;
}

static void print_doubts(struct cli *cli, const struct cost_report *report)
{
	uint64_t lower_bound_cnt = cost_report_lower_bound_cnt(report),
		 uncounted_cnt = cost_report_uncounted_cnt(report);
	char count[UNITS_SIZE];

	if (lower_bound_cnt)
		fprintf(cli->out.file, "%s lower bound%s not among the spans\n",
			units_format_count(count, lower_bound_cnt), lower_bound_cnt == 1 ? " is" : "s are");
	if (uncounted_cnt)
		fprintf(cli->out.file, "there was no memory to count %s events: --max-memory\n",
			units_format_count(count, uncounted_cnt));
	if (cost_report_is_coarse(report))
		fputs("memory ran out: what long spans paid for may be too much: --max-memory\n",
		      cli->out.file);
}

int cost_print(struct cli *cli, const struct cost_report *report, const struct log_input *input,
	       const struct cost_view *view)
{
	const struct cost_sums *sums = cost_report_sums(report);
	int err;

	analysis_print_title(cli, input);
	err = print_rows(cli, report, view);
	if (!err)
		err = print_mixed(cli, report);
	fputc('\n', cli->out.file);
	if (!err && sums->record_cnt) {
		err = print_classes(cli, sums);
		fputs("An estimate: the recorded hits, switches and wakeups of the spans, times the cost of "
		      "one on this machine. The entry to a\n"
		      "program was calibrated on one that does nothing, in a process of the recorder; run "
		      "times of BPF programs were measured\n"
		      "during a part of the capture.\n\n",
		      cli->out.file);
		if (!err)
			err = print_totals(cli, sums);
	} else if (!err) {
		fputs("The cost of an event is not in this log: its recorder did not measure it, or was "
		      "stopped before it could write it.\n",
		      cli->out.file);
	}
	print_doubts(cli, report);
	fputc('\n', cli->out.file);
	return err ? err : analysis_print_losses(cli, input);
}

/* ---- for machines ---- */

/* ps as ns with three digits behind the point; null if it is not known. */
static void member_ps(struct json *json, const char *name, bool is_known, uint64_t ps)
{
	json_name(json, name);
	if (is_known)
		json_u64_scaled(json, ps, 3);
	else
		json_null(json);
}

void cost_totals_json(struct json *json, const struct cost_sums *sums)
{
	json_name(json, "cost");
	if (!sums->record_cnt) {
		json_null(json);
		return;
	}
	json_object_begin(json);
	json_member_u64(json, "total_ns", cost_sums_total_ns(sums));
	json_member_bool(json, "is_whole", cost_sums_is_whole(sums));
	json_member_u64(json, "events", sums->event_cnt);
	json_member_u64(json, "recorder_cpu_ns", sums->cpu_ns);
	json_member_u64(json, "observed_ns", sums->observed_ns);
	json_member_u64(json, "timing_ns", sums->timing_ns);
	json_member_u64(json, "single_stepped", sums->step_cnt);
	json_member_u64(json, "ring_bytes", sums->ring_bytes);
	json_member_u64(json, "log_bytes", sums->log_bytes);
	json_name(json, "classes");
	json_object_begin(json);
	for (enum cost_class of = 0; of < COST_CLASS_COUNT; of++) {
		const struct cost_class_sums *class = &sums->classes[of];
		struct cost_price price = cost_sums_price(sums, of);

		json_name(json, cost_class_names[of]);
		json_object_begin(json);
		json_member_u64(json, "events", class->event_cnt);
		member_ps(json, "entry_ns", price.has_entry, price.entry_ps);
		member_ps(json, "run_ns", price.has_body, price.body_ps);
		json_member_u64(json, "timed", class->timed_event_cnt);
		json_member_u64(json, "calibrated", class->calibration_cnt);
		json_object_end(json);
	}
	json_object_end(json);
	json_object_end(json);
}

static void row_json(struct json *json, const struct cost_report *report, const struct cost_row *row)
{
	json_object_begin(json);
	if (row->is_rest)
		json_member_null(json, "name");
	else
		json_member_string(json, "name", row->label.bytes, row->label.length);
	json_member_u64(json, "spans", row->span_cnt);
	json_member_u64(json, "wall_ns", row->wall_ns);
	json_member_u64(json, "on_cpu_ns", row->on_cpu_ns);
	json_name(json, "events");
	json_object_begin(json);
	for (unsigned int of = 0; of < COST_HISTORY_CLASSES; of++)
		json_member_u64(json, cost_class_names[of], row->cnts[of]);
	json_object_end(json);
	mixed_programs_json(json, cost_report_programs(report), row->programs);
	json_name(json, "added_ns");
	if (cost_report_sums(report)->record_cnt)
		json_u64(json, cost_report_added_ns(report, row));
	else
		json_null(json);
	json_object_end(json);
}

int cost_json(struct cli *cli, const struct cost_report *report, const struct log_input *input,
	      const struct cost_view *view)
{
	struct json json;

	cli_begin_json(cli, &json);
	capture_json_begin(&json, "report", &input->info);
	json_member_text(&json, "by", view->by ? view->by : "label");
	json_name(&json, "rows");
	json_array_begin(&json);
	for (size_t i = 0; i < cost_report_row_cnt(report); i++)
		if (cost_report_row(report, i)->span_cnt)
			row_json(&json, report, cost_report_row(report, i));
	json_array_end(&json);
	cost_totals_json(&json, cost_report_sums(report));
	json_member_u64(&json, "lower_bounds", cost_report_lower_bound_cnt(report));
	json_member_u64(&json, "uncounted", cost_report_uncounted_cnt(report));
	json_member_bool(&json, "coarse", cost_report_is_coarse(report));
	capture_json_end(&json, &input->census);
	return cli_finish_json(cli, &json);
}
