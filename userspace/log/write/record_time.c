/* SPDX-License-Identifier: BSD-2-Clause */
#include "log/write/record_time.h"

#include "log/format/log_field.h"

#define AT(member) offsetof(struct txtrace_record, member)

static const uint16_t times[LOG_KIND_COUNT] = {
	[TXTRACE_RECORD_SPAN] = AT(span.end_ns),
	[TXTRACE_RECORD_RUN] = AT(run.end_ns),
	[TXTRACE_RECORD_WAKE] = AT(wake.time_ns),
	[TXTRACE_RECORD_THREAD] = AT(thread.time_ns),
	[TXTRACE_RECORD_ATTRIBUTE] = AT(attribute.time_ns),
	[TXTRACE_RECORD_INSTANT] = AT(instant.time_ns),
	[TXTRACE_RECORD_COUNTER] = AT(counter.time_ns),
	[TXTRACE_RECORD_LINK] = AT(link.time_ns),
	[TXTRACE_RECORD_LOSS] = AT(loss.last_ns),
	[TXTRACE_RECORD_OPEN_SPAN] = AT(open_span.time_ns),
	[TXTRACE_RECORD_SUMMARY] = AT(summary.time_ns),
	[TXTRACE_RECORD_DROPPED] = AT(dropped.time_ns),
	[TXTRACE_RECORD_CONTINUED] = AT(continued.time_ns),
	[TXTRACE_RECORD_STAY] = AT(stay.exit_ns),
	[TXTRACE_RECORD_OBJECT] = AT(object.time_ns),
	[TXTRACE_RECORD_STACK] = AT(stack.time_ns),
	[TXTRACE_RECORD_FRAMES] = AT(frames.time_ns),
	[TXTRACE_RECORD_OTHER_RUN] = AT(other_run.end_ns),
	[TXTRACE_RECORD_COST] = AT(cost.time_ns),
	[TXTRACE_RECORD_PROCESS] = AT(process.time_ns),
	[TXTRACE_RECORD_TRIGGER] = AT(trigger.time_ns),
	[TXTRACE_RECORD_OVERLAP] = AT(overlap.time_ns),
};

uint64_t record_time_ns(const struct txtrace_record *record)
{
	size_t at = record->kind < LOG_KIND_COUNT ? times[record->kind] : 0;

	return at ? *(const uint64_t *)((const char *)record + at) : 0;
}
