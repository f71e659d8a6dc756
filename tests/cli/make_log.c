/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * make_log OUT [none|zstd|lz4] <TEXT: a log from a text that says what is in it, for tests of whatever reads
 * logs.
 *
 * A line is what `txtrace dump` prints: a kind, then name=value. A field that is not named is 0 or empty;
 * wall_ns is ignored. Some lines are no records: "header pid=42 command="bank" …" (once, first), "flush"
 * (ends the batch), "anchor monotonic_ns=1 realtime_ns=2" (the clocks of the batches from here on), "abort"
 * (leaves OUT.partial, as a crash would). "#" begins a comment.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log/write/log_writer.h"

enum field_type {
	FIELD_U8,
	FIELD_U16,
	FIELD_BOOL,
	FIELD_U32,
	FIELD_U64,
	FIELD_DOUBLE, /* its bits, in 64 */
	FIELD_STRING,
	FIELD_CHARS, /* of the header: an array that ends with NUL */
	FIELD_FLAGS,
	FIELD_IGNORED,
};

struct field {
	const char *name;
	enum field_type type;
	size_t offset;
	size_t size; /* CHARS */
};

#define FIELD(type, member, kind, name)									\
	{												\
		name, type, offsetof(struct txtrace_record, kind.member), 0				\
	}
#define CHARS(member)											\
	{												\
		#member, FIELD_CHARS, offsetof(struct txtrace_log_info, member), \
			sizeof(((struct txtrace_log_info *)0)->member) \
	}
#define LEDGER(member, name) FIELD(FIELD_U64, ledger.member, span, name)
#define COMMON(kind)                                                            \
	FIELD(FIELD_U32, pid, kind, "pid"), FIELD(FIELD_U32, tid, kind, "tid"), \
		FIELD(FIELD_U64, time_ns, kind, "time_ns")

static const struct field header_fields[] = {
	{ "pid", FIELD_U32, offsetof(struct txtrace_log_info, pid), 0 },
	{ "cpus", FIELD_U32, offsetof(struct txtrace_log_info, cpu_cnt), 0 },
	{ "part", FIELD_U32, offsetof(struct txtrace_log_info, part), 0 },
	{ "first_sequence", FIELD_U64, offsetof(struct txtrace_log_info, first_sequence), 0 },
	{ "start_monotonic_ns", FIELD_U64, offsetof(struct txtrace_log_info, start_monotonic_ns), 0 },
	{ "start_realtime_ns", FIELD_U64, offsetof(struct txtrace_log_info, start_realtime_ns), 0 },
	CHARS(capture_id),
	CHARS(boot_id),
	CHARS(host),
	CHARS(kernel),
	CHARS(command),
	CHARS(recorder),
	CHARS(options),
	{ NULL, 0, 0, 0 },
};

struct anchor {
	uint64_t monotonic_ns;
	uint64_t realtime_ns;
};

static const struct field anchor_fields[] = {
	{ "monotonic_ns", FIELD_U64, offsetof(struct anchor, monotonic_ns), 0 },
	{ "realtime_ns", FIELD_U64, offsetof(struct anchor, realtime_ns), 0 },
	{ NULL, 0, 0, 0 },
};

static const struct field span_fields[] = {
	FIELD(FIELD_U64, begin_ns, span, "begin_ns"),
	FIELD(FIELD_U64, end_ns, span, "end_ns"),
	FIELD(FIELD_U32, pid, span, "pid"),
	FIELD(FIELD_U32, tid, span, "tid"),
	FIELD(FIELD_U32, end_tid, span, "end_tid"),
	FIELD(FIELD_U64, id, span, "id"),
	FIELD(FIELD_U64, parent, span, "parent"),
	FIELD(FIELD_STRING, label, span, "label"),
	FIELD(FIELD_STRING, tag, span, "tag"),
	FIELD(FIELD_STRING, key, span, "key"),
	FIELD(FIELD_FLAGS, flags, span, "flags"),
	{ "wall_ns", FIELD_IGNORED, 0, 0 },
	FIELD(FIELD_U64, work_ns, span, "work_ns"),
	LEDGER(on_cpu_ns, "on_cpu_ns"),
	LEDGER(runnable_ns, "runnable_ns"),
	LEDGER(blocked_ns[0], "lock_ns"),
	LEDGER(blocked_ns[1], "disk_ns"),
	LEDGER(blocked_ns[2], "network_ns"),
	LEDGER(blocked_ns[3], "sleep_ns"),
	LEDGER(blocked_ns[4], "page_fault_ns"),
	LEDGER(blocked_ns[5], "pipe_ns"),
	LEDGER(blocked_ns[6], "wait_ns"),
	LEDGER(blocked_ns[7], "stopped_ns"),
	LEDGER(blocked_ns[8], "other_ns"),
	LEDGER(blocked_ns[9], "throttled_ns"),
	LEDGER(blocked_ns[10], "poll_ns"),
	LEDGER(detached_ns, "detached_ns"),
	LEDGER(unknown_ns, "unknown_ns"),
	LEDGER(interrupt_ns, "interrupt_ns"),
	{ NULL, 0, 0, 0 },
};

#define OVERLAP(member, name) FIELD(FIELD_U64, ledger.member, overlap, name)

static const struct field overlap_fields[] = {
	COMMON(overlap),
	FIELD(FIELD_U64, span, overlap, "span"),
	FIELD(FIELD_BOOL, is_keyed, overlap, "keyed"),
	OVERLAP(on_cpu_ns, "on_cpu_ns"),
	OVERLAP(runnable_ns, "runnable_ns"),
	OVERLAP(blocked_ns[0], "lock_ns"),
	OVERLAP(blocked_ns[1], "disk_ns"),
	OVERLAP(blocked_ns[2], "network_ns"),
	OVERLAP(blocked_ns[3], "sleep_ns"),
	OVERLAP(blocked_ns[4], "page_fault_ns"),
	OVERLAP(blocked_ns[5], "pipe_ns"),
	OVERLAP(blocked_ns[6], "wait_ns"),
	OVERLAP(blocked_ns[7], "stopped_ns"),
	OVERLAP(blocked_ns[8], "other_ns"),
	OVERLAP(blocked_ns[9], "throttled_ns"),
	OVERLAP(detached_ns, "detached_ns"),
	OVERLAP(unknown_ns, "unknown_ns"),
	OVERLAP(interrupt_ns, "interrupt_ns"),
	{ NULL, 0, 0, 0 },
};

static const struct field run_fields[] = {
	FIELD(FIELD_U64, begin_ns, run, "begin_ns"),
	FIELD(FIELD_U64, end_ns, run, "end_ns"),
	FIELD(FIELD_U32, pid, run, "pid"),
	FIELD(FIELD_U32, tid, run, "tid"),
	FIELD(FIELD_U32, cpu, run, "cpu"),
	FIELD(FIELD_U64, blocked_ns, run, "blocked_ns"),
	FIELD(FIELD_U64, runnable_ns, run, "runnable_ns"),
	FIELD(FIELD_U8, left_as, run, "left_as"),
	FIELD(FIELD_U8, reason, run, "reason"),
	FIELD(FIELD_U32, syscall_nr, run, "syscall_nr"),
	FIELD(FIELD_U64, object, run, "object"),
	FIELD(FIELD_U64, idle_ns, run, "idle_ns"),
	FIELD(FIELD_U8, wait_reason, run, "wait_reason"),
	FIELD(FIELD_U64, wait_object, run, "wait_object"),
	{ NULL, 0, 0, 0 },
};

static const struct field wake_fields[] = {
	COMMON(wake),
	FIELD(FIELD_U32, waker_pid, wake, "waker_pid"),
	FIELD(FIELD_U32, waker_tid, wake, "waker_tid"),
	FIELD(FIELD_STRING, waker_comm, wake, "waker_comm"),
	FIELD(FIELD_U32, cpu, wake, "cpu"),
	FIELD(FIELD_FLAGS, flags, wake, "flags"),
	FIELD(FIELD_U64, span, wake, "span"),
	FIELD(FIELD_U64, waker_span, wake, "waker_span"),
	{ NULL, 0, 0, 0 },
};

static const struct field thread_fields[] = {
	COMMON(thread), FIELD(FIELD_STRING, comm, thread, "comm"), FIELD(FIELD_BOOL, is_seed, thread, "seed"),
	FIELD(FIELD_BOOL, is_exit, thread, "exit"), { NULL, 0, 0, 0 },
};

static const struct field attribute_fields[] = {
	COMMON(attribute),
	FIELD(FIELD_U64, span, attribute, "span"),
	FIELD(FIELD_STRING, name, attribute, "name"),
	FIELD(FIELD_U8, type, attribute, "type"),
	FIELD(FIELD_U64, value, attribute, "value"),
	FIELD(FIELD_BOOL, is_truncated, attribute, "truncated"),
	FIELD(FIELD_STRING, string, attribute, "string"),
	{ NULL, 0, 0, 0 },
};

static const struct field instant_fields[] = {
	COMMON(instant),
	FIELD(FIELD_U64, span, instant, "span"),
	FIELD(FIELD_STRING, name, instant, "name"),
	{ NULL, 0, 0, 0 },
};

static const struct field counter_fields[] = {
	COMMON(counter),
	FIELD(FIELD_STRING, name, counter, "name"),
	FIELD(FIELD_U64, value, counter, "value"),
	{ NULL, 0, 0, 0 },
};

static const struct field link_fields[] = {
	COMMON(link),
	FIELD(FIELD_U64, from, link, "from"),
	FIELD(FIELD_U64, to, link, "to"),
	FIELD(FIELD_STRING, name, link, "name"),
	{ NULL, 0, 0, 0 },
};

static const struct field loss_fields[] = {
	FIELD(FIELD_U64, first_ns, loss, "first_ns"),
	FIELD(FIELD_U64, last_ns, loss, "last_ns"),
	FIELD(FIELD_U32, cpu, loss, "cpu"),
	FIELD(FIELD_U64, span_event_cnt, loss, "span_events"),
	FIELD(FIELD_U64, sched_event_cnt, loss, "sched_events"),
	{ NULL, 0, 0, 0 },
};

static const struct field open_span_fields[] = {
	COMMON(open_span),
	FIELD(FIELD_U64, begin_ns, open_span, "begin_ns"),
	FIELD(FIELD_U64, id, open_span, "id"),
	FIELD(FIELD_U64, parent, open_span, "parent"),
	FIELD(FIELD_STRING, label, open_span, "label"),
	FIELD(FIELD_STRING, key, open_span, "key"),
	FIELD(FIELD_FLAGS, flags, open_span, "flags"),
	{ NULL, 0, 0, 0 },
};

#define LEFT_OUT(number, name) FIELD(FIELD_U64, left_out_cnt[number], summary, name)
#define ANOMALY(number, name) FIELD(FIELD_U64, anomaly_cnt[number], summary, name)

static const struct field summary_fields[] = {
	FIELD(FIELD_U64, time_ns, summary, "time_ns"),
	FIELD(FIELD_U64, sent_cnt, summary, "sent"),
	FIELD(FIELD_U64, received_cnt, summary, "received"),
	FIELD(FIELD_U64, lost_cnt, summary, "lost"),
	FIELD(FIELD_U64, lost_clocks_cnt, summary, "lost_clocks"),
	FIELD(FIELD_U64, late_cnt, summary, "late"),
	ANOMALY(0, "end_unknown"),
	ANOMALY(1, "enter_unknown"),
	ANOMALY(2, "exit_unknown"),
	ANOMALY(3, "exit_unentered"),
	ANOMALY(4, "begin_twice"),
	ANOMALY(5, "mark_unknown"),
	ANOMALY(6, "unfinished"),
	ANOMALY(7, "clock_mismatch"),
	ANOMALY(8, "imbalance"),
	LEFT_OUT(0, "left_out_sample"),
	LEFT_OUT(1, "left_out_label"),
	LEFT_OUT(2, "left_out_short"),
	LEFT_OUT(3, "left_out_no_room"),
	LEFT_OUT(4, "left_out_mark"),
	{ NULL, 0, 0, 0 },
};

#define DROPPED(number, name) FIELD(FIELD_U64, record_cnt[number], dropped, name)

static const struct field dropped_fields[] = {
	FIELD(FIELD_U64, time_ns, dropped, "time_ns"),
	FIELD(FIELD_U64, first_ns, dropped, "first_ns"),
	FIELD(FIELD_U64, last_ns, dropped, "last_ns"),
	FIELD(FIELD_U64, batch_cnt, dropped, "batches"),
	DROPPED(1, "span"),
	DROPPED(2, "run"),
	DROPPED(3, "wake"),
	DROPPED(4, "thread"),
	DROPPED(5, "attribute"),
	DROPPED(6, "instant"),
	DROPPED(7, "counter"),
	DROPPED(8, "link"),
	DROPPED(9, "loss"),
	DROPPED(10, "open_span"),
	DROPPED(11, "summary"),
	DROPPED(12, "dropped"),
	DROPPED(13, "continued"),
	DROPPED(14, "stay"),
	DROPPED(15, "object"),
	DROPPED(16, "stack"),
	DROPPED(17, "frames"),
	DROPPED(18, "other_run"),
	DROPPED(19, "cost"),
	DROPPED(20, "process"),
	DROPPED(21, "trigger"),
	DROPPED(22, "overlap"),
	{ NULL, 0, 0, 0 },
};

static const struct field continued_fields[] = {
	FIELD(FIELD_U64, time_ns, continued, "time_ns"),
	FIELD(FIELD_U32, next_part, continued, "next_part"),
	{ NULL, 0, 0, 0 },
};

static const struct field stay_fields[] = {
	FIELD(FIELD_U64, enter_ns, stay, "enter_ns"), FIELD(FIELD_U64, exit_ns, stay, "exit_ns"),
	FIELD(FIELD_U32, pid, stay, "pid"),	      FIELD(FIELD_U32, tid, stay, "tid"),
	FIELD(FIELD_U64, span, stay, "span"),	      FIELD(FIELD_U32, span_pid, stay, "span_pid"),
	FIELD(FIELD_BOOL, is_keyed, stay, "keyed"),   { NULL, 0, 0, 0 },
};

static const struct field object_fields[] = {
	COMMON(object),
	FIELD(FIELD_U8, reason, object, "reason"),
	FIELD(FIELD_U64, object, object, "object"),
	FIELD(FIELD_STRING, name, object, "name"),
	{ NULL, 0, 0, 0 },
};

static const struct field stack_fields[] = {
	COMMON(stack),
	FIELD(FIELD_U8, what, stack, "what"),
	FIELD(FIELD_U64, weight_ns, stack, "weight_ns"),
	FIELD(FIELD_U64, stack, stack, "stack"),
	FIELD(FIELD_U64, span, stack, "span"),
	FIELD(FIELD_U32, span_pid, stack, "span_pid"),
	FIELD(FIELD_BOOL, is_keyed, stack, "keyed"),
	FIELD(FIELD_BOOL, is_repeat, stack, "repeat"),
	{ NULL, 0, 0, 0 },
};

static const struct field frames_fields[] = {
	FIELD(FIELD_U64, time_ns, frames, "time_ns"),
	FIELD(FIELD_U64, stack, frames, "stack"),
	FIELD(FIELD_STRING, names, frames, "names"),
};

static const struct field other_run_fields[] = {
	FIELD(FIELD_U64, begin_ns, other_run, "begin_ns"),
	FIELD(FIELD_U64, end_ns, other_run, "end_ns"),
	FIELD(FIELD_U32, pid, other_run, "pid"),
	FIELD(FIELD_U32, tid, other_run, "tid"),
	FIELD(FIELD_STRING, comm, other_run, "comm"),
	FIELD(FIELD_U32, cpu, other_run, "cpu"),
	FIELD(FIELD_U32, moved_pid, other_run, "moved_pid"),
	FIELD(FIELD_U32, moved_tid, other_run, "moved_tid"),
	FIELD(FIELD_FLAGS, flags, other_run, "flags"),
	{ NULL, 0, 0, 0 },
};

static const struct field cost_fields[] = {
	FIELD(FIELD_U64, time_ns, cost, "time_ns"),
	FIELD(FIELD_U64, since_ns, cost, "since_ns"),
	FIELD(FIELD_STRING, event, cost, "event"),
	FIELD(FIELD_U64, event_cnt, cost, "events"),
	FIELD(FIELD_U64, timed_event_cnt, cost, "timed_events"),
	FIELD(FIELD_U64, timed_run_cnt, cost, "timed_runs"),
	FIELD(FIELD_U64, timed_run_ns, cost, "timed_run_ns"),
	FIELD(FIELD_U8, entry, cost, "entry"),
	FIELD(FIELD_U64, entry_ps, cost, "entry_ps"),
	FIELD(FIELD_U64, empty_run_ps, cost, "empty_run_ps"),
	FIELD(FIELD_U64, idle_run_ps, cost, "idle_run_ps"),
	FIELD(FIELD_U64, calibration_cnt, cost, "calibrations"),
	FIELD(FIELD_U64, cpu_ns, cost, "cpu_ns"),
	FIELD(FIELD_U64, ring_bytes, cost, "ring_bytes"),
	FIELD(FIELD_U64, log_bytes, cost, "log_bytes"),
	{ NULL, 0, 0, 0 },
};

static const struct field process_fields[] = {
	FIELD(FIELD_U64, time_ns, process, "time_ns"),
	FIELD(FIELD_U32, pid, process, "pid"),
	FIELD(FIELD_U32, parent_pid, process, "parent_pid"),
	FIELD(FIELD_U32, inner_pid, process, "inner_pid"),
	FIELD(FIELD_U64, start_ns, process, "start_ns"),
	FIELD(FIELD_U8, reasons, process, "reasons"),
	FIELD(FIELD_BOOL, is_seed, process, "seed"),
	FIELD(FIELD_BOOL, is_exit, process, "exit"),
	FIELD(FIELD_STRING, comm, process, "comm"),
	FIELD(FIELD_STRING, exe, process, "exe"),
	FIELD(FIELD_STRING, command, process, "command"),
	{ NULL, 0, 0, 0 },
};

static const struct field trigger_fields[] = {
	COMMON(trigger),
	FIELD(FIELD_U8, cause, trigger, "cause"),
	FIELD(FIELD_U64, span, trigger, "span"),
	FIELD(FIELD_BOOL, is_keyed, trigger, "keyed"),
	FIELD(FIELD_U64, missed_cnt, trigger, "missed"),
	FIELD(FIELD_U64, wall_ns, trigger, "wall_ns"),
	FIELD(FIELD_STRING, rule, trigger, "rule"),
	FIELD(FIELD_STRING, label, trigger, "label"),
	{ NULL, 0, 0, 0 },
};

static const struct field *const kind_fields[TXTRACE_RECORD_KIND_COUNT] = {
	[TXTRACE_RECORD_SPAN] = span_fields,           [TXTRACE_RECORD_RUN] = run_fields,
	[TXTRACE_RECORD_WAKE] = wake_fields,           [TXTRACE_RECORD_THREAD] = thread_fields,
	[TXTRACE_RECORD_ATTRIBUTE] = attribute_fields, [TXTRACE_RECORD_INSTANT] = instant_fields,
	[TXTRACE_RECORD_COUNTER] = counter_fields,     [TXTRACE_RECORD_LINK] = link_fields,
	[TXTRACE_RECORD_LOSS] = loss_fields,           [TXTRACE_RECORD_OPEN_SPAN] = open_span_fields,
	[TXTRACE_RECORD_SUMMARY] = summary_fields,     [TXTRACE_RECORD_DROPPED] = dropped_fields,
	[TXTRACE_RECORD_CONTINUED] = continued_fields, [TXTRACE_RECORD_STAY] = stay_fields,
	[TXTRACE_RECORD_OBJECT] = object_fields,       [TXTRACE_RECORD_COST] = cost_fields,
	[TXTRACE_RECORD_OTHER_RUN] = other_run_fields,
	[TXTRACE_RECORD_PROCESS] = process_fields,
	[TXTRACE_RECORD_TRIGGER] = trigger_fields,
	[TXTRACE_RECORD_STACK] = stack_fields,         [TXTRACE_RECORD_FRAMES] = frames_fields,
	[TXTRACE_RECORD_OVERLAP] = overlap_fields,
};

static const struct {
	const char *name;
	uint64_t number;
} names[] = {
	{ "none", 0 },
	{ "true", 1 },
	{ "false", 0 },
	{ "lower_bound", 1 },
	{ "unfinished", 2 },
	{ "loss", 4 },
	{ "imbalance", 8 },
	{ "keyed", 16 },
	{ "moved", 32 },
	{ "root", 64 },
	{ "nested", 128 },
	{ "parent_keyed", 256 },
	{ "parent_lost", 512 },
	{ "interrupt", 1 },
	{ "waker_unknown", 2 },
	{ "span_keyed", 4 },
	{ "waker_span_keyed", 8 },
	{ "timer", 16 },
	{ "softirq", 32 },
	{ "nobody_known", 1 },
	{ "preempted", 1 },
	{ "yielded", 2 },
	{ "blocked", 3 },
	{ "dead", 4 },
	{ "lock", 0 },
	{ "disk", 1 },
	{ "network", 2 },
	{ "sleep", 3 },
	{ "page_fault", 4 },
	{ "pipe", 5 },
	{ "wait", 6 },
	{ "stopped", 7 },
	{ "other", 8 },
	{ "throttled", 9 },
	{ "poll", 10 },
	{ "unknown", 0 },
	{ "trap", 1 },
	{ "call", 2 },
	{ "tracepoint", 3 },
	{ "step", 4 },
	{ "within", 5 },
	{ "off_cpu", 1 },
	{ "on_cpu", 2 },
	{ "bool", 1 },
	{ "int", 2 },
	{ "uint", 3 },
	{ "double", 4 },
	{ "string", 5 },
	{ "pointer", 6 },
};

static unsigned long line_number;

__attribute__((noreturn)) static void fail(const char *what, const char *subject)
{
	fprintf(stderr, "make_log: line %lu: %s '%s'\n", line_number, what, subject);
	exit(2);
}

static uint64_t parse_number(const char *text)
{
	char *end;
	uint64_t value;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(names[i].name, text) == 0)
			return names[i].number;
	}
	errno = 0;
	value = text[0] == '-' ? (uint64_t)strtoll(text, &end, 0) : strtoull(text, &end, 0);
	if (errno || !*text || *end)
		fail("no number:", text);
	return value;
}

static uint64_t parse_flags(char *text)
{
	uint64_t flags = 0;

	for (char *flag = strtok(text, ","); flag; flag = strtok(NULL, ","))
		flags |= parse_number(flag);
	return flags;
}

/* Undoes the escapes in place, up to the closing quote; returns what follows it. */
static char *unquote(char *text, size_t *length)
{
	char *to = text, *from = text;

	while (*from != '"') {
		if (!*from)
			fail("no closing quote:", text);
		if (*from != '\\') {
			*to++ = *from++;
		} else if (from[1] == 'x') {
			char hex[3] = { from[2], from[2] ? from[3] : '\0', '\0' };

			*to++ = (char)strtoul(hex, NULL, 16);
			from += 4;
		} else {
			*to++ = from[1] == 'n'	 ? '\n'
				: from[1] == 't' ? '\t'
				: from[1] == 'r' ? '\r'
				: from[1] == 'e' ? '\033'
						 : from[1];
			from += 2;
		}
	}
	*length = (size_t)(to - text);
	return from + 1;
}

static void set_number(const struct field *field, void *field_at, char *value)
{
	double number;

	switch (field->type) {
	case FIELD_U8:
		*(uint8_t *)field_at = (uint8_t)parse_number(value);
		break;
	case FIELD_BOOL:
		*(bool *)field_at = parse_number(value);
		break;
	case FIELD_U32:
		*(uint32_t *)field_at = (uint32_t)parse_number(value);
		break;
	case FIELD_FLAGS:
		*(uint32_t *)field_at = (uint32_t)parse_flags(value);
		break;
	case FIELD_U64:
		if (strpbrk(value, ".") || strstr(value, "nan") || strstr(value, "inf")) {
			number = strtod(value, NULL);
			memcpy(field_at, &number, sizeof(number));
		} else {
			*(uint64_t *)field_at = parse_number(value);
		}
		break;
	default:
		break;
	}
}

/* One name=value at `text`; returns what follows it. `base` is the record or the info. */
static char *parse_field(char *text, const struct field *field, char *base)
{
	char *equals = strchr(text, '='), *value, *end;
	struct txtrace_string string;

	if (!equals)
		fail("no field:", text);
	*equals = '\0';
	value = equals + 1;
	while (field->name && strcmp(field->name, text) != 0)
		field++;
	if (!field->name)
		fail("no such field:", text);
	if (*value != '"') {
		end = value + strcspn(value, " \n");
		if (*end)
			*end++ = '\0';
		set_number(field, base + field->offset, value);
		return end;
	}
	end = unquote(value + 1, &string.length);
	string.bytes = value + 1;
	if (field->type == FIELD_STRING)
		memcpy(base + field->offset, &string, sizeof(string));
	else if (field->type == FIELD_CHARS && string.length < field->size)
		memcpy(base + field->offset, string.bytes, string.length);
	else if (strcmp(field->name, "value") == 0)
		memcpy(base + offsetof(struct txtrace_record, attribute.string), &string, sizeof(string));
	else
		fail("no string:", text);
	return end;
}

static void parse_fields(char *text, const struct field *fields, void *base)
{
	for (;;) {
		text += strspn(text, " \n");
		if (!*text)
			return;
		text = parse_field(text, fields, base);
	}
}

static const struct field *find_kind(const char *name, uint32_t *kind)
{
	for (*kind = 0; *kind < TXTRACE_RECORD_KIND_COUNT; ++*kind) {
		if (kind_fields[*kind] && strcmp(txtrace_record_kind_name(*kind), name) == 0)
			return kind_fields[*kind];
	}
	fail("no such kind:", name);
}

static void check(int err, const char *what)
{
	if (err)
		fail(strerror(-err), what);
}

static void add_line(struct log_writer *writer, const char *kind, char *rest)
{
	struct txtrace_record record;
	const struct field *fields;

	memset(&record, 0, sizeof(record));
	fields = find_kind(kind, &record.kind);
	if (record.kind == TXTRACE_RECORD_RUN)
		record.run.has_wait_end = strstr(rest, " wait_reason=");
	parse_fields(rest, fields, (char *)&record);
	check(log_writer_add(writer, &record), kind);
}

static void set_anchor(struct log_writer *writer, char *rest)
{
	struct anchor anchor = { 0, 0 };

	parse_fields(rest, anchor_fields, &anchor);
	check(log_writer_flush(writer), "anchor");
	log_writer_set_anchor(writer, anchor.monotonic_ns, anchor.realtime_ns);
}

static struct log_writer *open_log(const char *path, const char *codec, const struct txtrace_log_info *info)
{
	struct log_writer_options options = { .codec = LOG_CODEC_ZSTD };
	struct log_writer *writer;

	if (codec && strcmp(codec, "zstd") != 0)
		options.codec = strcmp(codec, "lz4") == 0 ? LOG_CODEC_LZ4 : LOG_CODEC_NONE;
	check(log_writer_open(&writer, path, info, &options), path);
	return writer;
}

int main(int argc, char **argv)
{
	struct txtrace_log_info info = { .start_monotonic_ns = 1, .start_realtime_ns = 1700000000000000000 };
	struct log_writer *writer = NULL;
	char *line = NULL;
	size_t size = 0;

	if (argc < 2)
		fail("usage:", "make_log OUT [none|zstd|lz4] <TEXT");
	while (getline(&line, &size, stdin) > 0) {
		size_t length = strcspn(line, " \n");
		char *rest = line + length + !!line[length];

		line_number++;
		line[length] = '\0';
		if (length == 0 || line[0] == '#')
			continue;
		if (strcmp(line, "header") == 0) {
			parse_fields(rest, header_fields, &info);
			continue;
		}
		if (!writer)
			writer = open_log(argv[1], argc > 2 ? argv[2] : NULL, &info);
		if (strcmp(line, "abort") == 0) {
			check(log_writer_flush(writer), "flush");
			log_writer_abort(writer);
			free(line);
			return 0;
		}
		if (strcmp(line, "flush") == 0)
			check(log_writer_flush(writer), "flush");
		else if (strcmp(line, "anchor") == 0)
			set_anchor(writer, rest);
		else
			add_line(writer, line, rest);
	}
	free(line);
	if (!writer)
		writer = open_log(argv[1], argc > 2 ? argv[2] : NULL, &info);
	check(log_writer_close(writer), argv[1]);
	return 0;
}
