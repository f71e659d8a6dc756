// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The context that a tracer of OpenTelemetry publishes for each thread (OTEP 4947): a variable of the thread
 * holds the address of a record with the trace and the span. It is read when the thread leaves its CPU, as
 * only the thread itself changes it; so it holds until it has a CPU again. What is made of it is in
 * txtrace/otel.h. Loaded only if it is asked for.
 *
 * These programs come before those of sched.bpf.c: the thread is still on its CPU, and so are its clocks.
 */
#include "vmlinux.h"
#include "block_reason.h"
#include "compat.h"
#include "copied_text.h"
#include "emit.h"
#include "foreign.h"
#include "foreign_id.h"
#include "thread_clock.h"
#include "txtrace/otel.h"

/* tgid -> where its threads have the variable; the recorder's */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, OTEL_PROCESS_MAX);
	__type(key, uint32_t);
	__type(value, struct otel_process);
} otel_processes SEC(".maps");

struct record {
	uint64_t trace[2]; /* bytes, in the order in which they are written */
	uint64_t span;
	uint8_t valid; /* 1, or it is being changed */
	uint8_t flags;
	uint16_t attribute_bytes;
	uint8_t padding[4]; /* not in memory */
};

#define RECORD_BYTES 28
#define ATTRIBUTE_BYTES_MAX 612

struct otel_thread {
	uint64_t id; /* of its open span; 0: it is in no context */
	uint64_t trace[2];
	uint64_t span;
	uint32_t fail_cnt;  /* reads that failed, one after the other */
	uint32_t rest_cnt;  /* so many ends of stays it is not looked at */
	uint64_t failed_ns; /* its CPU time at the begin of the stay at whose end the first of these failed */
	uint64_t variable;  /* the address of the one that was looked at last; 0: none was found */
	uint64_t generation; /* as long as that is the same */
	uint32_t is_only;    /* there is no other one */
	uint32_t is_nodejs;  /* its form, see struct otel_place */
};

/*
 * By pid_tgid. All of it is allocated when the recorder starts, since nothing can be where the scheduler
 * works.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, OTEL_THREAD_MAX);
	__type(key, uint64_t);
	__type(value, struct otel_thread);
} otel_threads SEC(".maps");

/* The recorder raises it when a process has the variable elsewhere from now on. */
volatile uint64_t otel_generation;

/* For the recorder. */
uint64_t otel_full_cnt; /* threads in a context, and children, for which there was no room */
uint64_t otel_fail_cnt; /* records, or ways to one, that could not be read or are none */

enum found {
	FOUND_NOTHING = 0, /* no context, or it is being changed */
	FOUND_CONTEXT = 1,
	FOUND_NONSENSE = 2,
};

#define NOT_ALLOCATED 0xffffffffffffffffull

static __always_inline bool read_word(uint64_t *word, uint64_t address)
{
	return bpf_probe_read_user(word, sizeof(*word), (void *)address) == 0;
}

/* Of a module whose variables are not at the same distance from each thread. 0: the thread has none. */
static __always_inline bool find_block(uint64_t pointer, const struct otel_place *place, uint64_t *block)
{
	uint64_t list, cnt;

	*block = 0;
	if (!read_word(&list, pointer + place->list))
		return false;
	if (place->has_count) {
		if (!read_word(&cnt, list - 16))
			return false;
		if (place->module > cnt) /* the thread has an old list */
			return true;
	}
	if (!read_word(block, list + place->module * place->entry_bytes))
		return false;
	if (*block == NOT_ALLOCATED)
		*block = 0;
	return true;
}

/* address: of the thread's variable at that place; 0: the thread has none there. */
static __always_inline bool find_variable(uint64_t pointer, const struct otel_place *place, uint64_t *address)
{
	uint64_t base = pointer;

	*address = 0;
	if (place->module && !find_block(pointer, place, &base))
		return false;
	if (base)
		*address = base + place->offset;
	return true;
}

/* ---- Node.js ---- */

/*
 * As V8 has them, without compressed pointers. An address of an object is odd; a small number is in the upper
 * half of a word. A map leads to its table: counts, the first entry of each bucket, and the entries.
 */
#define MAP_TABLE 24
#define TABLE_COUNTS 16
#define ENTRY_MAX 16 /* that are looked at, of one bucket */
#define BUCKET_MAX (1u << 20)
#define NO_ENTRY 0xffffffffu

struct table_counts {
	uint64_t there;
	uint64_t deleted;
	uint64_t buckets;
};

struct table_entry {
	uint64_t key;
	uint64_t value;
	uint64_t next;
};

static __always_inline bool is_number(uint64_t word)
{
	return !(word & 0xffffffffu);
}

static __always_inline bool is_object(uint64_t word)
{
	return word & 1;
}

static __always_inline bool read_counts(struct table_counts *counts, uint64_t table)
{
	uint64_t buckets;

	if (bpf_probe_read_user(counts, sizeof(*counts), (void *)(table - 1 + TABLE_COUNTS)) ||
	    !is_number(counts->there | counts->deleted | counts->buckets))
		return false;
	counts->there >>= 32;
	counts->deleted >>= 32;
	counts->buckets >>= 32;
	buckets = counts->buckets;
	return buckets && buckets <= BUCKET_MAX && !(buckets & (buckets - 1));
}

/* *value: of the key in the table; 0: it is not there. false: this is no such table. */
static __noinline int find_value(uint64_t table, uint64_t key, uint32_t hash, uint64_t *value)
{
	uint64_t heads = table - 1 + TABLE_COUNTS + sizeof(struct table_counts), word;
	struct table_counts counts;
	struct table_entry entry;

	*value = 0;
	if (!read_counts(&counts, table) || !read_word(&word, heads + (hash & (counts.buckets - 1)) * 8))
		return false;
	for (int i = 0; i < ENTRY_MAX; i++) {
		uint64_t number = word >> 32;

		if (!is_number(word) || (number != NO_ENTRY && number >= counts.there + counts.deleted))
			return false;
		if (number == NO_ENTRY)
			return true;
		if (bpf_probe_read_user(&entry, sizeof(entry),
					(void *)(heads + counts.buckets * 8 + number * sizeof(entry))))
			return false;
		if (entry.key == key) {
			*value = entry.value;
			return true;
		}
		word = entry.next;
	}
	return false;
}

/* *at: the address of the record, 0: there is none. */
static __noinline int find_nodejs_record(uint64_t address, uint64_t *at)
{
	struct otel_nodejs node;
	uint64_t frame, table, key, value;

	*at = 0;
	if (bpf_probe_read_user(&node, sizeof(node), (void *)address))
		return false;
	if (!node.frame)
		return true;
	/* earlier forms under the same name have no such place */
	if (!node.record || node.record & 7 || !read_word(&frame, node.frame))
		return false;
	if (!frame || frame == node.undefined)
		return true;
	if (!is_object(frame) || !read_word(&table, frame - 1 + MAP_TABLE) || !is_object(table) ||
	    !read_word(&key, node.key) || !find_value(table, key, (uint32_t)node.hash, &value))
		return false;
	if (!is_object(value) || value == node.undefined)
		return true;
	return read_word(at, value - 1 + node.record);
}

/* ---- the record ---- */

static __always_inline enum found read_record(uint64_t pointer, uint64_t address, bool is_nodejs,
					      struct record *record)
{
	uint64_t at;

	if (is_nodejs ? !find_nodejs_record(address, &at) : !read_word(&at, address))
		return FOUND_NONSENSE;
	if (!at)
		return FOUND_NOTHING;
	/* where the C library keeps its own, too, there are bytes that look like a record */
	if (at & 1 || at == pointer || bpf_probe_read_user(record, RECORD_BYTES, (void *)at))
		return FOUND_NONSENSE;
	if (record->valid != 1)
		return FOUND_NOTHING;
	if (record->attribute_bytes > ATTRIBUTE_BYTES_MAX ||
	    !(record->trace[0] | record->trace[1]) != !record->span)
		return FOUND_NONSENSE;
	return record->span ? FOUND_CONTEXT : FOUND_NOTHING;
}

/* *variable: the one that was looked at last. */
static __always_inline enum found search(uint64_t pointer, const struct otel_process *process,
					 struct record *record, uint64_t *variable, bool *is_nodejs)
{
	enum found found = FOUND_NOTHING;

	for (uint32_t i = 0; i < OTEL_PLACE_MAX && i < process->place_cnt; i++) {
		*is_nodejs = process->places[i].is_nodejs;
		if (!find_variable(pointer, &process->places[i], variable))
			return FOUND_NONSENSE;
		if (*variable)
			found = read_record(pointer, *variable, *is_nodejs, record);
		if (found != FOUND_NOTHING)
			break;
	}
	return found;
}

/* ---- what is sent ---- */

static __always_inline void send_number(uint64_t id, uint64_t name, uint64_t value)
{
	const struct text_source source = { .id = id, .name = name, .type = ATTR_UINT, .value = value };
	struct emit out;
	struct text_short *event = emit_reserve(&out, WIRE_ATTR, sizeof(*event));

	if (event)
		text_fill(0, &out, &event->base, WIRE_ATTR, &source, 0, sizeof(event->text));
	else
		emit_lost(&out, WIRE_ATTR, bpf_ktime_get_ns());
}

static __always_inline char digit(uint8_t value)
{
	return value + (value < 10 ? '0' : 'a' - 10);
}

static __always_inline char *write_hex(char *at, const uint8_t *bytes, const uint32_t cnt)
{
#pragma unroll
	for (uint32_t i = 0; i < cnt; i++) {
		*at++ = digit(bytes[i] >> 4);
		*at++ = digit(bytes[i] & 15);
	}
	*at++ = '-';
	return at;
}

#define TRACEPARENT_BYTES 55

static __always_inline void send_traceparent(uint64_t id, const struct record *record)
{
	const struct text_source source = { .id = id, .name = OTEL_NAME_TRACEPARENT, .type = ATTR_STRING };
	struct emit out;
	struct text_short *event = emit_reserve(&out, WIRE_ATTR, sizeof(*event));
	char *at;

	if (!event) {
		emit_lost(&out, WIRE_ATTR, bpf_ktime_get_ns());
		return;
	}
	event->text[0] = event->text[1] = '0';
	event->text[2] = '-';
	at = write_hex(event->text + 3, (const uint8_t *)record->trace, sizeof(record->trace));
	at = write_hex(at, (const uint8_t *)&record->span, sizeof(record->span));
	write_hex(at, &record->flags, 1);
	text_fill(0, &out, &event->base, WIRE_ATTR, &source, TRACEPARENT_BYTES + 1, sizeof(event->text));
}

/* Not inlined: what ends and what begins a span need not fit into one frame with the record. */
static __noinline int leave(struct otel_thread *thread, uint64_t doubt_ns)
{
	uint64_t id = thread->id;

	thread->id = 0;
	send_number(id, OTEL_NAME_AFTER, doubt_ns);
	return foreign_end(id);
}

static __noinline int enter(struct otel_thread *thread, const struct record *record, uint64_t doubt_ns)
{
	uint64_t id = foreign_make_id(true);

	thread->id = id;
	thread->trace[0] = record->trace[0];
	thread->trace[1] = record->trace[1];
	thread->span = record->span;
	foreign_begin(id, OTEL_LABEL, WIRE_PARENT_ROOT);
	send_traceparent(id, record);
	send_number(id, OTEL_NAME_BEFORE, doubt_ns);
	return 0;
}

/* ---- when ---- */

/*
 * For how long the thread, which is the current one, has been on a CPU since it was looked at: at the end of
 * its stay before, or, while reads failed, before that. Without what was stolen of it.
 */
static __always_inline uint64_t doubt_of(struct task_struct *task, const struct otel_thread *thread,
					 const struct thread_clock *clock)
{
	uint64_t now_ns, steal_ns = steal_and_time(task, bpf_get_smp_processor_id(), &now_ns), doubt_ns = 0;

	if (clock->now.state == WIRE_THREAD_ON_CPU)
		doubt_ns = now_ns - clock->now.since_ns - thread_clock_stolen(clock, steal_ns);
	if (thread->fail_cnt)
		doubt_ns += clock->clocks.on_cpu_ns - thread->failed_ns;
	return doubt_ns;
}

/* Not inlined: see leave(). */
static __noinline int make_thread(uint64_t key)
{
	const struct otel_thread thread = {};

	if (bpf_map_update_elem(&otel_threads, &key, &thread, BPF_NOEXIST))
		__sync_fetch_and_add(&otel_full_cnt, 1);
	return 0;
}

#define REST_BITS_MAX 10

/* Reads that fail cost more than others: they get rarer. */
static __always_inline void fail(struct otel_thread *thread, uint64_t on_cpu_ns)
{
	__sync_fetch_and_add(&otel_fail_cnt, 1);
	if (!thread->fail_cnt)
		thread->failed_ns = on_cpu_ns;
	if (thread->fail_cnt < REST_BITS_MAX)
		thread->fail_cnt++;
	thread->rest_cnt = 1u << thread->fail_cnt;
}

static __always_inline bool is_same(const struct otel_thread *thread, enum found found,
				    const struct record *record)
{
	if (found != FOUND_CONTEXT)
		return found == FOUND_NOTHING && !thread->id && !thread->fail_cnt;
	return thread->id && thread->span == record->span && thread->trace[0] == record->trace[0] &&
	       thread->trace[1] == record->trace[1];
}

/*
 * Nothing may mean that the thread was pushed off its CPU in the middle of a change: then that time is of
 * neither of the two.
 */
static __always_inline void change(struct task_struct *task, struct otel_thread *thread, enum found found,
				   const struct record *record)
{
	const struct thread_clock *clock = thread_clock_of(task);
	uint64_t doubt_ns;

	if (!clock)
		return;
	doubt_ns = doubt_of(task, thread, clock);
	if (thread->id)
		leave(thread, doubt_ns);
	if (found == FOUND_NONSENSE) {
		fail(thread, clock->clocks.on_cpu_ns);
		return;
	}
	if (found == FOUND_CONTEXT)
		enter(thread, record, doubt_ns);
	thread->fail_cnt = 0;
}

/* The thread has nothing any more from which it could be seen. */
static __noinline int forget(struct task_struct *task, uint32_t tid)
{
	uint64_t key = (uint64_t)task->tgid << 32 | tid;
	struct otel_thread *thread = bpf_map_lookup_elem(&otel_threads, &key);
	struct thread_clock *clock;

	if (!thread)
		return 0;
	clock = thread_clock_of(task);
	if (thread->id && clock)
		leave(thread, doubt_of(task, thread, clock));
	bpf_map_delete_elem(&otel_threads, &key);
	return 0;
}

static __always_inline bool knows_variable(const struct otel_thread *thread)
{
	return thread->variable && thread->generation == otel_generation;
}

/* thread: made if it is in a context, or if something is wrong. */
static __always_inline enum found look_anew(struct task_struct *task, uint64_t key,
					    struct otel_thread **thread, struct record *record)
{
	uint64_t pointer = compat_thread_pointer(task), variable = 0, generation = otel_generation;
	uint32_t tgid = task->tgid;
	const struct otel_process *process = bpf_map_lookup_elem(&otel_processes, &tgid);
	bool is_nodejs = false;
	enum found found = process && pointer ? search(pointer, process, record, &variable, &is_nodejs)
					      : FOUND_NOTHING;

	if (!*thread && found != FOUND_NOTHING) {
		make_thread(key);
		*thread = bpf_map_lookup_elem(&otel_threads, &key);
	}
	if (*thread) {
		(*thread)->variable = variable;
		(*thread)->generation = generation;
		(*thread)->is_only = process && process->place_cnt == 1;
		(*thread)->is_nodejs = is_nodejs;
	}
	return found;
}

SEC("?tp_btf/sched_switch")
int on_otel_switch(uint64_t *ctx)
{
	struct task_struct *prev = (struct task_struct *)ctx[1];
	unsigned int state = cfg_has_prev_state ? (unsigned int)ctx[3] : compat_task_state(prev);
	uint64_t key = (uint64_t)prev->tgid << 32 | (uint32_t)prev->pid;
	struct otel_thread *thread;
	struct record record;
	enum found found;

	if (phase != WIRE_PHASE_RECORDING || !compat_has_storage(prev))
		return 0;
	if (state & TASK_STATE_DEAD) {
		forget(prev, prev->pid);
		return 0;
	}
	if (!prev->mm)
		return 0;
	thread = bpf_map_lookup_elem(&otel_threads, &key);
	if (thread && thread->rest_cnt) {
		thread->rest_cnt--;
		return 0;
	}
	if (thread && knows_variable(thread))
		found = read_record(compat_thread_pointer(prev), thread->variable, thread->is_nodejs,
				    &record);
	else
		found = look_anew(prev, key, &thread, &record);
	if (found == FOUND_NOTHING && thread && !thread->is_only)
		found = look_anew(prev, key, &thread, &record);
	if (thread && !is_same(thread, found, &record))
		change(prev, thread, found, &record);
	return 0;
}

SEC("?tp_btf/sched_process_exit")
int on_otel_exit(uint64_t *ctx)
{
	struct task_struct *task = (struct task_struct *)ctx[0];
	uint32_t tgid = task->tgid;

	forget(task, task->pid);
	if (!BPF_CORE_READ(task, signal, live.counter))
		bpf_map_delete_elem(&otel_processes, &tgid);
	return 0;
}

/* The child has its parent's memory, or the same. */
SEC("?tp_btf/sched_process_fork")
int on_otel_fork(uint64_t *ctx)
{
	struct task_struct *parent = (struct task_struct *)ctx[0];
	struct task_struct *child = (struct task_struct *)ctx[1];
	uint32_t parent_tgid = parent->tgid, tgid = child->tgid;
	const struct otel_process *process;

	if (parent_tgid == tgid)
		return 0;
	process = bpf_map_lookup_elem(&otel_processes, &parent_tgid);
	if (process && bpf_map_update_elem(&otel_processes, &tgid, process, BPF_ANY))
		__sync_fetch_and_add(&otel_full_cnt, 1);
	return 0;
}

SEC("?tp_btf/sched_process_exec")
int on_otel_exec(uint64_t *ctx)
{
	struct task_struct *task = (struct task_struct *)ctx[0];
	uint32_t tgid = task->tgid;

	forget(task, (uint32_t)ctx[1]); /* the tid that it had */
	bpf_map_delete_elem(&otel_processes, &tgid);
	return 0;
}
