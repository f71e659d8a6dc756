/* SPDX-License-Identifier: BSD-2-Clause */
#include "log/read/record_unpack.h"

#include <string.h>

#include "log/format/varint.h"

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
static bool unpack_slotted(struct record_unpacker *unpacker, uint64_t slot, uint64_t field, uint64_t own,
			   uint64_t *value)
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

/* The id of a span that a thread names; field[0] is its slot. */
static inline bool unpack_id(struct record_unpacker *unpacker, const struct model_thread *thread,
			     const uint64_t field[2], uint64_t own, uint64_t *id)
{
	if (field[0] == SLOT_CURRENT) {
		*id = thread->current_id + field[1];
		return true;
	}
	return unpack_slotted(unpacker, field[0], field[1], own, id);
}

static void add_basis(struct model *model, const struct txtrace_span *span, const struct model_thread *thread,
		      const uint64_t *fields, uint64_t *parts)
{
	if (fields[SPAN_BASIS] == SPAN_BASIS_CHILDREN) {
		model_expect_children(model, span->id, parts);
	} else if (fields[SPAN_BASIS] >= SPAN_BASIS_READY) {
		model_expect_waits(model, thread, span->begin_ns,
				   model_stay(model, thread, fields[SPAN_BASIS]), parts);
		model_note_span(model, thread, span->begin_ns, fields);
	}
}

static void unpack_ledger(struct model *model, const uint64_t *fields, const struct model_thread *thread,
			  struct txtrace_span *span)
{
	uint64_t parts[SPAN_PART_COUNT], sum = 0, derived = fields[SPAN_DERIVED];
	struct txtrace_ledger *ledger = &span->ledger;

	memcpy(parts, fields + SPAN_ON_CPU, sizeof(parts));
	add_basis(model, span, thread, fields, parts);
	if (derived) {
		for (unsigned int i = 0; i < SPAN_PART_COUNT; i++)
			sum += parts[i];
		parts[derived - 1] += span->work_ns - sum;
	}
	if (span->parent && model->parents)
		model_note_child(model, span->parent, parts);
	ledger->on_cpu_ns = parts[PART_ON_CPU];
	ledger->runnable_ns = parts[PART_RUNNABLE];
	memcpy(ledger->blocked_ns, parts + PART_BLOCKED, LOG_MODEL_REASONS * sizeof(*parts));
	ledger->blocked_ns[TXTRACE_BLOCK_POLL] = fields[SPAN_POLL];
	ledger->detached_ns = parts[PART_DETACHED];
	ledger->unknown_ns = parts[PART_UNKNOWN];
	ledger->interrupt_ns = fields[SPAN_INTERRUPT];
	ledger->stolen_ns = fields[SPAN_STOLEN];
	span->stolen_max_ns = fields[SPAN_STOLEN_MORE] ? ledger->stolen_ns + fields[SPAN_STOLEN_MORE] : 0;
}

static void unpack_span_begin(struct model *model, struct model_thread *thread, const uint64_t *fields,
			      struct txtrace_span *span)
{
	const struct model_mention *mention;

	span->begin_ns = span->end_ns - fields[SPAN_BEGIN];
	if (fields[SPAN_BEGIN_FROM] == SPAN_BEGIN_FROM_LAST)
		span->begin_ns = thread->span_end_ns + fields[SPAN_BEGIN];
	thread->span_end_ns = span->end_ns;
	if (!model->mentions)
		return;
	mention = model_mention(model, span->id);
	if (fields[SPAN_BEGIN_FROM] == SPAN_BEGIN_FROM_MENTION)
		span->begin_ns = (mention->id == span->id ? mention->time_ns : 0) - fields[SPAN_BEGIN];
	if (span->parent)
		model_note_mention(model, span->parent, span->begin_ns);
}

static void unpack_mention(struct record_unpacker *unpacker, uint64_t id)
{
	if (unpacker->model.mentions)
		model_note_mention(&unpacker->model, id, unpacker->model.time_ns);
}

static bool unpack_span(struct record_unpacker *unpacker, const uint64_t *fields,
			struct txtrace_record *record)
{
	struct model_thread *thread = unpack_thread(unpacker, fields[FIELD_THREAD]), *end_thread = thread;
	struct txtrace_span *span = &record->span;

	if (fields[SPAN_END_THREAD] > 1)
		end_thread = unpack_thread(unpacker, fields[SPAN_END_THREAD] - 2);
	if (!thread || !end_thread || fields[SPAN_DERIVED] > SPAN_PART_COUNT ||
	    fields[SPAN_BEGIN_FROM] > SPAN_BEGIN_FROM_MENTION)
		return false;
	span->tid = thread->tid;
	span->pid = thread->pid;
	span->end_tid = fields[SPAN_END_THREAD] ? end_thread->tid : 0;
	span->flags = (uint32_t)fields[SPAN_FLAGS];
	span->end_ns = unpacker->model.time_ns;
	if (!unpack_name(unpacker, fields[SPAN_LABEL], &span->label) ||
	    !unpack_text(unpacker, fields[SPAN_TAG], &span->tag) ||
	    !unpack_text(unpacker, fields[SPAN_KEY], &span->key) ||
	    !unpack_id(unpacker, end_thread, fields + SPAN_ID_SLOT, 0, &span->id) ||
	    !unpack_id(unpacker, end_thread, fields + SPAN_PARENT_SLOT, span->id, &span->parent))
		return false;
	end_thread->current_id = span->parent ? span->parent : span->id;
	unpack_span_begin(&unpacker->model, thread, fields, span);
	span->work_ns = span->end_ns - span->begin_ns + fields[SPAN_WORK];
	unpack_ledger(&unpacker->model, fields, end_thread, span);
	return true;
}

static bool unpack_run_begin(const struct record_unpacker *unpacker, const struct model_thread *thread,
			     const uint64_t *fields, uint64_t cpu_end_ns, uint64_t *begin_ns)
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
	case RUN_BEGIN_FROM_TOLD:
		if (!unpacker->model.waits)
			return false;
		*begin_ns = unpacker->model.waits[thread - unpacker->model.threads].stay_ns +
			    fields[RUN_BEGIN];
		return true;
	default:
		return false;
	}
}

static uint64_t object_number(const struct record_unpacker *unpacker, const uint64_t fields[2])
{
	return (fields[0] ? unpacker->objects[fields[0] - 1] : 0) + fields[1];
}

static void unpack_wait_end(const struct record_unpacker *unpacker, const uint64_t *fields,
			    struct txtrace_run *run)
{
	run->has_wait_end = fields[RUN_WAIT_REASON] != 0;
	run->wait_reason = run->has_wait_end ? (uint8_t)(fields[RUN_WAIT_REASON] - 1) : 0;
	run->wait_object = run->has_wait_end ? object_number(unpacker, fields + RUN_WAIT_OBJECT) : 0;
}

static bool unpack_run(struct record_unpacker *unpacker, const uint64_t *fields,
		       struct txtrace_record *record)
{
	uint64_t *cpu_end_ns = model_cpu_end(&unpacker->model, (uint32_t)fields[RUN_CPU]);
	struct model_thread *thread = unpack_thread(unpacker, fields[FIELD_THREAD]);
	struct txtrace_run *run = &record->run;

	if (!thread || fields[RUN_OBJECT] > unpacker->object_cnt ||
	    fields[RUN_WAIT_OBJECT] > unpacker->object_cnt || fields[RUN_IDLE_FROM] > RUN_IDLE_LESS ||
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
	run->object = object_number(unpacker, fields + RUN_OBJECT);
	run->idle_ns = fields[RUN_IDLE_FROM] ? run->runnable_ns - fields[RUN_IDLE] : 0;
	unpack_wait_end(unpacker, fields, run);
	run->stolen_ns = fields[RUN_STOLEN];
	run->idle_stolen_ns = fields[RUN_IDLE_STOLEN];
	if (unpacker->model.waits)
		model_note_run(&unpacker->model, thread, run);
	*cpu_end_ns = thread->last_end_ns = thread->ready_ns = run->end_ns;
	return true;
}

/* The span that a thread is in, if it is in one. */
static bool unpack_current_span(struct record_unpacker *unpacker, struct model_thread *thread,
				const uint64_t field[2], uint64_t *span)
{
	if (!unpack_id(unpacker, thread, field, 0, span))
		return false;
	if (*span)
		thread->current_id = *span;
	return true;
}

static bool unpack_wake(struct record_unpacker *unpacker, const uint64_t *fields,
			struct txtrace_record *record)
{
	struct model_thread *thread = unpack_thread(unpacker, fields[FIELD_THREAD]);
	struct model_thread *waker = unpack_thread(unpacker, fields[WAKE_WAKER]);
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
	       unpack_current_span(unpacker, thread, fields + WAKE_SPAN_SLOT, &wake->span) &&
	       unpack_current_span(unpacker, waker, fields + WAKE_WAKER_SPAN_SLOT, &wake->waker_span);
}

static bool unpack_marked(struct record_unpacker *unpacker, struct model_thread *thread,
			  const uint64_t field[2], uint64_t *span)
{
	if (!unpack_id(unpacker, thread, field, 0, span))
		return false;
	thread->current_id = *span;
	unpack_mention(unpacker, *span);
	return true;
}

static bool unpack_attribute(struct record_unpacker *unpacker, const uint64_t *fields,
			     struct txtrace_record *record)
{
	struct model_thread *thread = unpack_thread(unpacker, fields[FIELD_THREAD]);
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
	if (!unpack_marked(unpacker, thread, fields + ATTRIBUTE_SPAN_SLOT, &attribute->span))
		return false;
	return unpack_name(unpacker, fields[ATTRIBUTE_NAME], &attribute->name) &&
	       unpack_text(unpacker, fields[ATTRIBUTE_STRING], &attribute->string);
}

static bool unpack_instant(struct record_unpacker *unpacker, const uint64_t *fields,
			   struct txtrace_record *record)
{
	struct model_thread *thread = unpack_thread(unpacker, fields[FIELD_THREAD]);
	struct txtrace_instant *instant = &record->instant;

	if (!thread)
		return false;
	instant->time_ns = unpacker->model.time_ns;
	instant->tid = thread->tid;
	instant->pid = thread->pid;
	if (!unpack_marked(unpacker, thread, fields + INSTANT_SPAN_SLOT, &instant->span))
		return false;
	return unpack_name(unpacker, fields[INSTANT_NAME], &instant->name);
}

static bool unpack_counter(struct record_unpacker *unpacker, const uint64_t *fields,
			   struct txtrace_record *record)
{
	const struct model_thread *thread = unpack_thread(unpacker, fields[FIELD_THREAD]);
	struct txtrace_counter *counter = &record->counter;
	uint64_t value;

	if (!thread ||
	    !unpack_slotted(unpacker, fields[COUNTER_SLOT], unzigzag(fields[COUNTER_VALUE]), 0, &value))
		return false;
	counter->time_ns = unpacker->model.time_ns;
	counter->tid = thread->tid;
	counter->pid = thread->pid;
	counter->value = (int64_t)value;
	return unpack_name(unpacker, fields[COUNTER_NAME], &counter->name);
}

static bool unpack_link(struct record_unpacker *unpacker, const uint64_t *fields,
			struct txtrace_record *record)
{
	struct model_thread *thread = unpack_thread(unpacker, fields[FIELD_THREAD]);
	struct txtrace_link *link = &record->link;

	if (!thread)
		return false;
	link->time_ns = unpacker->model.time_ns;
	link->tid = thread->tid;
	link->pid = thread->pid;
	if (!unpack_id(unpacker, thread, fields + LINK_FROM_SLOT, 0, &link->from) ||
	    !unpack_id(unpacker, thread, fields + LINK_TO_SLOT, link->from, &link->to))
		return false;
	thread->current_id = link->to;
	unpack_mention(unpacker, link->from);
	unpack_mention(unpacker, link->to);
	return unpack_name(unpacker, fields[LINK_NAME], &link->name);
}

static bool unpack_open_span(struct record_unpacker *unpacker, const uint64_t *fields,
			     struct txtrace_record *record)
{
	const struct model_thread *thread = unpack_thread(unpacker, fields[FIELD_THREAD]);
	struct txtrace_open_span *span = &record->open_span;

	if (!thread)
		return false;
	span->time_ns = unpacker->model.time_ns;
	span->begin_ns = span->time_ns - fields[OPEN_SPAN_AGE];
	span->tid = thread->tid;
	span->pid = thread->pid;
	span->flags = (uint32_t)fields[OPEN_SPAN_FLAGS];
	return unpack_name(unpacker, fields[OPEN_SPAN_LABEL], &span->label) &&
	       unpack_text(unpacker, fields[OPEN_SPAN_KEY], &span->key) &&
	       unpack_id(unpacker, thread, fields + OPEN_SPAN_ID_SLOT, 0, &span->id) &&
	       unpack_id(unpacker, thread, fields + OPEN_SPAN_PARENT_SLOT, span->id, &span->parent);
}

static bool unpack_stay(struct record_unpacker *unpacker, const uint64_t *fields,
			struct txtrace_record *record)
{
	struct model_thread *thread = unpack_thread(unpacker, fields[FIELD_THREAD]);
	struct txtrace_stay *stay = &record->stay;

	if (!thread || fields[STAY_FROM] > STAY_FROM_LAST)
		return false;
	stay->exit_ns = unpacker->model.time_ns;
	stay->enter_ns = fields[STAY_FROM] == STAY_FROM_LAST ? thread->stay_end_ns + fields[STAY_LENGTH]
							     : stay->exit_ns - fields[STAY_LENGTH];
	stay->tid = thread->tid;
	stay->pid = thread->pid;
	stay->span_pid = thread->pid + (uint32_t)fields[STAY_SPAN_PID];
	stay->is_keyed = fields[STAY_KEYED] != 0;
	if (!unpack_id(unpacker, thread, fields + STAY_SPAN_SLOT, 0, &stay->span))
		return false;
	thread->current_id = stay->span;
	thread->stay_end_ns = stay->exit_ns;
	return true;
}

static bool unpack_other_run(struct record_unpacker *unpacker, const uint64_t *fields,
			     struct txtrace_record *record)
{
	const struct model_thread *thread = unpack_thread(unpacker, fields[FIELD_THREAD]), *moved = thread;
	struct txtrace_other_run *run = &record->other_run;

	if (fields[OTHER_RUN_MOVED])
		moved = unpack_thread(unpacker, fields[OTHER_RUN_MOVED] - 1);
	if (!thread || !moved || fields[OTHER_RUN_BEGIN_FROM] > OTHER_RUN_FROM_CPU)
		return false;
	run->end_ns = unpacker->model.time_ns;
	run->cpu = (uint32_t)fields[OTHER_RUN_CPU];
	run->begin_ns = fields[OTHER_RUN_BEGIN_FROM] == OTHER_RUN_FROM_CPU
				? *model_cpu_end(&unpacker->model, run->cpu) + fields[OTHER_RUN_BEGIN]
				: run->end_ns - fields[OTHER_RUN_BEGIN];
	run->tid = thread->tid;
	run->pid = thread->pid;
	run->flags = (uint32_t)fields[OTHER_RUN_FLAGS];
	run->moved_tid = fields[OTHER_RUN_MOVED] ? moved->tid : 0;
	run->moved_pid = fields[OTHER_RUN_MOVED] ? moved->pid : 0;
	run->stolen_ns = fields[OTHER_RUN_STOLEN];
	return unpack_name(unpacker, fields[OTHER_RUN_COMM], &run->comm);
}

/* ---- the plain kinds ---- */

static void store(const struct record_field *field, void *at, uint64_t number)
{
	switch ((enum record_type)field->type) {
	case RECORD_ENUM:
	case RECORD_SET:
		*(uint8_t *)at = (uint8_t)number;
		break;
	case RECORD_BOOL:
		*(bool *)at = number != 0;
		break;
	case RECORD_PID:
	case RECORD_TID:
	case RECORD_CPU:
	case RECORD_U32:
	case RECORD_I32:
		*(uint32_t *)at = (uint32_t)number;
		break;
	default:
		*(uint64_t *)at = number;
	}
}

static bool unpack_field(struct record_unpacker *unpacker, const struct record_field *field,
			 struct model_thread *thread, const uint64_t *fields, struct txtrace_record *record)
{
	void *at = (char *)record + field->offset;
	uint64_t value = fields[field->log];

	switch ((enum record_coding)field->coding) {
	case CODED_NOT:
		break;
	case CODED_PLAIN:
		store(field, at, value);
		break;
	case CODED_SINCE:
		store(field, at, unpacker->model.time_ns - value);
		break;
	case CODED_LESS_PID:
		store(field, at, thread->pid + value);
		break;
	case CODED_BIT:
		store(field, at, value & field->mask);
		break;
	case CODED_NAME:
		return unpack_name(unpacker, value, at);
	case CODED_TEXT:
		return unpack_text(unpacker, value, at);
	case CODED_SPAN:
		return unpack_current_span(unpacker, thread, fields + field->log, at);
	}
	return true;
}

/* As the table of records says. */
static bool unpack_by_table(struct record_unpacker *unpacker, const struct record_kind *kind,
			    const uint64_t *fields, struct txtrace_record *record)
{
	struct model_thread *thread = NULL;

	memset(&record->room, 0, kind->bytes - offsetof(struct txtrace_record, room));
	memcpy((char *)record + kind->time, &unpacker->model.time_ns, sizeof(uint64_t));
	if (kind->pid) {
		thread = unpack_thread(unpacker, fields[FIELD_THREAD]);
		if (!thread)
			return false;
		memcpy((char *)record + kind->tid, &thread->tid, sizeof(thread->tid));
		memcpy((char *)record + kind->pid, &thread->pid, sizeof(thread->pid));
	}
	for (unsigned int i = 0; i < kind->field_cnt; i++)
		if (!unpack_field(unpacker, &kind->fields[i], thread, fields, record))
			return false;
	return true;
}

typedef bool (*unpack_fn)(struct record_unpacker *unpacker, const uint64_t *fields,
			  struct txtrace_record *record);

/* The others are plain. */
static const unpack_fn unpacks[LOG_KIND_COUNT] = {
	[TXTRACE_RECORD_SPAN] = unpack_span,
	[TXTRACE_RECORD_RUN] = unpack_run,
	[TXTRACE_RECORD_WAKE] = unpack_wake,
	[TXTRACE_RECORD_ATTRIBUTE] = unpack_attribute,
	[TXTRACE_RECORD_INSTANT] = unpack_instant,
	[TXTRACE_RECORD_COUNTER] = unpack_counter,
	[TXTRACE_RECORD_LINK] = unpack_link,
	[TXTRACE_RECORD_OPEN_SPAN] = unpack_open_span,
	[TXTRACE_RECORD_STAY] = unpack_stay,
	[TXTRACE_RECORD_OTHER_RUN] = unpack_other_run,
};

bool record_unpack(struct record_unpacker *unpacker, uint32_t kind, const uint64_t *fields,
		   struct txtrace_record *record)
{
	record->kind = kind;
	if (unpacks[kind])
		return unpacks[kind](unpacker, fields, record);
	return unpack_by_table(unpacker, &record_kinds[kind], fields, record);
}
