/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables, and their columns: in the order in which JSON Lines has the members. */
#include <math.h>
#include <string.h>

#include "analyze/wait/wait_sums.h"
#include "export/timeline.h"
#include "sql/sql_table.h"

#define CPU_UNKNOWN 65535 /* of losses, see txtrace/log_record.h */

#define SQL_COLUMN_OF(kind, name, how, member) SQL_COLUMN(name, how, txtrace_##kind, member)

/* ---- runs ---- */

static void get_reason_name(struct sql_value *value, unsigned int reason, bool is_known)
{
	sql_value_text(value, is_known ? txtrace_block_reason_name(reason) : NULL);
}

static void run_left_as(const struct sql_row *row, struct sql_value *value)
{
	sql_value_text(value, left_as_name(((const struct txtrace_run *)row->source)->left_as));
}

static void run_wait_reason(const struct sql_row *row, struct sql_value *value)
{
	const struct txtrace_run *run = row->source;

	get_reason_name(value, run->wait_reason, run->has_wait_end);
}

static void run_wait_object(const struct sql_row *row, struct sql_value *value)
{
	const struct txtrace_run *run = row->source;

	sql_value_pointer(value, run->wait_object);
	value->type = run->has_wait_end ? SQL_TEXT : SQL_NULL;
}

static void run_reason(const struct sql_row *row, struct sql_value *value)
{
	const struct txtrace_run *run = row->source;

	get_reason_name(value, run->reason, run->left_as == TXTRACE_LEFT_BLOCKED);
}

static void run_syscall(const struct sql_row *row, struct sql_value *value)
{
	const struct txtrace_run *run = row->source;

	value->type = run->left_as == TXTRACE_LEFT_BLOCKED ? SQL_INTEGER : SQL_NULL;
	value->integer = run->syscall_nr;
}

static void run_object(const struct sql_row *row, struct sql_value *value)
{
	const struct txtrace_run *run = row->source;

	sql_value_pointer(value, run->object);
	value->type = run->left_as == TXTRACE_LEFT_BLOCKED ? SQL_TEXT : SQL_NULL;
}

#define RUN(name, how, member) SQL_COLUMN_OF(run, name, how, member)
static const struct sql_column run_columns[] = {
	RUN("tid", SQL_U32, tid),
	RUN("pid", SQL_U32, pid),
	RUN("cpu", SQL_U32, cpu),
	RUN("begin_ns", SQL_U64, begin_ns),
	RUN("end_ns", SQL_U64, end_ns),
	RUN("blocked_ns", SQL_U64, blocked_ns),
	RUN("runnable_ns", SQL_U64, runnable_ns),
	SQL_COLUMN_CALL("left_as", SQL_TEXT, run_left_as),
	RUN("idle_ns", SQL_U64_OR_NULL, idle_ns),
	SQL_COLUMN_CALL("wait_reason", SQL_TEXT, run_wait_reason),
	SQL_COLUMN_CALL("wait_object", SQL_TEXT, run_wait_object),
	SQL_COLUMN_CALL("reason", SQL_TEXT, run_reason),
	SQL_COLUMN_CALL("syscall_nr", SQL_INTEGER, run_syscall),
	SQL_COLUMN_CALL("object", SQL_TEXT, run_object),
	SQL_COLUMN_CAPTURE,
	SQL_COLUMN_END,
};

/* ---- blocks ---- */

static void block_reason(const struct sql_row *row, struct sql_value *value)
{
	sql_value_text(value, txtrace_block_reason_name(((const struct sql_block *)row->source)->reason));
}

static void block_syscall_nr(const struct sql_row *row, struct sql_value *value)
{
	const struct sql_block *block = row->source;

	value->type = block->reason < TXTRACE_BLOCK_REASON_COUNT ? SQL_INTEGER : SQL_NULL;
	value->integer = block->syscall_nr;
}

static void block_object(const struct sql_row *row, struct sql_value *value)
{
	const struct sql_block *block = row->source;

	sql_value_pointer(value, block->object);
	value->type = block->reason < TXTRACE_BLOCK_REASON_COUNT ? SQL_TEXT : SQL_NULL;
}

static void block_object_kind(const struct sql_row *row, struct sql_value *value)
{
	const struct sql_block *block = row->source;
	bool is_known = block->object_kind < WAIT_OBJECT_KIND_COUNT;

	sql_value_text(value, is_known ? wait_object_kind_names[block->object_kind] : NULL);
}

static void block_waker_tid(const struct sql_row *row, struct sql_value *value)
{
	const struct sql_block *block = row->source;

	sql_value_u64(value, block->wake.waker_tid);
	value->type = block->wake.waker_tid ? SQL_INTEGER : SQL_NULL;
}

static void get_wake_flag(const struct sql_row *row, struct sql_value *value, uint32_t flag)
{
	const struct sql_block *block = row->source;

	value->type = block->has_wake ? SQL_INTEGER : SQL_NULL;
	value->integer = (block->wake.flags & flag) != 0;
}

static void block_interrupt(const struct sql_row *row, struct sql_value *value)
{
	get_wake_flag(row, value, TXTRACE_WAKE_INTERRUPT);
}

static void block_timer(const struct sql_row *row, struct sql_value *value)
{
	get_wake_flag(row, value, TXTRACE_WAKE_TIMER);
}

static void block_softirq(const struct sql_row *row, struct sql_value *value)
{
	get_wake_flag(row, value, TXTRACE_WAKE_SOFTIRQ);
}

static void block_waker_unknown(const struct sql_row *row, struct sql_value *value)
{
	get_wake_flag(row, value, TXTRACE_WAKE_WAKER_UNKNOWN);
}

static void block_span_keyed(const struct sql_row *row, struct sql_value *value)
{
	get_wake_flag(row, value, TXTRACE_WAKE_SPAN_KEYED);
}

static void block_waker_span_keyed(const struct sql_row *row, struct sql_value *value)
{
	get_wake_flag(row, value, TXTRACE_WAKE_WAKER_SPAN_KEYED);
}

#define BLOCK(name, how, member) SQL_COLUMN(name, how, sql_block, member)
static const struct sql_column block_columns[] = {
	BLOCK("tid", SQL_U32, tid),
	BLOCK("pid", SQL_U32, pid),
	BLOCK("begin_ns", SQL_U64_OR_NULL, begin_ns),
	BLOCK("end_ns", SQL_U64, end_ns),
	BLOCK("blocked_ns", SQL_U64, blocked_ns),
	SQL_COLUMN_CALL("reason", SQL_TEXT, block_reason),
	SQL_COLUMN_CALL("syscall_nr", SQL_INTEGER, block_syscall_nr),
	BLOCK("syscall", SQL_BYTES, syscall),
	SQL_COLUMN_CALL("object", SQL_TEXT, block_object),
	SQL_COLUMN_CALL("object_kind", SQL_TEXT, block_object_kind),
	BLOCK("object_name", SQL_BYTES, object_name),
	BLOCK("span", SQL_ID, wake.span),
	SQL_COLUMN_CALL("span_keyed", SQL_INTEGER, block_span_keyed),
	SQL_COLUMN_CALL("waker_tid", SQL_INTEGER, block_waker_tid),
	BLOCK("waker_pid", SQL_U32_OR_NULL, wake.waker_pid),
	BLOCK("waker_comm", SQL_BYTES, wake.waker_comm),
	BLOCK("waker_span", SQL_ID, wake.waker_span),
	SQL_COLUMN_CALL("waker_span_keyed", SQL_INTEGER, block_waker_span_keyed),
	SQL_COLUMN_CALL("interrupt", SQL_INTEGER, block_interrupt),
	SQL_COLUMN_CALL("timer", SQL_INTEGER, block_timer),
	SQL_COLUMN_CALL("softirq", SQL_INTEGER, block_softirq),
	SQL_COLUMN_CALL("waker_unknown", SQL_INTEGER, block_waker_unknown),
	SQL_COLUMN_CAPTURE,
	SQL_COLUMN_END,
};

/* ---- wakes, stays, threads, processes ---- */

#define WAKE(name, how, member) SQL_COLUMN_OF(wake, name, how, member)
#define WAKE_FLAG(name, flag) SQL_COLUMN_FLAG(name, txtrace_wake, TXTRACE_WAKE_##flag)
static const struct sql_column wake_columns[] = {
	WAKE("time_ns", SQL_U64, time_ns),
	WAKE("tid", SQL_U32, tid),
	WAKE("pid", SQL_U32, pid),
	WAKE("waker_tid", SQL_U32_OR_NULL, waker_tid),
	WAKE("waker_pid", SQL_U32_OR_NULL, waker_pid),
	WAKE("cpu", SQL_U32, cpu),
	WAKE_FLAG("interrupt", INTERRUPT),
	WAKE_FLAG("timer", TIMER),
	WAKE_FLAG("softirq", SOFTIRQ),
	WAKE_FLAG("waker_unknown", WAKER_UNKNOWN),
	WAKE("waker_comm", SQL_BYTES, waker_comm),
	WAKE("span", SQL_ID, span),
	WAKE_FLAG("span_keyed", SPAN_KEYED),
	WAKE("waker_span", SQL_ID, waker_span),
	WAKE_FLAG("waker_span_keyed", WAKER_SPAN_KEYED),
	SQL_COLUMN_CAPTURE,
	SQL_COLUMN_END,
};

#define STAY(name, how, member) SQL_COLUMN_OF(stay, name, how, member)
static const struct sql_column stay_columns[] = {
	STAY("enter_ns", SQL_U64, enter_ns),
	STAY("exit_ns", SQL_U64, exit_ns),
	STAY("pid", SQL_U32, pid),
	STAY("tid", SQL_U32, tid),
	STAY("span", SQL_ID, span),
	STAY("span_pid", SQL_U32, span_pid),
	STAY("keyed", SQL_BOOL, is_keyed),
	SQL_COLUMN_CAPTURE,
	SQL_COLUMN_END,
};

#define THREAD(name, how, member) SQL_COLUMN_OF(thread, name, how, member)
static const struct sql_column thread_columns[] = {
	THREAD("time_ns", SQL_U64, time_ns),
	THREAD("tid", SQL_U32, tid),
	THREAD("pid", SQL_U32, pid),
	THREAD("seed", SQL_BOOL, is_seed),
	THREAD("exit", SQL_BOOL, is_exit),
	THREAD("comm", SQL_BYTES, comm),
	SQL_COLUMN_CAPTURE,
	SQL_COLUMN_END,
};

#define PROCESS(name, how, member) SQL_COLUMN_OF(process, name, how, member)
static const struct sql_column process_columns[] = {
	PROCESS("time_ns", SQL_U64, time_ns),
	PROCESS("pid", SQL_U32, pid),
	PROCESS("parent_pid", SQL_U32_OR_NULL, parent_pid),
	PROCESS("inner_pid", SQL_U32_OR_NULL, inner_pid),
	PROCESS("start_ns", SQL_U64_OR_NULL, start_ns),
	PROCESS("seed", SQL_BOOL, is_seed),
	PROCESS("exit", SQL_BOOL, is_exit),
	PROCESS("comm", SQL_BYTES, comm),
	PROCESS("exe", SQL_BYTES, exe),
	PROCESS("command", SQL_BYTES, command),
	SQL_COLUMN_CAPTURE,
	SQL_COLUMN_END,
};

/* ---- what programs say ---- */

static void attribute_value_type(const struct sql_row *row, struct sql_value *value)
{
	sql_value_text(value, attribute_type_name(((const struct txtrace_attribute *)row->source)->type));
}

static void attribute_value(const struct sql_row *row, struct sql_value *value)
{
	const struct txtrace_attribute *attribute = row->source;

	switch (attribute->type) {
	case TXTRACE_ATTRIBUTE_INT:
		value->type = SQL_INTEGER;
		value->integer = (int64_t)attribute->value;
		break;
	case TXTRACE_ATTRIBUTE_DOUBLE:
		value->type = SQL_REAL;
		memcpy(&value->real, &attribute->value, sizeof(value->real));
		if (isnan(value->real)) /* SQLite would make NULL of it: not known */
			sql_value_text(value, "NaN");
		break;
	case TXTRACE_ATTRIBUTE_STRING:
		sql_value_bytes(value, attribute->string);
		value->type = SQL_TEXT; /* an empty string is one */
		value->bytes = attribute->string.length ? attribute->string.bytes : "";
		break;
	case TXTRACE_ATTRIBUTE_POINTER:
		sql_value_pointer(value, attribute->value);
		break;
	default: /* BOOL, UINT, and types of the future */
		if (attribute->value <= INT64_MAX)
			sql_value_u64(value, attribute->value);
		else /* such as a hash: as text, since a floating-point number would lose its last digits */
			sql_value_id(value, attribute->value);
	}
}

#define ATTRIBUTE(name, how, member) SQL_COLUMN_OF(attribute, name, how, member)
static const struct sql_column attribute_columns[] = {
	ATTRIBUTE("time_ns", SQL_U64, time_ns),
	ATTRIBUTE("span", SQL_ID, span),
	ATTRIBUTE("pid", SQL_U32, pid),
	ATTRIBUTE("tid", SQL_U32, tid),
	ATTRIBUTE("name", SQL_BYTES, name),
	SQL_COLUMN_CALL("value_type", SQL_TEXT, attribute_value_type),
	SQL_COLUMN_CALL("value", SQL_ANY, attribute_value),
	ATTRIBUTE("truncated", SQL_BOOL, is_truncated),
	SQL_COLUMN_CAPTURE,
	SQL_COLUMN_END,
};

#define INSTANT(name, how, member) SQL_COLUMN_OF(instant, name, how, member)
static const struct sql_column instant_columns[] = {
	INSTANT("time_ns", SQL_U64, time_ns),
	INSTANT("span", SQL_ID, span),
	INSTANT("pid", SQL_U32, pid),
	INSTANT("tid", SQL_U32, tid),
	INSTANT("name", SQL_BYTES, name),
	SQL_COLUMN_CAPTURE,
	SQL_COLUMN_END,
};

#define COUNTER(name, how, member) SQL_COLUMN_OF(counter, name, how, member)
static const struct sql_column counter_columns[] = {
	COUNTER("time_ns", SQL_U64, time_ns),
	COUNTER("pid", SQL_U32, pid),
	COUNTER("tid", SQL_U32, tid),
	COUNTER("name", SQL_BYTES, name),
	COUNTER("value", SQL_I64, value),
	SQL_COLUMN_CAPTURE,
	SQL_COLUMN_END,
};

#define LINK(name, how, member) SQL_COLUMN_OF(link, name, how, member)
static const struct sql_column link_columns[] = {
	LINK("time_ns", SQL_U64, time_ns),
	LINK("from", SQL_ID, from),
	LINK("to", SQL_ID, to),
	LINK("pid", SQL_U32, pid),
	LINK("tid", SQL_U32, tid),
	LINK("name", SQL_BYTES, name),
	SQL_COLUMN_CAPTURE,
	SQL_COLUMN_END,
};

#define OPEN_SPAN(name, how, member) SQL_COLUMN_OF(open_span, name, how, member)
#define OPEN_SPAN_FLAG(name, flag) SQL_COLUMN_FLAG(name, txtrace_open_span, TXTRACE_SPAN_##flag)
static const struct sql_column open_span_columns[] = {
	OPEN_SPAN("time_ns", SQL_U64, time_ns),
	OPEN_SPAN("id", SQL_ID, id),
	OPEN_SPAN("pid", SQL_U32, pid),
	OPEN_SPAN("tid", SQL_U32, tid),
	OPEN_SPAN("label", SQL_BYTES, label),
	OPEN_SPAN("key", SQL_BYTES, key),
	OPEN_SPAN("parent", SQL_ID, parent),
	OPEN_SPAN("begin_ns", SQL_U64, begin_ns),
	OPEN_SPAN_FLAG("nested", NESTED),
	OPEN_SPAN_FLAG("parent_keyed", PARENT_KEYED),
	OPEN_SPAN_FLAG("parent_lost", PARENT_LOST),
	SQL_COLUMN_CAPTURE,
	SQL_COLUMN_END,
};

/* ---- what waits were for, and where ---- */

static void object_reason(const struct sql_row *row, struct sql_value *value)
{
	sql_value_text(value,
		       txtrace_block_reason_name(((const struct txtrace_object *)row->source)->reason));
}

static void object_object(const struct sql_row *row, struct sql_value *value)
{
	sql_value_pointer(value, ((const struct txtrace_object *)row->source)->object);
}

#define OBJECT(name, how, member) SQL_COLUMN_OF(object, name, how, member)
static const struct sql_column object_columns[] = {
	OBJECT("time_ns", SQL_U64, time_ns),
	OBJECT("pid", SQL_U32, pid),
	OBJECT("tid", SQL_U32, tid),
	SQL_COLUMN_CALL("reason", SQL_TEXT, object_reason),
	SQL_COLUMN_CALL("object", SQL_TEXT, object_object),
	OBJECT("name", SQL_BYTES, name),
	SQL_COLUMN_CAPTURE,
	SQL_COLUMN_END,
};

static void stack_what(const struct sql_row *row, struct sql_value *value)
{
	const struct txtrace_stack *stack = row->source;

	sql_value_text(value, stack->what == TXTRACE_STACK_OFF_CPU  ? "off_cpu"
			      : stack->what == TXTRACE_STACK_ON_CPU ? "on_cpu"
								    : NULL);
}

#define STACK(name, how, member) SQL_COLUMN_OF(stack, name, how, member)
static const struct sql_column stack_columns[] = {
	STACK("time_ns", SQL_U64, time_ns),
	STACK("pid", SQL_U32, pid),
	STACK("tid", SQL_U32, tid),
	SQL_COLUMN_CALL("what", SQL_TEXT, stack_what),
	STACK("weight_ns", SQL_U64, weight_ns),
	STACK("stack", SQL_U64, stack),
	STACK("span", SQL_ID, span),
	STACK("span_pid", SQL_U32, span_pid),
	STACK("keyed", SQL_BOOL, is_keyed),
	STACK("repeat", SQL_BOOL, is_repeat),
	SQL_COLUMN_CAPTURE,
	SQL_COLUMN_END,
};

#define FRAMES(name, how, member) SQL_COLUMN_OF(frames, name, how, member)
static const struct sql_column frames_columns[] = {
	FRAMES("time_ns", SQL_U64, time_ns),
	FRAMES("stack", SQL_U64, stack),
	FRAMES("names", SQL_BYTES, names),
	SQL_COLUMN_CAPTURE,
	SQL_COLUMN_END,
};

#define OTHER_RUN(name, how, member) SQL_COLUMN_OF(other_run, name, how, member)
static const struct sql_column other_run_columns[] = {
	OTHER_RUN("begin_ns", SQL_U64, begin_ns),
	OTHER_RUN("end_ns", SQL_U64, end_ns),
	OTHER_RUN("tid", SQL_U32, tid),
	OTHER_RUN("pid", SQL_U32, pid),
	OTHER_RUN("cpu", SQL_U32, cpu),
	OTHER_RUN("comm", SQL_BYTES, comm),
	SQL_COLUMN_FLAG("nobody_known", txtrace_other_run, TXTRACE_OTHER_RUN_NOBODY_KNOWN),
	OTHER_RUN("moved_tid", SQL_U32_OR_NULL, moved_tid),
	OTHER_RUN("moved_pid", SQL_U32_OR_NULL, moved_pid),
	SQL_COLUMN_CAPTURE,
	SQL_COLUMN_END,
};

/* ---- what is missing ---- */

static void loss_cpu(const struct sql_row *row, struct sql_value *value)
{
	const struct txtrace_loss *loss = row->source;

	value->type = loss->cpu == CPU_UNKNOWN ? SQL_NULL : SQL_INTEGER;
	value->integer = loss->cpu;
}

#define LOSS(name, how, member) SQL_COLUMN_OF(loss, name, how, member)
static const struct sql_column loss_columns[] = {
	LOSS("first_ns", SQL_U64, first_ns),
	LOSS("last_ns", SQL_U64, last_ns),
	SQL_COLUMN_CALL("cpu", SQL_INTEGER, loss_cpu),
	LOSS("span_event_cnt", SQL_U64, span_event_cnt),
	LOSS("sched_event_cnt", SQL_U64, sched_event_cnt),
	SQL_COLUMN_CAPTURE,
	SQL_COLUMN_END,
};

#define DROPPED(name, how, member) SQL_COLUMN_OF(dropped, name, how, member)
static const struct sql_column dropped_columns[] = {
	DROPPED("time_ns", SQL_U64, time_ns),
	DROPPED("first_ns", SQL_U64, first_ns),
	DROPPED("last_ns", SQL_U64, last_ns),
	DROPPED("batch_cnt", SQL_U64, batch_cnt),
	DROPPED("span_cnt", SQL_U64, record_cnt[TXTRACE_RECORD_SPAN]),
	DROPPED("run_cnt", SQL_U64, record_cnt[TXTRACE_RECORD_RUN]),
	DROPPED("wake_cnt", SQL_U64, record_cnt[TXTRACE_RECORD_WAKE]),
	SQL_COLUMN_CAPTURE,
	SQL_COLUMN_END,
};

static void damage_reason(const struct sql_row *row, struct sql_value *value)
{
	sql_value_text(value, ((const struct txtrace_damage *)row->source)->reason);
}

#define DAMAGE(name, how, member) SQL_COLUMN_OF(damage, name, how, member)
static const struct sql_column damage_columns[] = {
	DAMAGE("offset_bytes", SQL_U64, offset_bytes),
	DAMAGE("length_bytes", SQL_U64, length_bytes),
	DAMAGE("record_cnt", SQL_U64, record_cnt),
	SQL_COLUMN_CALL("reason", SQL_TEXT, damage_reason),
	SQL_COLUMN_END,
};

/* ---- the recording ---- */

#define SUMMARY(name, how, member) SQL_COLUMN_OF(summary, name, how, member)
static const struct sql_column summary_columns[] = {
	SUMMARY("time_ns", SQL_U64, time_ns),
	SUMMARY("sent_cnt", SQL_U64, sent_cnt),
	SUMMARY("received_cnt", SQL_U64, received_cnt),
	SUMMARY("lost_cnt", SQL_U64, lost_cnt),
	SUMMARY("lost_clocks_cnt", SQL_U64, lost_clocks_cnt),
	SUMMARY("late_cnt", SQL_U64, late_cnt),
	SQL_COLUMN_CAPTURE,
	SQL_COLUMN_END,
};

static void cost_entry(const struct sql_row *row, struct sql_value *value)
{
	static const char *const entries[] = { "unknown", "trap", "call", "tracepoint", "step", "within" };
	const struct txtrace_cost *cost = row->source;
	bool is_known = cost->entry < sizeof(entries) / sizeof(entries[0]);

	sql_value_text(value, is_known ? entries[cost->entry] : NULL);
}

#define COST(name, how, member) SQL_COLUMN_OF(cost, name, how, member)
static const struct sql_column cost_columns[] = {
	COST("time_ns", SQL_U64, time_ns),
	COST("since_ns", SQL_U64, since_ns),
	COST("event", SQL_BYTES, event),
	COST("event_cnt", SQL_U64, event_cnt),
	COST("timed_event_cnt", SQL_U64, timed_event_cnt),
	COST("timed_run_cnt", SQL_U64, timed_run_cnt),
	COST("timed_run_ns", SQL_U64, timed_run_ns),
	SQL_COLUMN_CALL("entry", SQL_TEXT, cost_entry),
	COST("entry_ps", SQL_U64_OR_NULL, entry_ps),
	COST("empty_run_ps", SQL_U64_OR_NULL, empty_run_ps),
	COST("idle_run_ps", SQL_U64_OR_NULL, idle_run_ps),
	COST("calibration_cnt", SQL_U64_OR_NULL, calibration_cnt),
	COST("cpu_ns", SQL_U64_OR_NULL, cpu_ns),
	COST("ring_bytes", SQL_U64_OR_NULL, ring_bytes),
	COST("log_bytes", SQL_U64_OR_NULL, log_bytes),
	SQL_COLUMN_CAPTURE,
	SQL_COLUMN_END,
};

static void trigger_cause(const struct sql_row *row, struct sql_value *value)
{
	static const char *const causes[] = { "unknown", "span", "request", "exit" };
	const struct txtrace_trigger *trigger = row->source;
	bool is_known = trigger->cause < sizeof(causes) / sizeof(causes[0]);

	sql_value_text(value, causes[is_known ? trigger->cause : 0]);
}

#define TRIGGER(name, how, member) SQL_COLUMN_OF(trigger, name, how, member)
static const struct sql_column trigger_columns[] = {
	TRIGGER("time_ns", SQL_U64, time_ns),
	SQL_COLUMN_CALL("cause", SQL_TEXT, trigger_cause),
	TRIGGER("pid", SQL_U32_OR_NULL, pid),
	TRIGGER("tid", SQL_U32_OR_NULL, tid),
	TRIGGER("span", SQL_ID, span),
	TRIGGER("keyed", SQL_BOOL, is_keyed),
	TRIGGER("missed_cnt", SQL_U64, missed_cnt),
	TRIGGER("wall_ns", SQL_U64_OR_NULL, wall_ns),
	TRIGGER("rule", SQL_BYTES, rule),
	TRIGGER("label", SQL_BYTES, label),
	SQL_COLUMN_CAPTURE,
	SQL_COLUMN_END,
};

static void get_chars(struct sql_value *value, const char *chars, size_t size)
{
	sql_value_bytes(value, (struct txtrace_string){ chars, strnlen(chars, size) });
}

#define CAPTURE(name, how, member) SQL_COLUMN(name, how, txtrace_log_info, member)
#define CAPTURE_CHARS(member)                                                            \
	static void capture_##member(const struct sql_row *row, struct sql_value *value) \
	{                                                                                \
		const struct txtrace_log_info *info = row->source;                       \
		get_chars(value, info->member, sizeof(info->member));                    \
	}
CAPTURE_CHARS(host)
CAPTURE_CHARS(kernel)
CAPTURE_CHARS(command)
CAPTURE_CHARS(recorder)
CAPTURE_CHARS(options)

static const struct sql_column capture_columns[] = {
	SQL_COLUMN_CAPTURE,
	CAPTURE("start_monotonic_ns", SQL_U64, start_monotonic_ns),
	CAPTURE("start_realtime_ns", SQL_U64, start_realtime_ns),
	CAPTURE("pid", SQL_U32_OR_NULL, pid),
	CAPTURE("cpu_cnt", SQL_U32, cpu_cnt),
	SQL_COLUMN_CALL("host", SQL_TEXT, capture_host),
	SQL_COLUMN_CALL("kernel", SQL_TEXT, capture_kernel),
	SQL_COLUMN_CALL("command", SQL_TEXT, capture_command),
	SQL_COLUMN_CALL("recorder", SQL_TEXT, capture_recorder),
	SQL_COLUMN_CALL("options", SQL_TEXT, capture_options),
	SQL_COLUMN_END,
};

/* ---- the tables ---- */

#define RECORDS(name_, kind_, columns_, help_, finished_)                                          \
	{                                                                                          \
		.name = name_, .help = help_, .kind = TXTRACE_RECORD_##kind_, .columns = columns_, \
		.finished = finished_                                                              \
	}

const struct sql_table sql_tables[] = {
	RECORDS("spans", SPAN, sql_span_columns, "spans that have ended, with where their time went",
		"end_ns"),
	RECORDS("open_spans", OPEN_SPAN, open_span_columns, "spans that were open at a checkpoint",
		"time_ns"),
	RECORDS("runs", RUN, run_columns, "intervals of threads on a CPU", "end_ns"),
	{ .name = "blocks",
	  .of = SQL_OF_BLOCKS,
	  .columns = block_columns,
	  .help = "waits of threads: why, for what, and their wakers" },
	RECORDS("wakeups", WAKE, wake_columns, "wakeups of threads", "time_ns"),
	RECORDS("stays", STAY, stay_columns, "stays of threads in spans that several worked for", "exit_ns"),
	RECORDS("attributes", ATTRIBUTE, attribute_columns, "attributes of spans", "time_ns"),
	RECORDS("instants", INSTANT, instant_columns, "instants of spans", "time_ns"),
	RECORDS("counters", COUNTER, counter_columns, "values of counters", "time_ns"),
	RECORDS("links", LINK, link_columns, "links from a span to another one", "time_ns"),
	RECORDS("threads", THREAD, thread_columns, "threads: their names, and their ends", "time_ns"),
	RECORDS("processes", PROCESS, process_columns, "traced processes", "time_ns"),
	RECORDS("objects", OBJECT, object_columns, "what waits were for", "time_ns"),
	RECORDS("stacks", STACK, stack_columns, "where the code of threads was", "time_ns"),
	RECORDS("frames", FRAMES, frames_columns, "the functions of stacks", "time_ns"),
	RECORDS("other_runs", OTHER_RUN, other_run_columns, "other tasks on a CPU that a thread waited for",
		"end_ns"),
	RECORDS("losses", LOSS, loss_columns, "events that were lost", NULL),
	RECORDS("dropped", DROPPED, dropped_columns, "records that were not written", NULL),
	RECORDS("damages", DAMAGE, damage_columns, "parts of the files that can't be read", NULL),
	RECORDS("costs", COST, cost_columns, "what tracing cost", NULL),
	RECORDS("triggers", TRIGGER, trigger_columns, "why a flight recorder wrote", NULL),
	RECORDS("summaries", SUMMARY, summary_columns, "the recorder's own counts", NULL),
	{ .name = "captures",
	  .of = SQL_OF_CAPTURES,
	  .columns = capture_columns,
	  .help = "captures: when, where, of what" },
	{ .name = NULL },
};
