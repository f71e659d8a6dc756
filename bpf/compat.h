/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Every difference between kernels and architectures that the programs know of,
 * each with the version that made it.
 */
#ifndef COMPAT_H
#define COMPAT_H

#include "vmlinux.h"
#include "txtrace/foreign.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

/* Set by the recorder before loading, from the kernel's BTF; what is false is cut away by the verifier. */
/* 5.18: sched_switch hands over the state as its fourth argument */
extern const volatile bool cfg_has_prev_state;
extern const volatile bool cfg_has_task_pt_regs;  /* 5.15: bpf_task_pt_regs() */
extern const volatile bool cfg_has_attach_cookie; /* 5.15: bpf_get_attach_cookie() */

/*
 * 5.13: tracing programs may keep things in a task's storage; a field of
 * task_struct came with it. An immediate number, so what is false costs
 * nothing. What 5.11 brought (bpf_get_current_task_btf) is asked by it, too.
 * The recorder asks the same question (kernel_features.h), to make the map that
 * is used.
 */
struct task_struct___since_5_13 {
	void *bpf_storage;
} __attribute__((preserve_access_index));

static __always_inline bool compat_has_task_storage(void)
{
	struct task_struct___since_5_13 *task = 0;

	return bpf_core_field_exists(task->bpf_storage);
}

/* Whether any BPF program has stored something for the task. Where compat_has_task_storage() is true. */
static __always_inline bool compat_has_storage(struct task_struct *task)
{
	return ((struct task_struct___since_5_13 *)(void *)task)->bpf_storage;
}

/*
 * The current task. Before 5.13 it is a mere number to the verifier, so its
 * fields are read by BPF_CORE_READ there.
 */
static __always_inline struct task_struct *compat_current_task(void)
{
	return compat_has_task_storage() ? bpf_get_current_task_btf()
					 : (struct task_struct *)bpf_get_current_task();
}

/* current_task: from compat_current_task(). */
static __always_inline __u64 compat_current_pid_tgid(struct task_struct *current_task)
{
	return compat_has_task_storage() ? (__u64)current_task->tgid << 32 | (__u32)current_task->pid
					 : bpf_get_current_pid_tgid();
}

#define TASK_COMM_BYTES 16

/* Its name. Two loads: the helper that copies it takes a fifth of a wakeup's program. */
static __always_inline void compat_current_comm(struct task_struct *current_task, char comm[TASK_COMM_BYTES])
{
	if (compat_has_task_storage()) {
		((__u64 *)comm)[0] = ((const __u64 *)current_task->comm)[0];
		((__u64 *)comm)[1] = ((const __u64 *)current_task->comm)[1];
	} else {
		bpf_get_current_comm(comm, TASK_COMM_BYTES);
	}
}

/*
 * An index that the verifier believes in: it is checked in the register that is
 * then used. Up to 6.3 a bound is lost to any copy of the number that clang had
 * put on the stack before. What is not below the limit becomes 0.
 */
static __always_inline __u64 compat_index(__u64 index, const __u32 limit)
{
	asm volatile("if %[index] < %[limit] goto +1\n\t%[index] = 0"
		     : [index] "+r"(index)
		     : [limit] "i"(limit));
	return index;
}

/*
 * Since 6.13 a program with a frame of 64 bytes or more has a stack of its own
 * on each CPU. That is safe where the kernel does not run a program that runs
 * on the CPU already; programs of uprobes it does run: one that is preempted by
 * a thread that comes to the same probe finds the other's values in its frame.
 * So each of them does this first: a program in which there is a tail call
 * works on the thread's stack. It is never made, and cut away.
 */
static __always_inline void compat_use_thread_stack(void)
{
	asm volatile("r0 = 0\n\tif r0 == 0 goto +1\n\tcall 12" ::: "r0", "r1", "r2", "r3", "r4", "r5");
}

/*
 * A program of a probe of user code, with arguments as in BPF_KPROBE:
 *
 *	PROBE_PROGRAM("uprobe", on_enter, uint64_t id)
 *	{
 *		return ...;
 *	}
 */
#define PROBE_PROGRAM(section, name, args...)                                      \
	static __always_inline int name##_body(struct pt_regs *ctx, ##args);       \
	SEC(section) int name(struct pt_regs *ctx)                                 \
	{                                                                          \
		compat_use_thread_stack();                                         \
		_Pragma("GCC diagnostic push")                                     \
		_Pragma("GCC diagnostic ignored \"-Wint-conversion\"")             \
		return name##_body(___bpf_kprobe_args(args));                      \
		_Pragma("GCC diagnostic pop")                                      \
	}                                                                          \
	static __always_inline int name##_body(struct pt_regs *ctx, ##args)

/* 5.14 renamed task_struct.state to __state and made it an unsigned int. */
struct task_struct___before_5_14 {
	volatile long state;
} __attribute__((preserve_access_index));

static __always_inline unsigned int compat_task_state(struct task_struct *task)
{
	struct task_struct___before_5_14 *old = (void *)task;

	if (bpf_core_field_exists(old->state))
		return (unsigned int)old->state;
	return task->__state;
}

/*
 * The address from which a thread counts its own variables. On aarch64 it is what it was when the thread left
 * its CPU the time before; 0: that was never.
 */
static __always_inline uint64_t compat_thread_pointer(struct task_struct *task)
{
#if defined(__TARGET_ARCH_x86)
	return task->thread.fsbase;
#elif defined(__TARGET_ARCH_arm64)
	return ((struct task_struct___aarch64 *)task)->thread.uw.tp_value;
#endif
}

/* 5.16 moved task_struct.cpu into its thread_info. */
struct task_struct___before_5_16 {
	unsigned int cpu;
} __attribute__((preserve_access_index));

static __always_inline unsigned int compat_task_cpu(struct task_struct *task)
{
	struct task_struct___before_5_16 *old = (void *)task;

	if (bpf_core_field_exists(old->cpu))
		return BPF_CORE_READ(old, cpu);
	return BPF_CORE_READ(task, thread_info.cpu);
}

/*
 * Has the task's cgroup used up its CPU time? Since 6.18 a task is taken off
 * its queue one by one and says so itself; before, its whole queue is, and
 * counts. Without CONFIG_CFS_BANDWIDTH there is neither.
 */
struct task_struct___since_6_18 {
	bool throttled;
} __attribute__((preserve_access_index));

struct cfs_rq___with_bandwidth {
	int throttle_count;
} __attribute__((preserve_access_index));

static __always_inline bool compat_is_throttled(struct task_struct *task)
{
	struct task_struct___since_6_18 *since_6_18 = (void *)task;
	struct cfs_rq___with_bandwidth *queue = 0;

	if (bpf_core_field_exists(since_6_18->throttled))
		return BPF_CORE_READ(since_6_18, throttled);
	if (!bpf_core_field_exists(queue->throttle_count) || !bpf_core_field_exists(task->se.cfs_rq))
		return false;
	queue = (void *)BPF_CORE_READ(task, se.cfs_rq);
	return queue && BPF_CORE_READ(queue, throttle_count) > 0;
}

/* With CONFIG_FAIR_GROUP_SCHED, a task leads to the queue that it is in, of whatever class it is. */
struct rq___of_cfs_rq {
	struct task_struct *curr;
} __attribute__((preserve_access_index));

struct cfs_rq___with_rq {
	struct rq___of_cfs_rq *rq;
} __attribute__((preserve_access_index));

/*
 * Who has the CPU that a task is queued on; NULL: not known. What it points to
 * may be gone in a moment: to be read with probe reads.
 */
static __always_inline struct task_struct *compat_queue_current(struct task_struct *task)
{
	struct cfs_rq___with_rq *queue = 0;
	struct rq___of_cfs_rq *rq;

	if (!bpf_core_field_exists(queue->rq) || !bpf_core_field_exists(task->se.cfs_rq))
		return 0;
	queue = (void *)BPF_CORE_READ(task, se.cfs_rq);
	rq = queue ? BPF_CORE_READ(queue, rq) : 0;
	return rq ? BPF_CORE_READ(rq, curr) : 0;
}

/*
 * 7.3: an interrupt that runs high resolution timers sets a flag of another name
 * for as long as it puts off to set the hardware's timer, which is at least as long.
 */
struct hrtimer_cpu_base___since_7_3 {
	bool deferred_rearm;
} __attribute__((preserve_access_index));

static __always_inline bool compat_runs_hrtimers(struct hrtimer_cpu_base *base)
{
	struct hrtimer_cpu_base___since_7_3 *since_7_3 = (void *)base;

	if (bpf_core_field_exists(since_7_3->deferred_rearm))
		return BPF_CORE_READ(since_7_3, deferred_rearm);
	return bpf_core_field_exists(base->in_hrtirq) && BPF_CORE_READ_BITFIELD_PROBED(base, in_hrtirq);
}

/*
 * Files that are registered with an io_uring, before 6.13. The lowest bits of
 * file_ptr are flags, then as later.
 */
struct io_fixed_file___before_6_13 {
	unsigned long file_ptr;
} __attribute__((preserve_access_index));

struct io_file_table___before_6_13 {
	struct io_fixed_file___before_6_13 *files;
} __attribute__((preserve_access_index));

struct io_ring_ctx___before_6_13 {
	unsigned int nr_user_files;
	struct io_file_table___before_6_13 file_table;
} __attribute__((preserve_access_index));

#define REGISTERED_FILE_FLAGS 7ul

/* The one with this number; NULL: there is none. */
static __always_inline struct file *compat_registered_file(struct io_ring_ctx *ring, uint32_t number)
{
	struct io_ring_ctx___before_6_13 *old = (void *)ring;
	struct io_rsrc_node *node = 0;
	unsigned long file = 0;

	if (bpf_core_field_exists(ring->file_table.data.nodes)) {
		if (number < BPF_CORE_READ(ring, file_table.data.nr))
			bpf_probe_read_kernel(&node, sizeof(node),
					      BPF_CORE_READ(ring, file_table.data.nodes) + number);
		file = node ? BPF_CORE_READ(node, file_ptr) : 0;
	} else if (bpf_core_field_exists(old->file_table.files) &&
		   number < BPF_CORE_READ(old, nr_user_files)) {
		bpf_probe_read_kernel(&file, sizeof(file), BPF_CORE_READ(old, file_table.files) + number);
	}
	return (void *)(file & ~REGISTERED_FILE_FLAGS);
}

/*
 * What a hit probe means. Before 5.15 a uprobe has no cookie; what it keeps of
 * whoever attached it is the path under which that one named the file, and the
 * recorder writes the cookie into that (probe_path.h). Unchanged from 5.0 to
 * 5.14: while a program of a perf uprobe runs, its task leads to the uprobe.
 */
struct trace_uprobe___before_5_15 {
	char *filename;
} __attribute__((preserve_access_index));

struct uprobe_dispatch_data___before_5_15 {
	struct trace_uprobe___before_5_15 *tu;
} __attribute__((preserve_access_index));

struct uprobe_task___before_5_15 {
	unsigned long vaddr;
} __attribute__((preserve_access_index));

struct task_struct___before_5_15 {
	struct uprobe_task___before_5_15 *utask;
} __attribute__((preserve_access_index));

/* -1: it cannot be read. Not inlined: the frames of its callers are as large as they may be before 6.0. */
static __noinline int64_t compat_path_cookie(void)
{
	struct task_struct___before_5_15 *task = (void *)bpf_get_current_task();
	struct uprobe_dispatch_data___before_5_15 *hit = (void *)BPF_CORE_READ(task, utask, vaddr);
	char *path = BPF_CORE_READ(hit, tu, filename);
	char digits[PROBE_PATH_COOKIE_BITS * 2];
	int64_t cookie = 0;

	if (bpf_probe_read_kernel(digits, sizeof(digits), path + PROBE_PATH_PREFIX_BYTES))
		return -1;
#pragma unroll
	for (int i = 0; i < PROBE_PATH_COOKIE_BITS; i++)
		cookie |= (int64_t)PROBE_PATH_BIT(digits[2 * i + 1]) << i;
	return cookie;
}

static __always_inline int64_t compat_cookie(void *ctx)
{
	return cfg_has_attach_cookie ? (int64_t)bpf_get_attach_cookie(ctx) : compat_path_cookie();
}

#define THREAD_STACK_BYTES 16384 /* x86-64 and aarch64 without KASAN */

#define SYSCALL_NONE (-1)
#define SYSCALL_UNKNOWN (-2)

/* The system call that a task is in, and its first arguments. */
struct syscall_entry {
	long nr; /* or SYSCALL_NONE, SYSCALL_UNKNOWN */
	__u64 first_argument;
	__u64 second_argument;
	__u64 third_argument;
	__u64 fourth_argument;
};

#if defined(__TARGET_ARCH_x86)
#define SYSCALL_UPROBE 336
#else
#define SYSCALL_UPROBE SYSCALL_UNKNOWN
#endif

/* 6.18: a probe that is a call of the kernel, which the program did not make. Like a trap, it may wait. */
static __always_inline bool compat_is_probe(long nr)
{
	return nr >= 0 && nr == SYSCALL_UPROBE;
}

/* Where the saved registers are without being told: at the end of the kernel's stack. */
static __always_inline struct syscall_entry compat_syscall_before_5_15(struct task_struct *task)
{
	struct syscall_entry entry = {
		.nr = SYSCALL_UNKNOWN, .first_argument = 0, .second_argument = 0, .third_argument = 0
	};
	void *end = BPF_CORE_READ(task, stack) + THREAD_STACK_BYTES;

#if defined(__TARGET_ARCH_x86)
	struct pt_regs *regs = end - bpf_core_type_size(struct pt_regs);

	entry.nr = (int)BPF_CORE_READ(regs, orig_ax);
	entry.first_argument = BPF_CORE_READ(regs, di);
	entry.second_argument = BPF_CORE_READ(regs, si);
	entry.third_argument = BPF_CORE_READ(regs, dx);
#elif defined(__TARGET_ARCH_arm64)
	struct pt_regs___aarch64 *regs = end - bpf_core_type_size(struct pt_regs___aarch64);
	struct user_pt_regs *user_regs = (void *)regs;

	entry.nr = BPF_CORE_READ(regs, syscallno);
	entry.first_argument = BPF_CORE_READ(regs, orig_x0);
	entry.second_argument = BPF_CORE_READ(user_regs, regs[1]);
	entry.third_argument = BPF_CORE_READ(user_regs, regs[2]);
#endif
	if (entry.nr < 0)
		entry.nr = SYSCALL_NONE;
	return entry;
}

static __always_inline struct syscall_entry compat_syscall(struct task_struct *task)
{
	struct syscall_entry entry = { .nr = SYSCALL_UNKNOWN,
				       .first_argument = 0,
				       .second_argument = 0,
				       .third_argument = 0,
				       .fourth_argument = 0 };

	if (!cfg_has_task_pt_regs)
		return compat_syscall_before_5_15(task);
#if defined(__TARGET_ARCH_x86)
	struct pt_regs *regs = (void *)bpf_task_pt_regs(task);

	entry.nr = (int)regs->orig_ax;
	entry.first_argument = regs->di;
	entry.second_argument = regs->si;
	entry.third_argument = regs->dx;
	entry.fourth_argument = regs->r10;
#elif defined(__TARGET_ARCH_arm64)
	struct pt_regs___aarch64 *regs = (void *)bpf_task_pt_regs(task);

	entry.nr = regs->syscallno;
	entry.first_argument = regs->orig_x0;
	entry.second_argument = ((struct user_pt_regs *)regs)->regs[1];
	entry.third_argument = ((struct user_pt_regs *)regs)->regs[2];
	entry.fourth_argument = ((struct user_pt_regs *)regs)->regs[3];
#endif
	if (entry.nr < 0)
		entry.nr = SYSCALL_NONE;
	return entry;
}

/*
 * Unchanged since 3.5, but private to the kernel's uprobes; the return address
 * of a hooked function is the first byte of this area.
 */
struct xol_area___of_uprobes {
	unsigned long vaddr;
} __attribute__((preserve_access_index));

struct uprobes_state___of_mm {
	struct xol_area___of_uprobes *xol_area;
} __attribute__((preserve_access_index));

struct mm_struct___with_uprobes {
	struct uprobes_state___of_mm uprobes_state;
} __attribute__((preserve_access_index));

/* Where a hooked function of the task returns to; 0: none was hooked so far, or this kernel does not tell. */
static __always_inline uint64_t compat_return_hook(struct task_struct *task)
{
	struct mm_struct___with_uprobes *mm = (void *)BPF_CORE_READ(task, mm);
	struct xol_area___of_uprobes *area = 0;

	if (!mm || !bpf_core_field_exists(mm->uprobes_state) || !bpf_core_field_exists(area->vaddr))
		return 0;
	area = BPF_CORE_READ(mm, uprobes_state.xol_area);
	return area ? BPF_CORE_READ(area, vaddr) : 0;
}

/* Its number alone: without the arguments it fits into a small frame. */
static __always_inline long compat_syscall_nr(struct task_struct *task)
{
	long nr = SYSCALL_UNKNOWN;

#if defined(__TARGET_ARCH_x86)
	struct pt_regs *regs;

	if (cfg_has_task_pt_regs) {
		regs = (void *)bpf_task_pt_regs(task);
		nr = (int)regs->orig_ax;
	} else {
		regs = BPF_CORE_READ(task, stack) + THREAD_STACK_BYTES - bpf_core_type_size(struct pt_regs);
		nr = (int)BPF_CORE_READ(regs, orig_ax);
	}
#elif defined(__TARGET_ARCH_arm64)
	struct pt_regs___aarch64 *regs;

	if (cfg_has_task_pt_regs) {
		regs = (void *)bpf_task_pt_regs(task);
		nr = regs->syscallno;
	} else {
		regs = BPF_CORE_READ(task, stack) + THREAD_STACK_BYTES -
		       bpf_core_type_size(struct pt_regs___aarch64);
		nr = BPF_CORE_READ(regs, syscallno);
	}
#endif
	return nr < 0 ? SYSCALL_NONE : nr;
}

#endif
