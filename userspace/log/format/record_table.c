/* SPDX-License-Identifier: BSD-2-Clause */
#include "log/format/record_table.h"

#include <string.h>

#include "log/format/log_field.h"
#include "log/format/log_format.h"

#define LENGTH_OF(array) (sizeof(array) / sizeof((array)[0]))
#define AT(member) offsetof(struct txtrace_record, member)

/* ---- names of numbers ---- */

/* Each of them with its name, here only. */
#define REASONS(X) \
	X(LOCK, "lock") X(DISK, "disk") X(NETWORK, "network") X(SLEEP, "sleep") \
	X(PAGE_FAULT, "page_fault") X(PIPE, "pipe") X(WAIT, "wait") X(STOPPED, "stopped") \
	X(OTHER, "other") X(THROTTLED, "throttled") X(POLL, "poll")
#define ANOMALIES(X) \
	X(END_UNKNOWN, "end_unknown") X(ENTER_UNKNOWN, "enter_unknown") X(EXIT_UNKNOWN, "exit_unknown") \
	X(EXIT_UNENTERED, "exit_unentered") X(BEGIN_TWICE, "begin_twice") \
	X(MARK_UNKNOWN, "mark_unknown") X(UNFINISHED, "unfinished") \
	X(CLOCK_MISMATCH, "clock_mismatch") X(IMBALANCE, "imbalance")
#define LEFT_OUTS(X) \
	X(SAMPLE, "sample") X(LABEL, "label") X(SHORT, "short") X(NO_ROOM, "no_room") X(MARK, "mark")
/* The kinds that a log holds. */
#define KINDS(X) \
	X(SPAN, "span") X(RUN, "run") X(WAKE, "wake") X(THREAD, "thread") X(ATTRIBUTE, "attribute") \
	X(INSTANT, "instant") X(COUNTER, "counter") X(LINK, "link") X(LOSS, "loss") \
	X(OPEN_SPAN, "open_span") X(SUMMARY, "summary") X(DROPPED, "dropped") X(CONTINUED, "continued") \
	X(STAY, "stay") X(OBJECT, "object") X(STACK, "stack") X(FRAMES, "frames") \
	X(OTHER_RUN, "other_run") X(COST, "cost") X(PROCESS, "process") X(TRIGGER, "trigger") \
	X(OVERLAP, "overlap")

#define NAMES(scope, of, ...)                                    \
	static const char *const of##_names[] = { __VA_ARGS__ }; \
	scope const struct record_names of = { of##_names, LENGTH_OF(of##_names) }

#define REASON_NAME(number, name) [TXTRACE_BLOCK_##number] = name,
#define ANOMALY_NAME(number, name) [TXTRACE_ANOMALY_##number] = name,
#define LEFT_OUT_NAME(number, name) [TXTRACE_LEFT_OUT_##number] = name,

NAMES(, record_block_reasons, REASONS(REASON_NAME));
NAMES(, record_anomalies, ANOMALIES(ANOMALY_NAME));
NAMES(, record_left_out, LEFT_OUTS(LEFT_OUT_NAME));
NAMES(, record_left_as, "unknown", "preempted", "yielded", "blocked", "dead");
NAMES(, record_value_types, "unknown", "bool", "int", "uint", "double", "string", "pointer", "bytes");
NAMES(static, stack_what, NULL, "off_cpu", "on_cpu");
NAMES(static, cost_entries, "unknown", "trap", "call", "tracepoint", "step", "within",
	"memory");
NAMES(static, process_reasons, "named", "child", "comm", "exe", "cgroup", "any");
NAMES(static, trigger_causes, "unknown", "span", "request", "exit");

_Static_assert(LENGTH_OF(record_block_reasons_names) == TXTRACE_BLOCK_REASON_COUNT, "a name is missing");
_Static_assert(LENGTH_OF(record_anomalies_names) == TXTRACE_ANOMALY_COUNT, "a name is missing");
_Static_assert(LENGTH_OF(record_left_out_names) == TXTRACE_LEFT_OUT_COUNT, "a name is missing");

/* ---- fields ---- */

/* A member of struct txtrace_record: its name for all who print it, its type, and what else is to be said. */
#define F(member, name_, type_, ...)                                                          \
	{                                                                                     \
		.name = name_, .offset = AT(member), .type = RECORD_##type_, __VA_ARGS__      \
	}
#define OMIT_0 .rules = RECORD_OMIT_0
#define NULL_0 .rules = RECORD_NULL_0
#define NOBODY_0 .rules = RECORD_NOBODY_0
#define ONLY_IF(member, value) .when = AT(member), .is = (value)
#define NAMED(of) .names = &(of)
#define FLAG(member, flag, name, ...) F(member, name, FLAG, .mask = (flag), __VA_ARGS__)

/* How a plain kind is coded: the number of its field in the log. */
#define PLAIN(field) .coding = CODED_PLAIN, .log = (field)
#define SINCE(field) .coding = CODED_SINCE, .log = (field)
#define LESS_PID(field) .coding = CODED_LESS_PID, .log = (field)
#define BIT(field, bit) .coding = CODED_BIT, .log = (field), .mask = (bit)
#define NAME(field) .coding = CODED_NAME, .log = (field)
#define TEXT(field) .coding = CODED_TEXT, .log = (field)
#define IN_SPAN(field, role) .coding = CODED_SPAN, .log = (field), .mask = (role)
#define BY_HAND(field) .coding = CODED_NOT

/*
 * The parts of a ledger. CODING is PLAIN, for fields of the log from `first` on
 * and `interrupt`, or BY_HAND.
 */
#define LEDGER(kind, CODING, first)                                                                          \
	F(kind.ledger.on_cpu_ns, "on_cpu_ns", DURATION, CODING(first)),                                      \
	F(kind.ledger.runnable_ns, "runnable_ns", DURATION, CODING((first) + 1)),                            \
	F(kind.ledger, "blocked_ns", BLOCKED),                                                               \
	BLOCKED(kind, CODING, first, LOCK, "lock"), BLOCKED(kind, CODING, first, DISK, "disk"),              \
	BLOCKED(kind, CODING, first, NETWORK, "network"), BLOCKED(kind, CODING, first, SLEEP, "sleep"),      \
	BLOCKED(kind, CODING, first, PAGE_FAULT, "page_fault"), BLOCKED(kind, CODING, first, PIPE, "pipe"),  \
	BLOCKED(kind, CODING, first, WAIT, "wait"), BLOCKED(kind, CODING, first, STOPPED, "stopped"),        \
	BLOCKED(kind, CODING, first, OTHER, "other"),                                                        \
	BLOCKED(kind, CODING, first, THROTTLED, "throttled"), BLOCKED(kind, CODING, first, POLL, "poll")
#define BLOCKED(kind, CODING, first, reason, name_)                                                          \
	F(kind.ledger.blocked_ns[TXTRACE_BLOCK_##reason], name_ "_ns", DURATION, .group = "blocked",         \
	  .entry = name_, CODING((first) + 2 + TXTRACE_BLOCK_##reason))
_Static_assert(TXTRACE_BLOCK_REASON_COUNT == 11, "a new reason is a new row of LEDGER");

/* How a span came to its parent. */
#define PARENT_FLAGS(kind)                                                              \
	FLAG(kind.flags, TXTRACE_SPAN_ROOT, "root", OMIT_0),                            \
	FLAG(kind.flags, TXTRACE_SPAN_NESTED, "nested", OMIT_0),                        \
	FLAG(kind.flags, TXTRACE_SPAN_PARENT_KEYED, "parent_keyed", OMIT_0),            \
	FLAG(kind.flags, TXTRACE_SPAN_PARENT_LOST, "parent_lost", OMIT_0)

static const struct record_field span_fields[] = {
	F(span.id, "id", SPAN_ID, NULL_0),
	F(span.pid, "pid", PID),
	F(span.tid, "tid", TID),
	F(span.end_tid, "end_tid", TID, NULL_0),
	F(span.label, "label", STRING),
	F(span.tag, "tag", STRING),
	F(span.key, "key", KEY),
	F(span.parent, "parent", SPAN_ID, NULL_0),
	F(span.begin_ns, "begin_ns", TIME),
	F(span.end_ns, "end_ns", TIME),
	F(span.begin_ns, "wall_ns", WALL),
	F(span.work_ns, "work_ns", DURATION),
	LEDGER(span, BY_HAND, 0),
	F(span.ledger.detached_ns, "detached_ns", DURATION),
	F(span.ledger.unknown_ns, "unknown_ns", DURATION),
	F(span.ledger.interrupt_ns, "interrupt_ns", DURATION, OMIT_0),
	F(span.ledger.stolen_ns, "stolen_ns", DURATION, OMIT_0),
	F(span.stolen_max_ns, "stolen_max_ns", DURATION, .rules = RECORD_OMIT_0 | RECORD_NULL_0),
	FLAG(span.flags, TXTRACE_SPAN_LOWER_BOUND, "lower_bound"),
	FLAG(span.flags, TXTRACE_SPAN_UNFINISHED, "unfinished"),
	FLAG(span.flags, TXTRACE_SPAN_LOSS, "loss"),
	FLAG(span.flags, TXTRACE_SPAN_IMBALANCE, "imbalance"),
	FLAG(span.flags, TXTRACE_SPAN_KEYED, "keyed"),
	FLAG(span.flags, TXTRACE_SPAN_MOVED, "moved"),
	PARENT_FLAGS(span),
};

#define IF_BLOCKED ONLY_IF(run.left_as, TXTRACE_LEFT_BLOCKED)

static const struct record_field run_fields[] = {
	F(run.tid, "tid", TID),
	F(run.pid, "pid", PID),
	F(run.cpu, "cpu", CPU),
	F(run.begin_ns, "begin_ns", TIME),
	F(run.end_ns, "end_ns", TIME),
	F(run.blocked_ns, "blocked_ns", DURATION),
	F(run.runnable_ns, "runnable_ns", DURATION),
	F(run.left_as, "left_as", ENUM, NAMED(record_left_as)),
	F(run.idle_ns, "idle_ns", DURATION, .rules = RECORD_OMIT_0 | RECORD_NULL_0),
	F(run.stolen_ns, "stolen_ns", DURATION, OMIT_0),
	F(run.idle_stolen_ns, "idle_stolen_ns", DURATION, OMIT_0),
	F(run.wait_reason, "wait_reason", ENUM, NAMED(record_block_reasons), ONLY_IF(run.has_wait_end, true)),
	F(run.wait_object, "wait_object", ADDRESS, ONLY_IF(run.has_wait_end, true)),
	F(run.reason, "reason", ENUM, NAMED(record_block_reasons), IF_BLOCKED),
	F(run.syscall_nr, "syscall_nr", I32, IF_BLOCKED),
	F(run.object, "object", ADDRESS, IF_BLOCKED),
};

static const struct record_field wake_fields[] = {
	F(wake.time_ns, "time_ns", TIME),
	F(wake.tid, "tid", TID),
	F(wake.pid, "pid", PID),
	F(wake.waker_tid, "waker_tid", TID, NULL_0),
	F(wake.waker_pid, "waker_pid", PID, NULL_0),
	F(wake.cpu, "cpu", CPU),
	FLAG(wake.flags, TXTRACE_WAKE_INTERRUPT, "interrupt"),
	FLAG(wake.flags, TXTRACE_WAKE_TIMER, "timer"),
	FLAG(wake.flags, TXTRACE_WAKE_SOFTIRQ, "softirq"),
	FLAG(wake.flags, TXTRACE_WAKE_WAKER_UNKNOWN, "waker_unknown"),
	F(wake.waker_comm, "waker_comm", STRING),
	F(wake.span, "span", SPAN_ID, NULL_0),
	FLAG(wake.flags, TXTRACE_WAKE_SPAN_KEYED, "span_keyed"),
	F(wake.waker_span, "waker_span", SPAN_ID, NULL_0),
	FLAG(wake.flags, TXTRACE_WAKE_WAKER_SPAN_KEYED, "waker_span_keyed"),
};

static const struct record_field thread_fields[] = {
	F(thread.time_ns, "time_ns", TIME),
	F(thread.tid, "tid", TID),
	F(thread.pid, "pid", PID),
	F(thread.is_seed, "seed", BOOL, BIT(2, 1)),
	F(thread.is_exit, "exit", BOOL, BIT(2, 2)),
	F(thread.comm, "comm", STRING, NAME(3)),
};

static const struct record_field attribute_fields[] = {
	F(attribute.time_ns, "time_ns", TIME),
	F(attribute.span, "span", SPAN_ID, NULL_0),
	F(attribute.pid, "pid", PID),
	F(attribute.tid, "tid", TID),
	F(attribute.name, "name", STRING),
	F(attribute.type, "value_type", ENUM, NAMED(record_value_types)),
	F(attribute.value, "value", VALUE),
	F(attribute.is_truncated, "truncated", BOOL, ONLY_IF(attribute.type, TXTRACE_ATTRIBUTE_STRING),
	  .or_is = TXTRACE_ATTRIBUTE_BYTES),
};

static const struct record_field instant_fields[] = {
	F(instant.time_ns, "time_ns", TIME),
	F(instant.span, "span", SPAN_ID, NULL_0),
	F(instant.pid, "pid", PID),
	F(instant.tid, "tid", TID),
	F(instant.name, "name", STRING),
};

static const struct record_field counter_fields[] = {
	F(counter.time_ns, "time_ns", TIME),
	F(counter.pid, "pid", PID),
	F(counter.tid, "tid", TID),
	F(counter.name, "name", STRING),
	F(counter.value, "value", I64),
};

static const struct record_field link_fields[] = {
	F(link.time_ns, "time_ns", TIME),
	F(link.from, "from", SPAN_ID, NULL_0),
	F(link.to, "to", SPAN_ID, NULL_0),
	F(link.pid, "pid", PID),
	F(link.tid, "tid", TID),
	F(link.name, "name", STRING),
};

static const struct record_field loss_fields[] = {
	F(loss.first_ns, "first_ns", TIME, SINCE(1)),
	F(loss.last_ns, "last_ns", TIME),
	F(loss.cpu, "cpu", CPU, PLAIN(2)),
	F(loss.span_event_cnt, "span_event_cnt", COUNT, PLAIN(3)),
	F(loss.sched_event_cnt, "sched_event_cnt", COUNT, PLAIN(4)),
	F(loss.pid, "pid", PID, .rules = RECORD_OMIT_0 | RECORD_NULL_0, PLAIN(5)),
	F(loss.tid, "tid", TID, .rules = RECORD_OMIT_0 | RECORD_NULL_0, PLAIN(6)),
};

static const struct record_field open_span_fields[] = {
	F(open_span.time_ns, "time_ns", TIME),
	F(open_span.id, "id", SPAN_ID, NULL_0),
	F(open_span.pid, "pid", PID),
	F(open_span.tid, "tid", TID),
	F(open_span.label, "label", STRING),
	F(open_span.key, "key", KEY),
	F(open_span.parent, "parent", SPAN_ID, NULL_0),
	F(open_span.begin_ns, "begin_ns", TIME),
	FLAG(open_span.flags, TXTRACE_SPAN_KEYED, "keyed", OMIT_0),
	PARENT_FLAGS(open_span),
};

#define ANOMALY_FIELD(number, name)                                                                         \
	F(summary.anomaly_cnt[TXTRACE_ANOMALY_##number], name, COUNT, .group = "anomalies", .entry = name,  \
	  PLAIN(6 + TXTRACE_ANOMALY_##number)),
#define LEFT_OUT_FIELD(number, name)                                                                        \
	F(summary.left_out_cnt[TXTRACE_LEFT_OUT_##number], "left_out_" name, COUNT, OMIT_0,                 \
	  .group = "left_out", .entry = name, PLAIN(15 + TXTRACE_LEFT_OUT_##number)),
_Static_assert(TXTRACE_ANOMALY_COUNT == 9, "a new anomaly is a new field of the log behind all others");
_Static_assert(TXTRACE_LEFT_OUT_COUNT == 5, "so is a new reason to leave something out");

static const struct record_field summary_fields[] = {
	F(summary.time_ns, "time_ns", TIME),
	F(summary.sent_cnt, "sent_cnt", COUNT, PLAIN(1)),
	F(summary.received_cnt, "received_cnt", COUNT, PLAIN(2)),
	F(summary.lost_cnt, "lost_cnt", COUNT, PLAIN(3)),
	F(summary.lost_clocks_cnt, "lost_clocks_cnt", COUNT, PLAIN(4)),
	F(summary.late_cnt, "late_cnt", COUNT, PLAIN(5)),
	ANOMALIES(ANOMALY_FIELD) /* 6 to 14 */
	LEFT_OUTS(LEFT_OUT_FIELD) /* 15 to 19 */
	F(summary.memory_process_cnt, "memory_process_cnt", COUNT, OMIT_0, PLAIN(20)),
	F(summary.unread_process_cnt, "unread_process_cnt", COUNT, OMIT_0, PLAIN(21)),
};

#define PLUS_1(kind, name) +1
enum { LOGGED_KINDS = 0 KINDS(PLUS_1) };

#define DROPPED_FIELD(kind, name)                                                                           \
	F(dropped.record_cnt[TXTRACE_RECORD_##kind], name "_cnt", COUNT, .group = "records", .entry = name, \
	  PLAIN(3 + TXTRACE_RECORD_##kind)),

static const struct record_field dropped_fields[] = {
	F(dropped.time_ns, "time_ns", TIME),
	F(dropped.first_ns, "first_ns", TIME, SINCE(1)),
	F(dropped.last_ns, "last_ns", TIME, SINCE(2)),
	F(dropped.batch_cnt, "batch_cnt", COUNT, PLAIN(3)),
	KINDS(DROPPED_FIELD) /* from 4 on */
};

static const struct record_field continued_fields[] = {
	F(continued.time_ns, "time_ns", TIME),
	F(continued.next_part, "next_part", U32, PLAIN(1)),
};

static const struct record_field stay_fields[] = {
	F(stay.enter_ns, "enter_ns", TIME),
	F(stay.exit_ns, "exit_ns", TIME),
	F(stay.pid, "pid", PID),
	F(stay.tid, "tid", TID),
	F(stay.span, "span", SPAN_ID, NULL_0),
	F(stay.span_pid, "span_pid", PID),
	F(stay.is_keyed, "keyed", BOOL),
};

static const struct record_field object_fields[] = {
	F(object.time_ns, "time_ns", TIME),
	F(object.pid, "pid", PID),
	F(object.tid, "tid", TID),
	F(object.reason, "reason", ENUM, NAMED(record_block_reasons), PLAIN(2)),
	F(object.object, "object", ADDRESS, PLAIN(3)),
	F(object.name, "name", STRING, TEXT(4)),
};

static const struct record_field stack_fields[] = {
	F(stack.time_ns, "time_ns", TIME),
	F(stack.pid, "pid", PID),
	F(stack.tid, "tid", TID),
	F(stack.what, "what", ENUM, NAMED(stack_what), PLAIN(2)),
	F(stack.weight_ns, "weight_ns", DURATION, PLAIN(4)),
	F(stack.stack, "stack", COUNT, PLAIN(3)),
	F(stack.span, "span", SPAN_ID, NULL_0, IN_SPAN(6, SLOT_STACK)),
	F(stack.span_pid, "span_pid", PID, LESS_PID(8)),
	F(stack.is_keyed, "keyed", BOOL, PLAIN(5)),
	F(stack.is_repeat, "repeat", BOOL, PLAIN(9)),
};

static const struct record_field frames_fields[] = {
	F(frames.time_ns, "time_ns", TIME),
	F(frames.stack, "stack", COUNT, PLAIN(1)),
	F(frames.names, "names", STRING, TEXT(2)),
};

static const struct record_field other_run_fields[] = {
	F(other_run.begin_ns, "begin_ns", TIME),
	F(other_run.end_ns, "end_ns", TIME),
	F(other_run.tid, "tid", TID, NOBODY_0),
	F(other_run.pid, "pid", PID, NOBODY_0),
	F(other_run.cpu, "cpu", CPU),
	F(other_run.comm, "comm", STRING),
	FLAG(other_run.flags, TXTRACE_OTHER_RUN_NOBODY_KNOWN, "nobody_known"),
	F(other_run.moved_tid, "moved_tid", TID, NULL_0),
	F(other_run.moved_pid, "moved_pid", PID, NULL_0),
	F(other_run.stolen_ns, "stolen_ns", DURATION, OMIT_0),
};

static const struct record_field cost_fields[] = {
	F(cost.time_ns, "time_ns", TIME),
	F(cost.since_ns, "since_ns", TIME, SINCE(1)),
	F(cost.event, "event", STRING, NAME(2)),
	F(cost.event_cnt, "event_cnt", COUNT, PLAIN(3)),
	F(cost.timed_event_cnt, "timed_event_cnt", COUNT, PLAIN(4)),
	F(cost.timed_run_cnt, "timed_run_cnt", COUNT, PLAIN(5)),
	F(cost.timed_run_ns, "timed_run_ns", DURATION, PLAIN(6)),
	F(cost.entry, "entry", ENUM, NAMED(cost_entries), PLAIN(7)),
	F(cost.entry_ps, "entry_ps", COUNT, NULL_0, PLAIN(8)),
	F(cost.empty_run_ps, "empty_run_ps", COUNT, NULL_0, PLAIN(9)),
	F(cost.idle_run_ps, "idle_run_ps", COUNT, NULL_0, PLAIN(10)),
	F(cost.calibration_cnt, "calibration_cnt", COUNT, NULL_0, PLAIN(11)),
	F(cost.cpu_ns, "cpu_ns", DURATION, NULL_0, PLAIN(12)),
	F(cost.ring_bytes, "ring_bytes", COUNT, NULL_0, PLAIN(13)),
	F(cost.log_bytes, "log_bytes", COUNT, NULL_0, PLAIN(14)),
};

static const struct record_field process_fields[] = {
	F(process.time_ns, "time_ns", TIME),
	F(process.pid, "pid", PID),
	F(process.parent_pid, "parent_pid", PID, NULL_0, LESS_PID(4)),
	F(process.inner_pid, "inner_pid", U32, NULL_0, LESS_PID(5)),
	F(process.start_ns, "start_ns", TIME, NULL_0, SINCE(6)),
	F(process.reasons, "reasons", SET, NAMED(process_reasons), PLAIN(3)),
	F(process.is_seed, "seed", BOOL, BIT(2, 1)),
	F(process.is_exit, "exit", BOOL, BIT(2, 2)),
	F(process.comm, "comm", STRING, NAME(7)),
	F(process.exe, "exe", STRING, TEXT(8)),
	F(process.command, "command", STRING, TEXT(9)),
	F(process.container, "container", STRING, TEXT(10)),
	F(process.pod, "pod", STRING, TEXT(11)),
};

static const struct record_field trigger_fields[] = {
	F(trigger.time_ns, "time_ns", TIME),
	F(trigger.cause, "cause", ENUM, NAMED(trigger_causes), PLAIN(2)),
	F(trigger.pid, "pid", PID, NULL_0),
	F(trigger.tid, "tid", TID, NULL_0),
	F(trigger.span, "span", SPAN_ID, NULL_0, PLAIN(7)),
	F(trigger.is_keyed, "keyed", BOOL, PLAIN(5)),
	F(trigger.missed_cnt, "missed_cnt", COUNT, PLAIN(6)),
	F(trigger.wall_ns, "wall_ns", DURATION, NULL_0, PLAIN(8)),
	F(trigger.rule, "rule", STRING, TEXT(3)),
	F(trigger.label, "label", STRING, NAME(4)),
};

static const struct record_field overlap_fields[] = {
	F(overlap.time_ns, "time_ns", TIME),
	F(overlap.pid, "pid", PID),
	F(overlap.tid, "tid", TID),
	F(overlap.span, "span", SPAN_ID, NULL_0, IN_SPAN(3, SLOT_OVERLAP)),
	F(overlap.is_keyed, "keyed", BOOL, PLAIN(2)),
	LEDGER(overlap, PLAIN, 5),
	F(overlap.ledger.detached_ns, "detached_ns", DURATION),
	F(overlap.ledger.unknown_ns, "unknown_ns", DURATION, PLAIN(18)),
	F(overlap.ledger.interrupt_ns, "interrupt_ns", DURATION, OMIT_0, PLAIN(19)),
	F(overlap.ledger.stolen_ns, "stolen_ns", DURATION, OMIT_0, PLAIN(20)), /* since 1.3 */
};

static const struct record_field damage_fields[] = {
	F(damage.offset_bytes, "offset_bytes", COUNT),
	F(damage.length_bytes, "length_bytes", COUNT),
	F(damage.record_cnt, "record_cnt", COUNT),
	F(damage.reason, "reason", TEXT),
};

/* ---- kinds ---- */

#define C HABIT_CATEGORY
#define S HABIT_SPARSE
#define V HABIT_VALUE

#define KIND(member, name_, plural_, help_)                                                             \
	.name = name_, .plural = plural_, .help = help_, .fields = member##_fields,                     \
	.field_cnt = LENGTH_OF(member##_fields),                                                        \
	.bytes = RECORD_BYTES(member)
#define OF_THREAD(kind) .pid = AT(kind.pid), .tid = AT(kind.tid)
#define IN_LOG(cnt, ...) .log_field_cnt = (cnt), .habits = { __VA_ARGS__ }

const struct record_kind record_kinds[TXTRACE_RECORD_KIND_COUNT] = {
	[TXTRACE_RECORD_SPAN] = {
		KIND(span, "span", "spans", "spans that have ended, with where their time went"),
		.time = AT(span.end_ns), .begin = AT(span.begin_ns), OF_THREAD(span),
		.strings = { AT(span.label), AT(span.tag), AT(span.key) },
		IN_LOG(SPAN_FIELD_COUNT, V, C, C, C, C, S, S, C, V, C, S, C, S, S, C, S,
		       S, S, S, S, S, S, S, S, S, S, S, S, S, C, S, S, S, S),
	},
	[TXTRACE_RECORD_RUN] = {
		KIND(run, "run", "runs", "intervals of threads on a CPU"),
		.time = AT(run.end_ns), .begin = AT(run.begin_ns), OF_THREAD(run),
		IN_LOG(RUN_FIELD_COUNT, V, C, C, C, S, S, S, C, C, C, C, S, C, S, C, C, S, S, S),
	},
	[TXTRACE_RECORD_WAKE] = {
		KIND(wake, "wake", "wakeups", "wakeups of threads"),
		.time = AT(wake.time_ns), OF_THREAD(wake), .strings = { AT(wake.waker_comm) },
		IN_LOG(WAKE_FIELD_COUNT, V, C, C, C, C, C, C, S, C, S),
	},
	[TXTRACE_RECORD_THREAD] = {
		KIND(thread, "thread", "threads", "threads: their names, and their ends"),
		.time = AT(thread.time_ns), OF_THREAD(thread), .strings = { AT(thread.comm) },
		IN_LOG(4, V, V, C, S),
	},
	[TXTRACE_RECORD_ATTRIBUTE] = {
		KIND(attribute, "attribute", "attributes", "attributes of spans"),
		.time = AT(attribute.time_ns), OF_THREAD(attribute),
		.strings = { AT(attribute.name), AT(attribute.string) },
		IN_LOG(ATTRIBUTE_FIELD_COUNT, V, C, C, C, C, C, S, S, S),
	},
	[TXTRACE_RECORD_INSTANT] = {
		KIND(instant, "instant", "instants", "instants of spans"),
		.time = AT(instant.time_ns), OF_THREAD(instant), .strings = { AT(instant.name) },
		IN_LOG(INSTANT_FIELD_COUNT, V, C, C, C, S),
	},
	[TXTRACE_RECORD_COUNTER] = {
		KIND(counter, "counter", "counters", "values of counters"),
		.time = AT(counter.time_ns), OF_THREAD(counter), .strings = { AT(counter.name) },
		IN_LOG(COUNTER_FIELD_COUNT, V, C, C, C, S),
	},
	[TXTRACE_RECORD_LINK] = {
		KIND(link, "link", "links", "links from a span to another one"),
		.time = AT(link.time_ns), OF_THREAD(link), .strings = { AT(link.name) },
		IN_LOG(LINK_FIELD_COUNT, V, C, C, C, S, C, S),
	},
	[TXTRACE_RECORD_LOSS] = {
		KIND(loss, "loss", "losses", "events that were lost"),
		.time = AT(loss.last_ns), .begin = AT(loss.first_ns),
		IN_LOG(7, V, V, C, V, V, C, C),
	},
	[TXTRACE_RECORD_OPEN_SPAN] = {
		KIND(open_span, "open_span", "open_spans", "spans that were open at a checkpoint"),
		.time = AT(open_span.time_ns), .begin = AT(open_span.begin_ns), OF_THREAD(open_span),
		.strings = { AT(open_span.label), AT(open_span.key) },
		IN_LOG(OPEN_SPAN_FIELD_COUNT, V, C, C, S, V, C, S, C, S, C),
	},
	[TXTRACE_RECORD_SUMMARY] = {
		KIND(summary, "summary", "summaries", "the recorder's own counts"),
		.time = AT(summary.time_ns),
		IN_LOG(17 + TXTRACE_LEFT_OUT_COUNT, V, [1 ... 16 + TXTRACE_LEFT_OUT_COUNT] = S),
	},
	[TXTRACE_RECORD_DROPPED] = {
		KIND(dropped, "dropped", "dropped", "records that were not written"),
		.time = AT(dropped.time_ns), .begin = AT(dropped.first_ns),
		IN_LOG(4 + LOGGED_KINDS, V, V, V, [3 ... 3 + LOGGED_KINDS] = S),
	},
	[TXTRACE_RECORD_CONTINUED] = {
		KIND(continued, "continued", NULL, NULL),
		.time = AT(continued.time_ns),
		IN_LOG(2, V, V),
	},
	[TXTRACE_RECORD_STAY] = {
		KIND(stay, "stay", "stays", "stays of threads in spans that several worked for"),
		.time = AT(stay.exit_ns), .begin = AT(stay.enter_ns), OF_THREAD(stay),
		IN_LOG(STAY_FIELD_COUNT, V, C, V, S, C, C, S, C),
	},
	[TXTRACE_RECORD_OBJECT] = {
		KIND(object, "object", "objects", "what waits were for"),
		.time = AT(object.time_ns), OF_THREAD(object), .strings = { AT(object.name) },
		.is_nameless = true, IN_LOG(5, V, C, C, V, V),
	},
	[TXTRACE_RECORD_STACK] = {
		KIND(stack, "stack", "stacks", "where the code of threads was"),
		.time = AT(stack.time_ns), OF_THREAD(stack),
		IN_LOG(10, V, C, C, V, V, C, C, S, S, C),
	},
	[TXTRACE_RECORD_FRAMES] = {
		KIND(frames, "frames", "frames", "the functions of stacks"),
		.time = AT(frames.time_ns), .strings = { AT(frames.names) },
		.is_nameless = true, IN_LOG(3, V, V, V),
	},
	[TXTRACE_RECORD_OTHER_RUN] = {
		KIND(other_run, "other_run", "other_runs", "other tasks on a CPU that was waited for"),
		.time = AT(other_run.end_ns), .begin = AT(other_run.begin_ns),
		.strings = { AT(other_run.comm) },
		IN_LOG(OTHER_RUN_FIELD_COUNT, V, C, C, C, C, C, C, S, S),
	},
	[TXTRACE_RECORD_COST] = {
		KIND(cost, "cost", "costs", "what tracing cost"),
		.time = AT(cost.time_ns), .begin = AT(cost.since_ns), .strings = { AT(cost.event) },
		IN_LOG(15, V, V, V, S, S, S, S, C, V, V, V, V, S, S, S),
	},
	[TXTRACE_RECORD_PROCESS] = {
		KIND(process, "process", "processes", "traced processes"),
		.time = AT(process.time_ns), .pid = AT(process.pid), .tid = AT(process.pid),
		.strings = { AT(process.comm), AT(process.exe), AT(process.command),
			     AT(process.container), AT(process.pod) },
		IN_LOG(12, V, V, C, C, V, V, V, S, S, S, S, S),
	},
	[TXTRACE_RECORD_TRIGGER] = {
		KIND(trigger, "trigger", "triggers", "why a flight recorder wrote"),
		.time = AT(trigger.time_ns), OF_THREAD(trigger),
		.strings = { AT(trigger.label), AT(trigger.rule) },
		IN_LOG(9, V, C, C, S, C, C, S, S, S),
	},
	[TXTRACE_RECORD_OVERLAP] = {
		KIND(overlap, "overlap", NULL, NULL),
		.time = AT(overlap.time_ns), OF_THREAD(overlap),
		IN_LOG(21, V, C, C, C, [4 ... 20] = S),
	},
	[TXTRACE_RECORD_DAMAGE] = {
		KIND(damage, "damage", "damages", "parts of the files that can't be read"),
	},
};

/* ---- one field ---- */

const char *record_name_or_unknown(const struct record_names *of, unsigned int number)
{
	const char *name = record_name(of, number), *first = of->names[0];

	return name || !first || strcmp(first, "unknown") != 0 ? name : first;
}

uint64_t record_number(const struct record_field *field, const void *base)
{
	const void *at = record_at(field, base);

	switch ((enum record_type)field->type) {
	case RECORD_TIME:
	case RECORD_DURATION:
	case RECORD_COUNT:
	case RECORD_SPAN_ID:
	case RECORD_ADDRESS:
	case RECORD_I64:
	case RECORD_VALUE:
		return *(const uint64_t *)at;
	case RECORD_PID:
	case RECORD_TID:
	case RECORD_CPU:
	case RECORD_U32:
		return *(const uint32_t *)at;
	case RECORD_I32:
		return (uint64_t) * (const int32_t *)at;
	case RECORD_ENUM:
	case RECORD_SET:
		return *(const uint8_t *)at;
	case RECORD_BOOL:
		return *(const bool *)at;
	case RECORD_FLAG:
		return (*(const uint32_t *)at & field->mask) != 0;
	case RECORD_WALL:
		return span_wall_ns(&((const struct txtrace_record *)base)->span);
	case RECORD_BLOCKED:
		return txtrace_ledger_blocked_ns(at);
	case RECORD_STRING:
	case RECORD_KEY:
	case RECORD_TEXT:
	case RECORD_CHARS:
		break;
	}
	return 0;
}

struct txtrace_string record_bytes(const struct record_field *field, const void *base)
{
	const void *at = record_at(field, base);
	const char *text;

	switch (field->type) {
	case RECORD_STRING:
	case RECORD_KEY:
		return *(const struct txtrace_string *)at;
	case RECORD_TEXT:
		text = *(const char *const *)at;
		return (struct txtrace_string){ text, text ? strlen(text) : 0 };
	case RECORD_CHARS:
		return (struct txtrace_string){ at, strnlen(at, field->size) };
	default:
		return (struct txtrace_string){ NULL, 0 };
	}
}

bool record_shows(const struct record_field *field, const void *base)
{
	return record_has(field, base) && !(field->rules & RECORD_OMIT_0 && record_number(field, base) == 0);
}

/* ---- a record ---- */

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
	const struct record_kind *kind = record_kind_of(record);

	if (!kind->pid)
		return false;
	*pid = *(const uint32_t *)((const char *)record + kind->pid);
	*tid = *(const uint32_t *)((const char *)record + kind->tid);
	return true;
}

int record_strings(struct txtrace_record *record, struct record_string strings[RECORD_STRINGS_MAX])
{
	const struct record_kind *kind = record_kind_of(record);
	int cnt = 0;

	if (!kind->log_field_cnt)
		return -1;
	for (; cnt < RECORD_STRINGS_MAX && kind->strings[cnt]; cnt++)
		strings[cnt] = (struct record_string){
			(struct txtrace_string *)((char *)record + kind->strings[cnt]),
			kind->strings[cnt] == AT(span.tag) && record->kind == TXTRACE_RECORD_SPAN,
			record->kind == TXTRACE_RECORD_COST
		};
	return cnt;
}

bool record_is_too_long(const struct txtrace_record *record)
{
	const struct record_kind *kind = record_kind_of(record);
	size_t all = 0;

	for (int i = 0; i < RECORD_STRINGS_MAX && kind->strings[i]; i++) {
		size_t length = ((const struct txtrace_string *)((const char *)record + kind->strings[i]))
					->length;

		if (length > LOG_STRING_MAX_BYTES)
			return true;
		all += length;
	}
	return all > LOG_STRINGS_MAX_BYTES;
}
