/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The report by label: how many spans, how long they took, and where their time
 * went. Records in, rows out; no I/O.
 *
 *	struct label_report *report = label_report_new(0);
 *
 *	label_report_add(report, &record);              each record of a log, or of a running capture, of any
 *	                                                kind
 *	label_report_sort(report);
 *	for (size_t i = 0; i < label_report_row_count(report); i++)
 *		use(label_report_row(report, i));
 *	label_report_free(report);
 *
 * Lower bounds are kept apart from the exact spans in every figure. Memory is
 * bounded: labels that come when it is used up are counted together, as one
 * row, and quantiles of the others lose precision; both is told.
 */
#ifndef LABEL_REPORT_H
#define LABEL_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/log_census.h"
#include "analyze/quantile.h"
#include "txtrace/log.h"

/* Some spans added up. Sums saturate. */
struct span_sums {
	uint64_t cnt;
	uint64_t wall_ns;
	uint64_t work_ns;
	struct txtrace_ledger ledger;
};

struct span_figures {
	struct span_sums sums;
	struct quantile wall_ns;
};

struct label_row {
	struct txtrace_string label; /* owned by the report; empty: unknown, or is_rest */
	bool is_rest;                /* not one label: those for which there was no memory */
	struct span_figures exact;
	struct span_figures *lower_bounds; /* NULL: none */
	uint64_t programs; /* which ones its spans are of, as a mask: see label_report_programs() */
};

#define LABEL_REPORT_MEMORY_BYTES (512ull << 20) /* a million labels fit */

struct label_report;

/* memory_max_bytes: 0 for LABEL_REPORT_MEMORY_BYTES. NULL: no memory. */
struct label_report *label_report_new(uint64_t memory_max_bytes);
void label_report_free(struct label_report *report);

/* The records that follow are of another capture, of this command. 0 or -ENOMEM. */
int label_report_begin_capture(struct label_report *report, const char *command);

/* 0 or -ENOMEM; the report stays usable. */
int label_report_add(struct label_report *report, const struct txtrace_record *record);

/*
 * Puts the rows in order: the most work first, exact and lower bounds together.
 * Rows come in any order before.
 */
void label_report_sort(struct label_report *report);

size_t label_report_row_count(const struct label_report *report);
const struct label_row *label_report_row(const struct label_report *report, size_t idx);

const struct log_census *label_report_census(const struct label_report *report);

/*
 * All spans, and those without a parent: their work and ledgers less what
 * root_overlap.h takes off: no time counts twice. Lower bounds are [1].
 */
void label_report_totals(const struct label_report *report, struct span_sums totals[2]);
const struct span_sums *label_report_top_level(const struct label_report *report);

/* What the bits of label_row.programs stand for. */
const struct span_programs *label_report_programs(const struct label_report *report);

/* Memory ran out: how many spans went to the row `is_rest`, and whether quantiles lost precision. */
uint64_t label_report_rest_count(const struct label_report *report);
bool label_report_is_coarse(const struct label_report *report);

#endif
