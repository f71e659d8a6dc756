/* SPDX-License-Identifier: BSD-2-Clause */
#include "log/record_unpack.h"

#include <string.h>

#include "log/varint.h"

static struct model_thread *unpack_thread(struct record_unpacker *unpacker, uint64_t field)
{
	return field < unpacker->thread_cnt ? &unpacker->model.threads[field] : NULL;
}

static bool unpack_name(const struct record_unpacker *unpacker, uint64_t field, struct txtrace_string *name)
{
	if (field > unpacker->name_cnt)
		return false;
	*name = field ? unpacker->names[field - 1] : (struct txtrace_string){ NULL, 0 };
	return true;
}

static bool unpack_text(struct record_unpacker *unpacker, uint64_t field, struct txtrace_string *text)
{
	struct model *model = &unpacker->model;

	*text = (struct txtrace_string){ NULL, 0 };
	if (!field)
		return true;
	if (field == 1) {
		if (model->text_cnt >= unpacker->text_cnt)
			return false;
		*text = unpacker->texts[model->text_cnt++];
		return true;
	}
	if (field - 1 > model->text_cnt)
		return false;
	*text = unpacker->texts[model->text_cnt - (field - 1)];
	return true;
}

/* own: what SLOT_OWN counts from, backwards. */
static bool unpack_slotted(struct record_unpacker *unpacker, uint64_t slot, uint64_t field, uint64_t own, uint64_t *value)
{
	if (slot == SLOT_ZERO) {
		*value = field;
	} else if (slot == SLOT_OWN) {
		*value = own - field;
	} else {
		if (slot - SLOT_FIRST >= unpacker->slot_cnt)
			return false;
		*value = unpacker->model.slots[slot - SLOT_FIRST] += field;
	}
	return true;
}

static void unpack_ledger(const uint64_t *fields, struct txtrace_span *span)
{
	uint64_t parts[SPAN_PART_COUNT], sum = 0, derived = fields[SPAN_DERIVED];
	struct txtrace_ledger *ledger = &span->ledger;

	memcpy(parts, fields + SPAN_ON_CPU, sizeof(parts));
	if (derived && derived <= SPAN_PART_COUNT) {
		for (unsigned int i = 0; i < SPAN_PART_COUNT; i++)
			sum += parts[i];
		parts[derived - 1] += span->work_ns - sum;
	}
	ledger->on_cpu_ns = parts[0];
	ledger->runnable_ns = parts[SPAN_RUNNABLE - SPAN_ON_CPU];
	memcpy(ledger->blocked_ns, parts + (SPAN_BLOCKED - SPAN_ON_CPU), sizeof(ledger->blocked_ns));
	ledger->detached_ns = parts[SPAN_DETACHED - SPAN_ON_CPU];
	ledger->unknown_ns = parts[SPAN_UNKNOWN - SPAN_ON_CPU];
}

static bool unpack_span(struct record_unpacker *unpacker, const uint64_t *fields, struct txtrace_record *record)
{
	struct model_thread *thread = unpack_thread(unpacker, fields[FIELD_THREAD]), *end_thread = thread;
	struct txtrace_span *span = &record->span;

	if (fields[SPAN_END_THREAD] > 1)
		end_thread = unpack_thread(unpacker, fields[SPAN_END_THREAD] - 2);
	if (!thread || !end_thread || fields[SPAN_DERIVED] > SPAN_PART_COUNT || fields[SPAN_BEGIN_FROM] > SPAN_BEGIN_FROM_LAST)
		return false;
	span->tid = thread->tid;
	span->pid = thread->pid;
	span->end_tid = fields[SPAN_END_THREAD] ? end_thread->tid : 0;
	span->flags = (uint32_t)fields[SPAN_FLAGS];
	span->end_ns = unpacker->model.time_ns;
	span->begin_ns = fields[SPAN_BEGIN_FROM] == SPAN_BEGIN_FROM_LAST ? thread->span_end_ns + fields[SPAN_BEGIN] :
									   span->end_ns - fields[SPAN_BEGIN];
	span->work_ns = span->end_ns - span->begin_ns + fields[SPAN_WORK];
	thread->span_end_ns = span->end_ns;
	unpack_ledger(fields, span);
	return unpack_name(unpacker, fields[SPAN_LABEL], &span->label) && unpack_text(unpacker, fields[SPAN_TAG], &span->tag) &&
	       unpack_text(unpacker, fields[SPAN_KEY], &span->key) &&
	       unpack_slotted(unpacker, fields[SPAN_ID_SLOT], fields[SPAN_ID], 0, &span->id) &&
	       unpack_slotted(unpacker, fields[SPAN_PARENT_SLOT], fields[SPAN_PARENT], span->id, &span->parent);
}

static bool unpack_run_begin(const struct record_unpacker *unpacker, const struct model_thread *thread, const uint64_t *fields,
			     uint64_t cpu_end_ns, uint64_t *begin_ns)
{
	switch (fields[RUN_BEGIN_FROM]) {
	case RUN_BEGIN_FROM_CPU:
		*begin_ns = cpu_end_ns + fields[RUN_BEGIN];
		return true;
	case RUN_BEGIN_FROM_END:
		*begin_ns = unpacker->model.time_ns - fields[RUN_BEGIN];
		return true;
	case RUN_BEGIN_FROM_READY:
		*begin_ns = thread->ready_ns + fields[RUN_BEGIN];
		return true;
	default:
		return false;
	}
}

static bool unpack_run(struct record_unpacker *unpacker, const uint64_t *fields, struct txtrace_record *record)
{
	uint64_t *cpu_end_ns = model_cpu_end(&unpacker->model, (uint32_t)fields[RUN_CPU]);
	struct model_thread *thread = unpack_thread(unpacker, fields[FIELD_THREAD]);
	struct txtrace_run *run = &record->run;

	if (!thread || fields[RUN_OBJECT] > unpacker->object_cnt ||
	    !unpack_run_begin(unpacker, thread, fields, *cpu_end_ns, &run->begin_ns))
		return false;
	run->tid = thread->tid;
	run->pid = thread->pid;
	run->cpu = (uint32_t)fields[RUN_CPU];
	run->end_ns = unpacker->model.time_ns;
	run->runnable_ns = model_runnable(thread, run->begin_ns) + fields[RUN_RUNNABLE];
	run->blocked_ns = model_blocked(thread, run->begin_ns, run->runnable_ns) + fields[RUN_BLOCKED];
	run->left_as = (uint8_t)fields[RUN_LEFT_AS];
	run->reason = (uint8_t)fields[RUN_REASON];
	run->syscall_nr = (int32_t)((uint32_t)fields[RUN_SYSCALL] - SYSCALL_BIAS);
	run->object = fields[RUN_OBJECT] ? unpacker->objects[fields[RUN_OBJECT] - 1] : 0;
	*cpu_end_ns = thread->last_end_ns = thread->ready_ns = run->end_ns;
	return true;
}

static bool unpack_wake(struct record_unpacker *unpacker, const uint64_t *fields, struct txtrace_record *record)
{
	struct model_thread *thread = unpack_thread(unpacker, fields[FIELD_THREAD]);
	const struct model_thread *waker = unpack_thread(unpacker, fields[WAKE_WAKER]);
	struct txtrace_wake *wake = &record->wake;

	if (!thread || !waker)
		return false;
	wake->time_ns = unpacker->model.time_ns;
	wake->tid = thread->tid;
	wake->pid = thread->pid;
	wake->waker_tid = waker->tid;
	wake->waker_pid = waker->pid;
	wake->cpu = (uint32_t)fields[WAKE_CPU];
	wake->flags = (uint32_t)fields[WAKE_FLAGS];
	thread->ready_ns = wake->time_ns;
	return unpack_name(unpacker, fields[WAKE_COMM], &wake->waker_comm) &&
	       unpack_slotted(unpacker, fields[WAKE_SPAN_SLOT], fields[WAKE_SPAN], 0, &wake->span) &&
	       unpack_slotted(unpacker, fields[WAKE_WAKER_SPAN_SLOT], fields[WAKE_WAKER_SPAN], 0, &wake->waker_span);
}

static bool unpack_thread_record(struct record_unpacker *unpacker, const uint64_t *fields, struct txtrace_record *record)
{
	const struct model_thread *of = unpack_thread(unpacker, fields[FIELD_THREAD]);
	struct txtrace_thread *thread = &record->thread;

	if (!of)
		return false;
	thread->time_ns = unpacker->model.time_ns;
	thread->tid = of->tid;
	thread->pid = of->pid;
	thread->is_seed = fields[THREAD_FLAGS] & THREAD_FLAG_SEED;
	thread->is_exit = fields[THREAD_FLAGS] & THREAD_FLAG_EXIT;
	return unpack_name(unpacker, fields[THREAD_COMM], &thread->comm);
}

static bool unpack_attribute(struct record_unpacker *unpacker, const uint64_t *fields, struct txtrace_record *record)
{
	const struct model_thread *thread = unpack_thread(unpacker, fields[FIELD_THREAD]);
	struct txtrace_attribute *attribute = &record->attribute;
	uint64_t value = fields[ATTRIBUTE_VALUE];

	if (!thread)
		return false;
	attribute->time_ns = unpacker->model.time_ns;
	attribute->tid = thread->tid;
	attribute->pid = thread->pid;
	attribute->type = (uint8_t)fields[ATTRIBUTE_TYPE];
	attribute->is_truncated = fields[ATTRIBUTE_TRUNCATED] & 1;
	attribute->value = attribute->type == TXTRACE_ATTRIBUTE_INT	 ? unzigzag(value)
			   : attribute->type == TXTRACE_ATTRIBUTE_DOUBLE ? __builtin_bswap64(value)
									 : value;
	return unpack_slotted(unpacker, fields[ATTRIBUTE_SPAN_SLOT], fields[ATTRIBUTE_SPAN], 0, &attribute->span) &&
	       unpack_name(unpacker, fields[ATTRIBUTE_NAME], &attribute->name) &&
	       unpack_text(unpacker, fields[ATTRIBUTE_STRING], &attribute->string);
}

static bool unpack_instant(struct record_unpacker *unpacker, const uint64_t *fields, struct txtrace_record *record)
{
	const struct model_thread *thread = unpack_thread(unpacker, fields[FIELD_THREAD]);
	struct txtrace_instant *instant = &record->instant;

	if (!thread)
		return false;
	instant->time_ns = unpacker->model.time_ns;
	instant->tid = thread->tid;
	instant->pid = thread->pid;
	return unpack_slotted(unpacker, fields[INSTANT_SPAN_SLOT], fields[INSTANT_SPAN], 0, &instant->span) &&
	       unpack_name(unpacker, fields[INSTANT_NAME], &instant->name);
}

static bool unpack_counter(struct record_unpacker *unpacker, const uint64_t *fields, struct txtrace_record *record)
{
	const struct model_thread *thread = unpack_thread(unpacker, fields[FIELD_THREAD]);
	struct txtrace_counter *counter = &record->counter;
	uint64_t value;

	if (!thread || !unpack_slotted(unpacker, fields[COUNTER_SLOT], unzigzag(fields[COUNTER_VALUE]), 0, &value))
		return false;
	counter->time_ns = unpacker->model.time_ns;
	counter->tid = thread->tid;
	counter->pid = thread->pid;
	counter->value = (int64_t)value;
	return unpack_name(unpacker, fields[COUNTER_NAME], &counter->name);
}

static bool unpack_link(struct record_unpacker *unpacker, const uint64_t *fields, struct txtrace_record *record)
{
	const struct model_thread *thread = unpack_thread(unpacker, fields[FIELD_THREAD]);
	struct txtrace_link *link = &record->link;

	if (!thread)
		return false;
	link->time_ns = unpacker->model.time_ns;
	link->tid = thread->tid;
	link->pid = thread->pid;
	return unpack_slotted(unpacker, fields[LINK_FROM_SLOT], fields[LINK_FROM], 0, &link->from) &&
	       unpack_slotted(unpacker, fields[LINK_TO_SLOT], fields[LINK_TO], link->from, &link->to) &&
	       unpack_name(unpacker, fields[LINK_NAME], &link->name);
}

static bool unpack_loss(struct record_unpacker *unpacker, const uint64_t *fields, struct txtrace_record *record)
{
	struct txtrace_loss *loss = &record->loss;

	loss->last_ns = unpacker->model.time_ns;
	loss->first_ns = loss->last_ns - fields[LOSS_LENGTH];
	loss->cpu = (uint32_t)fields[LOSS_CPU];
	loss->span_event_cnt = fields[LOSS_SPAN_EVENTS];
	loss->sched_event_cnt = fields[LOSS_SCHED_EVENTS];
	return true;
}

static bool unpack_open_span(struct record_unpacker *unpacker, const uint64_t *fields, struct txtrace_record *record)
{
	const struct model_thread *thread = unpack_thread(unpacker, fields[FIELD_THREAD]);
	struct txtrace_open_span *span = &record->open_span;

	if (!thread)
		return false;
	span->time_ns = unpacker->model.time_ns;
	span->begin_ns = span->time_ns - fields[OPEN_SPAN_AGE];
	span->tid = thread->tid;
	span->pid = thread->pid;
	return unpack_name(unpacker, fields[OPEN_SPAN_LABEL], &span->label) &&
	       unpack_text(unpacker, fields[OPEN_SPAN_KEY], &span->key) &&
	       unpack_slotted(unpacker, fields[OPEN_SPAN_ID_SLOT], fields[OPEN_SPAN_ID], 0, &span->id) &&
	       unpack_slotted(unpacker, fields[OPEN_SPAN_PARENT_SLOT], fields[OPEN_SPAN_PARENT], span->id, &span->parent);
}

static bool unpack_summary(struct record_unpacker *unpacker, const uint64_t *fields, struct txtrace_record *record)
{
	struct txtrace_summary *summary = &record->summary;

	summary->time_ns = unpacker->model.time_ns;
	summary->sent_cnt = fields[SUMMARY_SENT];
	summary->received_cnt = fields[SUMMARY_RECEIVED];
	summary->lost_cnt = fields[SUMMARY_LOST];
	summary->lost_clocks_cnt = fields[SUMMARY_LOST_CLOCKS];
	summary->late_cnt = fields[SUMMARY_LATE];
	memcpy(summary->anomaly_cnt, fields + SUMMARY_ANOMALIES, sizeof(summary->anomaly_cnt));
	return true;
}

static bool unpack_dropped(struct record_unpacker *unpacker, const uint64_t *fields, struct txtrace_record *record)
{
	struct txtrace_dropped *dropped = &record->dropped;

	dropped->time_ns = unpacker->model.time_ns;
	dropped->first_ns = dropped->time_ns - fields[DROPPED_SINCE_FIRST];
	dropped->last_ns = dropped->time_ns - fields[DROPPED_SINCE_LAST];
	dropped->batch_cnt = fields[DROPPED_BATCHES];
	memset(dropped->record_cnt, 0, sizeof(dropped->record_cnt));
	for (uint32_t kind = 1; kind < LOG_KIND_COUNT; kind++)
		dropped->record_cnt[kind] = fields[DROPPED_RECORDS + kind - 1];
	return true;
}

static bool unpack_continued(struct record_unpacker *unpacker, const uint64_t *fields, struct txtrace_record *record)
{
	record->continued.time_ns = unpacker->model.time_ns;
	record->continued.next_part = (uint32_t)fields[CONTINUED_NEXT_PART];
	return true;
}

static bool unpack_stay(struct record_unpacker *unpacker, const uint64_t *fields, struct txtrace_record *record)
{
	const struct model_thread *thread = unpack_thread(unpacker, fields[FIELD_THREAD]);
	struct txtrace_stay *stay = &record->stay;

	if (!thread)
		return false;
	stay->exit_ns = unpacker->model.time_ns;
	stay->enter_ns = stay->exit_ns - fields[STAY_LENGTH];
	stay->tid = thread->tid;
	stay->pid = thread->pid;
	stay->span_pid = thread->pid + (uint32_t)fields[STAY_SPAN_PID];
	stay->is_keyed = fields[STAY_KEYED] != 0;
	return unpack_slotted(unpacker, fields[STAY_SPAN_SLOT], fields[STAY_SPAN], 0, &stay->span);
}

static bool unpack_object(struct record_unpacker *unpacker, const uint64_t *fields, struct txtrace_record *record)
{
	const struct model_thread *thread = unpack_thread(unpacker, fields[FIELD_THREAD]);
	struct txtrace_object *object = &record->object;

	if (!thread)
		return false;
	object->time_ns = unpacker->model.time_ns;
	object->tid = thread->tid;
	object->pid = thread->pid;
	object->reason = (uint8_t)fields[OBJECT_REASON];
	object->object = fields[OBJECT_OBJECT];
	return unpack_text(unpacker, fields[OBJECT_NAME], &object->name);
}

typedef bool (*unpack_fn)(struct record_unpacker *unpacker, const uint64_t *fields, struct txtrace_record *record);

static const unpack_fn unpacks[LOG_KIND_COUNT] = {
	[TXTRACE_RECORD_SPAN] = unpack_span,           [TXTRACE_RECORD_RUN] = unpack_run,
	[TXTRACE_RECORD_WAKE] = unpack_wake,           [TXTRACE_RECORD_THREAD] = unpack_thread_record,
	[TXTRACE_RECORD_ATTRIBUTE] = unpack_attribute, [TXTRACE_RECORD_INSTANT] = unpack_instant,
	[TXTRACE_RECORD_COUNTER] = unpack_counter,     [TXTRACE_RECORD_LINK] = unpack_link,
	[TXTRACE_RECORD_LOSS] = unpack_loss,           [TXTRACE_RECORD_OPEN_SPAN] = unpack_open_span,
	[TXTRACE_RECORD_SUMMARY] = unpack_summary,     [TXTRACE_RECORD_DROPPED] = unpack_dropped,
	[TXTRACE_RECORD_CONTINUED] = unpack_continued, [TXTRACE_RECORD_STAY] = unpack_stay,
	[TXTRACE_RECORD_OBJECT] = unpack_object,
};

bool record_unpack(struct record_unpacker *unpacker, uint32_t kind, const uint64_t *fields, struct txtrace_record *record)
{
	record->kind = kind;
	unpacker->model.time_ns += fields[FIELD_TIME];
	return unpacks[kind](unpacker, fields, record);
}
