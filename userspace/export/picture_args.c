/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/picture_args.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"


static struct txtrace_string literal(const char *text)
{
	return (struct txtrace_string){ .bytes = text, .length = strlen(text) };
}

void args_clear(struct picture_args *args)
{
	args->cnt = 0;
	args->group = 0;
}

void args_release(struct picture_args *args)
{
	free(args->args);
	*args = (struct picture_args){ 0 };
}

static void append(struct picture_args *args, struct picture_arg arg)
{
	struct picture_arg *grown = array_grow(args->args, &args->size, args->cnt, sizeof(*grown));

	if (!grown) {
		args->err = -ENOMEM;
		return;
	}
	args->args = grown;
	args->args[args->cnt++] = arg;
}

void args_add(struct picture_args *args, const char *name, enum arg_type type, uint64_t value)
{
	append(args, (struct picture_arg){ .name = literal(name), .type = type, .value = value });
}

static void args_add_string(struct picture_args *args, const char *name, struct txtrace_string string)
{
	append(args, (struct picture_arg){ .name = literal(name), .type = ARG_STRING, .string = string });
}

static void args_add_text(struct picture_args *args, const char *name, const char *text)
{
	args_add_string(args, name, literal(text));
}

static void args_begin_group(struct picture_args *args, const char *name)
{
	args_add(args, name, ARG_GROUP, 0);
	args->group = args->cnt;
}

/* One that stayed empty disappears. */
static void args_end_group(struct picture_args *args)
{
	struct picture_arg *group;

	if (args->err || args->group == 0)
		return;
	group = &args->args[args->group - 1];
	group->value = args->cnt - args->group;
	if (group->value == 0)
		args->cnt--;
	args->group = 0;
}

/* ---- of records ---- */

static void add_if(struct picture_args *args, const char *name, bool value)
{
	if (value)
		args_add(args, name, ARG_BOOL, true);
}

static void add_ledger(struct picture_args *args, const struct txtrace_ledger *ledger)
{
	args_add(args, "on_cpu_ns", ARG_UINT, ledger->on_cpu_ns);
	args_add(args, "runnable_ns", ARG_UINT, ledger->runnable_ns);
	args_add(args, "blocked_ns", ARG_UINT, txtrace_ledger_blocked_ns(ledger));
	args_begin_group(args, "blocked");
	for (unsigned int reason = 0; reason < TXTRACE_BLOCK_REASON_COUNT; reason++) {
		if (ledger->blocked_ns[reason])
			args_add(args, txtrace_block_reason_name(reason), ARG_UINT,
				 ledger->blocked_ns[reason]);
	}
	args_end_group(args);
	args_add(args, "detached_ns", ARG_UINT, ledger->detached_ns);
	args_add(args, "unknown_ns", ARG_UINT, ledger->unknown_ns);
	if (ledger->interrupt_ns)
		args_add(args, "interrupt_ns", ARG_UINT, ledger->interrupt_ns);
	if (ledger->stolen_ns)
		args_add(args, "stolen_ns", ARG_UINT, ledger->stolen_ns);
}

void args_add_span(struct picture_args *args, const struct txtrace_span *span, const struct span_mark *mark)
{
	args_add(args, "id", ARG_ID, span->id);
	if (span->parent)
		args_add(args, "parent", ARG_ID, span->parent);
	if (span->tag.length > 0)
		args_add_string(args, "tag", span->tag);
	if (span->key.length > 0)
		args_add_string(args, "key", span->key);
	args_add(args, "begin_tid", ARG_UINT, span->tid);
	if (span->end_tid != span->tid)
		args_add(args, "end_tid", ARG_UINT, span->end_tid);
	args_add(args, "work_ns", ARG_UINT, span->work_ns);
	add_ledger(args, &span->ledger);
	args_add(args, "lower_bound", ARG_BOOL, (span->flags & TXTRACE_SPAN_LOWER_BOUND) != 0);
	add_if(args, "unfinished", span->flags & TXTRACE_SPAN_UNFINISHED);
	add_if(args, "loss", span->flags & TXTRACE_SPAN_LOSS);
	add_if(args, "imbalance", span->flags & TXTRACE_SPAN_IMBALANCE);
	add_if(args, "keyed", span->flags & TXTRACE_SPAN_KEYED);
	add_if(args, "moved", span->flags & TXTRACE_SPAN_MOVED);
	if (mark) {
		args_begin_group(args, "attributes");
		for (const struct marked_attribute *marked = mark->attributes; marked; marked = marked->next)
			args_add_attribute(args, &marked->attribute);
		args_end_group(args);
	}
}

void args_add_attribute(struct picture_args *args, const struct txtrace_attribute *attribute)
{
	bool is_known = attribute->type >= TXTRACE_ATTRIBUTE_BOOL &&
			attribute->type <= TXTRACE_ATTRIBUTE_BYTES;

	append(args, (struct picture_arg){
			     .name = attribute->name.length > 0 ? attribute->name : literal(NO_NAME),
			     .type = is_known ? (enum arg_type)attribute->type : ARG_UINT,
			     .value = attribute->value,
			     .string = attribute->string,
			     .is_truncated = attribute->is_truncated,
		     });
}

void args_add_state(struct picture_args *args, const struct state_slice *slice, const struct txtrace_run *run)
{
	if (slice->state == STATE_RUNNING) {
		args_add(args, "cpu", ARG_UINT, run->cpu);
		args_add_text(args, "left_as", left_as_name(run->left_as));
	} else if (slice->state == STATE_BLOCKED && slice->reason < TXTRACE_BLOCK_REASON_COUNT) {
		args_add(args, "syscall_nr", ARG_INT, (uint64_t)(int64_t)slice->syscall_nr);
		args_add(args, "object", ARG_POINTER, slice->object);
	}
}

void args_add_wake(struct picture_args *args, const struct txtrace_wake *wake)
{
	args_add(args, "waker_tid", ARG_UINT, wake->waker_tid);
	args_add(args, "waker_pid", ARG_UINT, wake->waker_pid);
	args_add_string(args, "waker_comm", wake->waker_comm);
	args_add(args, "waker_cpu", ARG_UINT, wake->cpu);
	add_if(args, "interrupt", wake->flags & TXTRACE_WAKE_INTERRUPT);
	add_if(args, "timer", wake->flags & TXTRACE_WAKE_TIMER);
	add_if(args, "softirq", wake->flags & TXTRACE_WAKE_SOFTIRQ);
	add_if(args, "waker_unknown", wake->flags & TXTRACE_WAKE_WAKER_UNKNOWN);
}

void args_add_loss(struct picture_args *args, const struct txtrace_loss *loss)
{
	args_add(args, "cpu", ARG_UINT, loss->cpu);
	args_add(args, "span_event_cnt", ARG_UINT, loss->span_event_cnt);
	args_add(args, "sched_event_cnt", ARG_UINT, loss->sched_event_cnt);
	if (loss->tid) {
		args_add(args, "pid", ARG_UINT, loss->pid);
		args_add(args, "tid", ARG_UINT, loss->tid);
	}
}

void args_add_dropped(struct picture_args *args, const struct txtrace_dropped *dropped)
{
	args_add(args, "batch_cnt", ARG_UINT, dropped->batch_cnt);
	args_begin_group(args, "records");
	for (unsigned int kind = TXTRACE_RECORD_SPAN; kind < TXTRACE_RECORD_DAMAGE; kind++)
		if (dropped->record_cnt[kind] && txtrace_record_kind_name(kind))
			args_add(args, txtrace_record_kind_name(kind), ARG_UINT, dropped->record_cnt[kind]);
	args_end_group(args);
}

void args_add_damage(struct picture_args *args, const struct txtrace_damage *damage)
{
	args_add_text(args, "reason", damage->reason ? damage->reason : "");
	args_add(args, "offset_bytes", ARG_UINT, damage->offset_bytes);
	args_add(args, "length_bytes", ARG_UINT, damage->length_bytes);
	args_add(args, "record_cnt", ARG_UINT, damage->record_cnt);
}

void args_add_totals(struct picture_args *args, const struct export_totals *totals)
{
	args_add(args, "complete", ARG_BOOL, totals->is_complete);
	args_add(args, "lower_bound_cnt", ARG_UINT, totals->census.lower_bound_cnt);
	args_add(args, "lost_span_event_cnt", ARG_UINT, totals->census.lost_span_event_cnt);
	args_add(args, "lost_sched_event_cnt", ARG_UINT, totals->census.lost_sched_event_cnt);
	args_add(args, "dropped_record_cnt", ARG_UINT, totals->census.dropped_record_cnt);
	args_add(args, "damaged_bytes", ARG_UINT, totals->census.damaged_bytes);
	args_add(args, "damaged_record_cnt", ARG_UINT, totals->census.damaged_record_cnt);
	args_begin_group(args, "records");
	for (unsigned int kind = TXTRACE_RECORD_SPAN; kind < TXTRACE_RECORD_KIND_COUNT; kind++)
		if (txtrace_record_kind_name(kind))
			args_add(args, txtrace_record_kind_name(kind), ARG_UINT,
				 totals->census.record_cnt[kind]);
	args_end_group(args);
	if (totals->census.record_cnt[TXTRACE_RECORD_SUMMARY]) {
		args_begin_group(args, "recorder");
		args_add(args, "sent_cnt", ARG_UINT, totals->census.summary.sent_cnt);
		args_add(args, "received_cnt", ARG_UINT, totals->census.summary.received_cnt);
		args_add(args, "lost_cnt", ARG_UINT, totals->census.summary.lost_cnt);
		args_add(args, "lost_clocks_cnt", ARG_UINT, totals->census.summary.lost_clocks_cnt);
		args_add(args, "late_cnt", ARG_UINT, totals->census.summary.late_cnt);
		for (unsigned int anomaly = 0; anomaly < TXTRACE_ANOMALY_COUNT; anomaly++)
			args_add(args, txtrace_anomaly_name(anomaly), ARG_UINT,
				 totals->census.summary.anomaly_cnt[anomaly]);
		args_end_group(args);
	}
}
