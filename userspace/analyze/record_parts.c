/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/record_parts.h"

#include <stddef.h>

#define NONE 0 /* no member that is asked for here stands at the beginning of a record */

/* Where in struct txtrace_record each kind has what. */
struct parts {
	size_t time;
	size_t begin; /* NONE: it tells of a moment */
	size_t pid;
	size_t tid;
	size_t strings[RECORD_STRINGS_MAX];
	bool is_known;
};

#define AT(member) offsetof(struct txtrace_record, member)
#define OF_THREAD(kind) .pid = AT(kind.pid), .tid = AT(kind.tid), .is_known = true

static const struct parts parts[TXTRACE_RECORD_KIND_COUNT] = {
	[TXTRACE_RECORD_SPAN] = { AT(span.end_ns), AT(span.begin_ns), .strings = { AT(span.label), AT(span.tag), AT(span.key) }, OF_THREAD(span) },
	[TXTRACE_RECORD_RUN] = { AT(run.end_ns), AT(run.begin_ns), OF_THREAD(run) },
	[TXTRACE_RECORD_WAKE] = { AT(wake.time_ns), .strings = { AT(wake.waker_comm) }, OF_THREAD(wake) },
	[TXTRACE_RECORD_THREAD] = { AT(thread.time_ns), .strings = { AT(thread.comm) }, OF_THREAD(thread) },
	[TXTRACE_RECORD_ATTRIBUTE] = { AT(attribute.time_ns), .strings = { AT(attribute.name), AT(attribute.string) }, OF_THREAD(attribute) },
	[TXTRACE_RECORD_INSTANT] = { AT(instant.time_ns), .strings = { AT(instant.name) }, OF_THREAD(instant) },
	[TXTRACE_RECORD_COUNTER] = { AT(counter.time_ns), .strings = { AT(counter.name) }, OF_THREAD(counter) },
	[TXTRACE_RECORD_LINK] = { AT(link.time_ns), .strings = { AT(link.name) }, OF_THREAD(link) },
	[TXTRACE_RECORD_LOSS] = { AT(loss.last_ns), AT(loss.first_ns), .is_known = true },
	[TXTRACE_RECORD_OPEN_SPAN] = { AT(open_span.time_ns), AT(open_span.begin_ns), .strings = { AT(open_span.label), AT(open_span.key) },
				       OF_THREAD(open_span) },
	[TXTRACE_RECORD_SUMMARY] = { AT(summary.time_ns), .is_known = true },
	[TXTRACE_RECORD_DROPPED] = { AT(dropped.time_ns), AT(dropped.first_ns), .is_known = true },
	[TXTRACE_RECORD_CONTINUED] = { AT(continued.time_ns), .is_known = true },
	[TXTRACE_RECORD_OBJECT] = { AT(object.time_ns), .strings = { AT(object.name) }, OF_THREAD(object) },
	[TXTRACE_RECORD_STACK] = { AT(stack.time_ns), OF_THREAD(stack) },
	[TXTRACE_RECORD_FRAMES] = { AT(frames.time_ns), .strings = { AT(frames.names) }, .is_known = true },
	[TXTRACE_RECORD_OTHER_RUN] = { AT(other_run.end_ns), AT(other_run.begin_ns), .strings = { AT(other_run.comm) }, .is_known = true },
	[TXTRACE_RECORD_COST] = { AT(cost.time_ns), AT(cost.since_ns), .strings = { AT(cost.event) }, .is_known = true },
	[TXTRACE_RECORD_PROCESS] = { AT(process.time_ns), .strings = { AT(process.comm), AT(process.exe), AT(process.command) },
				     .pid = AT(process.pid), .tid = AT(process.pid), .is_known = true },
	[TXTRACE_RECORD_TRIGGER] = { AT(trigger.time_ns), .strings = { AT(trigger.rule), AT(trigger.label) }, OF_THREAD(trigger) },
	[TXTRACE_RECORD_OVERLAP] = { AT(overlap.time_ns), OF_THREAD(overlap) },
	[TXTRACE_RECORD_STAY] = { AT(stay.exit_ns), AT(stay.enter_ns), OF_THREAD(stay) },
};

static const struct parts *parts_of(const struct txtrace_record *record)
{
	return &parts[record->kind < TXTRACE_RECORD_KIND_COUNT ? record->kind : 0];
}

static uint64_t time_at(const struct txtrace_record *record, size_t offset)
{
	return offset == NONE ? 0 : *(const uint64_t *)((const char *)record + offset);
}

uint64_t record_finished_ns(const struct txtrace_record *record)
{
	return time_at(record, parts_of(record)->time);
}

/* Not before the beginning of time: a hostile log may say so. */
static uint64_t earlier(uint64_t time_ns, uint64_t by_ns)
{
	return time_ns > by_ns ? time_ns - by_ns : 0;
}

uint64_t record_began_ns(const struct txtrace_record *record)
{
	const struct parts *of = parts_of(record);
	uint64_t begin_ns = time_at(record, of->begin == NONE ? of->time : of->begin);

	if (record->kind == TXTRACE_RECORD_RUN)
		begin_ns = earlier(earlier(begin_ns, record->run.runnable_ns), record->run.blocked_ns);
	return begin_ns;
}

bool record_thread(const struct txtrace_record *record, uint32_t *pid, uint32_t *tid)
{
	const struct parts *of = parts_of(record);

	if (of->pid == NONE)
		return false;
	*pid = *(const uint32_t *)((const char *)record + of->pid);
	*tid = *(const uint32_t *)((const char *)record + of->tid);
	return true;
}

int record_strings(struct txtrace_record *record, struct record_string strings[RECORD_STRINGS_MAX])
{
	const struct parts *of = parts_of(record);
	int cnt = 0;

	if (!of->is_known)
		return -1;
	for (; cnt < RECORD_STRINGS_MAX && of->strings[cnt] != NONE; cnt++)
		strings[cnt] = (struct record_string){ (struct txtrace_string *)((char *)record + of->strings[cnt]),
						       of->strings[cnt] == AT(span.tag) && record->kind == TXTRACE_RECORD_SPAN,
						       record->kind == TXTRACE_RECORD_COST };
	return cnt;
}
