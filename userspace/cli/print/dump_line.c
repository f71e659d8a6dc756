/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/print/dump_line.h"

#include <inttypes.h>
#include <string.h>

#include "analyze/log_census.h"

/* ---- fields ---- */

static void add_u64(struct text *text, const char *name, uint64_t value)
{
	text_append(text, " ");
	text_append(text, name);
	text_append(text, "=");
	text_append_u64(text, value);
}

static void add_hex(struct text *text, const char *name, uint64_t value)
{
	text_append_format(text, " %s=0x%" PRIx64, name, value);
}

static void add_string(struct text *text, const char *name, const struct txtrace_string *string)
{
	text_append(text, " ");
	text_append(text, name);
	text_append(text, "=");
	text_append_quoted(text, string->bytes, string->length);
}

/* A number that has a name, or the number. */
static void add_named(struct text *text, const char *field, const char *name, unsigned int number)
{
	if (name)
		text_append_format(text, " %s=%s", field, name);
	else
		text_append_format(text, " %s=%u", field, number);
}

struct flag_name {
	uint32_t flag;
	const char *name;
};

/* "flags=moved,loss", or "flags=none". Bits without a name come as a number. */
static void add_flags(struct text *text, uint32_t flags, const struct flag_name *names)
{
	const char *separator = "";

	text_append(text, " flags=");
	if (!flags)
		text_append(text, "none");
	for (; names->name; names++) {
		if (!(flags & names->flag))
			continue;
		text_append_format(text, "%s%s", separator, names->name);
		separator = ",";
		flags &= ~names->flag;
	}
	if (flags)
		text_append_format(text, "%s0x%x", separator, flags);
}

static const char *left_as_name(unsigned int left_as)
{
	static const char *const names[] = {
		[TXTRACE_LEFT_UNKNOWN] = "unknown", [TXTRACE_LEFT_PREEMPTED] = "preempted",
		[TXTRACE_LEFT_YIELDED] = "yielded", [TXTRACE_LEFT_BLOCKED] = "blocked",
		[TXTRACE_LEFT_DEAD] = "dead",
	};

	return left_as < sizeof(names) / sizeof(names[0]) ? names[left_as] : NULL;
}

/* ---- kinds ---- */

static void add_ledger(struct text *text, const struct txtrace_ledger *ledger)
{
	add_u64(text, "on_cpu_ns", ledger->on_cpu_ns);
	add_u64(text, "runnable_ns", ledger->runnable_ns);
	for (unsigned int i = 0; i < TXTRACE_BLOCK_REASON_COUNT; i++) {
		text_append(text, " ");
		text_append(text, txtrace_block_reason_name(i));
		text_append(text, "_ns=");
		text_append_u64(text, ledger->blocked_ns[i]);
	}
	add_u64(text, "detached_ns", ledger->detached_ns);
	add_u64(text, "unknown_ns", ledger->unknown_ns);
	if (ledger->interrupt_ns)
		add_u64(text, "interrupt_ns", ledger->interrupt_ns);
}

static const struct flag_name span_flags[] = {
	{ TXTRACE_SPAN_LOWER_BOUND, "lower_bound" }, { TXTRACE_SPAN_UNFINISHED, "unfinished" },
	{ TXTRACE_SPAN_LOSS, "loss" },               { TXTRACE_SPAN_IMBALANCE, "imbalance" },
	{ TXTRACE_SPAN_KEYED, "keyed" },             { TXTRACE_SPAN_MOVED, "moved" },
	{ TXTRACE_SPAN_ROOT, "root" },               { TXTRACE_SPAN_NESTED, "nested" },
	{ TXTRACE_SPAN_PARENT_KEYED, "parent_keyed" }, { TXTRACE_SPAN_PARENT_LOST, "parent_lost" },
	{ 0, NULL },
};

static void add_span(struct text *text, const struct txtrace_record *record)
{
	const struct txtrace_span *span = &record->span;

	add_u64(text, "begin_ns", span->begin_ns);
	add_u64(text, "end_ns", span->end_ns);
	add_u64(text, "pid", span->pid);
	add_u64(text, "tid", span->tid);
	add_u64(text, "end_tid", span->end_tid);
	add_u64(text, "id", span->id);
	add_u64(text, "parent", span->parent);
	add_string(text, "label", &span->label);
	add_string(text, "tag", &span->tag);
	add_string(text, "key", &span->key);
	add_flags(text, span->flags, span_flags);
	add_u64(text, "wall_ns", span_wall_ns(span));
	add_u64(text, "work_ns", span->work_ns);
	add_ledger(text, &span->ledger);
}

static void add_run(struct text *text, const struct txtrace_record *record)
{
	const struct txtrace_run *run = &record->run;

	add_u64(text, "begin_ns", run->begin_ns);
	add_u64(text, "end_ns", run->end_ns);
	add_u64(text, "pid", run->pid);
	add_u64(text, "tid", run->tid);
	add_u64(text, "cpu", run->cpu);
	add_u64(text, "blocked_ns", run->blocked_ns);
	add_u64(text, "runnable_ns", run->runnable_ns);
	if (run->idle_ns)
		add_u64(text, "idle_ns", run->idle_ns);
	if (run->has_wait_end) {
		add_named(text, "wait_reason", txtrace_block_reason_name(run->wait_reason), run->wait_reason);
		add_hex(text, "wait_object", run->wait_object);
	}
	add_named(text, "left_as", left_as_name(run->left_as), run->left_as);
	if (run->left_as != TXTRACE_LEFT_BLOCKED)
		return;
	add_named(text, "reason", txtrace_block_reason_name(run->reason), run->reason);
	text_append_format(text, " syscall_nr=%" PRId32, run->syscall_nr);
	add_hex(text, "object", run->object);
}

static void add_wake(struct text *text, const struct txtrace_record *record)
{
	static const struct flag_name flags[] = {
		{ TXTRACE_WAKE_INTERRUPT, "interrupt" },
		{ TXTRACE_WAKE_WAKER_UNKNOWN, "waker_unknown" },
		{ TXTRACE_WAKE_SPAN_KEYED, "span_keyed" },
		{ TXTRACE_WAKE_WAKER_SPAN_KEYED, "waker_span_keyed" },
		{ TXTRACE_WAKE_TIMER, "timer" },
		{ TXTRACE_WAKE_SOFTIRQ, "softirq" },
		{ 0, NULL },
	};
	const struct txtrace_wake *wake = &record->wake;

	add_u64(text, "time_ns", wake->time_ns);
	add_u64(text, "pid", wake->pid);
	add_u64(text, "tid", wake->tid);
	add_u64(text, "waker_pid", wake->waker_pid);
	add_u64(text, "waker_tid", wake->waker_tid);
	add_string(text, "waker_comm", &wake->waker_comm);
	add_u64(text, "cpu", wake->cpu);
	add_u64(text, "span", wake->span);
	add_u64(text, "waker_span", wake->waker_span);
	add_flags(text, wake->flags, flags);
}

static void add_thread(struct text *text, const struct txtrace_record *record)
{
	const struct txtrace_thread *thread = &record->thread;

	add_u64(text, "time_ns", thread->time_ns);
	add_u64(text, "pid", thread->pid);
	add_u64(text, "tid", thread->tid);
	add_string(text, "comm", &thread->comm);
	add_u64(text, "seed", thread->is_seed);
	add_u64(text, "exit", thread->is_exit);
}

static void add_attribute_value(struct text *text, const struct txtrace_attribute *attribute)
{
	double number;

	switch (attribute->type) {
	case TXTRACE_ATTRIBUTE_BOOL:
		text_append_format(text, " type=bool value=%s", attribute->value ? "true" : "false");
		break;
	case TXTRACE_ATTRIBUTE_INT:
		text_append_format(text, " type=int value=%" PRId64, (int64_t)attribute->value);
		break;
	case TXTRACE_ATTRIBUTE_UINT:
		text_append_format(text, " type=uint value=%" PRIu64, attribute->value);
		break;
	case TXTRACE_ATTRIBUTE_DOUBLE:
		memcpy(&number, &attribute->value, sizeof(number));
		text_append_format(text, " type=double value=%.17g", number);
		break;
	case TXTRACE_ATTRIBUTE_STRING:
		text_append(text, " type=string");
		add_string(text, "value", &attribute->string);
		add_u64(text, "truncated", attribute->is_truncated);
		break;
	case TXTRACE_ATTRIBUTE_POINTER:
		text_append_format(text, " type=pointer value=0x%" PRIx64, attribute->value);
		break;
	default:
		text_append_format(text, " type=%u value=0x%" PRIx64, attribute->type, attribute->value);
	}
}

static void add_attribute(struct text *text, const struct txtrace_record *record)
{
	const struct txtrace_attribute *attribute = &record->attribute;

	add_u64(text, "time_ns", attribute->time_ns);
	add_u64(text, "pid", attribute->pid);
	add_u64(text, "tid", attribute->tid);
	add_u64(text, "span", attribute->span);
	add_string(text, "name", &attribute->name);
	add_attribute_value(text, attribute);
}

static void add_instant(struct text *text, const struct txtrace_record *record)
{
	const struct txtrace_instant *instant = &record->instant;

	add_u64(text, "time_ns", instant->time_ns);
	add_u64(text, "pid", instant->pid);
	add_u64(text, "tid", instant->tid);
	add_u64(text, "span", instant->span);
	add_string(text, "name", &instant->name);
}

static void add_counter(struct text *text, const struct txtrace_record *record)
{
	const struct txtrace_counter *counter = &record->counter;

	add_u64(text, "time_ns", counter->time_ns);
	add_u64(text, "pid", counter->pid);
	add_u64(text, "tid", counter->tid);
	add_string(text, "name", &counter->name);
	text_append_format(text, " value=%" PRId64, counter->value);
}

static void add_link(struct text *text, const struct txtrace_record *record)
{
	const struct txtrace_link *link = &record->link;

	add_u64(text, "time_ns", link->time_ns);
	add_u64(text, "pid", link->pid);
	add_u64(text, "tid", link->tid);
	add_u64(text, "from", link->from);
	add_u64(text, "to", link->to);
	add_string(text, "name", &link->name);
}

static void add_loss(struct text *text, const struct txtrace_record *record)
{
	const struct txtrace_loss *loss = &record->loss;

	add_u64(text, "first_ns", loss->first_ns);
	add_u64(text, "last_ns", loss->last_ns);
	add_u64(text, "cpu", loss->cpu);
	add_u64(text, "span_events", loss->span_event_cnt);
	add_u64(text, "sched_events", loss->sched_event_cnt);
}

static void add_open_span(struct text *text, const struct txtrace_record *record)
{
	const struct txtrace_open_span *span = &record->open_span;

	add_u64(text, "time_ns", span->time_ns);
	add_u64(text, "begin_ns", span->begin_ns);
	add_u64(text, "pid", span->pid);
	add_u64(text, "tid", span->tid);
	add_u64(text, "id", span->id);
	add_u64(text, "parent", span->parent);
	add_string(text, "label", &span->label);
	add_string(text, "key", &span->key);
	if (span->flags)
		add_flags(text, span->flags, span_flags);
}

static void add_summary(struct text *text, const struct txtrace_record *record)
{
	const struct txtrace_summary *summary = &record->summary;

	add_u64(text, "time_ns", summary->time_ns);
	add_u64(text, "sent", summary->sent_cnt);
	add_u64(text, "received", summary->received_cnt);
	add_u64(text, "lost", summary->lost_cnt);
	add_u64(text, "lost_clocks", summary->lost_clocks_cnt);
	add_u64(text, "late", summary->late_cnt);
	for (unsigned int i = 0; i < TXTRACE_ANOMALY_COUNT; i++)
		add_u64(text, txtrace_anomaly_name(i), summary->anomaly_cnt[i]);
	for (unsigned int i = 0; i < TXTRACE_LEFT_OUT_COUNT; i++)
		if (summary->left_out_cnt[i])
			text_append_format(text, " left_out_%s=%" PRIu64, txtrace_left_out_name(i),
					   summary->left_out_cnt[i]);
}

static void add_dropped(struct text *text, const struct txtrace_record *record)
{
	const struct txtrace_dropped *dropped = &record->dropped;

	add_u64(text, "time_ns", dropped->time_ns);
	add_u64(text, "first_ns", dropped->first_ns);
	add_u64(text, "last_ns", dropped->last_ns);
	add_u64(text, "batches", dropped->batch_cnt);
	for (unsigned int kind = TXTRACE_RECORD_SPAN; kind < TXTRACE_RECORD_DAMAGE; kind++)
		if (txtrace_record_kind_name(kind))
			add_u64(text, txtrace_record_kind_name(kind), dropped->record_cnt[kind]);
}

static void add_continued(struct text *text, const struct txtrace_record *record)
{
	add_u64(text, "time_ns", record->continued.time_ns);
	add_u64(text, "next_part", record->continued.next_part);
}

static void add_overlap(struct text *text, const struct txtrace_record *record)
{
	const struct txtrace_overlap *overlap = &record->overlap;

	add_u64(text, "time_ns", overlap->time_ns);
	add_u64(text, "pid", overlap->pid);
	add_u64(text, "tid", overlap->tid);
	add_u64(text, "span", overlap->span);
	add_u64(text, "keyed", overlap->is_keyed);
	add_ledger(text, &overlap->ledger);
}

static void add_stay(struct text *text, const struct txtrace_record *record)
{
	const struct txtrace_stay *stay = &record->stay;

	add_u64(text, "enter_ns", stay->enter_ns);
	add_u64(text, "exit_ns", stay->exit_ns);
	add_u64(text, "pid", stay->pid);
	add_u64(text, "tid", stay->tid);
	add_u64(text, "span", stay->span);
	add_u64(text, "span_pid", stay->span_pid);
	add_u64(text, "keyed", stay->is_keyed);
}

static void add_object(struct text *text, const struct txtrace_record *record)
{
	const struct txtrace_object *object = &record->object;

	add_u64(text, "time_ns", object->time_ns);
	add_u64(text, "pid", object->pid);
	add_u64(text, "tid", object->tid);
	add_named(text, "reason", txtrace_block_reason_name(object->reason), object->reason);
	add_hex(text, "object", object->object);
	add_string(text, "name", &object->name);
}

static void add_other_run(struct text *text, const struct txtrace_record *record)
{
	static const struct flag_name flags[] = { { TXTRACE_OTHER_RUN_NOBODY_KNOWN, "nobody_known" },
						  { 0, NULL } };
	const struct txtrace_other_run *run = &record->other_run;

	add_u64(text, "begin_ns", run->begin_ns);
	add_u64(text, "end_ns", run->end_ns);
	add_u64(text, "pid", run->pid);
	add_u64(text, "tid", run->tid);
	add_string(text, "comm", &run->comm);
	add_u64(text, "cpu", run->cpu);
	add_u64(text, "moved_pid", run->moved_pid);
	add_u64(text, "moved_tid", run->moved_tid);
	add_flags(text, run->flags, flags);
}

static void add_cost(struct text *text, const struct txtrace_record *record)
{
	static const char *const entries[] = { "unknown", "trap", "call", "tracepoint", "step", "within" };
	const struct txtrace_cost *cost = &record->cost;

	add_u64(text, "time_ns", cost->time_ns);
	add_u64(text, "since_ns", cost->since_ns);
	add_string(text, "event", &cost->event);
	add_u64(text, "events", cost->event_cnt);
	add_u64(text, "timed_events", cost->timed_event_cnt);
	add_u64(text, "timed_runs", cost->timed_run_cnt);
	add_u64(text, "timed_run_ns", cost->timed_run_ns);
	add_named(text, "entry",
		  cost->entry < sizeof(entries) / sizeof(entries[0]) ? entries[cost->entry] : NULL,
		  cost->entry);
	add_u64(text, "entry_ps", cost->entry_ps);
	add_u64(text, "empty_run_ps", cost->empty_run_ps);
	add_u64(text, "idle_run_ps", cost->idle_run_ps);
	add_u64(text, "calibrations", cost->calibration_cnt);
	add_u64(text, "cpu_ns", cost->cpu_ns);
	add_u64(text, "ring_bytes", cost->ring_bytes);
	add_u64(text, "log_bytes", cost->log_bytes);
}

static void add_process(struct text *text, const struct txtrace_record *record)
{
	const struct txtrace_process *process = &record->process;

	add_u64(text, "time_ns", process->time_ns);
	add_u64(text, "pid", process->pid);
	add_u64(text, "parent_pid", process->parent_pid);
	add_u64(text, "inner_pid", process->inner_pid);
	add_u64(text, "start_ns", process->start_ns);
	add_u64(text, "reasons", process->reasons);
	add_u64(text, "seed", process->is_seed);
	add_u64(text, "exit", process->is_exit);
	add_string(text, "comm", &process->comm);
	add_string(text, "exe", &process->exe);
	add_string(text, "command", &process->command);
}

static void add_trigger(struct text *text, const struct txtrace_record *record)
{
	const struct txtrace_trigger *trigger = &record->trigger;

	add_u64(text, "time_ns", trigger->time_ns);
	add_u64(text, "cause", trigger->cause);
	add_u64(text, "pid", trigger->pid);
	add_u64(text, "tid", trigger->tid);
	add_u64(text, "span", trigger->span);
	add_u64(text, "keyed", trigger->is_keyed);
	add_u64(text, "missed", trigger->missed_cnt);
	add_u64(text, "wall_ns", trigger->wall_ns);
	add_string(text, "rule", &trigger->rule);
	add_string(text, "label", &trigger->label);
}

static void add_stack(struct text *text, const struct txtrace_record *record)
{
	const struct txtrace_stack *stack = &record->stack;
	const char *what = stack->what == TXTRACE_STACK_OFF_CPU	 ? "off_cpu"
			   : stack->what == TXTRACE_STACK_ON_CPU ? "on_cpu"
								 : NULL;

	add_u64(text, "time_ns", stack->time_ns);
	add_u64(text, "pid", stack->pid);
	add_u64(text, "tid", stack->tid);
	add_named(text, "what", what, stack->what);
	add_u64(text, "weight_ns", stack->weight_ns);
	add_u64(text, "stack", stack->stack);
	add_u64(text, "span", stack->span);
	add_u64(text, "span_pid", stack->span_pid);
	add_u64(text, "keyed", stack->is_keyed);
	add_u64(text, "repeat", stack->is_repeat);
}

static void add_frames(struct text *text, const struct txtrace_record *record)
{
	add_u64(text, "time_ns", record->frames.time_ns);
	add_u64(text, "stack", record->frames.stack);
	add_string(text, "names", &record->frames.names);
}

static void add_damage(struct text *text, const struct txtrace_record *record)
{
	const struct txtrace_damage *damage = &record->damage;
	const char *reason = damage->reason ? damage->reason : "";

	add_u64(text, "offset", damage->offset_bytes);
	add_u64(text, "bytes", damage->length_bytes);
	add_u64(text, "records", damage->record_cnt);
	text_append(text, " reason=");
	text_append_quoted(text, reason, strlen(reason));
}

static void (*const kinds[TXTRACE_RECORD_KIND_COUNT])(struct text *text,
						      const struct txtrace_record *record) = {
	[TXTRACE_RECORD_SPAN] = add_span,	    [TXTRACE_RECORD_RUN] = add_run,
	[TXTRACE_RECORD_WAKE] = add_wake,	    [TXTRACE_RECORD_THREAD] = add_thread,
	[TXTRACE_RECORD_ATTRIBUTE] = add_attribute, [TXTRACE_RECORD_INSTANT] = add_instant,
	[TXTRACE_RECORD_COUNTER] = add_counter,	    [TXTRACE_RECORD_LINK] = add_link,
	[TXTRACE_RECORD_LOSS] = add_loss,	    [TXTRACE_RECORD_OPEN_SPAN] = add_open_span,
	[TXTRACE_RECORD_SUMMARY] = add_summary,	    [TXTRACE_RECORD_DROPPED] = add_dropped,
	[TXTRACE_RECORD_CONTINUED] = add_continued, [TXTRACE_RECORD_STAY] = add_stay,
	[TXTRACE_RECORD_OBJECT] = add_object,	    [TXTRACE_RECORD_DAMAGE] = add_damage,
	[TXTRACE_RECORD_COST] = add_cost,	    [TXTRACE_RECORD_OTHER_RUN] = add_other_run,
	[TXTRACE_RECORD_PROCESS] = add_process,	    [TXTRACE_RECORD_TRIGGER] = add_trigger,
	[TXTRACE_RECORD_STACK] = add_stack,	    [TXTRACE_RECORD_FRAMES] = add_frames,
	[TXTRACE_RECORD_OVERLAP] = add_overlap,
};

void dump_line_append(struct text *text, const struct txtrace_record *record)
{
	const char *name = txtrace_record_kind_name(record->kind);

	if (name)
		text_append(text, name);
	else
		text_append_format(text, "kind-%u", record->kind);
	if (record->kind < TXTRACE_RECORD_KIND_COUNT && kinds[record->kind])
		kinds[record->kind](text, record);
}
