/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/print/cost_print.h"

#include <inttypes.h>
#include <string.h>

#include "base/saturating.h"
#include "base/units.h"
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
	if (class->memory_cnt)
		table_cell_format(table, TABLE_DIM, "%s in shared memory",
				  units_format_count(count, class->memory_cnt));
	else if (of == COST_SPAN && sums->step_cnt)
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

static void append_name(struct text *text, const struct cost_row *row)
{
	if (row->is_rest)
		text_append(text, "(all others)");
	else if (!row->label.length)
		text_append(text, "(unknown)");
	else
		text_append_escaped(text, row->label.bytes, row->label.length);
}

static bool is_known(const struct cell *cell)
{
	return cost_report_sums(cell->context)->record_cnt > 0;
}

static void get_label(const void *at, struct cell *cell)
{
	const struct cost_row *row = at;

	cell->string = row->label;
	append_name(&cell->words, row);
}

static void set_mean(const struct cost_row *row, uint64_t cnt, struct cell *cell)
{
	cell->is_unknown = !cnt;
	cell->real = (double)cnt / (double)row->span_cnt;
}

static void get_hits(const void *row, struct cell *cell)
{
	set_mean(row, hit_cnt(row), cell);
}

static void get_switches(const void *row, struct cell *cell)
{
	set_mean(row, ((const struct cost_row *)row)->cnts[COST_SWITCH], cell);
}

static void get_wakeups(const void *row, struct cell *cell)
{
	set_mean(row, ((const struct cost_row *)row)->cnts[COST_WAKE], cell);
}

static void get_on_cpu(const void *at, struct cell *cell)
{
	const struct cost_row *row = at;

	cell->number = row->on_cpu_ns / row->span_cnt;
}

static void get_added(const void *at, struct cell *cell)
{
	const struct cost_row *row = at;

	cell->is_unknown = !is_known(cell);
	cell->number = cost_report_added_ns(cell->context, row) / row->span_cnt;
}

static void get_of_wall(const void *at, struct cell *cell)
{
	const struct cost_row *row = at;

	cell->whole = row->wall_ns;
	cell->is_unknown = !is_known(cell) || !cell->whole;
	cell->number = cost_report_added_ns(cell->context, row);
}

static void get_of_on_cpu(const void *at, struct cell *cell)
{
	const struct cost_row *row = at;

	cell->whole = row->on_cpu_ns;
	cell->is_unknown = !is_known(cell) || !cell->whole;
	cell->number = cost_report_added_ns(cell->context, row);
}

static const char each[] = "for each span", adds[] = "that added";

const struct column cost_columns[] = {
	{ "label", NULL, NULL, COLUMN_STRING, COLUMN_KEY, .get = get_label, .style = TABLE_BOLD },
	COLUMN_OF("spans", NULL, NULL, COLUMN_COUNT, struct cost_row, span_cnt),
	{ "hits", NULL, each, COLUMN_REAL, .decimals = 1, .get = get_hits },
	{ "switches", NULL, each, COLUMN_REAL, .decimals = 1, .get = get_switches },
	{ "wakeups", NULL, each, COLUMN_REAL, .decimals = 1, .get = get_wakeups },
	{ "on_cpu_ns", "on-CPU", each, COLUMN_DURATION, .get = get_on_cpu },
	{ "added_ns", "to each", adds, COLUMN_DURATION, .get = get_added },
	{ "of_wall_percent", "of wall", adds, COLUMN_SHARE, .get = get_of_wall },
	{ "of_on_cpu_percent", "of on-CPU", adds, COLUMN_SHARE, .get = get_of_on_cpu },
	COLUMN_END,
};

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

static bool has_marks_in_memory(const struct cost_sums *sums)
{
	for (enum cost_class of = 0; of < COST_CLASS_COUNT; of++)
		if (sums->classes[of].memory_cnt)
			return true;
	return false;
}

int cost_print_notes(struct cli *cli, const struct cost_report *report)
{
	const struct cost_sums *sums = cost_report_sums(report);
	int err = print_mixed(cli, report);

	fputc('\n', cli->out.file);
	if (!err && sums->record_cnt) {
		err = print_classes(cli, sums);
		fputs("An estimate: the recorded hits, switches and wakeups of the spans, times the cost of "
		      "one on this machine. The entry to a\n"
		      "program was calibrated on one that does nothing, in a process of the recorder; run "
		      "times of BPF programs were measured\n"
		      "during a part of the capture.\n",
		      cli->out.file);
		if (has_marks_in_memory(sums))
			fputs("A mark in shared memory was measured in memory of the recorder, with warm "
			      "caches.\n",
			      cli->out.file);
		fputc('\n', cli->out.file);
		if (!err)
			err = print_totals(cli, sums);
	} else if (!err) {
		fputs("The cost of an event is not in this log: its recorder did not measure it, or was "
		      "stopped before it could write it.\n",
		      cli->out.file);
	}
	print_doubts(cli, report);
	fputc('\n', cli->out.file);
	return err;
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
		json_member_u64(json, "in_memory", class->memory_cnt);
		member_ps(json, "entry_ns", price.has_entry, price.entry_ps);
		member_ps(json, "run_ns", price.has_body, price.body_ps);
		json_member_u64(json, "timed", class->timed_event_cnt);
		json_member_u64(json, "calibrated", class->calibration_cnt);
		json_object_end(json);
	}
	json_object_end(json);
	json_object_end(json);
}

void cost_row_json(const struct cost_report *report, const struct cost_row *row, struct json *json)
{
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
}

void cost_tail_json(const struct cost_report *report, struct json *json)
{
	cost_totals_json(json, cost_report_sums(report));
	json_member_u64(json, "lower_bounds", cost_report_lower_bound_cnt(report));
	json_member_u64(json, "uncounted", cost_report_uncounted_cnt(report));
	json_member_bool(json, "coarse", cost_report_is_coarse(report));
}
