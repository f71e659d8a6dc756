/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/wait/block_report.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/root_overlap.h"
#include "base/id_map.h"
#include "base/saturating.h"

struct last_run {
	uint64_t end_ns;
	uint8_t reason; /* or BLOCK_REASON_UNKNOWN: it did not block */
};

struct block_report {
	struct block_row rows[BLOCK_ROW_COUNT];
	struct id_map threads; /* (pid, tid) -> struct last_run */
	struct root_overlap overlap;
	struct span_programs programs;
	uint64_t program_mask; /* whose blocks there are */
};

struct block_report *block_report_new(void)
{
	struct block_report *report = calloc(1, sizeof(*report));

	if (!report)
		return NULL;
	id_map_init(&report->threads);
	span_programs_init(&report->programs);
	return report;
}

void block_report_free(struct block_report *report)
{
	struct last_run *last;

	if (!report)
		return;
	for (size_t i = 0; (last = id_map_next(&report->threads, &i));)
		free(last);
	id_map_release(&report->threads);
	span_programs_release(&report->programs);
	for (unsigned int i = 0; i < BLOCK_ROW_COUNT; i++)
		quantile_release(&report->rows[i].block_ns);
	free(report);
}

static int add_block(struct block_report *report, unsigned int reason, uint64_t ns)
{
	struct block_row *row = &report->rows[reason];
	size_t grown_bytes = 0;

	row->cnt++;
	increase(&row->sum_ns, ns);
	return quantile_add(&row->block_ns, ns, true, &grown_bytes);
}

/* Where stays are missing in between, the reason is that of another block. */
static unsigned int reason_before(const struct last_run *last, const struct txtrace_run *run)
{
	if (run->has_wait_end && run->wait_reason < TXTRACE_BLOCK_REASON_COUNT)
		return run->wait_reason;
	if (!last || last->end_ns + run->blocked_ns + run->runnable_ns != run->begin_ns)
		return BLOCK_REASON_UNKNOWN;
	return last->reason;
}

static int add_run(struct block_report *report, const struct txtrace_run *run)
{
	struct last_run *last = id_map_get(&report->threads, run->pid, run->tid);
	int err = 0;

	if (run->blocked_ns > 0) {
		report->program_mask |= span_programs_of(&report->programs, run->pid);
		err = add_block(report, reason_before(last, run), run->blocked_ns);
	}
	if (!last && report->threads.cnt < BLOCK_REPORT_THREAD_MAX) {
		last = malloc(sizeof(*last));
		if (!last || id_map_put(&report->threads, run->pid, run->tid, last)) {
			free(last);
			return -ENOMEM;
		}
	}
	if (!last)
		return err;
	last->end_ns = run->end_ns;
	last->reason = run->left_as == TXTRACE_LEFT_BLOCKED && run->reason < TXTRACE_BLOCK_REASON_COUNT
			       ? run->reason
			       : BLOCK_REASON_UNKNOWN;
	if (run->left_as == TXTRACE_LEFT_DEAD)
		free(id_map_remove(&report->threads, run->pid, run->tid));
	return err;
}

int block_report_begin_capture(struct block_report *report, const char *command)
{
	return span_programs_begin_capture(&report->programs, command);
}

int block_report_add(struct block_report *report, const struct txtrace_record *record)
{
	const struct txtrace_span *span = &record->span;
	struct txtrace_span alone;

	root_overlap_see(&report->overlap, record);
	if (record->kind == TXTRACE_RECORD_RUN)
		return add_run(report, &record->run);
	if (record->kind == TXTRACE_RECORD_PROCESS)
		return span_programs_see(&report->programs, &record->process);
	if (record->kind != TXTRACE_RECORD_SPAN || span->parent || (span->flags & TXTRACE_SPAN_LOWER_BOUND))
		return 0;
	span = root_overlap_take_off(&report->overlap, span, &alone);
	for (unsigned int i = 0; i < TXTRACE_BLOCK_REASON_COUNT; i++)
		increase(&report->rows[i].in_spans_ns, span->ledger.blocked_ns[i]);
	return 0;
}

const struct block_row *block_report_row(const struct block_report *report, unsigned int reason)
{
	return &report->rows[reason];
}

uint64_t block_report_program_mask(const struct block_report *report)
{
	return report->program_mask;
}

const struct span_programs *block_report_programs(const struct block_report *report)
{
	return &report->programs;
}
