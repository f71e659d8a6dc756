// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Spans of programs that were never changed: any probe or function begins and ends them. Loaded only if a
 * span is asked for.
 *
 * What is open is known here, so that an end finds its span: by thread in its task storage (before 5.13: in a
 * table), by number in a map. A thread's functions are a stack, and the stack pointer tells which of its
 * frames are still there: who left by an exception, a longjmp or a jump that nobody watches is abandoned as
 * soon as something is seen that happened above its frame. Nothing of the program is touched, and an end that
 * belongs to nothing ends nothing.
 */
#include "vmlinux.h"
#include "compat.h"
#include "emit.h"
#include "foreign.h"
#include "foreign_id.h"
#include "foreign_value.h"
#include "span_filter.h"
#include "thread_clock.h"
#include "txtrace/foreign.h"

#include <bpf/bpf_tracing.h>

struct open_by_thread {
	uint64_t id; /* 0: none */
	uint64_t parent;
	uint64_t again_cnt; /* begins within it that have not been ended */
	uint64_t order;     /* how many the thread has begun, this one included */
};

/* A function that has been called. */
struct frame {
	uint64_t id;
	/*
	 * the stack pointer at its first instruction: its caller's end of the stack, on x86-64 the return
	 * address
	 */
	uint64_t stack;
	uint32_t label_idx;
	/* its return is watched by a uretprobe, which comes also where a tail call has taken its place */
	uint32_t is_patient;
};

struct foreign_thread {
	uint32_t depth;
	uint32_t padding;
	uint64_t begin_cnt;
	/*
	 * of the span that tells what polls wait for: it ends with that one, or one that began before; 0:
	 * none does
	 */
	uint64_t told_order;
	struct open_by_thread open[FOREIGN_SPAN_MAX];
	struct frame frames[FOREIGN_DEPTH_MAX];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct foreign_thread);
} foreign_threads SEC(".maps");

/* Before 5.13: by the address of the task_struct, see thread_clock.h. Allocated when the recorder starts. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, FOREIGN_THREAD_MAX);
	__type(key, uint64_t);
	__type(value, struct foreign_thread);
} foreign_thread_table SEC(".maps");

/* What a thread begins with: too large for a program's frame. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct foreign_thread);
} foreign_new_thread SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, FOREIGN_SITE_MAX);
	__type(key, uint32_t);
	__type(value, struct foreign_site);
} foreign_sites SEC(".maps");

struct open_key {
	uint32_t tgid;
	uint32_t span_idx;
	uint64_t values[FOREIGN_KEY_MAX];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, FOREIGN_OPEN_MAX);
	__type(key, struct open_key);
	__type(value, uint64_t);
} foreign_open SEC(".maps");

uint64_t foreign_ids[WIRE_CPU_MAX][8];

struct step_counter foreign_steps[WIRE_CPU_MAX]; /* for the recorder */

static __always_inline void count_step(uint64_t cookie)
{
	if (cookie & FOREIGN_COOKIE_STEPPED)
		__sync_fetch_and_add(&foreign_steps[bpf_get_smp_processor_id() & (WIRE_CPU_MAX - 1)].cnt, 1);
}

uint64_t foreign_full_cnt; /* begins for which there was no room here */

/* Such a begin counts as one that found no room in the ring, too. */
static __always_inline int begin_lost(void)
{
	struct emit out = { .cpu = bpf_get_smp_processor_id() };

	out.counters = &counters[out.cpu & (WIRE_CPU_MAX - 1)];
	__sync_fetch_and_add(&out.counters->sent[WIRE_BEGIN], 1);
	__sync_fetch_and_add(&foreign_full_cnt, 1);
	return emit_lost(&out, WIRE_BEGIN, bpf_ktime_get_ns());
}

/* NULL: it cannot be had, or there is no room. */
static __always_inline struct foreign_thread *thread_of_table(void)
{
	uint64_t key = bpf_get_current_task();
	struct foreign_thread *thread = bpf_map_lookup_elem(&foreign_thread_table, &key), *initial;
	uint32_t first = 0;

	if (thread)
		return thread;
	initial = bpf_map_lookup_elem(&foreign_new_thread, &first);
	if (initial)
		bpf_map_update_elem(&foreign_thread_table, &key, initial, BPF_NOEXIST);
	return bpf_map_lookup_elem(&foreign_thread_table, &key);
}

static __always_inline struct foreign_thread *thread_of_storage(void)
{
	return bpf_task_storage_get(&foreign_threads, bpf_get_current_task_btf(), 0,
				    BPF_LOCAL_STORAGE_GET_F_CREATE);
}

/* Why it asks twice: see thread_clock_make(). */
static __always_inline struct foreign_thread *thread_get(void)
{
	struct foreign_thread *thread;

	if (!compat_has_task_storage())
		return thread_of_table();
	thread = thread_of_storage();
	return thread ? thread : thread_of_storage();
}

/* Where threads are in the table: nothing of it hits a probe any more. */
SEC("?tp_btf/sched_process_exit")
int on_foreign_thread_exit(uint64_t *ctx)
{
	uint64_t key = ctx[0];

	bpf_map_delete_elem(&foreign_thread_table, &key);
	return 0;
}

/* ---- values ---- */

static __noinline void tag_all(const void *ctx, uint64_t id, const struct foreign_site *site)
{
	if (span_filter_is_on() && site->tag_cnt && !span_filter_has(id))
		return;
#pragma unroll
	for (uint32_t i = 0; i < FOREIGN_TAG_MAX; i++)
		if (i < site->tag_cnt)
			tag_span(ctx, id, &site->tags[i], &site->lengths[i]);
}

/* A key is read as well as it goes: what cannot be read is 0, at its end as at its begin. */
static __always_inline void key_read(const void *ctx, struct open_key *key, uint32_t span_idx,
				     const struct foreign_value *places, uint32_t cnt)
{
	key->tgid = bpf_get_current_pid_tgid() >> 32;
	key->span_idx = span_idx;
	key->values[0] = key->values[1] = 0;
	if (cnt > 0)
		value_read(ctx, &places[0], &key->values[0]);
	if (cnt > 1)
		value_read(ctx, &places[1], &key->values[1]);
}

/*
 * How long the string is, as far as a key goes: one more says that it is longer. Not inlined: see
 * compat_path_cookie().
 */
static __noinline uint64_t string_key_length(uint64_t address)
{
	char bytes[WIRE_KEY_MAX + 2];
	long size = bpf_probe_read_user_str(bytes, sizeof(bytes), (void *)address);

	return size > 0 ? size - 1 : 0;
}

/* ---- spans by their probes ---- */

static __always_inline struct foreign_site *site_of_cookie(int64_t cookie)
{
	uint32_t idx = cookie; /* if it cannot be read, that of no site */

	return bpf_map_lookup_elem(&foreign_sites, &idx);
}

/* 0: it names none, and gets the one that the thread is in. */
static __always_inline uint64_t parent_of(const void *ctx, struct foreign_thread *thread,
					  const struct foreign_site *site)
{
	struct open_key key;
	uint64_t *id;

	if (site->parent == FOREIGN_PARENT_THREAD || (site->parent == FOREIGN_PARENT_NONE && !site->key_cnt))
		return 0;
	if (site->parent != FOREIGN_PARENT_SPAN)
		return WIRE_PARENT_ROOT;
	if (!site->parent_key_cnt)
		return thread->open[site->parent_span_idx & (FOREIGN_SPAN_MAX - 1)].id ?: WIRE_PARENT_ROOT;
	key_read(ctx, &key, site->parent_span_idx, site->parent_keys, site->parent_key_cnt);
	id = bpf_map_lookup_elem(&foreign_open, &key);
	return id ? *id : WIRE_PARENT_ROOT;
}

/* What the thread's polls wait for from now on. Not inlined: see compat_path_cookie(). */
static __noinline void tell_polls(uint32_t told_reason)
{
	struct thread_clock *clock = thread_clock_of(compat_current_task());

	if (clock)
		clock->wait.told_reason = told_reason;
}

/* false: it is a begin within the span. */
static __always_inline bool begin_by_thread(struct foreign_thread *thread, const struct foreign_site *site,
					    uint64_t id, uint64_t parent)
{
	struct open_by_thread *open = &thread->open[site->span_idx & (FOREIGN_SPAN_MAX - 1)];

	if (open->id && site->counts_again &&
	    (site->parent != FOREIGN_PARENT_SPAN || open->parent == parent)) {
		open->again_cnt++;
		return false;
	}
	/* its end was not seen: a longjmp out of the code between, or the program has none there */
	if (open->id) {
		uint64_t old = open->id;

		foreign_abandon(old);
		if (parent == old)
			parent = 0;
	}
	open->id = id;
	open->parent = parent;
	open->again_cnt = 0;
	open->order = ++thread->begin_cnt;
	if (site->told_reason)
		thread->told_order = open->order;
	foreign_begin(id, site->label, parent);
	return true;
}

/* false: there is no room for it. */
static __always_inline bool begin_by_number(const void *ctx, const struct foreign_site *site, uint64_t id,
					    uint64_t parent)
{
	struct open_key key;
	uint64_t *old;

	key_read(ctx, &key, site->span_idx, site->keys, site->key_cnt);
	old = bpf_map_lookup_elem(&foreign_open, &key);
	if (old)
		foreign_abandon(*old);
	if (bpf_map_update_elem(&foreign_open, &key, &id, BPF_ANY))
		return false;
	foreign_begin(id, site->label, parent);
	return true;
}

static __always_inline int foreign_begun(struct pt_regs *ctx, const bool is_preemptible)
{
	int64_t cookie = compat_cookie(ctx);
	struct foreign_site *site = site_of_cookie(cookie);
	struct foreign_thread *thread;
	uint64_t id, parent;

	if (!site || !foreign_is_traced())
		return 0;
	count_step(cookie);
	if (site->is_key_string) {
		if (!value_read(ctx, &site->keys[0], &id))
			foreign_key_begin(id, string_key_length(id), site->label);
		return 0;
	}
	if (site->told_reason)
		tell_polls(site->told_reason);
	thread = thread_get();
	if (!thread)
		return begin_lost();
	id = foreign_make_id(is_preemptible);
	parent = parent_of(ctx, thread, site);
	if (site->key_cnt) {
		if (!begin_by_number(ctx, site, id, parent))
			return begin_lost();
	} else if (!begin_by_thread(thread, site, id, parent)) {
		return 0;
	}
	if (site->tag_cnt)
		tag_all(ctx, id, site);
	return 0;
}

PROBE_PROGRAM("?uprobe", on_foreign_begin)
{
	return foreign_begun(ctx, true);
}

PROBE_PROGRAM("?uprobe", on_foreign_begin_before_5_13)
{
	return foreign_begun(ctx, false);
}

#define STILL_OPEN (~0ull)

/*
 * The id of the open span that the hit ends, which is open no more; 0: there is none; STILL_OPEN: it ends a
 * begin within it.
 */
static __always_inline uint64_t close_by_thread(const struct foreign_site *site)
{
	struct foreign_thread *thread = thread_get();
	struct open_by_thread *open;
	uint64_t id;

	if (!thread)
		return 0;
	open = &thread->open[site->span_idx & (FOREIGN_SPAN_MAX - 1)];
	if (open->again_cnt) {
		open->again_cnt--;
		return STILL_OPEN;
	}
	id = open->id;
	open->id = 0;
	if (id && open->order <= thread->told_order) {
		tell_polls(0);
		thread->told_order = 0;
	}
	return id;
}

static __always_inline uint64_t close_by_number(const void *ctx, const struct foreign_site *site)
{
	struct open_key key;
	uint64_t *open, id;

	key_read(ctx, &key, site->span_idx, site->keys, site->key_cnt);
	open = bpf_map_lookup_elem(&foreign_open, &key);
	if (!open)
		return 0;
	id = *open;
	bpf_map_delete_elem(&foreign_open, &key);
	return id;
}

/* An end without a begin is sent, too, as an end of no span: it is counted where those of the macros are. */
PROBE_PROGRAM("?uprobe", on_foreign_end)
{
	int64_t cookie = compat_cookie(ctx);
	struct foreign_site *site = site_of_cookie(cookie);
	uint64_t id;

	if (!site || !foreign_is_traced())
		return 0;
	count_step(cookie);
	if (site->is_key_string) {
		if (!value_read(ctx, &site->keys[0], &id))
			foreign_key_end(id, string_key_length(id));
		return 0;
	}
	id = site->key_cnt ? close_by_number(ctx, site) : close_by_thread(site);
	if (id == STILL_OPEN)
		return 0;
	if (id && site->tag_cnt)
		tag_all(ctx, id, site);
	return foreign_end(id);
}

/* ---- functions ---- */

static __always_inline struct frame *top_frame(struct foreign_thread *thread)
{
	uint32_t idx = thread->depth - 1;

	if (idx >= FOREIGN_DEPTH_MAX)
		return 0;
	/* clang would compute the address before the comparison, which the verifier does not follow */
	barrier_var(idx);
	return &thread->frames[idx & (FOREIGN_DEPTH_MAX - 1)];
}

enum pop {
	POP_ENDED = 1,    /* who has exactly this frame returns now */
	POP_LEFT = 2,     /* a call takes that frame: who had it was left unseen */
	POP_REPLACED = 3, /* a tail call takes it: the hooked return of who had it comes later */
	POP_NONE = 4,
};

/*
 * Takes off the stack what cannot be there any more when the stack ends at `stack`: frames below it were left
 * unseen. What has just this frame is handled as `how` says.
 */
__noinline int foreign_pop(uint64_t stack, uint32_t how)
{
	struct foreign_thread *thread = thread_get();

	if (!thread)
		return 0;
	for (int i = 0; i < FOREIGN_DEPTH_MAX; i++) {
		struct frame *frame = top_frame(thread);

		if (!frame || frame->stack > stack)
			break;
		if (frame->stack == stack) {
			if (how == POP_NONE || (how == POP_REPLACED && frame->is_patient))
				break;
			thread->depth--;
			if (how == POP_ENDED)
				foreign_end(frame->id);
			else
				foreign_abandon(frame->id);
			continue;
		}
		thread->depth--;
		foreign_abandon(frame->id);
	}
	return 0;
}

#if defined(__TARGET_ARCH_x86)
#define CALL_BYTES 8 /* the return address lies on the stack */
#else
#define CALL_BYTES 0
#endif

/*
 * Whether the function whose first instruction was hit has been jumped to by one whose return is hooked: it
 * has that one's return address.
 */
static __always_inline bool is_tail_call(struct pt_regs *ctx, uint64_t stack)
{
	uint64_t hook = compat_return_hook((struct task_struct *)bpf_get_current_task()),
		 address = PT_REGS_RET(ctx);

	if (CALL_BYTES)
		bpf_probe_read_user(&address, sizeof(address), (void *)stack);
	return hook && address == hook;
}

static __always_inline int function_entered(struct pt_regs *ctx, const uint32_t is_patient,
					    const bool is_preemptible)
{
	uint64_t stack = PT_REGS_SP(ctx);
	struct foreign_thread *thread;
	struct frame *frame;
	int64_t label_idx = compat_cookie(ctx);
	uint32_t depth;

	if (label_idx < 0 || !foreign_is_traced())
		return 0;
	count_step(label_idx);
	thread = thread_get();
	if (!thread)
		return begin_lost();
	frame = top_frame(thread);
	if (frame && frame->stack <= stack)
		foreign_pop(stack, is_tail_call(ctx, stack) ? POP_REPLACED : POP_LEFT);
	depth = thread->depth;
	if (depth >= FOREIGN_DEPTH_MAX)
		return begin_lost();
	barrier_var(depth);
	frame = &thread->frames[depth & (FOREIGN_DEPTH_MAX - 1)];
	frame->id = foreign_make_id(is_preemptible);
	frame->stack = stack;
	frame->label_idx = label_idx;
	frame->is_patient = is_patient;
	thread->depth = depth + 1;
	return foreign_begin(frame->id, FOREIGN_LABEL_BASE + frame->label_idx, 0);
}

/* The first instruction of a function whose ways out are probed. */
PROBE_PROGRAM("?uprobe", on_function_enter)
{
	return function_entered(ctx, 0, true);
}

PROBE_PROGRAM("?uprobe", on_function_enter_before_5_13)
{
	return function_entered(ctx, 0, false);
}

/* The first instruction of a function whose return is hooked. */
PROBE_PROGRAM("?uprobe", on_function_call)
{
	return function_entered(ctx, 1, true);
}

PROBE_PROGRAM("?uprobe", on_function_call_before_5_13)
{
	return function_entered(ctx, 1, false);
}

/*
 * A way out: a return instruction, or a jump to another function. It is one only if the stack ends where it
 * did at the first instruction.
 */
PROBE_PROGRAM("?uprobe", on_function_leave)
{
	struct foreign_thread *thread;

	if (!foreign_is_traced())
		return 0;
	if (cfg_has_attach_cookie)
		count_step(bpf_get_attach_cookie(ctx));
	thread = thread_get();
	if (thread && thread->depth)
		foreign_pop(PT_REGS_SP(ctx), POP_ENDED);
	return 0;
}

/* A hooked return: one for each function that a chain of tail calls was in, the last one first. */
PROBE_PROGRAM("?uprobe", on_function_return)
{
	uint64_t stack = PT_REGS_SP(ctx) - CALL_BYTES;
	struct foreign_thread *thread;
	struct frame *frame;
	int64_t label_idx;

	label_idx = compat_cookie(ctx);
	if (label_idx < 0 || !foreign_is_traced())
		return 0;
	thread = thread_get();
	if (!thread)
		return 0;
	foreign_pop(stack, POP_NONE);
	frame = top_frame(thread);
	if (!frame || frame->stack != stack || !frame->is_patient || frame->label_idx != label_idx)
		return 0;
	thread->depth--;
	return foreign_end(frame->id);
}
