/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For the tests of the log: records as lines of text that show every member.
 * tests/golden/read_log.py writes the same lines.
 */
#ifndef LOG_SAMPLE_LINES_H
#define LOG_SAMPLE_LINES_H

#include <stdio.h>

#include "txtrace/log.h"

static inline void put_string(FILE *out, const char *name, struct txtrace_string string)
{
	fprintf(out, " %s=", name);
	for (size_t i = 0; i < string.length; i++) {
		unsigned char byte = (unsigned char)string.bytes[i];

		if (byte > ' ' && byte < 0x7f && byte != '%')
			fputc(byte, out);
		else
			fprintf(out, "%%%02x", byte);
	}
}

static inline void put_number(FILE *out, const char *name, uint64_t value)
{
	fprintf(out, " %s=%llu", name, (unsigned long long)value);
}

static inline void put_numbers(FILE *out, const char *name, const uint64_t *values, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++)
		fprintf(out, "%s%s%llu", i ? "," : " ", i ? "" : name, (unsigned long long)values[i]);
}

static inline void put_span(FILE *out, const struct txtrace_span *span)
{
	put_number(out, "end", span->end_ns);
	put_number(out, "begin", span->begin_ns);
	put_number(out, "pid", span->pid);
	put_number(out, "tid", span->tid);
	put_number(out, "end_tid", span->end_tid);
	put_number(out, "id", span->id);
	put_number(out, "parent", span->parent);
	put_number(out, "flags", span->flags);
	put_number(out, "work", span->work_ns);
	put_number(out, "on_cpu", span->ledger.on_cpu_ns);
	put_number(out, "runnable", span->ledger.runnable_ns);
	put_numbers(out, "blocked=", span->ledger.blocked_ns, TXTRACE_BLOCK_POLL);
	put_number(out, "detached", span->ledger.detached_ns);
	put_number(out, "unknown", span->ledger.unknown_ns);
	if (span->ledger.interrupt_ns)
		put_number(out, "interrupt", span->ledger.interrupt_ns);
	if (span->ledger.blocked_ns[TXTRACE_BLOCK_POLL])
		put_number(out, "poll", span->ledger.blocked_ns[TXTRACE_BLOCK_POLL]);
	put_string(out, "label", span->label);
	put_string(out, "tag", span->tag);
	put_string(out, "key", span->key);
}

static inline void put_run(FILE *out, const struct txtrace_run *run)
{
	put_number(out, "end", run->end_ns);
	put_number(out, "begin", run->begin_ns);
	put_number(out, "pid", run->pid);
	put_number(out, "tid", run->tid);
	put_number(out, "cpu", run->cpu);
	put_number(out, "blocked", run->blocked_ns);
	put_number(out, "runnable", run->runnable_ns);
	put_number(out, "left_as", run->left_as);
	put_number(out, "reason", run->reason);
	fprintf(out, " syscall=%d", run->syscall_nr);
	put_number(out, "object", run->object);
	if (run->idle_ns)
		put_number(out, "idle", run->idle_ns);
	if (run->has_wait_end) {
		put_number(out, "wait_reason", run->wait_reason);
		put_number(out, "wait_object", run->wait_object);
	}
}

static inline void put_wake(FILE *out, const struct txtrace_wake *wake)
{
	put_number(out, "time", wake->time_ns);
	put_number(out, "pid", wake->pid);
	put_number(out, "tid", wake->tid);
	put_number(out, "waker_pid", wake->waker_pid);
	put_number(out, "waker_tid", wake->waker_tid);
	put_number(out, "cpu", wake->cpu);
	put_number(out, "flags", wake->flags);
	put_string(out, "waker_comm", wake->waker_comm);
	put_number(out, "span", wake->span);
	put_number(out, "waker_span", wake->waker_span);
}

static inline void put_attribute(FILE *out, const struct txtrace_attribute *attribute)
{
	put_number(out, "time", attribute->time_ns);
	put_number(out, "pid", attribute->pid);
	put_number(out, "tid", attribute->tid);
	put_number(out, "span", attribute->span);
	put_number(out, "type", attribute->type);
	put_number(out, "is_truncated", attribute->is_truncated);
	put_number(out, "value", attribute->value);
	put_string(out, "name", attribute->name);
	put_string(out, "string", attribute->string);
}

static inline void put_open_span(FILE *out, const struct txtrace_open_span *span)
{
	put_number(out, "time", span->time_ns);
	put_number(out, "begin", span->begin_ns);
	put_number(out, "pid", span->pid);
	put_number(out, "tid", span->tid);
	put_number(out, "id", span->id);
	put_number(out, "parent", span->parent);
	put_string(out, "label", span->label);
	put_string(out, "key", span->key);
	if (span->flags)
		put_number(out, "flags", span->flags);
}

static inline void put_overlap(FILE *out, const struct txtrace_overlap *overlap)
{
	put_number(out, "time", overlap->time_ns);
	put_number(out, "pid", overlap->pid);
	put_number(out, "tid", overlap->tid);
	put_number(out, "span", overlap->span);
	put_number(out, "is_keyed", overlap->is_keyed);
	put_number(out, "on_cpu", overlap->ledger.on_cpu_ns);
	put_number(out, "runnable", overlap->ledger.runnable_ns);
	put_numbers(out, "blocked=", overlap->ledger.blocked_ns, TXTRACE_BLOCK_REASON_COUNT);
	put_number(out, "unknown", overlap->ledger.unknown_ns);
	put_number(out, "interrupt", overlap->ledger.interrupt_ns);
}

static inline void put_loss(FILE *out, const struct txtrace_loss *loss)
{
	put_number(out, "last", loss->last_ns);
	put_number(out, "first", loss->first_ns);
	put_number(out, "cpu", loss->cpu);
	put_number(out, "span_events", loss->span_event_cnt);
	put_number(out, "sched_events", loss->sched_event_cnt);
}

static inline void put_summary(FILE *out, const struct txtrace_summary *summary)
{
	put_number(out, "time", summary->time_ns);
	put_number(out, "sent", summary->sent_cnt);
	put_number(out, "received", summary->received_cnt);
	put_number(out, "lost", summary->lost_cnt);
	put_number(out, "lost_clocks", summary->lost_clocks_cnt);
	put_number(out, "late", summary->late_cnt);
	put_numbers(out, "anomalies=", summary->anomaly_cnt, TXTRACE_ANOMALY_COUNT);
	for (unsigned int i = 0; i < TXTRACE_LEFT_OUT_COUNT; i++)
		if (summary->left_out_cnt[i])
			fprintf(out, " left_out_%s=%llu", txtrace_left_out_name(i),
				(unsigned long long)summary->left_out_cnt[i]);
}

/* Kinds that came after version 1.0. */
static inline bool has_later_kinds(const struct txtrace_dropped *dropped)
{
	for (unsigned int kind = TXTRACE_RECORD_OBJECT + 1; kind < TXTRACE_RECORD_DAMAGE; kind++)
		if (dropped->record_cnt[kind])
			return true;
	return false;
}

static inline void put_dropped(FILE *out, const struct txtrace_dropped *dropped)
{
	put_number(out, "time", dropped->time_ns);
	put_number(out, "first", dropped->first_ns);
	put_number(out, "last", dropped->last_ns);
	put_number(out, "batches", dropped->batch_cnt);
	put_numbers(out, "records=", dropped->record_cnt + 1, TXTRACE_RECORD_OBJECT);
	if (has_later_kinds(dropped))
		put_numbers(out, "later=", dropped->record_cnt + TXTRACE_RECORD_OBJECT + 1,
			    TXTRACE_RECORD_DAMAGE - TXTRACE_RECORD_OBJECT - 1);
}

static inline void put_other_run(FILE *out, const struct txtrace_other_run *run)
{
	put_number(out, "end", run->end_ns);
	put_number(out, "begin", run->begin_ns);
	put_number(out, "pid", run->pid);
	put_number(out, "tid", run->tid);
	put_number(out, "cpu", run->cpu);
	put_number(out, "flags", run->flags);
	put_number(out, "moved_pid", run->moved_pid);
	put_number(out, "moved_tid", run->moved_tid);
	put_string(out, "comm", run->comm);
}

static inline void put_cost(FILE *out, const struct txtrace_cost *cost)
{
	put_number(out, "time", cost->time_ns);
	put_number(out, "since", cost->since_ns);
	put_string(out, "event", cost->event);
	put_number(out, "events", cost->event_cnt);
	put_number(out, "timed_events", cost->timed_event_cnt);
	put_number(out, "timed_runs", cost->timed_run_cnt);
	put_number(out, "timed_run_ns", cost->timed_run_ns);
	put_number(out, "entry", cost->entry);
	put_number(out, "entry_ps", cost->entry_ps);
	put_number(out, "empty_run_ps", cost->empty_run_ps);
	put_number(out, "idle_run_ps", cost->idle_run_ps);
	put_number(out, "calibrations", cost->calibration_cnt);
	put_number(out, "cpu_ns", cost->cpu_ns);
	put_number(out, "ring_bytes", cost->ring_bytes);
	put_number(out, "log_bytes", cost->log_bytes);
}

static inline void put_common(FILE *out, uint64_t time_ns, uint32_t pid, uint32_t tid)
{
	put_number(out, "time", time_ns);
	put_number(out, "pid", pid);
	put_number(out, "tid", tid);
}

static inline void put_larger_mark(FILE *out, const struct txtrace_record *record)
{
	if (record->kind == TXTRACE_RECORD_TRIGGER) {
		put_common(out, record->trigger.time_ns, record->trigger.pid, record->trigger.tid);
		put_number(out, "span", record->trigger.span);
		put_number(out, "cause", record->trigger.cause);
		put_number(out, "is_keyed", record->trigger.is_keyed);
		put_number(out, "missed", record->trigger.missed_cnt);
		if (record->trigger.wall_ns)
			put_number(out, "wall", record->trigger.wall_ns);
		put_string(out, "rule", record->trigger.rule);
		put_string(out, "label", record->trigger.label);
	} else if (record->kind == TXTRACE_RECORD_PROCESS) {
		put_number(out, "time", record->process.time_ns);
		put_number(out, "pid", record->process.pid);
		put_number(out, "parent_pid", record->process.parent_pid);
		put_number(out, "inner_pid", record->process.inner_pid);
		put_number(out, "start", record->process.start_ns);
		put_number(out, "reasons", record->process.reasons);
		put_number(out, "is_seed", record->process.is_seed);
		put_number(out, "is_exit", record->process.is_exit);
		put_string(out, "comm", record->process.comm);
		put_string(out, "exe", record->process.exe);
		put_string(out, "command", record->process.command);
	} else if (record->kind == TXTRACE_RECORD_STAY) {
		put_number(out, "exit", record->stay.exit_ns);
		put_number(out, "enter", record->stay.enter_ns);
		put_number(out, "span", record->stay.span);
		put_number(out, "span_pid", record->stay.span_pid);
		put_number(out, "pid", record->stay.pid);
		put_number(out, "tid", record->stay.tid);
		put_number(out, "is_keyed", record->stay.is_keyed);
	} else if (record->kind == TXTRACE_RECORD_STACK) {
		put_common(out, record->stack.time_ns, record->stack.pid, record->stack.tid);
		put_number(out, "what", record->stack.what);
		put_number(out, "stack", record->stack.stack);
		put_number(out, "weight", record->stack.weight_ns);
		put_number(out, "is_keyed", record->stack.is_keyed);
		put_number(out, "span", record->stack.span);
		put_number(out, "span_pid", record->stack.span_pid);
		put_number(out, "is_repeat", record->stack.is_repeat);
	}
}

/* The small kinds. */
static inline void put_mark(FILE *out, const struct txtrace_record *record)
{
	if (record->kind == TXTRACE_RECORD_THREAD) {
		put_common(out, record->thread.time_ns, record->thread.pid, record->thread.tid);
		put_number(out, "is_seed", record->thread.is_seed);
		put_number(out, "is_exit", record->thread.is_exit);
		put_string(out, "comm", record->thread.comm);
	} else if (record->kind == TXTRACE_RECORD_INSTANT) {
		put_common(out, record->instant.time_ns, record->instant.pid, record->instant.tid);
		put_number(out, "span", record->instant.span);
		put_string(out, "name", record->instant.name);
	} else if (record->kind == TXTRACE_RECORD_COUNTER) {
		put_common(out, record->counter.time_ns, record->counter.pid, record->counter.tid);
		fprintf(out, " value=%lld", (long long)record->counter.value);
		put_string(out, "name", record->counter.name);
	} else if (record->kind == TXTRACE_RECORD_LINK) {
		put_common(out, record->link.time_ns, record->link.pid, record->link.tid);
		put_number(out, "from", record->link.from);
		put_number(out, "to", record->link.to);
		put_string(out, "name", record->link.name);
	} else if (record->kind == TXTRACE_RECORD_CONTINUED) {
		put_number(out, "time", record->continued.time_ns);
		put_number(out, "next_part", record->continued.next_part);
	} else if (record->kind == TXTRACE_RECORD_OBJECT) {
		put_common(out, record->object.time_ns, record->object.pid, record->object.tid);
		put_number(out, "reason", record->object.reason);
		put_number(out, "object", record->object.object);
		put_string(out, "name", record->object.name);
	} else if (record->kind == TXTRACE_RECORD_OVERLAP) {
		put_overlap(out, &record->overlap);
	} else if (record->kind == TXTRACE_RECORD_FRAMES) {
		put_number(out, "time", record->frames.time_ns);
		put_number(out, "stack", record->frames.stack);
		put_string(out, "names", record->frames.names);
	} else {
		put_larger_mark(out, record);
	}
}

static inline void put_record(FILE *out, const struct txtrace_record *record)
{
	const char *kind = txtrace_record_kind_name(record->kind);

	fputs(kind ? kind : "?", out);
	if (record->kind == TXTRACE_RECORD_SPAN)
		put_span(out, &record->span);
	else if (record->kind == TXTRACE_RECORD_RUN)
		put_run(out, &record->run);
	else if (record->kind == TXTRACE_RECORD_WAKE)
		put_wake(out, &record->wake);
	else if (record->kind == TXTRACE_RECORD_ATTRIBUTE)
		put_attribute(out, &record->attribute);
	else if (record->kind == TXTRACE_RECORD_OPEN_SPAN)
		put_open_span(out, &record->open_span);
	else if (record->kind == TXTRACE_RECORD_LOSS)
		put_loss(out, &record->loss);
	else if (record->kind == TXTRACE_RECORD_SUMMARY)
		put_summary(out, &record->summary);
	else if (record->kind == TXTRACE_RECORD_DROPPED)
		put_dropped(out, &record->dropped);
	else if (record->kind == TXTRACE_RECORD_OTHER_RUN)
		put_other_run(out, &record->other_run);
	else if (record->kind == TXTRACE_RECORD_COST)
		put_cost(out, &record->cost);
	else
		put_mark(out, record);
	fputc('\n', out);
}

#endif
