/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The way out: a ring buffer per group of CPUs, and per CPU and kind the count
 * of what was sent and what was lost.
 *
 *	struct wire_wake *event = emit_reserve(&out, WIRE_WAKE, sizeof(*event));
 *	uint64_t now_ns = bpf_ktime_get_ns();
 *	if (event) { …; emit_submit(&out, event); }
 *
 * The reservation counts the event as sent, or as lost too. The time is read
 * behind it: see txtrace/event.h.
 *
 * These are inlined rather than called: they stand on every hot path.
 */
#ifndef EMIT_H
#define EMIT_H

#include "vmlinux.h"
#include "txtrace/event.h"

#include <bpf/bpf_helpers.h>

struct ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096); /* the recorder makes the real ones */
};

struct rings_map {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, WIRE_RING_MAX);
	__type(key, uint32_t);
	__array(values, struct ring);
};

extern struct rings_map rings SEC(".maps");
extern struct wire_counters counters[WIRE_CPU_MAX];
extern volatile uint64_t loss_generation; /* raised by the reader when it takes the losses */
extern volatile uint32_t phase;           /* enum wire_phase; the recorder's */
extern volatile bool reader_sleeps;       /* the recorder's: any record wakes it up */

/* rings in use - 1: a power of two - 1; CPU n writes into ring n & mask */
extern const volatile uint32_t cfg_ring_mask;
extern const volatile bool cfg_has_timeline;   /* switches and wakeups are sent */
extern const volatile bool cfg_has_clocks;     /* the scheduler's programs are there: clocks mean something */
/* a CPU wakes the reader up each time that it has sent so many bytes; a power of two */
extern const volatile uint64_t cfg_wake_bytes;

struct emit {
	struct wire_counters *counters;
	uint32_t cpu;
	uint32_t size;
};

/* 0, which is what a program returns. */
static __always_inline int emit_lost(struct emit *out, const uint32_t kind, uint64_t now_ns)
{
	struct wire_counters *c = out->counters;

	if (c->generation != loss_generation) {
		c->first_lost_ns = now_ns;
		c->generation = loss_generation;
	}
	c->last_lost_ns = now_ns;
	__sync_fetch_and_add(&c->lost[kind], 1);
	return 0;
}

/*
 * kind and size are constants. The counts are atomic: a program on a probe can
 * be preempted by another one on the same CPU.
 */
static __always_inline void *emit_reserve(struct emit *out, const uint32_t kind, const uint32_t size)
{
	uint32_t ring_idx;
	void *ring;

	out->cpu = bpf_get_smp_processor_id();
	out->size = size;
	out->counters = &counters[out->cpu & (WIRE_CPU_MAX - 1)];
	__sync_fetch_and_add(&out->counters->sent[kind], 1);
	ring_idx = out->cpu & cfg_ring_mask;
	ring = bpf_map_lookup_elem(&rings, &ring_idx);
	return ring ? bpf_ringbuf_reserve(ring, size, 0) : 0;
}

/* Takes back what was reserved, to send it in another size. */
static __always_inline void emit_discard(struct emit *out, const uint32_t kind, void *record)
{
	bpf_ringbuf_discard(record, BPF_RB_NO_WAKEUP);
	__sync_fetch_and_add(&out->counters->sent[kind], -1);
}

static __always_inline void emit_header(struct emit *out, struct wire_header *header, uint8_t kind,
					uint16_t flags, uint64_t pid_tgid, uint64_t now_ns)
{
	header->time_ns = now_ns;
	header->tid = (uint32_t)pid_tgid;
	header->tgid = pid_tgid >> 32;
	header->flags = flags;
	header->size = out->size;
	header->cpu = out->cpu;
	header->kind = kind;
	header->padding = 0;
}

/*
 * The reader looks by itself every so often; it is woken only by the record with
 * which a CPU has sent another cfg_wake_bytes: a wake-up per record costs more
 * than everything else together. To ask the ring how much of that is unread would
 * be another call. A program that preempts another one may count at the same
 * time: then some bytes are not counted, and the reader is woken later.
 */
static __always_inline void emit_submit(struct emit *out, void *record)
{
	uint64_t sent_bytes = out->counters->sent_bytes += out->size + 8;
	bool passes = (sent_bytes & (cfg_wake_bytes - 1)) < out->size + 8;

	bpf_ringbuf_submit(record, passes || reader_sleeps ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP);
}

#endif
