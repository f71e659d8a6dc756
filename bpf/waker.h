/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who is at work on this CPU: the current thread, or an interrupt on top of it,
 * and of which sort? No helper tells (up to 6.18). Two things do:
 *
 * - An interrupt of the kernel runs on a stack of its own, and a program's
 *   frame lies on the stack of whoever called it, as long as it takes less than
 *   64 bytes (6.13: else it may get a private one; tests/lint/bpf_stacks.py
 *   looks). An interrupt of user code stays on the thread's stack: there the
 *   thread is in no system call. That costs next to nothing, and mostly says
 *   that it is the thread.
 * - The preempt count says it all. On aarch64 it is a field of the thread. On
 *   x86-64 it is a per-CPU variable, whose address kallsyms does not tell where
 *   it has no data symbols; but BTF has the places of all per-CPU variables
 *   among each other, and one of them can be reached: a thread's cfs_rq knows
 *   the struct rq of its CPU. The recorder computes the distances
 *   (userspace/attach/probes/percpu_layout.h).
 */
#ifndef WAKER_H
#define WAKER_H

#include "vmlinux.h"
#include "compat.h"
#include "txtrace/event.h"

/*
 * From this CPU's `runqueues` to other per-CPU variables, in bytes; 0: not
 * known. Set by the recorder before loading.
 */
const volatile int64_t cfg_preempt_count_offset;
const volatile int64_t cfg_hrtimer_bases_offset;
const volatile int64_t cfg_timer_bases_offset;
const volatile uint32_t cfg_interrupt_mask; /* of the preempt count: in an interrupt, or NMI */

/* The preempt count, the same since 2.6: only serving a softirq counts by this bit. */
#define COUNT_IN_SOFTIRQ 0x100

#define TASK_IS_KERNELS 0x00200000 /* PF_KTHREAD, the same since 2.6.27: it never was in user code */

/* This CPU's struct rq; 0: not to be had. */
static __always_inline struct rq *waker_rq(struct task_struct *current_task)
{
	struct cfs_rq *queue = 0;
	struct rq *rq;

	if (!bpf_core_field_exists(current_task->se.cfs_rq) || !bpf_core_field_exists(queue->rq))
		return 0;
	rq = BPF_CORE_READ(current_task, se.cfs_rq, rq);
	return rq && BPF_CORE_READ(rq, cpu) == (int)bpf_get_smp_processor_id() ? rq : 0;
}

static __always_inline bool waker_preempt_count(struct task_struct *current_task, struct rq *rq,
						uint32_t *count)
{
#if defined(__TARGET_ARCH_arm64)
	*count = BPF_CORE_READ((struct task_struct___aarch64 *)(void *)current_task,
			       thread_info.preempt.count);
	return true;
#else
	return rq && cfg_preempt_count_offset &&
	       !bpf_probe_read_kernel(count, sizeof(*count), (const void *)rq + cfg_preempt_count_offset);
#endif
}

/* The interrupt runs high resolution timers: sleeps with a time, the scheduler's tick. */
static __always_inline bool waker_runs_hrtimers(struct rq *rq)
{
	struct hrtimer_cpu_base *base = (void *)rq + cfg_hrtimer_bases_offset;

	return rq && cfg_hrtimer_bases_offset && compat_runs_hrtimers(base);
}

#define TIMER_BASE_MAX 3 /* 6.9: local, global, deferrable; before: standard, deferrable */

/* The softirq runs a timer of the wheel: time limits of the network and the like. */
static __always_inline bool waker_runs_timers(struct rq *rq)
{
	struct timer_base *base = (void *)rq + cfg_timer_bases_offset;

	if (!rq || !cfg_timer_bases_offset || !bpf_core_field_exists(base->running_timer))
		return false;
#pragma unroll
	for (int i = 0; i < TIMER_BASE_MAX - 1; i++) { /* deferrable ones are the kernel's own */
		if (BPF_CORE_READ(base, running_timer))
			return true;
		base = (void *)base + bpf_core_type_size(struct timer_base);
	}
	return false;
}

/* By the preempt count. Not inlined: what it keeps in its frame would make the caller's too large. */
static __noinline uint16_t waker_flags_by_count(struct task_struct *current_task, bool is_on_thread_stack)
{
	struct rq *rq = waker_rq(current_task);
	uint32_t count;

	if (!waker_preempt_count(current_task, rq, &count))
		return is_on_thread_stack ? WIRE_WAKER_UNKNOWN : WIRE_IN_INTERRUPT;
	if (count & cfg_interrupt_mask)
		return WIRE_IN_INTERRUPT | (waker_runs_hrtimers(rq) ? WIRE_BY_TIMER : 0);
	if (count & COUNT_IN_SOFTIRQ)
		return WIRE_IN_INTERRUPT | (waker_runs_timers(rq) ? WIRE_BY_TIMER : WIRE_IN_SOFTIRQ);
	return 0;
}

/*
 * Flags of enum wire_flag for a WAKE: 0 is the current thread itself.
 * current_task: from compat_current_task(). scratch: memory to spill a pointer
 * into, which makes it a number to the verifier; overwritten. To be inlined into
 * a program with a small frame.
 */
static __always_inline uint16_t waker_flags(struct task_struct *current_task, volatile uint64_t *scratch)
{
	const bool is_typed = compat_has_task_storage();
	void *stack = is_typed ? current_task->stack : BPF_CORE_READ(current_task, stack);
	bool is_kernels = (is_typed ? current_task->flags : BPF_CORE_READ(current_task, flags)) &
			  TASK_IS_KERNELS;
	uint64_t offset, frame_end;

	asm volatile("%0 = r10" : "=r"(frame_end)); /* no variable in the frame: it has to stay small */
	*scratch = frame_end - 1;
	offset = *scratch - (uint64_t)stack;
	*scratch = 0;
	if (offset < THREAD_STACK_BYTES && (is_kernels || compat_syscall_nr(current_task) >= 0))
		return 0;
	return waker_flags_by_count(current_task, offset < THREAD_STACK_BYTES);
}

#endif
