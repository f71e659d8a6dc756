/* SPDX-License-Identifier: BSD-2-Clause */
#include "log/write/record_pack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "log/format/ledger_basis.h"
#include "log/format/record_table.h"
#include "log/format/varint.h"

#define THREAD_CAPACITY 16384u
#define TEXT_CAPACITY 32768u
#define OBJECT_CAPACITY 16384u
#define SLOT_CAPACITY 32768u

/* No record adds more than this to any table. */
#define RECORD_ENTRIES_MAX 4u

/* Among so many CPUs the one is looked for that a span's thread has got when the last run there ended. */
#define SEARCHED_CPUS 64u

/* Ids of one block of a thread lie this close together. */
#define OWN_ID_DISTANCE 4096

int record_packer_init(struct record_packer *packer)
{
	int err = 0;

	memset(packer, 0, sizeof(*packer));
	err |= intern_numbers_init(&packer->threads, THREAD_CAPACITY);
	err |= intern_strings_init(&packer->names, RECORD_NAME_CAPACITY, LOG_STRINGS_MAX_BYTES);
	err |= intern_strings_init(&packer->texts, TEXT_CAPACITY, LOG_STRINGS_MAX_BYTES);
	err |= intern_numbers_init(&packer->objects, OBJECT_CAPACITY);
	err |= intern_numbers_init(&packer->slots, SLOT_CAPACITY);
	packer->model.threads = calloc(THREAD_CAPACITY, sizeof(*packer->model.threads));
	packer->model.slots = calloc(SLOT_CAPACITY, sizeof(*packer->model.slots));
	packer->model.waits = calloc(THREAD_CAPACITY, sizeof(*packer->model.waits));
	packer->model.parents = calloc(MODEL_PARENTS, sizeof(*packer->model.parents));
	packer->model.mentions = calloc(MODEL_MENTIONS, sizeof(*packer->model.mentions));
	return err || !packer->model.threads || !packer->model.slots || !packer->model.waits ||
			       !packer->model.parents || !packer->model.mentions
		       ? -ENOMEM
		       : 0;
}

void record_packer_release(struct record_packer *packer)
{
	intern_numbers_release(&packer->threads);
	intern_strings_release(&packer->names);
	intern_strings_release(&packer->texts);
	intern_numbers_release(&packer->objects);
	intern_numbers_release(&packer->slots);
	free(packer->model.threads);
	free(packer->model.slots);
	free(packer->model.waits);
	free(packer->model.parents);
	free(packer->model.mentions);
}

void record_packer_reset(struct record_packer *packer)
{
	intern_numbers_clear(&packer->threads);
	intern_strings_clear(&packer->names);
	intern_strings_clear(&packer->texts);
	intern_numbers_clear(&packer->objects);
	intern_numbers_clear(&packer->slots);
	memset(packer->model.cpu_end_ns, 0, sizeof(packer->model.cpu_end_ns));
	memset(packer->model.parents, 0, MODEL_PARENTS * sizeof(*packer->model.parents));
	memset(packer->model.mentions, 0, MODEL_MENTIONS * sizeof(*packer->model.mentions));
	packer->cpu_cnt = 0;
	packer->model.text_cnt = 0;
	packer->model.time_ns = 0;
}

static bool has_room(const struct intern_strings *intern, size_t bytes)
{
	return intern->count + RECORD_ENTRIES_MAX <= intern->capacity &&
	       intern->byte_cnt + bytes <= intern->byte_capacity;
}

int record_packer_check(const struct record_packer *packer, const struct txtrace_record *record)
{
	const struct record_kind *of = record_kind_of(record);
	size_t name_bytes = 0, text_bytes = 0;

	if (!of->log_field_cnt)
		return -EINVAL;
	if (record_is_too_long(record))
		return -E2BIG;
	for (unsigned int i = 0; i < RECORD_STRINGS_MAX && of->strings[i]; i++)
		*(i == 0 && !of->is_nameless ? &name_bytes : &text_bytes) +=
			((const struct txtrace_string *)((const char *)record + of->strings[i]))->length;
	if (!has_room(&packer->names, name_bytes) || !has_room(&packer->texts, text_bytes) ||
	    packer->threads.count + RECORD_ENTRIES_MAX > packer->threads.capacity ||
	    packer->objects.count + RECORD_ENTRIES_MAX > packer->objects.capacity ||
	    packer->slots.count + RECORD_ENTRIES_MAX > packer->slots.capacity)
		return -ENOSPC;
	return 0;
}

/* ---- the dictionary ---- */

static uint64_t pack_thread(struct record_packer *packer, uint32_t tid, uint32_t pid)
{
	uint32_t cnt = packer->threads.count;
	uint32_t index = intern_number(&packer->threads, (uint64_t)tid << 32 | pid);

	if (index == cnt) {
		packer->model.threads[index] = (struct model_thread){ .tid = tid, .pid = pid };
		model_forget_waits(&packer->model.waits[index]);
	}
	return index;
}

static uint64_t pack_name(struct record_packer *packer, const struct txtrace_string *name)
{
	return name->length ? 1 + intern_string(&packer->names, name->bytes, (uint32_t)name->length) : 0;
}

static uint64_t pack_text(struct record_packer *packer, const struct txtrace_string *text)
{
	uint64_t index;

	if (!text->length)
		return 0;
	index = intern_string(&packer->texts, text->bytes, (uint32_t)text->length);
	if (index == packer->model.text_cnt) {
		packer->model.text_cnt++;
		return 1;
	}
	return packer->model.text_cnt - index + 1;
}

static uint64_t *slot_memory(struct record_packer *packer, uint64_t slot)
{
	return &packer->model.slots[slot - SLOT_FIRST];
}

static uint64_t pick_slot(struct record_packer *packer, enum slot_role role, uint64_t major, uint64_t minor)
{
	uint32_t cnt = packer->slots.count;
	uint32_t index = intern_number(&packer->slots, (uint64_t)role << 56 | major << 28 | minor);

	if (index == cnt)
		packer->model.slots[index] = 0;
	return SLOT_FIRST + index;
}

/* The difference from what the slot remembers; the slot remembers value from now on. */
static uint64_t pack_slotted(struct record_packer *packer, uint64_t slot, uint64_t value)
{
	uint64_t *memory = slot_memory(packer, slot), difference = value - *memory;

	*memory = value;
	return difference;
}

/* An id that a thread names: that of the span it has last said something of, or by a slot. */
static void pack_id(struct record_packer *packer, uint64_t thread, uint64_t slot, uint64_t id,
		    uint64_t field[2])
{
	field[0] = SLOT_CURRENT;
	field[1] = 0;
	if (packer->model.threads[thread].current_id != id) {
		field[0] = slot;
		field[1] = pack_slotted(packer, slot, id);
	}
}

/* ---- the kinds ---- */

/*
 * A parent near the span's own id is told by the distance, another by the last one of this role, none by 0.
 */
static void pack_parent(struct record_packer *packer, uint64_t thread, uint64_t slot, uint64_t id,
			uint64_t parent, uint64_t field[2])
{
	field[0] = SLOT_ZERO;
	field[1] = 0;
	if (parent && id - parent + OWN_ID_DISTANCE < 2 * OWN_ID_DISTANCE) {
		field[0] = SLOT_OWN;
		field[1] = id - parent;
	} else if (parent) {
		pack_id(packer, thread, slot, parent, field);
	}
}

static void pack_ledger(struct record_packer *packer, const struct txtrace_span *span,
			const struct model_thread *thread, uint64_t *fields)
{
	const struct txtrace_ledger *ledger = &span->ledger;
	uint64_t *parts = fields + SPAN_ON_CPU, basis[SPAN_PART_COUNT] = { 0 }, sum = 0, most = 0;
	unsigned int largest = 0;

	parts[PART_ON_CPU] = ledger->on_cpu_ns;
	parts[PART_RUNNABLE] = ledger->runnable_ns;
	memcpy(parts + PART_BLOCKED, ledger->blocked_ns, LOG_MODEL_REASONS * sizeof(*parts));
	parts[PART_DETACHED] = ledger->detached_ns;
	parts[PART_UNKNOWN] = ledger->unknown_ns;
	fields[SPAN_BASIS] = ledger_basis_pick(&packer->model, packer->cpu_cnt, span, thread, parts, basis);
	if (span->parent)
		model_note_child(&packer->model, span->parent, parts);
	for (unsigned int i = 0; i < SPAN_PART_COUNT; i++) {
		sum += parts[i];
		parts[i] -= basis[i];
		largest = parts[i] > most ? i : largest;
		most = parts[i] > most ? parts[i] : most;
	}
	fields[SPAN_DERIVED] = 0;
	fields[SPAN_INTERRUPT] = ledger->interrupt_ns;
	fields[SPAN_POLL] = ledger->blocked_ns[TXTRACE_BLOCK_POLL];
	fields[SPAN_STOLEN] = ledger->stolen_ns;
	fields[SPAN_STOLEN_MORE] = span->stolen_max_ns ? span->stolen_max_ns - ledger->stolen_ns : 0;
	if (sum == span->work_ns && !ledger->interrupt_ns && !fields[SPAN_POLL] && !ledger->stolen_ns) {
		fields[SPAN_DERIVED] = 1 + largest;
		parts[largest] = 0;
	}
	model_note_span(&packer->model, thread, span->begin_ns, fields);
}

/* By the nearest of the moments that its begin can be counted from. */
static void pack_span_begin(struct model *model, struct model_thread *thread, const struct txtrace_span *span,
			    uint64_t *fields)
{
	uint64_t wall_ns = span->end_ns - span->begin_ns, gap_ns = span->begin_ns - thread->span_end_ns;
	const struct model_mention *mention = model_mention(model, span->id);

	fields[SPAN_BEGIN_FROM] = gap_ns < wall_ns ? SPAN_BEGIN_FROM_LAST : SPAN_BEGIN_FROM_END;
	fields[SPAN_BEGIN] = gap_ns < wall_ns ? gap_ns : wall_ns;
	if (mention->id == span->id && mention->time_ns - span->begin_ns < fields[SPAN_BEGIN]) {
		fields[SPAN_BEGIN_FROM] = SPAN_BEGIN_FROM_MENTION;
		fields[SPAN_BEGIN] = mention->time_ns - span->begin_ns;
	}
	fields[SPAN_WORK] = span->work_ns - wall_ns;
	thread->span_end_ns = span->end_ns;
	if (span->parent)
		model_note_mention(model, span->parent, span->begin_ns);
}

static void pack_span(struct record_packer *packer, const struct txtrace_record *record, uint64_t *fields)
{
	const struct txtrace_span *span = &record->span;
	uint64_t end_thread, id_slot, parent_slot;

	fields[FIELD_THREAD] = pack_thread(packer, span->tid, span->pid);
	end_thread = span->end_tid ? pack_thread(packer, span->end_tid, span->pid) : fields[FIELD_THREAD];
	fields[SPAN_END_THREAD] = !span->end_tid ? 0 : span->end_tid == span->tid ? 1 : 2 + end_thread;
	fields[SPAN_FLAGS] = span->flags;
	fields[SPAN_LABEL] = pack_name(packer, &span->label);
	fields[SPAN_TAG] = pack_text(packer, &span->tag);
	fields[SPAN_KEY] = pack_text(packer, &span->key);
	pack_span_begin(&packer->model, &packer->model.threads[fields[FIELD_THREAD]], span, fields);
	id_slot = pick_slot(packer, SLOT_SPAN_ID, fields[FIELD_THREAD], fields[SPAN_LABEL]);
	parent_slot = pick_slot(packer, SLOT_SPAN_PARENT, end_thread, 0);
	if (*slot_memory(packer, parent_slot) == span->id)
		id_slot = parent_slot;
	pack_id(packer, end_thread, id_slot, span->id, fields + SPAN_ID_SLOT);
	pack_parent(packer, end_thread, parent_slot, span->id, span->parent, fields + SPAN_PARENT_SLOT);
	packer->model.threads[end_thread].current_id = span->parent ? span->parent : span->id;
	pack_ledger(packer, span, &packer->model.threads[end_thread], fields);
}

/* The nearest of the moments that a run can be counted from. */
static void pack_run_begin(const struct model_thread *thread, const struct model_waits *waits,
			   uint64_t cpu_end_ns, const struct txtrace_run *run, uint64_t *fields)
{
	uint64_t duration = run->end_ns - run->begin_ns;

	fields[RUN_BEGIN_FROM] = RUN_BEGIN_FROM_END;
	fields[RUN_BEGIN] = duration;
	if (run->begin_ns == cpu_end_ns) {
		fields[RUN_BEGIN_FROM] = RUN_BEGIN_FROM_CPU;
		fields[RUN_BEGIN] = 0;
	} else if (run->begin_ns == waits->stay_ns) {
		fields[RUN_BEGIN_FROM] = RUN_BEGIN_FROM_TOLD;
		fields[RUN_BEGIN] = 0;
	} else if (thread->ready_ns && run->begin_ns - thread->ready_ns < duration) {
		fields[RUN_BEGIN_FROM] = RUN_BEGIN_FROM_READY;
		fields[RUN_BEGIN] = run->begin_ns - thread->ready_ns;
	}
}

/* What a thread waits for comes again, but how long it asked to sleep is any number. */
static void pack_object_of(struct record_packer *packer, uint8_t reason, uint64_t object, uint64_t fields[2])
{
	bool is_number = reason == TXTRACE_BLOCK_SLEEP;

	fields[0] = object && !is_number ? 1 + intern_number(&packer->objects, object) : 0;
	fields[1] = is_number ? object : 0;
}

static void pack_wait_end(struct record_packer *packer, const struct txtrace_run *run, uint64_t *fields)
{
	fields[RUN_WAIT_REASON] = run->has_wait_end ? 1 + (uint64_t)run->wait_reason : 0;
	pack_object_of(packer, run->wait_reason, run->has_wait_end ? run->wait_object : 0,
		       fields + RUN_WAIT_OBJECT);
}

static void pack_idle(const struct txtrace_run *run, uint64_t *fields)
{
	fields[RUN_IDLE_FROM] = !run->idle_ns			   ? RUN_IDLE_NONE
				: run->idle_ns == run->runnable_ns ? RUN_IDLE_ALL
								   : RUN_IDLE_LESS;
	fields[RUN_IDLE] = fields[RUN_IDLE_FROM] == RUN_IDLE_LESS ? run->runnable_ns - run->idle_ns : 0;
}

static void pack_run(struct record_packer *packer, const struct txtrace_record *record, uint64_t *fields)
{
	const struct txtrace_run *run = &record->run;
	uint64_t *cpu_end_ns = model_cpu_end(&packer->model, run->cpu);
	struct model_thread *thread;

	fields[FIELD_THREAD] = pack_thread(packer, run->tid, run->pid);
	thread = &packer->model.threads[fields[FIELD_THREAD]];
	fields[RUN_CPU] = run->cpu;
	pack_run_begin(thread, &packer->model.waits[fields[FIELD_THREAD]], *cpu_end_ns, run, fields);
	fields[RUN_RUNNABLE] = run->runnable_ns - model_runnable(thread, run->begin_ns);
	fields[RUN_BLOCKED] = run->blocked_ns - model_blocked(thread, run->begin_ns, run->runnable_ns);
	fields[RUN_LEFT_AS] = run->left_as;
	fields[RUN_REASON] = run->reason;
	fields[RUN_SYSCALL] = (uint32_t)run->syscall_nr + SYSCALL_BIAS;
	pack_object_of(packer, run->reason, run->object, fields + RUN_OBJECT);
	pack_wait_end(packer, run, fields);
	pack_idle(run, fields);
	fields[RUN_STOLEN] = run->stolen_ns;
	fields[RUN_IDLE_STOLEN] = run->idle_stolen_ns;
	model_note_run(&packer->model, thread, run);
	*cpu_end_ns = thread->last_end_ns = thread->ready_ns = run->end_ns;
	if (run->cpu >= packer->cpu_cnt)
		packer->cpu_cnt = run->cpu < SEARCHED_CPUS ? run->cpu + 1 : SEARCHED_CPUS;
}

static void pack_current_span(struct record_packer *packer, enum slot_role role, uint64_t thread,
			      uint64_t span, uint64_t field[2])
{
	field[0] = SLOT_ZERO;
	field[1] = 0;
	if (!span)
		return;
	pack_id(packer, thread, pick_slot(packer, role, thread, 0), span, field);
	packer->model.threads[thread].current_id = span;
}

static void pack_wake(struct record_packer *packer, const struct txtrace_record *record, uint64_t *fields)
{
	const struct txtrace_wake *wake = &record->wake;

	fields[FIELD_THREAD] = pack_thread(packer, wake->tid, wake->pid);
	fields[WAKE_WAKER] = pack_thread(packer, wake->waker_tid, wake->waker_pid);
	fields[WAKE_CPU] = wake->cpu;
	fields[WAKE_FLAGS] = wake->flags;
	fields[WAKE_COMM] = pack_name(packer, &wake->waker_comm);
	pack_current_span(packer, SLOT_WOKEN, fields[FIELD_THREAD], wake->span, fields + WAKE_SPAN_SLOT);
	pack_current_span(packer, SLOT_WAKING, fields[WAKE_WAKER], wake->waker_span,
			  fields + WAKE_WAKER_SPAN_SLOT);
	packer->model.threads[fields[FIELD_THREAD]].ready_ns = wake->time_ns;
}

/* Integers with their sign last, doubles with their leading bits first: so that usual values are small. */
static uint64_t pack_value(uint8_t type, uint64_t value)
{
	return type == TXTRACE_ATTRIBUTE_INT	  ? zigzag(value)
	       : type == TXTRACE_ATTRIBUTE_DOUBLE ? __builtin_bswap64(value)
						  : value;
}

static void pack_marked(struct record_packer *packer, uint64_t span, uint64_t time_ns, uint64_t thread,
			uint64_t name, uint64_t field[2])
{
	pack_id(packer, thread, pick_slot(packer, SLOT_MARKED, thread, name), span, field);
	packer->model.threads[thread].current_id = span;
	model_note_mention(&packer->model, span, time_ns);
}

static void pack_attribute(struct record_packer *packer, const struct txtrace_record *record,
			   uint64_t *fields)
{
	const struct txtrace_attribute *attribute = &record->attribute;

	fields[FIELD_THREAD] = pack_thread(packer, attribute->tid, attribute->pid);
	fields[ATTRIBUTE_TYPE] = attribute->type;
	fields[ATTRIBUTE_TRUNCATED] = attribute->is_truncated;
	fields[ATTRIBUTE_NAME] = pack_name(packer, &attribute->name);
	pack_marked(packer, attribute->span, attribute->time_ns, fields[FIELD_THREAD], fields[ATTRIBUTE_NAME],
		    fields + ATTRIBUTE_SPAN_SLOT);
	fields[ATTRIBUTE_VALUE] = pack_value(attribute->type, attribute->value);
	fields[ATTRIBUTE_STRING] = pack_text(packer, &attribute->string);
}

static void pack_instant(struct record_packer *packer, const struct txtrace_record *record, uint64_t *fields)
{
	const struct txtrace_instant *instant = &record->instant;

	fields[FIELD_THREAD] = pack_thread(packer, instant->tid, instant->pid);
	fields[INSTANT_NAME] = pack_name(packer, &instant->name);
	pack_marked(packer, instant->span, instant->time_ns, fields[FIELD_THREAD], fields[INSTANT_NAME],
		    fields + INSTANT_SPAN_SLOT);
}

static void pack_counter(struct record_packer *packer, const struct txtrace_record *record, uint64_t *fields)
{
	const struct txtrace_counter *counter = &record->counter;

	fields[FIELD_THREAD] = pack_thread(packer, counter->tid, counter->pid);
	fields[COUNTER_NAME] = pack_name(packer, &counter->name);
	fields[COUNTER_SLOT] = pick_slot(packer, SLOT_COUNTER, fields[COUNTER_NAME], 0);
	fields[COUNTER_VALUE] = zigzag(pack_slotted(packer, fields[COUNTER_SLOT], (uint64_t)counter->value));
}

static void pack_link(struct record_packer *packer, const struct txtrace_record *record, uint64_t *fields)
{
	const struct txtrace_link *link = &record->link;
	uint64_t slot;

	fields[FIELD_THREAD] = pack_thread(packer, link->tid, link->pid);
	fields[LINK_NAME] = pack_name(packer, &link->name);
	slot = pick_slot(packer, SLOT_MARKED, fields[FIELD_THREAD], fields[LINK_NAME]);
	pack_id(packer, fields[FIELD_THREAD], slot, link->from, fields + LINK_FROM_SLOT);
	slot = pick_slot(packer, SLOT_LINKED, fields[FIELD_THREAD], 0);
	pack_parent(packer, fields[FIELD_THREAD], slot, link->from, link->to, fields + LINK_TO_SLOT);
	packer->model.threads[fields[FIELD_THREAD]].current_id = link->to;
	model_note_mention(&packer->model, link->from, link->time_ns);
	model_note_mention(&packer->model, link->to, link->time_ns);
}

static void pack_open_span(struct record_packer *packer, const struct txtrace_record *record,
			   uint64_t *fields)
{
	const struct txtrace_open_span *span = &record->open_span;
	uint64_t parent_slot;

	fields[FIELD_THREAD] = pack_thread(packer, span->tid, span->pid);
	fields[OPEN_SPAN_LABEL] = pack_name(packer, &span->label);
	fields[OPEN_SPAN_KEY] = pack_text(packer, &span->key);
	fields[OPEN_SPAN_AGE] = span->time_ns - span->begin_ns;
	fields[OPEN_SPAN_ID_SLOT] = pick_slot(packer, SLOT_OPEN_ID, fields[FIELD_THREAD],
					      fields[OPEN_SPAN_LABEL]);
	fields[OPEN_SPAN_ID] = pack_slotted(packer, fields[OPEN_SPAN_ID_SLOT], span->id);
	parent_slot = pick_slot(packer, SLOT_OPEN_PARENT, fields[FIELD_THREAD], 0);
	pack_parent(packer, fields[FIELD_THREAD], parent_slot, span->id, span->parent,
		    fields + OPEN_SPAN_PARENT_SLOT);
	fields[OPEN_SPAN_FLAGS] = span->flags;
}

static void pack_stay(struct record_packer *packer, const struct txtrace_record *record, uint64_t *fields)
{
	const struct txtrace_stay *stay = &record->stay;
	struct model_thread *thread;

	fields[FIELD_THREAD] = pack_thread(packer, stay->tid, stay->pid);
	thread = &packer->model.threads[fields[FIELD_THREAD]];
	fields[STAY_FROM] = STAY_FROM_EXIT;
	fields[STAY_LENGTH] = stay->exit_ns - stay->enter_ns;
	if (stay->enter_ns - thread->stay_end_ns < fields[STAY_LENGTH]) {
		fields[STAY_FROM] = STAY_FROM_LAST;
		fields[STAY_LENGTH] = stay->enter_ns - thread->stay_end_ns;
	}
	fields[STAY_SPAN_PID] = stay->span_pid - (uint64_t)stay->pid;
	fields[STAY_KEYED] = stay->is_keyed;
	pack_id(packer, fields[FIELD_THREAD],
		pick_slot(packer, SLOT_STAY, fields[FIELD_THREAD], stay->is_keyed), stay->span,
		fields + STAY_SPAN_SLOT);
	thread->current_id = stay->span;
	thread->stay_end_ns = stay->exit_ns;
}

/* It leaves no trace in the model: a reader of version 1.0 passes it over. */
static void pack_other_run(struct record_packer *packer, const struct txtrace_record *record,
			   uint64_t *fields)
{
	const struct txtrace_other_run *run = &record->other_run;
	uint64_t length_ns = run->end_ns - run->begin_ns,
		 gap_ns = run->begin_ns - *model_cpu_end(&packer->model, run->cpu);

	fields[FIELD_THREAD] = pack_thread(packer, run->tid, run->pid);
	fields[OTHER_RUN_CPU] = run->cpu;
	fields[OTHER_RUN_FLAGS] = run->flags;
	fields[OTHER_RUN_COMM] = pack_name(packer, &run->comm);
	fields[OTHER_RUN_MOVED] = run->moved_tid || run->moved_pid
					  ? 1 + pack_thread(packer, run->moved_tid, run->moved_pid)
					  : 0;
	fields[OTHER_RUN_BEGIN_FROM] = gap_ns < length_ns ? OTHER_RUN_FROM_CPU : OTHER_RUN_FROM_END;
	fields[OTHER_RUN_BEGIN] = gap_ns < length_ns ? gap_ns : length_ns;
	fields[OTHER_RUN_STOLEN] = run->stolen_ns;
}

/* ---- the plain kinds ---- */

static void pack_field(struct record_packer *packer, const struct record_field *field,
		       const struct txtrace_record *record, uint64_t *fields)
{
	uint64_t number = record_number(field, record);
	const void *at = record_at(field, record);

	switch ((enum record_coding)field->coding) {
	case CODED_NOT:
		break;
	case CODED_PLAIN:
		fields[field->log] = number;
		break;
	case CODED_SINCE:
		fields[field->log] = packer->model.time_ns - number;
		break;
	case CODED_LESS_PID:
		fields[field->log] = number - packer->model.threads[fields[FIELD_THREAD]].pid;
		break;
	case CODED_BIT:
		fields[field->log] |= number ? field->mask : 0;
		break;
	case CODED_NAME:
		fields[field->log] = pack_name(packer, at);
		break;
	case CODED_TEXT:
		fields[field->log] = pack_text(packer, at);
		break;
	case CODED_SPAN:
		pack_current_span(packer, (enum slot_role)field->mask, fields[FIELD_THREAD], number,
				  fields + field->log);
		break;
	}
}

/* As the table of records says. */
static void pack_by_table(struct record_packer *packer, const struct txtrace_record *record, uint64_t *fields)
{
	const struct record_kind *kind = &record_kinds[record->kind];
	uint32_t pid, tid;

	memset(fields + 1, 0, (kind->log_field_cnt - 1u) * sizeof(*fields));
	if (record_thread(record, &pid, &tid))
		fields[FIELD_THREAD] = pack_thread(packer, tid, pid);
	for (unsigned int i = 0; i < kind->field_cnt; i++)
		pack_field(packer, &kind->fields[i], record, fields);
}

typedef void (*pack_fn)(struct record_packer *packer, const struct txtrace_record *record, uint64_t *fields);

/* The others are plain. */
static const pack_fn packs[LOG_KIND_COUNT] = {
	[TXTRACE_RECORD_SPAN] = pack_span,
	[TXTRACE_RECORD_RUN] = pack_run,
	[TXTRACE_RECORD_WAKE] = pack_wake,
	[TXTRACE_RECORD_ATTRIBUTE] = pack_attribute,
	[TXTRACE_RECORD_INSTANT] = pack_instant,
	[TXTRACE_RECORD_COUNTER] = pack_counter,
	[TXTRACE_RECORD_LINK] = pack_link,
	[TXTRACE_RECORD_OPEN_SPAN] = pack_open_span,
	[TXTRACE_RECORD_STAY] = pack_stay,
	[TXTRACE_RECORD_OTHER_RUN] = pack_other_run,
};

void record_pack(struct record_packer *packer, const struct txtrace_record *record,
		 uint64_t fields[LOG_KNOWN_FIELD_MAX])
{
	uint64_t time_ns = record_finished_ns(record);
	pack_fn pack = packs[record->kind];

	fields[FIELD_TIME] = time_ns - packer->model.time_ns;
	packer->model.time_ns = time_ns;
	if (pack)
		pack(packer, record, fields);
	else
		pack_by_table(packer, record, fields);
}
