/* SPDX-License-Identifier: BSD-2-Clause */
#include "log/write/record_time.h"

uint64_t record_time_ns(const struct txtrace_record *record)
{
	switch (record->kind) {
	case TXTRACE_RECORD_SPAN:
		return record->span.end_ns;
	case TXTRACE_RECORD_RUN:
		return record->run.end_ns;
	case TXTRACE_RECORD_WAKE:
		return record->wake.time_ns;
	case TXTRACE_RECORD_THREAD:
		return record->thread.time_ns;
	case TXTRACE_RECORD_ATTRIBUTE:
		return record->attribute.time_ns;
	case TXTRACE_RECORD_INSTANT:
		return record->instant.time_ns;
	case TXTRACE_RECORD_COUNTER:
		return record->counter.time_ns;
	case TXTRACE_RECORD_LINK:
		return record->link.time_ns;
	case TXTRACE_RECORD_LOSS:
		return record->loss.last_ns;
	case TXTRACE_RECORD_OPEN_SPAN:
		return record->open_span.time_ns;
	case TXTRACE_RECORD_SUMMARY:
		return record->summary.time_ns;
	case TXTRACE_RECORD_DROPPED:
		return record->dropped.time_ns;
	case TXTRACE_RECORD_CONTINUED:
		return record->continued.time_ns;
	case TXTRACE_RECORD_STAY:
		return record->stay.exit_ns;
	case TXTRACE_RECORD_OBJECT:
		return record->object.time_ns;
	case TXTRACE_RECORD_OTHER_RUN:
		return record->other_run.end_ns;
	case TXTRACE_RECORD_COST:
		return record->cost.time_ns;
	case TXTRACE_RECORD_PROCESS:
		return record->process.time_ns;
	case TXTRACE_RECORD_TRIGGER:
		return record->trigger.time_ns;
	default:
		return 0;
	}
}
