/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/print/worker_print.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t watched_ns(const struct worker_row *row)
{
	return row->to_ns > row->from_ns ? row->to_ns - row->from_ns : 0;
}

void worker_append_thread(struct text *text, const struct worker_row *row)
{
	text_append_escaped(text, row->name, row->name_length);
	text_append_format(text, "%s%" PRIu32, row->name_length ? " " : "", row->tid);
}

/* ---- columns ---- */

static void get_thread(const void *row, struct cell *cell)
{
	worker_append_thread(&cell->words, row);
}

static void get_thread_name(const void *row, struct cell *cell)
{
	const struct worker_row *worker = row;

	cell->string = (struct txtrace_string){ worker->name, (uint32_t)worker->name_length };
}

static void get_watched(const void *row, struct cell *cell)
{
	cell->number = watched_ns(row);
}

static void get_cpu_share(const void *row, struct cell *cell)
{
	const struct worker_row *worker = row;

	cell->number = worker->on_cpu_ns;
	cell->whole = watched_ns(worker);
}

static void get_mean_period(const void *row, struct cell *cell)
{
	const struct worker_row *worker = row;

	cell->number = worker->period_cnt ? (worker->on_cpu_ns + worker->runnable_ns) / worker->period_cnt
					  : 0;
}

static void get_span_share(const void *row, struct cell *cell)
{
	const struct worker_row *worker = row;

	cell->number = worker->in_spans_ns;
	cell->whole = watched_ns(worker);
}

static void get_unknown(const void *row, struct cell *cell)
{
	cell->number = worker_row_unknown_ns(row);
}

static const char active[] = "active", spans[] = "in spans";

#define WORKER(name, title, group, type, member, ...) \
	COLUMN_OF(name, title, group, COLUMN_##type, struct worker_row, member, ##__VA_ARGS__)
#define IF_ANY .flags = COLUMN_DOT

const struct column worker_columns[] = {
	{ "thread", NULL, NULL, COLUMN_WORDS, COLUMN_TABLE_ONLY, .get = get_thread, .style = TABLE_BOLD },
	WORKER("pid", NULL, NULL, ID, pid, .flags = COLUMN_HIDDEN | COLUMN_U32),
	WORKER("tid", NULL, NULL, ID, tid, .flags = COLUMN_HIDDEN | COLUMN_U32),
	{ "thread_name", NULL, NULL, COLUMN_STRING, COLUMN_HIDDEN, .get = get_thread_name },
	WORKER("from_ns", "from, s", NULL, MOMENT, from_ns, .flags = COLUMN_HIDDEN),
	WORKER("to_ns", "to, s", NULL, MOMENT, to_ns, .flags = COLUMN_HIDDEN),
	{ "seen_ns", "seen for", NULL, COLUMN_DURATION, COLUMN_DOT, .get = get_watched },
	WORKER("on_cpu_ns", "on-CPU", NULL, DURATION, on_cpu_ns, IF_ANY),
	{ "cpu_percent", "CPU/wall", NULL, COLUMN_SHARE, COLUMN_BLANK, .get = get_cpu_share },
	WORKER("runs", NULL, NULL, COUNT, run_cnt, .flags = COLUMN_HIDDEN),
	WORKER("active_periods", "times", active, COUNT, period_cnt),
	{ "mean_active_ns", "mean", active, COLUMN_DURATION, COLUMN_DOT, .get = get_mean_period },
	WORKER("longest_active_ns", "longest", active, DURATION, longest_period_ns,
	       .flags = COLUMN_HIDDEN | COLUMN_DOT),
	WORKER("stays", NULL, spans, COUNT, stay_cnt, .flags = COLUMN_BLANK),
	WORKER("in_spans_ns", "time", spans, DURATION, in_spans_ns, IF_ANY),
	{ "in_spans_percent", "of all", spans, COLUMN_SHARE, COLUMN_BLANK, .get = get_span_share },
	WORKER("runnable_ns", "runnable", NULL, DURATION, runnable_ns, IF_ANY),
	WORKER("blocked_ns", "blocked", NULL, DURATION, blocked_ns, IF_ANY),
	{ "unknown_ns", "unknown", NULL, COLUMN_DURATION, COLUMN_DOT, .get = get_unknown },
	WORKER("idle_sleeps", "idle sleeps", NULL, COUNT, parked_cnt, .flags = COLUMN_HIDDEN),
	WORKER("idle_ns", "idle", NULL, DURATION, parked_ns, IF_ANY),
	COLUMN_END,
};

bool worker_has_column(const struct worker_report *report, const struct worker_table_options *options,
		       const struct column *column)
{
	size_t cnt = worker_report_row_count(report);

	if (column->group == spans)
		return options->has_spans;
	if (strcmp(column->name, "runnable_ns") == 0 || strcmp(column->name, "blocked_ns") == 0)
		return !options->has_spans;
	if (strcmp(column->name, "idle_ns") == 0)
		return options->has_queue;
	if (strcmp(column->name, "unknown_ns") != 0)
		return !(column->flags & COLUMN_HIDDEN);
	for (size_t i = 0; i < cnt && (!options->row_limit || i < options->row_limit); i++) {
		if (worker_row_unknown_ns(worker_report_row(report, i)))
			return true;
	}
	return false;
}

int worker_table_print(const struct worker_report *report, const struct screen *screen,
		       const struct worker_table_options *options)
{
	size_t cnt = worker_report_row_count(report),
	       shown_cnt = options->row_limit && options->row_limit < cnt ? options->row_limit : cnt;
	const void **rows = calloc(shown_cnt + 1, sizeof(*rows));
	struct column_choice choice = { .cnt = 0 };
	int err = rows ? 0 : -ENOMEM;

	for (const struct column *column = worker_columns; column->name; column++) {
		if (worker_has_column(report, options, column))
			choice.columns[choice.cnt++] = column;
	}
	for (size_t i = 0; !err && i < shown_cnt; i++)
		rows[i] = worker_report_row(report, i);
	if (!err && cnt > 0)
		err = column_print_table(&choice, NULL, rows, shown_cnt, 0, screen);
	else
		fputs("no threads\n", screen->file);
	free(rows);
	if (shown_cnt < cnt)
		fprintf(screen->file, "%zu more threads: 'txtrace workers --limit 0' shows them\n",
			cnt - shown_cnt);
	fputc('\n', screen->file);
	return err;
}
