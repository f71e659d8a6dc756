/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/print/fleet_columns.h"

#include <math.h>
#include <time.h>

#include "cli/print/ledger_part.h"
#include "cli/print/tail_print.h"
#include "fleet/fleet_diff.h"
#include "log/format/record_table.h"

static const char split[] = "mean split";

/* ---- report ---- */

static void get_name(const void *at, struct cell *cell)
{
	cell->string = ((const struct fleet_report_row *)at)->name;
	text_append(&cell->words, "(none)");
}

static void get_mean(const void *at, struct cell *cell)
{
	const struct span_sums *sums = &((const struct fleet_report_row *)at)->exact;

	cell->number = sums->cnt ? sums->wall_ns / sums->cnt : 0;
	cell->is_unknown = !sums->cnt;
}

static void set_share(const void *at, struct cell *cell, uint64_t ns)
{
	cell->number = ns;
	cell->whole = txtrace_ledger_sum_ns(&((const struct fleet_report_row *)at)->exact.ledger);
	cell->is_unknown = !cell->whole;
}

static void get_on_cpu(const void *at, struct cell *cell)
{
	set_share(at, cell, ((const struct fleet_report_row *)at)->exact.ledger.on_cpu_ns);
}

static void get_runnable(const void *at, struct cell *cell)
{
	set_share(at, cell, ((const struct fleet_report_row *)at)->exact.ledger.runnable_ns);
}

static void get_blocked(const void *at, struct cell *cell)
{
	set_share(at, cell, txtrace_ledger_blocked_ns(&((const struct fleet_report_row *)at)->exact.ledger));
}

static void get_detached(const void *at, struct cell *cell)
{
	set_share(at, cell, ((const struct fleet_report_row *)at)->exact.ledger.detached_ns);
}

static void get_unknown(const void *at, struct cell *cell)
{
	set_share(at, cell, ((const struct fleet_report_row *)at)->exact.ledger.unknown_ns);
}

static void get_stolen(const void *at, struct cell *cell)
{
	set_share(at, cell, ((const struct fleet_report_row *)at)->exact.ledger.stolen_ns);
}

static void get_blocked_ns(const void *at, struct cell *cell)
{
	cell->number = txtrace_ledger_blocked_ns(&((const struct fleet_report_row *)at)->exact.ledger);
}

#define SUM(name_, member_)                                                             \
	COLUMN_OF(name_, NULL, NULL, COLUMN_DURATION, struct fleet_report_row, member_, \
		  .flags = COLUMN_HIDDEN)
#define REASON(STRUCT, name_, member_, reason_)                            \
	COLUMN_OF(name_ "_ns", NULL, NULL, COLUMN_DURATION, struct STRUCT, \
		  member_.blocked_ns[TXTRACE_BLOCK_##reason_], .flags = COLUMN_HIDDEN)
#define REASONS(STRUCT, member_)                                                                          \
	REASON(STRUCT, "lock", member_, LOCK), REASON(STRUCT, "disk", member_, DISK),                     \
		REASON(STRUCT, "network", member_, NETWORK), REASON(STRUCT, "sleep", member_, SLEEP),     \
		REASON(STRUCT, "page_fault", member_, PAGE_FAULT), REASON(STRUCT, "pipe", member_, PIPE), \
		REASON(STRUCT, "wait", member_, WAIT), REASON(STRUCT, "stopped", member_, STOPPED),       \
		REASON(STRUCT, "other", member_, OTHER), REASON(STRUCT, "throttled", member_, THROTTLED), \
		REASON(STRUCT, "poll", member_, POLL)

const struct column fleet_report_columns[] = {
	{ "name", "label", NULL, COLUMN_STRING, COLUMN_KEY, .get = get_name, .style = TABLE_BOLD },
	COLUMN_OF("hosts", NULL, NULL, COLUMN_COUNT, struct fleet_report_row, host_cnt),
	COLUMN_OF("spans", NULL, NULL, COLUMN_COUNT, struct fleet_report_row, exact.cnt),
	COLUMN_OF("lower_bounds", ">=", NULL, COLUMN_COUNT, struct fleet_report_row, lower_bounds.cnt,
		  .flags = COLUMN_DOT),
	COLUMN_OF("p50_ns", "p50", NULL, COLUMN_DURATION, struct fleet_report_row, p50_ns),
	COLUMN_OF("p90_ns", "p90", NULL, COLUMN_DURATION, struct fleet_report_row, p90_ns,
		  .flags = COLUMN_HIDDEN),
	COLUMN_OF("p99_ns", "p99", NULL, COLUMN_DURATION, struct fleet_report_row, p99_ns),
	COLUMN_OF("min_ns", "min", NULL, COLUMN_DURATION, struct fleet_report_row, min_ns,
		  .flags = COLUMN_HIDDEN),
	COLUMN_OF("max_ns", "max", NULL, COLUMN_DURATION, struct fleet_report_row, max_ns),
	{ "mean_ns", "mean", NULL, COLUMN_DURATION, COLUMN_HIDDEN, .get = get_mean },
	{ "on_cpu_percent", "on-CPU", split, COLUMN_SHARE, COLUMN_DOT, .get = get_on_cpu },
	{ "runnable_percent", "runnable", split, COLUMN_SHARE, COLUMN_DOT, .get = get_runnable },
	{ "blocked_percent", "blocked", split, COLUMN_SHARE, COLUMN_DOT, .get = get_blocked },
	{ "detached_percent", "detached", split, COLUMN_SHARE, COLUMN_DOT, .get = get_detached },
	{ "unknown_percent", "unknown", split, COLUMN_SHARE, COLUMN_DOT, .get = get_unknown },
	{ "stolen_percent", "stolen", split, COLUMN_SHARE, COLUMN_DOT | COLUMN_HIDDEN, .get = get_stolen },
	SUM("wall_ns", exact.wall_ns),
	SUM("work_ns", exact.work_ns),
	SUM("on_cpu_ns", exact.ledger.on_cpu_ns),
	SUM("runnable_ns", exact.ledger.runnable_ns),
	{ "blocked_ns", NULL, NULL, COLUMN_DURATION, COLUMN_HIDDEN, .get = get_blocked_ns },
	REASONS(fleet_report_row, exact.ledger),
	SUM("detached_ns", exact.ledger.detached_ns),
	SUM("unknown_ns", exact.ledger.unknown_ns),
	SUM("interrupt_ns", exact.ledger.interrupt_ns),
	SUM("stolen_ns", exact.ledger.stolen_ns),
	COLUMN_END,
};

/* ---- spans ---- */

static void get_span_wall(const void *at, struct cell *cell)
{
	const struct txtrace_span *span = &((const struct fleet_span *)at)->span;

	cell->number = span_wall_ns(span);
	cell->bound = span->flags & TXTRACE_SPAN_LOWER_BOUND ? ">=" : NULL;
}

static void get_span_label(const void *at, struct cell *cell)
{
	cell->string = ((const struct fleet_span *)at)->span.label;
	text_append(&cell->words, "(unknown label)");
}

/* "2026-11-29 07:43:01.123456789" */
static void get_ended(const void *at, struct cell *cell)
{
	uint64_t unix_ns = ((const struct fleet_span *)at)->unix_ns;
	time_t seconds = (time_t)(unix_ns / 1000000000);
	char date[32];
	struct tm broken;

	if (!gmtime_r(&seconds, &broken) || !strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S", &broken))
		return;
	text_append_format(&cell->words, "%s.%09u", date, (unsigned int)(unix_ns % 1000000000));
}

static void get_span_blocked(const void *at, struct cell *cell)
{
	cell->number = txtrace_ledger_blocked_ns(&((const struct fleet_span *)at)->span.ledger);
}

#define TEXT(member_)                                                    \
	static void get_##member_(const void *at, struct cell *cell)     \
	{                                                                \
		cell->string = ((const struct fleet_span *)at)->member_; \
	}
TEXT(host)
TEXT(capture)
TEXT(container)
TEXT(pod)

static void get_tag(const void *at, struct cell *cell)
{
	cell->string = ((const struct fleet_span *)at)->span.tag;
}

#define SPAN(name_, title_, type_, member_, ...) \
	COLUMN_OF(name_, title_, NULL, COLUMN_##type_, struct fleet_span, member_, ##__VA_ARGS__)
#define HIDDEN .flags = COLUMN_HIDDEN

const struct column fleet_span_columns[] = {
	{ "wall_ns", "wall", NULL, COLUMN_DURATION, .get = get_span_wall, .style = TABLE_BOLD },
	{ "label", NULL, NULL, COLUMN_STRING, .get = get_span_label, .style = TABLE_BOLD },
	{ "host", NULL, NULL, COLUMN_STRING, .get = get_host },
	{ "ended", "ended, UTC", NULL, COLUMN_WORDS, .get = get_ended },
	SPAN("on_cpu_ns", "on-CPU", DURATION, span.ledger.on_cpu_ns, .flags = COLUMN_DOT),
	SPAN("runnable_ns", "runnable", DURATION, span.ledger.runnable_ns, .flags = COLUMN_DOT),
	{ "blocked_ns", "blocked", NULL, COLUMN_DURATION, COLUMN_DOT, .get = get_span_blocked },
	{ "tag", NULL, NULL, COLUMN_STRING, .get = get_tag },
	SPAN("id", NULL, ID, span.id, HIDDEN),
	SPAN("parent", NULL, ID, span.parent, HIDDEN),
	SPAN("pid", NULL, ID, span.pid, .flags = COLUMN_HIDDEN | COLUMN_U32),
	SPAN("tid", NULL, ID, span.tid, .flags = COLUMN_HIDDEN | COLUMN_U32),
	{ "capture", NULL, NULL, COLUMN_STRING, COLUMN_HIDDEN, .get = get_capture },
	{ "container", NULL, NULL, COLUMN_STRING, COLUMN_HIDDEN, .get = get_container },
	{ "pod", NULL, NULL, COLUMN_STRING, COLUMN_HIDDEN, .get = get_pod },
	SPAN("work_ns", "work", DURATION, span.work_ns, HIDDEN),
	REASONS(fleet_span, span.ledger),
	SPAN("detached_ns", NULL, DURATION, span.ledger.detached_ns, HIDDEN),
	SPAN("unknown_ns", NULL, DURATION, span.ledger.unknown_ns, HIDDEN),
	SPAN("interrupt_ns", NULL, DURATION, span.ledger.interrupt_ns, HIDDEN),
	SPAN("stolen_ns", NULL, DURATION, span.ledger.stolen_ns, HIDDEN),
	COLUMN_END,
};

/* ---- diff ---- */

static const struct fleet_report_row *side_of(const void *at, size_t side, struct cell *cell)
{
	const struct fleet_report_row *row = ((const struct fleet_diff_row *)at)->sides[side];

	cell->is_unknown = !row || !row->exact.cnt;
	return cell->is_unknown ? NULL : row;
}

#define SIDE(name_, side_, value_)                                             \
	static void get_##name_(const void *at, struct cell *cell)             \
	{                                                                      \
		const struct fleet_report_row *row = side_of(at, side_, cell); \
		if (row)                                                       \
			cell->number = value_;                                 \
	}
SIDE(base_spans, 0, row->exact.cnt)
SIDE(new_spans, 1, row->exact.cnt)
SIDE(base_mean, 0, row->exact.wall_ns / row->exact.cnt)
SIDE(new_mean, 1, row->exact.wall_ns / row->exact.cnt)
SIDE(base_p50, 0, row->p50_ns)
SIDE(new_p50, 1, row->p50_ns)
SIDE(base_p99, 0, row->p99_ns)
SIDE(new_p99, 1, row->p99_ns)

static void get_diff_label(const void *at, struct cell *cell)
{
	cell->string = ((const struct fleet_diff_row *)at)->label;
	text_append(&cell->words, "(unknown label)");
}

static void get_verdict(const void *at, struct cell *cell)
{
	text_append(&cell->words, fleet_verdict_names[((const struct fleet_diff_row *)at)->verdict]);
}

static bool has_both(const struct fleet_diff_row *row)
{
	return row->sides[0] && row->sides[1];
}

static void get_more(const void *at, struct cell *cell)
{
	cell->difference = ((const struct fleet_diff_row *)at)->mean_more_ns;
	cell->is_unknown = !has_both(at);
}

static void get_part(const void *at, struct cell *cell)
{
	const struct fleet_diff_row *row = at;

	if (row->part_more_ns && has_both(row))
		text_append(&cell->words, tail_part_name(row->most_part));
}

static void get_part_more(const void *at, struct cell *cell)
{
	cell->difference = ((const struct fleet_diff_row *)at)->part_more_ns;
	cell->is_unknown = !has_both(at);
}

static void get_p(const void *at, struct cell *cell)
{
	cell->real = ((const struct fleet_diff_row *)at)->p;
	cell->is_unknown = isnan(cell->real);
}

const struct column fleet_diff_columns[] = {
	{ "label", NULL, NULL, COLUMN_STRING, .get = get_diff_label, .style = TABLE_BOLD },
	{ "verdict", NULL, NULL, COLUMN_WORDS, .get = get_verdict },
	{ "base_spans", "spans", "base", COLUMN_COUNT, COLUMN_HIDDEN, .get = get_base_spans },
	{ "new_spans", "spans", "new", COLUMN_COUNT, COLUMN_HIDDEN, .get = get_new_spans },
	{ "base_mean_ns", "base mean", NULL, COLUMN_DURATION, .get = get_base_mean },
	{ "new_mean_ns", "new mean", NULL, COLUMN_DURATION, .get = get_new_mean },
	{ "more_ns", "more", NULL, COLUMN_SIGNED, .get = get_more },
	{ "most_part", "most in", NULL, COLUMN_WORDS, .get = get_part },
	{ "part_more_ns", "more there", NULL, COLUMN_SIGNED, .get = get_part_more },
	{ "base_p50_ns", "base p50", NULL, COLUMN_DURATION, COLUMN_HIDDEN, .get = get_base_p50 },
	{ "new_p50_ns", "new p50", NULL, COLUMN_DURATION, COLUMN_HIDDEN, .get = get_new_p50 },
	{ "base_p99_ns", "base p99", NULL, COLUMN_DURATION, .get = get_base_p99 },
	{ "new_p99_ns", "new p99", NULL, COLUMN_DURATION, .get = get_new_p99 },
	{ "p", NULL, NULL, COLUMN_REAL, COLUMN_HIDDEN, .get = get_p, .decimals = 4 },
	COLUMN_END,
};
