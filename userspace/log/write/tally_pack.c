/* SPDX-License-Identifier: BSD-2-Clause */
#include "log/write/tally_pack.h"

#include <string.h>

#include "log/format/log_field.h"

static void pack_loss(const struct txtrace_loss *loss, uint64_t *fields)
{
	fields[LOSS_LENGTH] = loss->last_ns - loss->first_ns;
	fields[LOSS_CPU] = loss->cpu;
	fields[LOSS_SPAN_EVENTS] = loss->span_event_cnt;
	fields[LOSS_SCHED_EVENTS] = loss->sched_event_cnt;
}

static void pack_summary(const struct txtrace_summary *summary, uint64_t *fields)
{
	fields[SUMMARY_SENT] = summary->sent_cnt;
	fields[SUMMARY_RECEIVED] = summary->received_cnt;
	fields[SUMMARY_LOST] = summary->lost_cnt;
	fields[SUMMARY_LOST_CLOCKS] = summary->lost_clocks_cnt;
	fields[SUMMARY_LATE] = summary->late_cnt;
	memcpy(fields + SUMMARY_ANOMALIES, summary->anomaly_cnt, sizeof(summary->anomaly_cnt));
	memcpy(fields + SUMMARY_LEFT_OUT, summary->left_out_cnt, sizeof(summary->left_out_cnt));
}

static void pack_dropped(const struct txtrace_dropped *dropped, uint64_t *fields)
{
	fields[DROPPED_SINCE_FIRST] = dropped->time_ns - dropped->first_ns;
	fields[DROPPED_SINCE_LAST] = dropped->time_ns - dropped->last_ns;
	fields[DROPPED_BATCHES] = dropped->batch_cnt;
	for (uint32_t kind = 1; kind < LOG_KIND_COUNT; kind++)
		fields[DROPPED_RECORDS + kind - 1] = dropped->record_cnt[kind];
}

static void pack_continued(const struct txtrace_continued *continued, uint64_t *fields)
{
	fields[CONTINUED_NEXT_PART] = continued->next_part;
}

static void pack_cost(const struct txtrace_cost *cost, uint64_t *fields)
{
	fields[COST_SINCE] = cost->time_ns - cost->since_ns;
	fields[COST_EVENTS] = cost->event_cnt;
	fields[COST_TIMED_EVENTS] = cost->timed_event_cnt;
	fields[COST_TIMED_RUNS] = cost->timed_run_cnt;
	fields[COST_TIMED_RUN_NS] = cost->timed_run_ns;
	fields[COST_ENTRY] = cost->entry;
	fields[COST_ENTRY_PS] = cost->entry_ps;
	fields[COST_EMPTY_RUN_PS] = cost->empty_run_ps;
	fields[COST_IDLE_RUN_PS] = cost->idle_run_ps;
	fields[COST_CALIBRATIONS] = cost->calibration_cnt;
	fields[COST_CPU_NS] = cost->cpu_ns;
	fields[COST_RING_BYTES] = cost->ring_bytes;
	fields[COST_LOG_BYTES] = cost->log_bytes;
}

void tally_pack(const struct txtrace_record *record, uint64_t *fields)
{
	if (record->kind == TXTRACE_RECORD_LOSS)
		pack_loss(&record->loss, fields);
	else if (record->kind == TXTRACE_RECORD_SUMMARY)
		pack_summary(&record->summary, fields);
	else if (record->kind == TXTRACE_RECORD_DROPPED)
		pack_dropped(&record->dropped, fields);
	else if (record->kind == TXTRACE_RECORD_CONTINUED)
		pack_continued(&record->continued, fields);
	else if (record->kind == TXTRACE_RECORD_COST)
		pack_cost(&record->cost, fields);
}
