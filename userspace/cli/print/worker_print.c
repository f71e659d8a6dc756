/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/print/worker_print.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"

static uint64_t watched_ns(const struct worker_row *row)
{
	return row->to_ns > row->from_ns ? row->to_ns - row->from_ns : 0;
}

void worker_append_thread(struct text *text, const struct worker_row *row)
{
	text_append_escaped(text, row->name, row->name_length);
	text_append_format(text, "%s%" PRIu32, row->name_length ? " " : "", row->tid);
}

static void add_time(struct table *table, uint64_t ns)
{
	char time[UNITS_SIZE];

	table_cell(table, ns ? TABLE_PLAIN : TABLE_DIM, ns ? units_format_duration(time, ns) : "\xc2\xb7");
}

static void add_share(struct table *table, uint64_t part_ns, uint64_t whole_ns)
{
	char share[UNITS_SIZE];

	table_cell(table, TABLE_PLAIN, part_ns ? units_format_share(share, part_ns, whole_ns) : "");
}

static void add_worker(struct table *table, const struct worker_row *row,
		       const struct worker_table_options *options, bool has_unknown)
{
	uint64_t active_ns = row->on_cpu_ns + row->runnable_ns, watched = watched_ns(row);
	char count[UNITS_SIZE];
	struct text name = { 0 };

	worker_append_thread(&name, row);
	table_cell(table, TABLE_BOLD, text_string(&name));
	text_release(&name);
	add_time(table, watched);
	add_time(table, row->on_cpu_ns);
	add_share(table, row->on_cpu_ns, watched);
	table_cell(table, TABLE_PLAIN, units_format_count(count, row->period_cnt));
	add_time(table, row->period_cnt ? active_ns / row->period_cnt : 0);
	if (options->has_spans) {
		table_cell(table, TABLE_PLAIN, row->stay_cnt ? units_format_count(count, row->stay_cnt) : "");
		add_time(table, row->in_spans_ns);
		add_share(table, row->in_spans_ns, watched);
	} else {
		add_time(table, row->runnable_ns);
		add_time(table, row->blocked_ns);
	}
	if (has_unknown)
		add_time(table, worker_row_unknown_ns(row));
	if (options->has_queue)
		add_time(table, row->parked_ns);
	table_end_row(table);
}

#define COLUMN_MAX 11

static bool any_unknown(const struct worker_report *report, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++)
		if (worker_row_unknown_ns(worker_report_row(report, i)))
			return true;
	return false;
}

int worker_table_print(const struct worker_report *report, const struct screen *screen,
		       const struct worker_table_options *options)
{
	static const char active[] = "active", spans[] = "in spans";
	static const struct table_column always[] = {
		{ "thread", TABLE_LEFT, NULL },	  { "seen for", TABLE_RIGHT, NULL },
		{ "on-CPU", TABLE_RIGHT, NULL },  { "CPU/wall", TABLE_RIGHT, NULL },
		{ "times", TABLE_RIGHT, active }, { "mean", TABLE_RIGHT, active },
	};
	static const struct table_column with_spans[] = { { "stays", TABLE_RIGHT, spans },
							  { "time", TABLE_RIGHT, spans },
							  { "of all", TABLE_RIGHT, spans } };
	static const struct table_column without_spans[] = { { "runnable", TABLE_RIGHT, NULL },
							     { "blocked", TABLE_RIGHT, NULL } };
	static const struct table_column unknown = { "unknown", TABLE_RIGHT, NULL },
					 idle = { "idle", TABLE_RIGHT, NULL };
	size_t cnt = worker_report_row_count(report),
	       shown_cnt = options->row_limit && options->row_limit < cnt ? options->row_limit : cnt;
	bool has_unknown = any_unknown(report, shown_cnt);
	struct table_column columns[COLUMN_MAX];
	size_t column_cnt = sizeof(always) / sizeof(*always);
	struct table *table;
	int err = 0;

	memcpy(columns, always, sizeof(always));
	memcpy(columns + column_cnt, options->has_spans ? with_spans : without_spans,
	       options->has_spans ? sizeof(with_spans) : sizeof(without_spans));
	column_cnt += (options->has_spans ? sizeof(with_spans) : sizeof(without_spans)) / sizeof(*columns);
	if (has_unknown)
		columns[column_cnt++] = unknown;
	if (options->has_queue)
		columns[column_cnt++] = idle;
	table = table_new(columns, column_cnt);
	for (size_t i = 0; i < shown_cnt; i++)
		add_worker(table, worker_report_row(report, i), options, has_unknown);
	if (cnt > 0)
		err = screen_print_table(screen, table);
	else
		fputs("no threads\n", screen->file);
	table_free(table);
	if (shown_cnt < cnt)
		fprintf(screen->file, "%zu more threads: 'txtrace workers --limit 0' shows them\n",
			cnt - shown_cnt);
	fputc('\n', screen->file);
	return err;
}
