/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * JSON Lines: every record with every field, one object a line. docs/export.md and docs/export.schema.json
 * describe it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/capture_scope.h"
#include "base/json.h"
#include "export/formats.h"
#include "export/jsonl_member.h"
#include "export/timeline.h"

#define JSONL_VERSION 1

static void begin_line(struct json *json, const char *type)
{
	json_object_begin(json);
	json_member_text(json, "type", type);
}

static int end_line(struct json *json)
{
	json_object_end(json);
	json_newline(json);
	return json->err;
}

/* ---- lines ---- */

static int jsonl_open(void **state, FILE *out, const struct txtrace_log_info *info)
{
	struct json *json = malloc(sizeof(*json));

	if (!json)
		return -ENOMEM;
	*state = json;
	json_init_file(json, out);
	begin_line(json, "header");
	json_member_text(json, "format", "txtrace-jsonl");
	json_member_u64(json, "format_version", JSONL_VERSION);
	json_member_u64(json, "version_major", info->version_major);
	json_member_u64(json, "version_minor", info->version_minor);
	jsonl_member_hex(json, "capture_id", info->capture_id, sizeof(info->capture_id));
	jsonl_member_hex(json, "boot_id", info->boot_id, sizeof(info->boot_id));
	json_member_u64(json, "start_monotonic_ns", info->start_monotonic_ns);
	json_member_u64(json, "start_realtime_ns", info->start_realtime_ns);
	json_member_u64(json, "pid", info->pid);
	json_member_u64(json, "cpu_cnt", info->cpu_cnt);
	json_member_string(json, "host", info->host, strnlen(info->host, sizeof(info->host)));
	json_member_string(json, "kernel", info->kernel, strnlen(info->kernel, sizeof(info->kernel)));
	json_member_string(json, "command", info->command, strnlen(info->command, sizeof(info->command)));
	json_member_string(json, "recorder", info->recorder, strnlen(info->recorder, sizeof(info->recorder)));
	json_member_string(json, "options", info->options, strnlen(info->options, sizeof(info->options)));
	return end_line(json);
}

/* How it came to its parent, where that is not as usual. */
static void members_parent(struct json *json, uint32_t flags)
{
	if (flags & TXTRACE_SPAN_NESTED)
		json_member_bool(json, "nested", true);
	if (flags & TXTRACE_SPAN_PARENT_KEYED)
		json_member_bool(json, "parent_keyed", true);
	if (flags & TXTRACE_SPAN_PARENT_LOST)
		json_member_bool(json, "parent_lost", true);
}

static int jsonl_span(void *state, const struct txtrace_span *span)
{
	struct json *json = state;

	begin_line(json, "span");
	json_member_u64_string(json, "id", span->id);
	json_member_u64(json, "pid", span->pid);
	json_member_u64(json, "tid", span->tid);
	json_member_u64(json, "end_tid", span->end_tid);
	jsonl_member_bytes(json, "label", "label_hex", span->label);
	jsonl_member_bytes(json, "tag", "tag_hex", span->tag);
	jsonl_members_key(json, span->key);
	json_member_u64_string(json, "parent", span->parent);
	json_member_u64(json, "begin_ns", span->begin_ns);
	json_member_u64(json, "end_ns", span->end_ns);
	json_member_u64(json, "wall_ns", span->end_ns > span->begin_ns ? span->end_ns - span->begin_ns : 0);
	json_member_u64(json, "work_ns", span->work_ns);
	jsonl_members_ledger(json, &span->ledger);
	json_member_bool(json, "lower_bound", span->flags & TXTRACE_SPAN_LOWER_BOUND);
	json_member_bool(json, "unfinished", span->flags & TXTRACE_SPAN_UNFINISHED);
	json_member_bool(json, "loss", span->flags & TXTRACE_SPAN_LOSS);
	json_member_bool(json, "imbalance", span->flags & TXTRACE_SPAN_IMBALANCE);
	json_member_bool(json, "keyed", span->flags & TXTRACE_SPAN_KEYED);
	json_member_bool(json, "moved", span->flags & TXTRACE_SPAN_MOVED);
	members_parent(json, span->flags);
	return end_line(json);
}

static int jsonl_run(void *state, const struct txtrace_run *run)
{
	struct json *json = state;
	bool is_blocked = run->left_as == TXTRACE_LEFT_BLOCKED;

	begin_line(json, "run");
	json_member_u64(json, "tid", run->tid);
	json_member_u64(json, "pid", run->pid);
	json_member_u64(json, "cpu", run->cpu);
	json_member_u64(json, "begin_ns", run->begin_ns);
	json_member_u64(json, "end_ns", run->end_ns);
	json_member_u64(json, "blocked_ns", run->blocked_ns);
	json_member_u64(json, "runnable_ns", run->runnable_ns);
	json_member_text(json, "left_as", left_as_name(run->left_as));
	if (run->idle_ns)
		json_member_u64(json, "idle_ns", run->idle_ns);
	if (run->has_wait_end) {
		json_member_text(json, "wait_reason", txtrace_block_reason_name(run->wait_reason));
		jsonl_member_pointer(json, "wait_object", run->wait_object);
	}
	if (is_blocked) {
		json_member_text(json, "reason", txtrace_block_reason_name(run->reason));
		json_member_i64(json, "syscall_nr", run->syscall_nr);
		jsonl_member_pointer(json, "object", run->object);
	}
	return end_line(json);
}

static int jsonl_wake(void *state, const struct txtrace_wake *wake)
{
	struct json *json = state;

	begin_line(json, "wake");
	json_member_u64(json, "time_ns", wake->time_ns);
	json_member_u64(json, "tid", wake->tid);
	json_member_u64(json, "pid", wake->pid);
	json_member_u64(json, "waker_tid", wake->waker_tid);
	json_member_u64(json, "waker_pid", wake->waker_pid);
	json_member_u64(json, "cpu", wake->cpu);
	json_member_bool(json, "interrupt", wake->flags & TXTRACE_WAKE_INTERRUPT);
	json_member_bool(json, "timer", wake->flags & TXTRACE_WAKE_TIMER);
	json_member_bool(json, "softirq", wake->flags & TXTRACE_WAKE_SOFTIRQ);
	json_member_bool(json, "waker_unknown", wake->flags & TXTRACE_WAKE_WAKER_UNKNOWN);
	jsonl_member_bytes(json, "waker_comm", "waker_comm_hex", wake->waker_comm);
	json_member_u64_string(json, "span", wake->span);
	json_member_bool(json, "span_keyed", wake->flags & TXTRACE_WAKE_SPAN_KEYED);
	json_member_u64_string(json, "waker_span", wake->waker_span);
	json_member_bool(json, "waker_span_keyed", wake->flags & TXTRACE_WAKE_WAKER_SPAN_KEYED);
	return end_line(json);
}

static int jsonl_thread(void *state, const struct txtrace_thread *thread)
{
	struct json *json = state;

	begin_line(json, "thread");
	json_member_u64(json, "time_ns", thread->time_ns);
	json_member_u64(json, "tid", thread->tid);
	json_member_u64(json, "pid", thread->pid);
	json_member_bool(json, "seed", thread->is_seed);
	json_member_bool(json, "exit", thread->is_exit);
	jsonl_member_bytes(json, "comm", "comm_hex", thread->comm);
	return end_line(json);
}

static int jsonl_attribute(void *state, const struct txtrace_attribute *attribute)
{
	struct json *json = state;
	double number;

	begin_line(json, "attribute");
	json_member_u64(json, "time_ns", attribute->time_ns);
	json_member_u64_string(json, "span", attribute->span);
	json_member_u64(json, "pid", attribute->pid);
	json_member_u64(json, "tid", attribute->tid);
	jsonl_member_bytes(json, "name", "name_hex", attribute->name);
	json_member_text(json, "value_type", attribute_type_name(attribute->type));
	switch (attribute->type) {
	case TXTRACE_ATTRIBUTE_BOOL:
		json_member_bool(json, "value", attribute->value);
		break;
	case TXTRACE_ATTRIBUTE_INT:
		json_member_i64(json, "value", (int64_t)attribute->value);
		break;
	case TXTRACE_ATTRIBUTE_DOUBLE:
		memcpy(&number, &attribute->value, sizeof(number));
		jsonl_member_double(json, "value", number);
		break;
	case TXTRACE_ATTRIBUTE_STRING:
		jsonl_member_bytes(json, "value", "value_hex", attribute->string);
		json_member_bool(json, "truncated", attribute->is_truncated);
		break;
	case TXTRACE_ATTRIBUTE_POINTER:
		jsonl_member_pointer(json, "value", attribute->value);
		break;
	default: /* UINT, and types of the future */
		json_member_u64(json, "value", attribute->value);
	}
	return end_line(json);
}

static int jsonl_instant(void *state, const struct txtrace_instant *instant)
{
	struct json *json = state;

	begin_line(json, "instant");
	json_member_u64(json, "time_ns", instant->time_ns);
	json_member_u64_string(json, "span", instant->span);
	json_member_u64(json, "pid", instant->pid);
	json_member_u64(json, "tid", instant->tid);
	jsonl_member_bytes(json, "name", "name_hex", instant->name);
	return end_line(json);
}

static int jsonl_counter(void *state, const struct txtrace_counter *counter)
{
	struct json *json = state;

	begin_line(json, "counter");
	json_member_u64(json, "time_ns", counter->time_ns);
	json_member_u64(json, "pid", counter->pid);
	json_member_u64(json, "tid", counter->tid);
	jsonl_member_bytes(json, "name", "name_hex", counter->name);
	json_member_i64(json, "value", counter->value);
	return end_line(json);
}

static int jsonl_link(void *state, const struct txtrace_link *link)
{
	struct json *json = state;

	begin_line(json, "link");
	json_member_u64(json, "time_ns", link->time_ns);
	json_member_u64_string(json, "from", link->from);
	json_member_u64_string(json, "to", link->to);
	json_member_u64(json, "pid", link->pid);
	json_member_u64(json, "tid", link->tid);
	jsonl_member_bytes(json, "name", "name_hex", link->name);
	return end_line(json);
}

static int jsonl_open_span(void *state, const struct txtrace_open_span *open_span)
{
	struct json *json = state;

	begin_line(json, "open_span");
	json_member_u64(json, "time_ns", open_span->time_ns);
	json_member_u64_string(json, "id", open_span->id);
	json_member_u64(json, "pid", open_span->pid);
	json_member_u64(json, "tid", open_span->tid);
	jsonl_member_bytes(json, "label", "label_hex", open_span->label);
	jsonl_members_key(json, open_span->key);
	json_member_u64_string(json, "parent", open_span->parent);
	json_member_u64(json, "begin_ns", open_span->begin_ns);
	members_parent(json, open_span->flags);
	return end_line(json);
}

static int jsonl_loss(void *state, const struct txtrace_loss *loss)
{
	struct json *json = state;

	begin_line(json, "loss");
	json_member_u64(json, "first_ns", loss->first_ns);
	json_member_u64(json, "last_ns", loss->last_ns);
	json_member_u64(json, "cpu", loss->cpu);
	json_member_u64(json, "span_event_cnt", loss->span_event_cnt);
	json_member_u64(json, "sched_event_cnt", loss->sched_event_cnt);
	return end_line(json);
}

static int jsonl_dropped(void *state, const struct txtrace_dropped *dropped)
{
	struct json *json = state;

	begin_line(json, "dropped");
	json_member_u64(json, "time_ns", dropped->time_ns);
	json_member_u64(json, "first_ns", dropped->first_ns);
	json_member_u64(json, "last_ns", dropped->last_ns);
	json_member_u64(json, "batch_cnt", dropped->batch_cnt);
	json_name(json, "records");
	json_object_begin(json);
	for (unsigned int kind = TXTRACE_RECORD_SPAN; kind < TXTRACE_RECORD_DAMAGE; kind++)
		if (txtrace_record_kind_name(kind))
			json_member_u64(json, txtrace_record_kind_name(kind), dropped->record_cnt[kind]);
	json_object_end(json);
	return end_line(json);
}

static int jsonl_continued(void *state, const struct txtrace_continued *continued)
{
	struct json *json = state;

	begin_line(json, "continued");
	json_member_u64(json, "time_ns", continued->time_ns);
	json_member_u64(json, "next_part", continued->next_part);
	return end_line(json);
}

static int jsonl_overlap(void *state, const struct txtrace_overlap *overlap)
{
	struct json *json = state;

	begin_line(json, "overlap");
	json_member_u64(json, "time_ns", overlap->time_ns);
	json_member_u64(json, "pid", overlap->pid);
	json_member_u64(json, "tid", overlap->tid);
	json_member_u64_string(json, "span", overlap->span);
	json_member_bool(json, "keyed", overlap->is_keyed);
	jsonl_members_ledger(json, &overlap->ledger);
	return end_line(json);
}

static int jsonl_stay(void *state, const struct txtrace_stay *stay)
{
	struct json *json = state;

	begin_line(json, "stay");
	json_member_u64(json, "enter_ns", stay->enter_ns);
	json_member_u64(json, "exit_ns", stay->exit_ns);
	json_member_u64(json, "pid", stay->pid);
	json_member_u64(json, "tid", stay->tid);
	json_member_u64_string(json, "span", stay->span);
	json_member_u64(json, "span_pid", stay->span_pid);
	json_member_bool(json, "keyed", stay->is_keyed);
	return end_line(json);
}

static int jsonl_object(void *state, const struct txtrace_object *object)
{
	struct json *json = state;

	begin_line(json, "object");
	json_member_u64(json, "time_ns", object->time_ns);
	json_member_u64(json, "pid", object->pid);
	json_member_u64(json, "tid", object->tid);
	json_member_text(json, "reason", txtrace_block_reason_name(object->reason));
	jsonl_member_pointer(json, "object", object->object);
	jsonl_member_bytes(json, "name", "name_hex", object->name);
	return end_line(json);
}

static int jsonl_stack(void *state, const struct txtrace_stack *stack)
{
	struct json *json = state;
	const char *what = stack->what == TXTRACE_STACK_OFF_CPU	 ? "off_cpu"
			   : stack->what == TXTRACE_STACK_ON_CPU ? "on_cpu"
								 : NULL;

	begin_line(json, "stack");
	json_member_u64(json, "time_ns", stack->time_ns);
	json_member_u64(json, "pid", stack->pid);
	json_member_u64(json, "tid", stack->tid);
	json_member_text(json, "what", what);
	json_member_u64(json, "weight_ns", stack->weight_ns);
	json_member_u64(json, "stack", stack->stack);
	json_member_u64_string(json, "span", stack->span);
	json_member_u64(json, "span_pid", stack->span_pid);
	json_member_bool(json, "keyed", stack->is_keyed);
	json_member_bool(json, "repeat", stack->is_repeat);
	return end_line(json);
}

static int jsonl_frames(void *state, const struct txtrace_frames *frames)
{
	struct json *json = state;

	begin_line(json, "frames");
	json_member_u64(json, "time_ns", frames->time_ns);
	json_member_u64(json, "stack", frames->stack);
	jsonl_member_bytes(json, "names", "names_hex", frames->names);
	return end_line(json);
}

static int jsonl_other_run(void *state, const struct txtrace_other_run *run)
{
	struct json *json = state;

	begin_line(json, "other_run");
	json_member_u64(json, "begin_ns", run->begin_ns);
	json_member_u64(json, "end_ns", run->end_ns);
	json_member_u64(json, "tid", run->tid);
	json_member_u64(json, "pid", run->pid);
	json_member_u64(json, "cpu", run->cpu);
	jsonl_member_bytes(json, "comm", "comm_hex", run->comm);
	json_member_bool(json, "nobody_known", run->flags & TXTRACE_OTHER_RUN_NOBODY_KNOWN);
	json_member_u64(json, "moved_tid", run->moved_tid);
	json_member_u64(json, "moved_pid", run->moved_pid);
	return end_line(json);
}

static int jsonl_cost(void *state, const struct txtrace_cost *cost)
{
	static const char *const entries[] = { "unknown", "trap", "call", "tracepoint", "step", "within" };
	struct json *json = state;

	begin_line(json, "cost");
	json_member_u64(json, "time_ns", cost->time_ns);
	json_member_u64(json, "since_ns", cost->since_ns);
	jsonl_member_bytes(json, "event", "event_hex", cost->event);
	json_member_u64(json, "event_cnt", cost->event_cnt);
	json_member_u64(json, "timed_event_cnt", cost->timed_event_cnt);
	json_member_u64(json, "timed_run_cnt", cost->timed_run_cnt);
	json_member_u64(json, "timed_run_ns", cost->timed_run_ns);
	json_member_text(json, "entry",
			 cost->entry < sizeof(entries) / sizeof(entries[0]) ? entries[cost->entry] : NULL);
	json_member_u64(json, "entry_ps", cost->entry_ps);
	json_member_u64(json, "empty_run_ps", cost->empty_run_ps);
	json_member_u64(json, "idle_run_ps", cost->idle_run_ps);
	json_member_u64(json, "calibration_cnt", cost->calibration_cnt);
	json_member_u64(json, "cpu_ns", cost->cpu_ns);
	json_member_u64(json, "ring_bytes", cost->ring_bytes);
	json_member_u64(json, "log_bytes", cost->log_bytes);
	return end_line(json);
}

static const char *const process_reasons[] = { "named", "child", "comm", "exe", "cgroup", "any" };

static int jsonl_process(void *state, const struct txtrace_process *process)
{
	struct json *json = state;

	begin_line(json, "process");
	json_member_u64(json, "time_ns", process->time_ns);
	json_member_u64(json, "pid", process->pid);
	json_member_u64(json, "parent_pid", process->parent_pid);
	json_member_u64(json, "inner_pid", process->inner_pid);
	json_member_u64(json, "start_ns", process->start_ns);
	json_name(json, "reasons");
	json_array_begin(json);
	for (size_t i = 0; i < sizeof(process_reasons) / sizeof(process_reasons[0]); i++)
		if (process->reasons >> i & 1)
			json_text(json, process_reasons[i]);
	json_array_end(json);
	json_member_bool(json, "seed", process->is_seed);
	json_member_bool(json, "exit", process->is_exit);
	jsonl_member_bytes(json, "comm", "comm_hex", process->comm);
	jsonl_member_bytes(json, "exe", "exe_hex", process->exe);
	jsonl_member_bytes(json, "command", "command_hex", process->command);
	return end_line(json);
}

static const char *const trigger_causes[] = { "unknown", "span", "request", "exit" };

static int jsonl_trigger(void *state, const struct txtrace_trigger *trigger)
{
	bool is_known = trigger->cause < sizeof(trigger_causes) / sizeof(trigger_causes[0]);
	struct json *json = state;

	begin_line(json, "trigger");
	json_member_u64(json, "time_ns", trigger->time_ns);
	json_member_text(json, "cause", trigger_causes[is_known ? trigger->cause : 0]);
	json_member_u64(json, "pid", trigger->pid);
	json_member_u64(json, "tid", trigger->tid);
	json_member_u64_string(json, "span", trigger->span);
	json_member_bool(json, "keyed", trigger->is_keyed);
	json_member_u64(json, "missed_cnt", trigger->missed_cnt);
	json_member_u64(json, "wall_ns", trigger->wall_ns);
	jsonl_member_bytes(json, "rule", "rule_hex", trigger->rule);
	jsonl_member_bytes(json, "label", "label_hex", trigger->label);
	return end_line(json);
}

static int jsonl_damage(void *state, const struct txtrace_damage *damage)
{
	struct json *json = state;

	begin_line(json, "damage");
	json_member_u64(json, "offset_bytes", damage->offset_bytes);
	json_member_u64(json, "length_bytes", damage->length_bytes);
	json_member_u64(json, "record_cnt", damage->record_cnt);
	json_member_text(json, "reason", damage->reason);
	return end_line(json);
}

/* ---- the last line ---- */

static void members_recorder(struct json *json, const struct txtrace_summary *summary)
{
	json_member_u64(json, "time_ns", summary->time_ns);
	json_member_u64(json, "sent_cnt", summary->sent_cnt);
	json_member_u64(json, "received_cnt", summary->received_cnt);
	json_member_u64(json, "lost_cnt", summary->lost_cnt);
	json_member_u64(json, "lost_clocks_cnt", summary->lost_clocks_cnt);
	json_member_u64(json, "late_cnt", summary->late_cnt);
	json_name(json, "anomalies");
	json_object_begin(json);
	for (unsigned int anomaly = 0; anomaly < TXTRACE_ANOMALY_COUNT; anomaly++)
		json_member_u64(json, txtrace_anomaly_name(anomaly), summary->anomaly_cnt[anomaly]);
	json_object_end(json);
	if (!summary_has_left_out(summary))
		return;
	json_name(json, "left_out");
	json_object_begin(json);
	for (unsigned int i = 0; i < TXTRACE_LEFT_OUT_COUNT; i++)
		json_member_u64(json, txtrace_left_out_name(i), summary->left_out_cnt[i]);
	json_object_end(json);
}

static int jsonl_finish(void *state, const struct export_totals *totals)
{
	struct json *json = state;

	begin_line(json, "summary");
	json_name(json, "records");
	json_object_begin(json);
	for (unsigned int kind = TXTRACE_RECORD_SPAN; kind < TXTRACE_RECORD_KIND_COUNT; kind++)
		if (txtrace_record_kind_name(kind))
			json_member_u64(json, txtrace_record_kind_name(kind),
					totals->census.record_cnt[kind]);
	json_object_end(json);
	json_member_u64(json, "lower_bound_cnt", totals->census.lower_bound_cnt);
	json_member_u64(json, "lost_span_event_cnt", totals->census.lost_span_event_cnt);
	json_member_u64(json, "lost_sched_event_cnt", totals->census.lost_sched_event_cnt);
	json_member_u64(json, "dropped_record_cnt", totals->census.dropped_record_cnt);
	json_member_u64(json, "damaged_bytes", totals->census.damaged_bytes);
	json_member_u64(json, "damaged_record_cnt", totals->census.damaged_record_cnt);
	json_member_u64(json, "first_ns", totals->census.first_ns);
	json_member_u64(json, "last_ns", totals->census.last_ns);
	json_name(json, "recorder");
	if (totals->census.record_cnt[TXTRACE_RECORD_SUMMARY]) {
		json_object_begin(json);
		members_recorder(json, &totals->census.summary);
		json_object_end(json);
	} else {
		json_null(json);
	}
	json_member_text(json, "read_error", totals->read_error ? strerror(-totals->read_error) : NULL);
	json_member_bool(json, "complete", totals->is_complete);
	return end_line(json);
}

static void jsonl_free(void *state)
{
	json_release(state);
	free(state);
}

const struct export_format format_jsonl = {
	.name = "jsonl",
	.help = "one JSON object per line: every record with all its fields, then a summary",
	.suffix = ".jsonl",
	.open = jsonl_open,
	.span = jsonl_span,
	.run = jsonl_run,
	.wake = jsonl_wake,
	.thread = jsonl_thread,
	.attribute = jsonl_attribute,
	.instant = jsonl_instant,
	.counter = jsonl_counter,
	.link = jsonl_link,
	.open_span = jsonl_open_span,
	.loss = jsonl_loss,
	.dropped = jsonl_dropped,
	.continued = jsonl_continued,
	.stay = jsonl_stay,
	.overlap = jsonl_overlap,
	.object = jsonl_object,
	.stack = jsonl_stack,
	.frames = jsonl_frames,
	.other_run = jsonl_other_run,
	.cost = jsonl_cost,
	.process = jsonl_process,
	.trigger = jsonl_trigger,
	.damage = jsonl_damage,
	.finish = jsonl_finish,
	.free = jsonl_free,
};
