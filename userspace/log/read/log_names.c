/* SPDX-License-Identifier: BSD-2-Clause */
/* The names of the log's numbers, and the sums of a ledger: what needs no file. */
#include "base/saturating.h"
#include "txtrace/log.h"

#define LENGTH_OF(array) (sizeof(array) / sizeof((array)[0]))

static const char *const block_reasons[TXTRACE_BLOCK_REASON_COUNT] = {
	[TXTRACE_BLOCK_LOCK] = "lock",       [TXTRACE_BLOCK_DISK] = "disk",
	[TXTRACE_BLOCK_NETWORK] = "network", [TXTRACE_BLOCK_SLEEP] = "sleep",
	[TXTRACE_BLOCK_PAGE_FAULT] = "page_fault", [TXTRACE_BLOCK_PIPE] = "pipe",
	[TXTRACE_BLOCK_WAIT] = "wait",       [TXTRACE_BLOCK_STOPPED] = "stopped",
	[TXTRACE_BLOCK_OTHER] = "other",     [TXTRACE_BLOCK_THROTTLED] = "throttled",
	[TXTRACE_BLOCK_POLL] = "poll",
};

static const char *const record_kinds[TXTRACE_RECORD_KIND_COUNT] = {
	[TXTRACE_RECORD_SPAN] = "span",           [TXTRACE_RECORD_RUN] = "run",
	[TXTRACE_RECORD_WAKE] = "wake",           [TXTRACE_RECORD_THREAD] = "thread",
	[TXTRACE_RECORD_ATTRIBUTE] = "attribute", [TXTRACE_RECORD_INSTANT] = "instant",
	[TXTRACE_RECORD_COUNTER] = "counter",     [TXTRACE_RECORD_LINK] = "link",
	[TXTRACE_RECORD_LOSS] = "loss",           [TXTRACE_RECORD_OPEN_SPAN] = "open_span",
	[TXTRACE_RECORD_SUMMARY] = "summary",     [TXTRACE_RECORD_DROPPED] = "dropped",
	[TXTRACE_RECORD_CONTINUED] = "continued", [TXTRACE_RECORD_STAY] = "stay",
	[TXTRACE_RECORD_OBJECT] = "object",       [TXTRACE_RECORD_DAMAGE] = "damage",
	[TXTRACE_RECORD_COST] = "cost",           [TXTRACE_RECORD_OTHER_RUN] = "other_run",
	[TXTRACE_RECORD_PROCESS] = "process",     [TXTRACE_RECORD_TRIGGER] = "trigger",
	[TXTRACE_RECORD_STACK] = "stack",         [TXTRACE_RECORD_FRAMES] = "frames",
	[TXTRACE_RECORD_OVERLAP] = "overlap",
};

static const char *const left_out[TXTRACE_LEFT_OUT_COUNT] = {
	[TXTRACE_LEFT_OUT_SAMPLE] = "sample",
	[TXTRACE_LEFT_OUT_LABEL] = "label",
	[TXTRACE_LEFT_OUT_SHORT] = "short",
	[TXTRACE_LEFT_OUT_NO_ROOM] = "no_room",
	[TXTRACE_LEFT_OUT_MARK] = "mark",
};

static const char *const anomalies[TXTRACE_ANOMALY_COUNT] = {
	[TXTRACE_ANOMALY_END_UNKNOWN] = "end_unknown",
	[TXTRACE_ANOMALY_ENTER_UNKNOWN] = "enter_unknown",
	[TXTRACE_ANOMALY_EXIT_UNKNOWN] = "exit_unknown",
	[TXTRACE_ANOMALY_EXIT_UNENTERED] = "exit_unentered",
	[TXTRACE_ANOMALY_BEGIN_TWICE] = "begin_twice",
	[TXTRACE_ANOMALY_MARK_UNKNOWN] = "mark_unknown",
	[TXTRACE_ANOMALY_UNFINISHED] = "unfinished",
	[TXTRACE_ANOMALY_CLOCK_MISMATCH] = "clock_mismatch",
	[TXTRACE_ANOMALY_IMBALANCE] = "imbalance",
};

const char *txtrace_block_reason_name(unsigned int reason)
{
	return reason < LENGTH_OF(block_reasons) ? block_reasons[reason] : NULL;
}

const char *txtrace_record_kind_name(unsigned int kind)
{
	return kind < LENGTH_OF(record_kinds) ? record_kinds[kind] : NULL;
}

const char *txtrace_anomaly_name(unsigned int anomaly)
{
	return anomaly < LENGTH_OF(anomalies) ? anomalies[anomaly] : NULL;
}

uint64_t txtrace_ledger_blocked_ns(const struct txtrace_ledger *ledger)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < TXTRACE_BLOCK_REASON_COUNT; i++)
		sum = add_saturating(sum, ledger->blocked_ns[i]);
	return sum;
}

uint64_t txtrace_ledger_sum_ns(const struct txtrace_ledger *ledger)
{
	uint64_t sum = txtrace_ledger_blocked_ns(ledger);

	sum = add_saturating(sum, ledger->on_cpu_ns);
	sum = add_saturating(sum, ledger->runnable_ns);
	sum = add_saturating(sum, ledger->detached_ns);
	sum = add_saturating(sum, ledger->interrupt_ns);
	return add_saturating(sum, ledger->unknown_ns);
}

const char *txtrace_left_out_name(unsigned int number)
{
	return number < LENGTH_OF(left_out) ? left_out[number] : NULL;
}
