/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the kernel's per-CPU variables lie among each other: BTF tells their
 * places in the section that each CPU has a copy of. So who has the address of
 * one of a CPU's variables has those of the others, without any symbols.
 * bpf/waker.h and bpf/steal.h use it.
 */
#ifndef PERCPU_LAYOUT_H
#define PERCPU_LAYOUT_H

#include <bpf/btf.h>
#include <stdint.h>

/* Distances, in bytes, from the CPU's `runqueues`; 0: this kernel has no such variable, or does not tell. */
struct percpu_layout {
	int64_t preempt_count; /* x86-64; 6.2 to 6.14 in `pcpu_hot` */
	int64_t hrtimer_bases;
	int64_t timer_bases;
	int64_t kvm_steal;   /* x86-64: the clock in `steal_time` */
	int64_t queue_steal; /* the queue's own prev_steal_time_rq */
	/* no distance: the bits of the preempt count that are set in an interrupt or NMI */
	uint32_t interrupt_mask;
};

void percpu_layout_read(const struct btf *btf, struct percpu_layout *layout);

#endif
