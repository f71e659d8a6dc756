/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How threads were blocked, by reason, over all of them, in a span or not. A
 * block is told by two stays on a CPU: the one before it says why it began, the
 * one behind it how long it was. Records in, rows out; no I/O.
 */
#ifndef BLOCK_REPORT_H
#define BLOCK_REPORT_H

#include "analyze/span_programs.h"
#include "analyze/quantile.h"
#include "txtrace/log.h"

#define BLOCK_REASON_UNKNOWN TXTRACE_BLOCK_REASON_COUNT /* the stay before it is not in the log */
#define BLOCK_ROW_COUNT (TXTRACE_BLOCK_REASON_COUNT + 1)
#define BLOCK_REPORT_THREAD_MAX 1000000 /* that live at a time; blocks of more have an unknown reason */

struct block_row {
	uint64_t cnt;
	uint64_t sum_ns;
	struct quantile block_ns;
	/* of the ledgers of exact spans without a parent, no time twice; of UNKNOWN: 0 */
	uint64_t in_spans_ns;
};

struct block_report;

struct block_report *block_report_new(void); /* NULL: no memory */
void block_report_free(struct block_report *report);

/* Another capture begins; command as in its header. 0 or -ENOMEM. */
int block_report_begin_capture(struct block_report *report, const char *command);

int block_report_add(struct block_report *report, const struct txtrace_record *record); /* 0 or -ENOMEM */

/* By enum txtrace_block_reason, or BLOCK_REASON_UNKNOWN. */
const struct block_row *block_report_row(const struct block_report *report, unsigned int reason);

/* Whose blocks the rows add up, as a mask of programs that are known. */
uint64_t block_report_program_mask(const struct block_report *report);
const struct span_programs *block_report_programs(const struct block_report *report);

#endif
