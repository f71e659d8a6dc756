/* SPDX-License-Identifier: BSD-2-Clause */
/* The names of the log's numbers, and the sums of a ledger: what needs no file. */
#include "base/saturating.h"
#include "log/format/record_table.h"

const char *txtrace_block_reason_name(unsigned int reason)
{
	return record_name(&record_block_reasons, reason);
}

const char *txtrace_record_kind_name(unsigned int kind)
{
	return kind < TXTRACE_RECORD_KIND_COUNT ? record_kinds[kind].name : NULL;
}

const char *txtrace_anomaly_name(unsigned int anomaly)
{
	return record_name(&record_anomalies, anomaly);
}

/* Runs for each span that is read, so the usual case is fast: no sum of values below 2^60 overflows. */
uint64_t txtrace_ledger_blocked_ns(const struct txtrace_ledger *ledger)
{
	uint64_t sum = 0, bits = 0;

	_Static_assert(TXTRACE_BLOCK_REASON_COUNT <= 16, "2^60 each");
#pragma GCC unroll 16
	for (unsigned int i = 0; i < TXTRACE_BLOCK_REASON_COUNT; i++) {
		sum += ledger->blocked_ns[i];
		bits |= ledger->blocked_ns[i];
	}
	if (!(bits >> 60))
		return sum;
	sum = 0;
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
	sum = add_saturating(sum, ledger->stolen_ns);
	return add_saturating(sum, ledger->unknown_ns);
}

const char *txtrace_left_out_name(unsigned int number)
{
	return record_name(&record_left_out, number);
}
