/* SPDX-License-Identifier: BSD-2-Clause */
#include "event/stream_fields.h"

#include <string.h>

#define NAMES(...)                                                                    \
	{                                                                             \
		(const char *const[]){ __VA_ARGS__ },                                 \
			sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *) \
	}

const struct stream_names stream_flags = NAMES("clocks", "interrupt", "truncated", "seed", "not_arrived",
					       "timer", "rename", "nested", "softirq", "unreadable",
					       "wait_end", "no_clocks", "waker_unknown",
					       "others_wait");

const struct stream_names stream_reasons = NAMES("lock", "disk", "network", "sleep", "page_fault", "pipe",
						 "wait", "stopped", "other", "throttled", "poll");

_Static_assert(BLOCK_REASON_COUNT == 11, "every reason has a name");

static const struct stream_names left_as = NAMES("untraced", "preempted", "yielded", "blocked", "dead");
static const struct stream_names thread_states = NAMES("unknown", "on_cpu", "runnable", "blocked");
static const struct stream_names process_changes = NAMES("unknown", "joined", "forked", "exec", "left",
							 "exited");
static const struct stream_names sched_modes = NAMES("timeline", "ledger", "off");
static const struct stream_names steal_kinds = NAMES("not_told", "exact", "late");
static const struct stream_names attr_types = NAMES("none", "bool", "int", "uint", "double", "string",
						    "pointer", "bytes");

#define AT(member) offsetof(struct event, member)

static const struct stream_field switch_fields[] = {
	{ "left", STREAM_NAME, AT(sched.left_as), &left_as, 0, true, 0 },
	{ "reason", STREAM_NAME, AT(sched.reason), &stream_reasons, 0, false, AT(sched.left_as) },
	{ "syscall", STREAM_INT32, AT(sched.syscall_nr), NULL, -1, false, 0 },
	{ "object", STREAM_HEX, AT(sched.object), NULL, 0, false, 0 },
	{ "inode", STREAM_U64, AT(sched.inode), NULL, 0, false, 0 },
	{ "next", STREAM_THREAD, AT(sched.next_tid), NULL, 0, false, 0 },
	{ "next_is_traced", STREAM_YES, AT(sched.next_is_traced), NULL, 0, false, 0 },
	{ "stolen", STREAM_U64, AT(sched.stolen_ns), NULL, 0, false, 0 },
	{ "stolen_is_shared", STREAM_YES, AT(sched.is_stolen_shared), NULL, 0, false, 0 },
	{ "had_cpu", STREAM_U32, AT(sched.other_ns), NULL, 0, false, 0 },
	{ "comm", STREAM_TEXT, AT(sched.other_comm), NULL, 0, false, 0 },
	{ 0 },
};

static const struct stream_field other_fields[] = {
	{ "since", STREAM_U64, AT(other.since_ns), NULL, 0, true, 0 },
	{ "stolen", STREAM_U64, AT(other.stolen_ns), NULL, 0, false, 0 },
	{ "comm", STREAM_TEXT, AT(other.comm), NULL, 0, false, 0 },
	{ 0 },
};

static const struct stream_field move_fields[] = {
	{ "since", STREAM_U64, AT(move.since_ns), NULL, 0, true, 0 },
	{ "stolen", STREAM_U64, AT(move.stolen_ns), NULL, 0, false, 0 },
	{ "from", STREAM_U32, AT(move.from_cpu), NULL, 0, true, 0 },
	{ "other", STREAM_THREAD, AT(move.other_tid), NULL, 0, true, 0 },
	{ "comm", STREAM_TEXT, AT(move.other_comm), NULL, 0, false, 0 },
	{ "unknown", STREAM_YES, AT(move.is_unknown), NULL, 0, false, 0 },
	{ 0 },
};

static const struct stream_field wake_fields[] = {
	{ "wakee", STREAM_THREAD, AT(wake.wakee_tid), NULL, 0, true, 0 },
	{ "waker_comm", STREAM_TEXT, AT(wake.waker_comm), NULL, 0, false, 0 },
	{ "reason", STREAM_NAME, AT(wake.reason), &stream_reasons, 0, false, 0 },
	{ "object", STREAM_HEX, AT(wake.object), NULL, 0, false, 0 },
	{ "inode", STREAM_U64, AT(wake.inode), NULL, 0, false, 0 },
	{ 0 },
};

static const struct stream_field thread_fields[] = {
	{ "born", STREAM_U64, AT(thread.born_ns), NULL, 0, true, 0 },
	{ "comm", STREAM_TEXT, AT(thread.comm), NULL, 0, false, 0 },
	{ "state", STREAM_NAME, AT(thread.state), &thread_states, 0, false, 0 },
	{ "reason", STREAM_NAME, AT(thread.reason), &stream_reasons, 0, false, AT(thread.state) },
	{ "parent", STREAM_U32, AT(thread.parent_tgid), NULL, 0, false, 0 },
	{ 0 },
};

static const struct stream_field span_fields[] = {
	{ "id", STREAM_U64, AT(span.id), NULL, 0, true, 0 },
	{ "parent", STREAM_PARENT, AT(span.parent), NULL, 0, false, 0 },
	{ "label", STREAM_TEXT, AT(span.label), NULL, 0, false, 0 },
	{ 0 },
};

static const struct stream_field exec_fields[] = {
	{ "old_tid", STREAM_U32, AT(end.old_tid), NULL, 0, false, 0 },
	{ 0 },
};

static const struct stream_field no_fields[] = { { 0 } };

static const struct stream_field tag_fields[] = {
	{ "id", STREAM_U64, AT(mark.id), NULL, 0, true, 0 },
	{ "text", STREAM_TEXT, AT(mark.text), NULL, 0, true, 0 },
	{ 0 },
};

static const struct stream_field attr_fields[] = {
	{ "id", STREAM_U64, AT(mark.id), NULL, 0, true, 0 },
	{ "name", STREAM_TEXT, AT(mark.name), NULL, 0, true, 0 },
	{ "type", STREAM_NAME32, AT(mark.type), &attr_types, 0, true, 0 },
	{ "value", STREAM_HEX, AT(mark.value), NULL, 0, false, 0 },
	{ "text", STREAM_TEXT, AT(mark.text), NULL, 0, false, 0 },
	{ 0 },
};

static const struct stream_field instant_fields[] = {
	{ "id", STREAM_U64, AT(mark.id), NULL, 0, true, 0 },
	{ "name", STREAM_TEXT, AT(mark.name), NULL, 0, true, 0 },
	{ 0 },
};

static const struct stream_field counter_fields[] = {
	{ "name", STREAM_TEXT, AT(mark.name), NULL, 0, true, 0 },
	{ "value", STREAM_INT, AT(mark.value), NULL, 0, true, 0 },
	{ 0 },
};

static const struct stream_field link_fields[] = {
	{ "id", STREAM_U64, AT(mark.id), NULL, 0, true, 0 },
	{ "to", STREAM_U64, AT(mark.value), NULL, 0, true, 0 },
	{ "name", STREAM_TEXT, AT(mark.name), NULL, 0, true, 0 },
	{ 0 },
};

static const struct stream_field key_fields[] = {
	{ "key", STREAM_TEXT, AT(keyed.key), NULL, 0, true, 0 },
	{ "name", STREAM_TEXT, AT(keyed.name), NULL, 0, false, 0 },
	{ 0 },
};

static const struct stream_field process_fields[] = {
	{ "change", STREAM_NAME, AT(process.change), &process_changes, 0, true, 0 },
	{ "reasons", STREAM_U32, AT(process.reasons), NULL, 0, false, 0 },
	{ "start", STREAM_U64, AT(process.start_ns), NULL, 0, false, 0 },
	{ "code", STREAM_HEX, AT(process.code_start), NULL, 0, false, 0 },
	{ "parent", STREAM_U32, AT(process.parent_tgid), NULL, 0, false, 0 },
	{ "inner_pid", STREAM_U32, AT(process.inner_pid), NULL, 0, false, 0 },
	{ "threads", STREAM_U32, AT(process.thread_cnt), NULL, 0, false, 0 },
	{ "comm", STREAM_TEXT, AT(process.comm), NULL, 0, false, 0 },
	{ "path", STREAM_TEXT, AT(process.path), NULL, 0, false, 0 },
	{ 0 },
};

static const struct stream_field mode_fields[] = {
	{ "sched", STREAM_NAME, AT(mode.sched), &sched_modes, 0, true, 0 },
	{ "steal", STREAM_NAME, AT(mode.steal), &steal_kinds, 0, false, 0 },
	{ 0 },
};

static const struct stream_names stack_whats = NAMES("none", "off_cpu", "on_cpu");

static const struct stream_field stack_fields[] = {
	{ "what", STREAM_NAME, AT(stack.what), &stack_whats, 0, true, 0 },
	{ "stack", STREAM_U32, AT(stack.id), NULL, 0, true, 0 },
	{ "begin", STREAM_U64, AT(stack.begin_ns), NULL, 0, false, 0 },
	{ "weight", STREAM_U64, AT(stack.weight_ns), NULL, 0, false, 0 },
	{ 0 },
};

static const struct stream_field loss_fields[] = {
	{ "last", STREAM_U64, AT(loss.last_ns), NULL, 0, true, 0 },
	{ "span_events", STREAM_U64, AT(loss.span_event_cnt), NULL, 0, true, 0 },
	{ "sched_events", STREAM_U64, AT(loss.sched_event_cnt), NULL, 0, true, 0 },
	{ "kinds", STREAM_HEX, AT(loss.kinds), NULL, 0, false, 0 },
	{ 0 },
};

const struct stream_field stream_clock_fields[] = {
	{ "born", STREAM_U64, offsetof(struct wire_clocks, born_ns), NULL, 0, true, 0 },
	{ "on_cpu", STREAM_U64, offsetof(struct wire_clocks, on_cpu_ns), NULL, 0, false, 0 },
	{ "runnable", STREAM_U64, offsetof(struct wire_clocks, runnable_ns), NULL, 0, false, 0 },
	{ "unknown", STREAM_U64, offsetof(struct wire_clocks, unknown_ns), NULL, 0, false, 0 },
	{ "interrupt", STREAM_U64, offsetof(struct wire_clocks, interrupt_ns), NULL, 0, false, 0 },
	{ "stolen", STREAM_U64, offsetof(struct wire_clocks, stolen_ns), NULL, 0, false, 0 },
	{ 0 },
};

static const struct stream_kind kinds[] = {
	[EVENT_SWITCH] = { "switch", switch_fields, false },
	[EVENT_WAKE] = { "wake", wake_fields, false },
	[EVENT_THREAD] = { "thread", thread_fields, false },
	[EVENT_THREAD_EXIT] = { "thread_exit", no_fields, true },
	[EVENT_EXEC] = { "exec", exec_fields, true },
	[EVENT_OTHER] = { "other", other_fields, false },
	[EVENT_MOVE] = { "move", move_fields, false },
	[EVENT_BEGIN] = { "begin", span_fields, true },
	[EVENT_BEGIN_DETACHED] = { "begin_detached", span_fields, true },
	[EVENT_ENTER] = { "enter", span_fields, true },
	[EVENT_LEAVE] = { "leave", span_fields, true },
	[EVENT_END] = { "end", span_fields, true },
	[EVENT_TAG] = { "tag", tag_fields, false },
	[EVENT_ATTR] = { "attr", attr_fields, false },
	[EVENT_INSTANT] = { "instant", instant_fields, false },
	[EVENT_COUNTER] = { "counter", counter_fields, false },
	[EVENT_LINK] = { "link", link_fields, false },
	[EVENT_KEY_BEGIN] = { "key_begin", key_fields, true },
	[EVENT_KEY_ENTER] = { "key_enter", key_fields, true },
	[EVENT_KEY_LEAVE] = { "key_leave", key_fields, true },
	[EVENT_KEY_END] = { "key_end", key_fields, true },
	[EVENT_KEY_INSTANT] = { "key_instant", key_fields, true },
	[EVENT_PROCESS] = { "process", process_fields, false },
	[EVENT_MODE] = { "mode", mode_fields, false },
	[EVENT_VALUE] = { "value", attr_fields, false },
	[EVENT_ABANDON] = { "abandon", span_fields, true },
	[EVENT_STACK] = { "stack", stack_fields, false },
	[EVENT_LOSS] = { "loss", loss_fields, false },
};

#define KIND_CNT (sizeof(kinds) / sizeof(kinds[0]))

const struct stream_kind *stream_kind_of(unsigned int kind)
{
	return kind < KIND_CNT && kinds[kind].name ? &kinds[kind] : NULL;
}

static bool is_name(const char *name, const char *bytes, size_t length)
{
	return name && strlen(name) == length && !memcmp(name, bytes, length);
}

int stream_name_find(const struct stream_names *names, const char *name, size_t length)
{
	for (size_t i = 0; i < names->cnt; i++)
		if (is_name(names->names[i], name, length))
			return i;
	return -1;
}

int stream_kind_find(const char *name, size_t length)
{
	for (size_t i = 0; i < KIND_CNT; i++)
		if (is_name(kinds[i].name, name, length))
			return i;
	return -1;
}
