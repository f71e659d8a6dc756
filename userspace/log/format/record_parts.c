/* SPDX-License-Identifier: BSD-2-Clause */
#include "log/format/record_parts.h"

#define AT(member) offsetof(struct txtrace_record, member)
#define OF_THREAD(kind) .pid = AT(kind.pid), .tid = AT(kind.tid), .is_known = true

const struct record_parts record_parts_of_kinds[TXTRACE_RECORD_KIND_COUNT] = {
	[TXTRACE_RECORD_SPAN] = { AT(span.end_ns), AT(span.begin_ns),
				  .strings = { AT(span.label), AT(span.tag), AT(span.key) },
				  OF_THREAD(span) },
	[TXTRACE_RECORD_RUN] = { AT(run.end_ns), AT(run.begin_ns), OF_THREAD(run) },
	[TXTRACE_RECORD_WAKE] = { AT(wake.time_ns), .strings = { AT(wake.waker_comm) }, OF_THREAD(wake) },
	[TXTRACE_RECORD_THREAD] = { AT(thread.time_ns), .strings = { AT(thread.comm) }, OF_THREAD(thread) },
	[TXTRACE_RECORD_ATTRIBUTE] = { AT(attribute.time_ns),
				       .strings = { AT(attribute.name), AT(attribute.string) },
				       OF_THREAD(attribute) },
	[TXTRACE_RECORD_INSTANT] = { AT(instant.time_ns), .strings = { AT(instant.name) },
				     OF_THREAD(instant) },
	[TXTRACE_RECORD_COUNTER] = { AT(counter.time_ns), .strings = { AT(counter.name) },
				     OF_THREAD(counter) },
	[TXTRACE_RECORD_LINK] = { AT(link.time_ns), .strings = { AT(link.name) }, OF_THREAD(link) },
	[TXTRACE_RECORD_LOSS] = { AT(loss.last_ns), AT(loss.first_ns), .is_known = true },
	[TXTRACE_RECORD_OPEN_SPAN] = { AT(open_span.time_ns), AT(open_span.begin_ns),
				       .strings = { AT(open_span.label), AT(open_span.key) },
				       OF_THREAD(open_span) },
	[TXTRACE_RECORD_SUMMARY] = { AT(summary.time_ns), .is_known = true },
	[TXTRACE_RECORD_DROPPED] = { AT(dropped.time_ns), AT(dropped.first_ns), .is_known = true },
	[TXTRACE_RECORD_CONTINUED] = { AT(continued.time_ns), .is_known = true },
	[TXTRACE_RECORD_OBJECT] = { AT(object.time_ns), .strings = { AT(object.name) }, .is_nameless = true,
				    OF_THREAD(object) },
	[TXTRACE_RECORD_STACK] = { AT(stack.time_ns), OF_THREAD(stack) },
	[TXTRACE_RECORD_FRAMES] = { AT(frames.time_ns), .strings = { AT(frames.names) }, .is_nameless = true,
				    .is_known = true },
	[TXTRACE_RECORD_OTHER_RUN] = { AT(other_run.end_ns), AT(other_run.begin_ns),
				       .strings = { AT(other_run.comm) }, .is_known = true },
	[TXTRACE_RECORD_COST] = { AT(cost.time_ns), AT(cost.since_ns), .strings = { AT(cost.event) },
				  .is_known = true },
	[TXTRACE_RECORD_PROCESS] = { AT(process.time_ns),
				     .strings = { AT(process.comm), AT(process.exe), AT(process.command) },
				     .pid = AT(process.pid), .tid = AT(process.pid), .is_known = true },
	[TXTRACE_RECORD_TRIGGER] = { AT(trigger.time_ns), .strings = { AT(trigger.label), AT(trigger.rule) },
				     OF_THREAD(trigger) },
	[TXTRACE_RECORD_OVERLAP] = { AT(overlap.time_ns), OF_THREAD(overlap) },
	[TXTRACE_RECORD_STAY] = { AT(stay.exit_ns), AT(stay.enter_ns), OF_THREAD(stay) },
};

/* Not before the beginning of time: a hostile log may say so. */
static uint64_t earlier(uint64_t time_ns, uint64_t by_ns)
{
	return time_ns > by_ns ? time_ns - by_ns : 0;
}

uint64_t record_began_ns(const struct txtrace_record *record)
{
	uint64_t begin_ns = 0, end_ns;

	if (record_times(record, &begin_ns, &end_ns) && record->kind == TXTRACE_RECORD_RUN)
		begin_ns = earlier(earlier(begin_ns, record->run.runnable_ns), record->run.blocked_ns);
	return begin_ns;
}

bool record_thread(const struct txtrace_record *record, uint32_t *pid, uint32_t *tid)
{
	const struct record_parts *of = record_parts_of(record);

	if (!of->pid)
		return false;
	*pid = *(const uint32_t *)((const char *)record + of->pid);
	*tid = *(const uint32_t *)((const char *)record + of->tid);
	return true;
}

int record_strings(struct txtrace_record *record, struct record_string strings[RECORD_STRINGS_MAX])
{
	const struct record_parts *of = record_parts_of(record);
	int cnt = 0;

	if (!of->is_known)
		return -1;
	for (; cnt < RECORD_STRINGS_MAX && of->strings[cnt]; cnt++)
		strings[cnt] = (struct record_string){
			(struct txtrace_string *)((char *)record + of->strings[cnt]),
			of->strings[cnt] == AT(span.tag) && record->kind == TXTRACE_RECORD_SPAN,
			record->kind == TXTRACE_RECORD_COST
		};
	return cnt;
}
