// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What interrupts take of the time that traced threads are on a CPU; loaded with --irq only.
 *
 * Handlers and softirqs nest, and a CPU does one after the other: the time from the first one's begin to the
 * last one's end goes to the thread that is on that CPU, from on_cpu to interrupt. Between two handlers of
 * one interrupt, and before the first and after the last, the kernel's entry code runs: that stays with the
 * thread. Its clocks count as moved, so that its next event takes them along. What a hypervisor stole
 * meanwhile is the thread's stolen time.
 */
#include "vmlinux.h"
#include "emit.h"
#include "mark_ring.h"
#include "thread_clock.h"

/* Of one CPU. Nobody else touches it, and interrupts that nest leave it as they found it. */
struct interrupt {
	uint64_t since_ns;
	uint64_t steal_ns; /* as the CPU's steal clock, if that is exact */
	uint32_t depth;
	uint32_t padding;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct interrupt);
} interrupts SEC(".maps");

static __always_inline struct interrupt *interrupt_here(void)
{
	uint32_t zero = 0;

	return bpf_map_lookup_elem(&interrupts, &zero);
}

static __always_inline int enter(void)
{
	struct interrupt *here = interrupt_here();

	if (!here || here->depth++)
		return 0;
	here->since_ns = bpf_ktime_get_ns();
	if (steal_is_exact())
		here->steal_ns = steal_of(bpf_get_smp_processor_id());
	return 0;
}

/*
 * A thread whose switch-in was not seen is in no known state: its time is unknown as a whole. Another
 * interrupt may come in between, and charge its own time: so each number is changed at once.
 */
static __always_inline void charge(uint64_t since_ns, uint64_t now_ns, uint64_t stolen_ns)
{
	struct thread_clock *clock = thread_clock_if_any(compat_current_task());

	if (!clock || clock->now.state != WIRE_THREAD_ON_CPU || phase == WIRE_PHASE_STOPPED)
		return;
	if (since_ns < clock->now.since_ns)
		since_ns = clock->now.since_ns;
	since_ns += stolen_ns;
	if (since_ns >= now_ns)
		return;
	/* what it has marked in memory before the interrupt knows nothing of that */
	mark_ring_leave(compat_current_task(), clock, since_ns);
	__sync_fetch_and_add(&clock->clocks.interrupt_ns, now_ns - since_ns);
	/* the stay that goes on has more than that */
	__sync_fetch_and_add(&clock->clocks.on_cpu_ns, since_ns - now_ns);
	__sync_fetch_and_add(&clock->now.switch_cnt, 1);
}

/*
 * The times are read while this one still counts: what comes after it has times of its own. Whatever began
 * unseen counts for nothing.
 */
static __always_inline int leave(void)
{
	struct interrupt *here = interrupt_here();
	uint64_t since_ns, stolen_ns = 0, now_ns;

	if (!here || !here->depth)
		return 0;
	since_ns = here->since_ns;
	now_ns = bpf_ktime_get_ns();
	if (steal_is_exact())
		stolen_ns = steal_between(here->steal_ns, steal_of(bpf_get_smp_processor_id()));
	if (!--here->depth)
		charge(since_ns, now_ns, stolen_ns);
	return 0;
}

#define INTERRUPT(name)											\
	SEC("?tp_btf/" #name "_entry")									\
	int on_##name##_entry(void *ctx)								\
	{												\
		return enter();										\
	}												\
	SEC("?tp_btf/" #name "_exit")									\
	int on_##name##_exit(void *ctx)									\
	{												\
		return leave();										\
	}

INTERRUPT(irq_handler)
INTERRUPT(softirq)

/* x86 */
INTERRUPT(local_timer)
INTERRUPT(reschedule)
INTERRUPT(call_function)
INTERRUPT(call_function_single)
INTERRUPT(irq_work)
INTERRUPT(x86_platform_ipi)
INTERRUPT(error_apic)
INTERRUPT(spurious_apic)
INTERRUPT(threshold_apic)
INTERRUPT(deferred_error_apic)
INTERRUPT(thermal_apic)

/* aarch64: the reasons of all interprocessor interrupts, the timer's comes as an irq_handler */
INTERRUPT(ipi)
