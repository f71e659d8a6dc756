// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * One program per probe of include/txtrace.h. They run in the traced thread, on its time: every instruction
 * here is the user's.
 */
#include "vmlinux.h"
#include "compat.h"
#include "copied_text.h"
#include "emit.h"
#include "foreign.h"
#include "label.h"
#include "mark_ring.h"
#include "process_target.h"
#include "span_filter.h"
#include "thread_clock.h"
#include "txtrace/mark_ring.h"

#include <bpf/bpf_tracing.h>

#define READ_TRIES 3

/* The current thread's clocks, if it is one to trace: a thread whose fork we missed is adopted. */
static __always_inline struct thread_clock *clock_of_current(struct task_struct *task)
{
	struct thread_clock *clock;

	if (phase != WIRE_PHASE_RECORDING)
		return 0;
	clock = thread_clock_of(task);
	if (clock)
		return clock;
	if (!target_meet(task))
		return 0;
	return thread_clock_start(task, WIRE_THREAD_ON_CPU, 0, 0);
}

/*
 * Has the thread been switched since its last span event, or is its state not what it should be? Then the
 * clocks have to go along.
 */
static __always_inline bool clocks_moved(const volatile struct thread_clock *clock)
{
	return cfg_has_clocks &&
	       (clock->now.switch_cnt != clock->reported_cnt || clock->now.state != WIRE_THREAD_ON_CPU);
}

/* A hypervisor has stolen of the CPU since. */
static __always_inline bool steal_moved(const volatile struct thread_clock *clock, uint64_t steal_ns)
{
	return cfg_has_clocks && steal_is_exact() && (uint32_t)steal_ns != clock->reported_steal;
}

/* Of one moment. */
struct moment {
	uint64_t now_ns;
	uint64_t steal_ns;
	uint32_t switch_cnt;
	uint32_t cpu;
};

/*
 * Time and clocks of one moment: if the thread was preempted while they were read, they are read again.
 * Returns the flag that says what the reading is worth; what it belongs to is reported once the event is in
 * the ring.
 */
static __always_inline uint16_t read_clocks(struct thread_clock *clock, struct wire_clocks *reading,
					   struct moment *moment)
{
	const volatile uint32_t *count = &clock->now.switch_cnt;

	thread_clock_see_running(clock);
#pragma unroll
	for (int i = 0; i < READ_TRIES; i++) {
		moment->switch_cnt = *count;
		moment->steal_ns = steal_and_time(compat_current_task(), moment->cpu, &moment->now_ns);
		thread_clock_read(clock, moment->now_ns, moment->steal_ns, reading);
		if (moment->switch_cnt == *count)
			return thread_clock_flags(clock, true);
	}
	return thread_clock_flags(clock, false);
}

static __always_inline void note_report(struct thread_clock *clock, const struct moment *moment,
					uint16_t flags)
{
	if (flags & WIRE_NO_CLOCKS)
		return;
	clock->reported_cnt = moment->switch_cnt;
	clock->reported_steal = moment->steal_ns;
}

struct span_with_clocks {
	struct wire_span span;
	struct wire_clocks clocks;
};

static __always_inline void fill_span(struct wire_span *span, uint64_t id, uint64_t label, uint64_t parent)
{
	span->id = id;
	span->label = label;
	span->parent = parent;
}

static __always_inline int send_span_with_clocks(struct thread_clock *clock, const uint8_t kind, uint64_t id,
						 uint64_t label, uint64_t parent, uint16_t filter_flags)
{
	struct span_with_clocks *event;
	struct moment moment;
	struct emit out;
	uint16_t flags;

	event = emit_reserve(&out, kind, sizeof(*event));
	if (!event)
		return emit_lost(&out, kind, bpf_ktime_get_ns());
	moment.cpu = out.cpu;
	flags = read_clocks(clock, &event->clocks, &moment);
	emit_header(&out, &event->span.header, kind, flags | filter_flags, bpf_get_current_pid_tgid(),
		    moment.now_ns);
	fill_span(&event->span, id, label, parent);
	note_report(clock, &moment, flags);
	emit_submit(&out, event);
	return 0;
}

static __always_inline bool is_recorded(const uint8_t kind, uint64_t id, uint64_t label, uint64_t *parent,
					uint16_t *flags)
{
	if (kind == WIRE_BEGIN || kind == WIRE_BEGIN_DETACHED)
		return span_filter_begin(kind, id, label, parent, flags);
	if (kind == WIRE_ENTER)
		return span_filter_enter(id);
	return kind == WIRE_LEAVE ? span_filter_leave(id) : span_filter_end(id);
}

/* So that the verifier cuts the flags away where there are none. */
static __always_inline uint16_t flags_if_filtered(uint16_t flags)
{
	return span_filter_is_on() ? flags : 0;
}

static __always_inline int send_span(struct thread_clock *clock, const uint8_t kind, uint64_t id,
				     uint64_t label, uint64_t parent)
{
	struct wire_span *event;
	uint16_t filter_flags = 0;
	struct emit out;
	uint64_t now_ns, steal_ns;

	if (!clock)
		return 0;
	if (span_filter_is_on() && !is_recorded(kind, id, label, &parent, &filter_flags))
		return 0;
	label = label_told(label);
	if (clocks_moved(clock))
		return send_span_with_clocks(clock, kind, id, label, parent, flags_if_filtered(filter_flags));
	event = emit_reserve(&out, kind, sizeof(*event));
	if (!event)
		return emit_lost(&out, kind, bpf_ktime_get_ns());
	if (steal_is_told() && cfg_steal_is_late)
		clock->is_stolen_shared = 1;
	steal_ns = steal_and_time(compat_current_task(), out.cpu, &now_ns);
	/* preempted since we looked, or stolen from since the last event */
	if (clocks_moved(clock) || steal_moved(clock, steal_ns)) {
		emit_discard(&out, kind, event);
		return send_span_with_clocks(clock, kind, id, label, parent, flags_if_filtered(filter_flags));
	}
	emit_header(&out, &event->header, kind,
		    flags_if_filtered(filter_flags) | (cfg_has_clocks ? 0 : WIRE_NO_CLOCKS),
		    bpf_get_current_pid_tgid(), now_ns);
	fill_span(event, id, label, parent);
	emit_submit(&out, event);
	return 0;
}

PROBE_PROGRAM("uprobe", on_begin, uint64_t id, uint64_t label, uint64_t parent)
{
	return send_span(clock_of_current(compat_current_task()), WIRE_BEGIN, id, label_of(ctx, label),
			 parent);
}

PROBE_PROGRAM("uprobe", on_begin_detached, uint64_t id, uint64_t label, uint64_t parent)
{
	return send_span(clock_of_current(compat_current_task()), WIRE_BEGIN_DETACHED, id,
			 label_of(ctx, label), parent);
}

PROBE_PROGRAM("uprobe", on_enter, uint64_t id)
{
	return send_span(clock_of_current(compat_current_task()), WIRE_ENTER, id, 0, 0);
}

PROBE_PROGRAM("uprobe", on_exit, uint64_t id)
{
	return send_span(clock_of_current(compat_current_task()), WIRE_LEAVE, id, 0, 0);
}

PROBE_PROGRAM("uprobe", on_end, uint64_t id)
{
	return send_span(clock_of_current(compat_current_task()), WIRE_END, id, 0, 0);
}

static __always_inline int send_mark(const uint8_t kind, uint64_t id, uint64_t name, uint64_t value)
{
	struct wire_mark *event;
	struct emit out;

	if (!clock_of_current(compat_current_task()) || (span_filter_is_on() && !span_filter_has(id)))
		return 0;
	name = label_told(name);
	event = emit_reserve(&out, kind, sizeof(*event));
	if (!event)
		return emit_lost(&out, kind, bpf_ktime_get_ns());
	emit_header(&out, &event->header, kind, 0, bpf_get_current_pid_tgid(), bpf_ktime_get_ns());
	event->id = id;
	event->name = name;
	event->value = value;
	emit_submit(&out, event);
	return 0;
}

PROBE_PROGRAM("uprobe", on_event, uint64_t id, uint64_t name)
{
	return send_mark(WIRE_INSTANT, id, label_of(ctx, name), 0);
}

PROBE_PROGRAM("uprobe", on_counter, uint64_t name, uint64_t value)
{
	return send_mark(WIRE_COUNTER, 0, label_of(ctx, name), value);
}

PROBE_PROGRAM("uprobe", on_link, uint64_t from, uint64_t to, uint64_t name)
{
	return send_mark(WIRE_LINK, from, label_of(ctx, name), to);
}

static __always_inline int send_text(struct pt_regs *ctx, const uint8_t kind, struct text_source *source)
{
	if (!clock_of_current(compat_current_task()) || (span_filter_is_on() && !span_filter_has(source->id)))
		return 0;
	source->name = label_told(source->name);
	text_send(ctx, kind, source);
	return 0;
}

PROBE_PROGRAM("uprobe", on_tag, uint64_t id, uint64_t text)
{
	struct text_source source = { .id = id, .value = text, .address = text };

	return send_text(ctx, WIRE_TAG, &source);
}

static __noinline int send_bytes(struct pt_regs *ctx, uint64_t id, uint64_t name, uint64_t address,
				 uint64_t length)
{
	struct text_source source = { .id = id, .type = ATTR_BYTES, .address = address };

	if (!clock_of_current(compat_current_task()) || (span_filter_is_on() && !span_filter_has(id)))
		return 0;
	source.name = label_told(label_of(ctx, name));
	bytes_send(WIRE_ATTR, &source, length);
	return 0;
}

/* What a probe says of bytes: struct txtrace_piece. */
struct piece {
	uint64_t address;
	uint64_t size;
};

/* Of any type but ATTR_BYTES. */
static __always_inline int send_attribute(struct pt_regs *ctx, uint64_t id, uint64_t name, uint32_t type,
					  uint64_t value)
{
	struct text_source source = { .id = id, .type = type, .value = value };

	source.name = label_of(ctx, name);
	if (type == ATTR_STRING)
		source.address = value;
	return send_text(ctx, WIRE_ATTR, &source);
}

PROBE_PROGRAM("uprobe", on_attr, uint64_t id, uint64_t name, uint64_t type, uint64_t value)
{
	struct piece piece = { 0 };

	if ((uint32_t)type != ATTR_BYTES)
		return send_attribute(ctx, id, name, (uint32_t)type, value);
	bpf_probe_read_user(&piece, sizeof(piece), (void *)value);
	return send_bytes(ctx, id, name, piece.address, piece.size);
}

struct key_with_clocks {
	struct wire_key keyed;
	struct wire_clocks clocks;
};

/* What cannot be read is recorded: as unreadable. */
static __always_inline bool is_key_recorded(const uint8_t kind, uint64_t address, uint32_t length,
					    uint64_t label)
{
	struct span_key key = { .length = length };

	barrier_var(length);
	if (length > WIRE_KEY_MAX)
		length = WIRE_KEY_MAX;
	if (bpf_probe_read_user(key.bytes, length, (void *)address))
		return true;
	return span_filter_has_key(&key, kind, label);
}

/*
 * Spans named by bytes are rarer than the others: their events always take the clocks along. Beside the
 * frames of whoever makes clocks there is no room for this one, so it is called after that.
 */
static __noinline int send_key(struct thread_clock *clock, const uint8_t kind, uint64_t key,
				    uint64_t length, uint64_t name)
{
	struct key_with_clocks *event;
	uint32_t room = length < WIRE_KEY_MAX ? length : WIRE_KEY_MAX;
	struct moment moment;
	struct emit out;
	uint16_t flags;

	if (!clock || (span_filter_is_on() && !is_key_recorded(kind, key, room, name)))
		return 0;
	name = label_told(name);
	event = emit_reserve(&out, kind, sizeof(*event));
	if (!event)
		return emit_lost(&out, kind, bpf_ktime_get_ns());
	__builtin_memset(event->keyed.key, 0, sizeof(event->keyed.key));
	barrier_var(room); /* the verifier wants to see the bound where it is used */
	if (room > WIRE_KEY_MAX)
		room = WIRE_KEY_MAX;
	if (bpf_probe_read_user(event->keyed.key, room, (void *)key))
		room = 0;
	moment.cpu = out.cpu;
	flags = read_clocks(clock, &event->clocks, &moment);
	note_report(clock, &moment, flags);
	if (length > WIRE_KEY_MAX)
		flags |= WIRE_IS_TRUNCATED;
	if (!room)
		flags |= WIRE_IS_UNREADABLE;
	emit_header(&out, &event->keyed.header, kind, flags, bpf_get_current_pid_tgid(),
		    moment.now_ns);
	event->keyed.name = name;
	event->keyed.key_length = room;
	event->keyed.padding = 0;
	emit_submit(&out, event);
	return 0;
}

PROBE_PROGRAM("uprobe", on_key_begin, uint64_t label, uint64_t key, uint64_t length)
{
	return send_key(clock_of_current(compat_current_task()), WIRE_KEY_BEGIN, key, length,
			label_of(ctx, label));
}

PROBE_PROGRAM("uprobe", on_key_enter, uint64_t key, uint64_t length)
{
	return send_key(clock_of_current(compat_current_task()), WIRE_KEY_ENTER, key, length, 0);
}

PROBE_PROGRAM("uprobe", on_key_exit, uint64_t key, uint64_t length)
{
	return send_key(clock_of_current(compat_current_task()), WIRE_KEY_LEAVE, key, length, 0);
}

PROBE_PROGRAM("uprobe", on_key_end, uint64_t key, uint64_t length)
{
	return send_key(clock_of_current(compat_current_task()), WIRE_KEY_END, key, length, 0);
}

PROBE_PROGRAM("uprobe", on_key_event, uint64_t key, uint64_t length, uint64_t name)
{
	return send_key(clock_of_current(compat_current_task()), WIRE_KEY_INSTANT, key, length,
			label_of(ctx, name));
}

/* ---- the probe of the ring ---- */

static __noinline int ring_announce(struct pt_regs *ctx)
{
	uint64_t pool = PT_REGS_PARM4(ctx), lane = PT_REGS_PARM5(ctx);
	struct thread_clock *clock = clock_of_current(compat_current_task());
	struct wire_pool *event;
	struct emit out;

	if (!clock)
		return 0;
	if (lane && cfg_has_mark_rings)
		mark_ring_add_lane(clock, pool + lane * MARK_PLACE_BYTES);
	event = emit_reserve(&out, WIRE_POOL, sizeof(*event));
	if (!event)
		return emit_lost(&out, WIRE_POOL, bpf_ktime_get_ns());
	emit_header(&out, &event->header, WIRE_POOL, 0, bpf_get_current_pid_tgid(), bpf_ktime_get_ns());
	event->address = pool;
	event->lane = PT_REGS_PARM1(ctx) == MARK_GONE ? WIRE_POOL_GONE : lane;
	event->label_base = label_base(ctx);
	if (PT_REGS_PARM1(ctx) == MARK_FILLING)
		bpf_ringbuf_submit(event, BPF_RB_FORCE_WAKEUP);
	else
		emit_submit(&out, event);
	return 0;
}

/* What is marked, as its own probe would tell it. Each in a frame of its own, which stays small. */
#define RING_ID PT_REGS_PARM2(ctx)
#define RING_NAME PT_REGS_PARM3(ctx)
#define RING_VALUE PT_REGS_PARM4(ctx)
#define RING_LENGTH (PT_REGS_PARM5(ctx) >> 32)

static __noinline int ring_begin(struct pt_regs *ctx)
{
	return on_begin_body(ctx, RING_ID, RING_NAME, RING_VALUE);
}

static __noinline int ring_begin_detached(struct pt_regs *ctx)
{
	return on_begin_detached_body(ctx, RING_ID, RING_NAME, RING_VALUE);
}

static __noinline int ring_enter(struct pt_regs *ctx)
{
	return on_enter_body(ctx, RING_ID);
}

static __noinline int ring_exit(struct pt_regs *ctx)
{
	return on_exit_body(ctx, RING_ID);
}

static __noinline int ring_end(struct pt_regs *ctx)
{
	return on_end_body(ctx, RING_ID);
}

static __noinline int ring_mark(struct pt_regs *ctx)
{
	if (PT_REGS_PARM1(ctx) == MARK_EVENT)
		return on_event_body(ctx, RING_ID, RING_NAME);
	if (PT_REGS_PARM1(ctx) == MARK_COUNTER)
		return on_counter_body(ctx, RING_NAME, RING_VALUE);
	return on_link_body(ctx, RING_ID, RING_VALUE, RING_NAME);
}

static __noinline int ring_text(struct pt_regs *ctx)
{
	uint64_t kind = PT_REGS_PARM1(ctx);

	if (kind == MARK_TAG)
		return on_tag_body(ctx, RING_ID, RING_VALUE);
	if (kind == MARK_ATTR_STRING)
		return send_attribute(ctx, RING_ID, RING_NAME, ATTR_STRING, RING_VALUE);
	return send_attribute(ctx, RING_ID, RING_NAME, kind - MARK_ATTR, RING_VALUE);
}

static __noinline int ring_key(struct pt_regs *ctx)
{
	uint64_t kind = PT_REGS_PARM1(ctx), key = RING_VALUE, length = RING_LENGTH;

	if (kind == MARK_KEY_BEGIN)
		return on_key_begin_body(ctx, RING_NAME, key, length);
	if (kind == MARK_KEY_ENTER)
		return on_key_enter_body(ctx, key, length);
	if (kind == MARK_KEY_EXIT)
		return on_key_exit_body(ctx, key, length);
	return kind == MARK_KEY_END ? on_key_end_body(ctx, key, length)
				    : on_key_event_body(ctx, key, length, RING_NAME);
}

PROBE_PROGRAM("uprobe", on_ring, uint64_t kind)
{
	if (kind == MARK_BEGIN)
		return ring_begin(ctx);
	if (kind == MARK_END)
		return ring_end(ctx);
	if (kind == MARK_BEGIN_DETACHED)
		return ring_begin_detached(ctx);
	if (kind == MARK_ENTER)
		return ring_enter(ctx);
	if (kind == MARK_EXIT)
		return ring_exit(ctx);
	if (kind >= MARK_EVENT && kind <= MARK_LINK)
		return ring_mark(ctx);
	/* not in ring_text(): one frame less, as kernels up to 6.7 count each in steps of 32 bytes */
	if (kind == MARK_ATTR_BYTES)
		return send_bytes(ctx, RING_ID, RING_NAME, RING_VALUE, RING_LENGTH);
	if (kind > MARK_ATTR && kind <= MARK_ATTR_STRING)
		return ring_text(ctx);
	if (kind >= MARK_KEY_BEGIN && kind <= MARK_KEY_EVENT)
		return ring_key(ctx);
	return kind >= MARK_POOL && kind <= MARK_GONE ? ring_announce(ctx) : 0;
}

/* ---- for foreign.bpf.c ---- */

__noinline int foreign_is_traced(void)
{
	return clock_of_current(compat_current_task()) != 0;
}

/* After foreign_is_traced(): it has clocks, and the frames of whoever makes them need not fit in here. */
static __always_inline struct thread_clock *clock_of_traced(void)
{
	return phase == WIRE_PHASE_RECORDING ? thread_clock_of(compat_current_task()) : 0;
}

__noinline int foreign_begin(uint64_t id, uint64_t label, uint64_t parent)
{
	return send_span(clock_of_traced(), WIRE_BEGIN, id, label, parent);
}

__noinline int foreign_end(uint64_t id)
{
	return send_span(clock_of_traced(), WIRE_END, id, 0, 0);
}

__noinline int foreign_abandon(uint64_t id)
{
	return send_span(clock_of_traced(), WIRE_ABANDON, id, 0, 0);
}

__noinline int foreign_key_begin(uint64_t key, uint64_t length, uint64_t label)
{
	return send_key(clock_of_traced(), WIRE_KEY_BEGIN, key, length, label);
}

__noinline int foreign_key_end(uint64_t key, uint64_t length)
{
	return send_key(clock_of_traced(), WIRE_KEY_END, key, length, 0);
}
