/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What tracing added to the spans of each label: the events that their threads
 * paid for while they were in them, as the log tells, times what one of each
 * class cost. docs/attribution.md, "What tracing cost", defines each count.
 * Records in, rows out; no I/O.
 *
 * Memory follows the labels, the live threads and the spans that moved between
 * threads and are open, up to a limit; beyond it labels are counted together,
 * and events of new threads are not counted, which is told.
 */
#ifndef COST_REPORT_H
#define COST_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/cost/cost_history.h"
#include "analyze/cost/cost_sums.h"
#include "analyze/span_programs.h"
#include "txtrace/log.h"

struct cost_row {
	struct txtrace_string label; /* owned by the report; empty: unknown, or is_rest */
	bool is_rest;                /* those for which there was no memory */
	uint64_t span_cnt;           /* exact ones */
	uint64_t wall_ns;
	uint64_t on_cpu_ns;
	uint64_t cnts[COST_HISTORY_CLASSES]; /* events in them, by enum cost_class */
	uint64_t programs;                   /* that they are of, as a mask: see cost_report_programs() */
};

struct cost_report;

#define COST_REPORT_MEMORY_BYTES (512ull << 20)

/* 0: COST_REPORT_MEMORY_BYTES. NULL: no memory */
struct cost_report *cost_report_new(uint64_t memory_max_bytes);
void cost_report_free(struct cost_report *report); /* NULL is allowed */

void cost_report_see_capture(struct cost_report *report, const struct txtrace_log_info *info);

/* Another capture begins; command as in its header. 0 or -ENOMEM. */
int cost_report_begin_capture(struct cost_report *report, const char *command);

/* is_wanted: of a span, whether it has a row; its events count for others in any case. 0 or -ENOMEM. */
int cost_report_add(struct cost_report *report, const struct txtrace_record *record, bool is_wanted);

/* The most added first. */
void cost_report_sort(struct cost_report *report);

size_t cost_report_row_cnt(const struct cost_report *report);
const struct cost_row *cost_report_row(const struct cost_report *report, size_t idx);

/* What the row's events cost in all. */
uint64_t cost_report_added_ns(const struct cost_report *report, const struct cost_row *row);

const struct span_programs *cost_report_programs(const struct cost_report *report);
const struct cost_sums *cost_report_sums(const struct cost_report *report);
uint64_t cost_report_lower_bound_cnt(const struct cost_report *report); /* in no row */
/* events for which there was no memory */
uint64_t cost_report_uncounted_cnt(const struct cost_report *report);
/* memory ran out: what long spans paid for may be too much */
bool cost_report_is_coarse(const struct cost_report *report);

#endif
