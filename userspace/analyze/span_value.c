/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/span_value.h"

#include <stddef.h>

#include "analyze/log_census.h"

const char *const span_value_names[] = {
	[SPAN_VALUE_WALL] = "wall",
	[SPAN_VALUE_WORK] = "work",
	[SPAN_VALUE_ON_CPU] = "on_cpu",
	[SPAN_VALUE_RUNNABLE] = "runnable",
	[SPAN_VALUE_BLOCKED] = "blocked",
	[SPAN_VALUE_DETACHED] = "detached",
	[SPAN_VALUE_UNKNOWN] = "unknown",
	[SPAN_VALUE_REASON + TXTRACE_BLOCK_LOCK] = "lock",
	[SPAN_VALUE_REASON + TXTRACE_BLOCK_DISK] = "disk",
	[SPAN_VALUE_REASON + TXTRACE_BLOCK_NETWORK] = "network",
	[SPAN_VALUE_REASON + TXTRACE_BLOCK_SLEEP] = "sleep",
	[SPAN_VALUE_REASON + TXTRACE_BLOCK_PAGE_FAULT] = "page_fault",
	[SPAN_VALUE_REASON + TXTRACE_BLOCK_PIPE] = "pipe",
	[SPAN_VALUE_REASON + TXTRACE_BLOCK_WAIT] = "wait",
	[SPAN_VALUE_REASON + TXTRACE_BLOCK_STOPPED] = "stopped",
	[SPAN_VALUE_REASON + TXTRACE_BLOCK_OTHER] = "other",
	[SPAN_VALUE_REASON + TXTRACE_BLOCK_THROTTLED] = "throttled",
	[SPAN_VALUE_REASON + TXTRACE_BLOCK_POLL] = "poll",
	[SPAN_VALUE_INTERRUPT] = "interrupt",
	[SPAN_VALUE_STOLEN] = "stolen",
	[SPAN_VALUE_COUNT] = NULL,
};

uint64_t span_value_ns(const struct txtrace_span *span, unsigned int value)
{
	const struct txtrace_ledger *ledger = &span->ledger;

	switch (value) {
	case SPAN_VALUE_WALL:
		return span_wall_ns(span);
	case SPAN_VALUE_WORK:
		return span->work_ns;
	case SPAN_VALUE_ON_CPU:
		return ledger->on_cpu_ns;
	case SPAN_VALUE_RUNNABLE:
		return ledger->runnable_ns;
	case SPAN_VALUE_BLOCKED:
		return txtrace_ledger_blocked_ns(ledger);
	case SPAN_VALUE_DETACHED:
		return ledger->detached_ns;
	case SPAN_VALUE_UNKNOWN:
		return ledger->unknown_ns;
	case SPAN_VALUE_INTERRUPT:
		return ledger->interrupt_ns;
	case SPAN_VALUE_STOLEN:
		return ledger->stolen_ns;
	default:
		return ledger->blocked_ns[value - SPAN_VALUE_REASON];
	}
}
