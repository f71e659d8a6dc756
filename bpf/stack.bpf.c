// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "stack.h"
#include "compat.h"
#include "emit.h"
#include "thread_clock.h"

#include <bpf/bpf_core_read.h>

const volatile bool cfg_stacks_off_cpu;
const volatile bool cfg_names_futexes;
/* rather than follow frame pointers, which most libraries lack */
const volatile bool cfg_copies_stacks;
const volatile uint64_t cfg_sample_ns; /* that an on-CPU sample stands for */
/* with more than that unread in its ring, nobody looks at a futex: it is seen again */
const volatile uint64_t cfg_first_look_bytes;
uint32_t fault_range_cnt;

#define FAULT_RANGE_MAX 16
#define FAULT_FRAME_MAX 24

struct fault_range {
	uint64_t begin, end;
	uint64_t fault; /* enum block_fault */
};

struct fault_range fault_ranges[FAULT_RANGE_MAX];

#define WORD_CNT (WIRE_STACK_KERNEL_MAX + WIRE_STACK_USER_MAX + 1)
#define WORD_CNT_SMALL 48
#define PAGE_BYTES 4096

struct scratch {
	uint64_t kernel[WIRE_STACK_KERNEL_MAX];
	uint64_t user[WIRE_STACK_USER_MAX + 1];
	uint64_t words[WORD_CNT];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct scratch);
} scratches SEC(".maps");

/*
 * A futex of an address space; exec makes a new one, so the old one's futexes are not taken for the new
 * one's.
 */
struct futex_key {
	uint64_t mm;
	uint64_t address;
};

#define FUTEX_MAX 16384 /* further ones stay without a name */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, FUTEX_MAX);
	__type(key, struct futex_key);
	__type(value, uint32_t); /* the process: another one may get the same mm later */
} futexes_seen SEC(".maps");

struct stack_small {
	struct wire_stack stack;
	uint64_t words[WORD_CNT_SMALL];
};

struct stack_large {
	struct wire_stack stack;
	uint64_t words[WORD_CNT];
};

/* What is known before there is room for it. */
struct look {
	uint64_t begin_ns;
	uint64_t object;
	uint32_t what;
	uint32_t wants_kernel;
};

static __always_inline struct scratch *scratch_of_cpu(void)
{
	uint32_t zero = 0;

	return bpf_map_lookup_elem(&scratches, &zero);
}

static __always_inline void fill(struct emit *out, struct wire_stack *stack, const struct look *look,
				 uint32_t kernel_cnt, uint32_t user_cnt)
{
	emit_header(out, &stack->header, WIRE_STACK, 0, bpf_get_current_pid_tgid(), bpf_ktime_get_ns());
	stack->begin_ns = look->begin_ns;
	stack->object = look->object;
	stack->what = look->what;
	stack->has_registers = 0;
	stack->kernel_cnt = kernel_cnt;
	stack->user_cnt = user_cnt;
	stack->byte_cnt = 0;
#pragma unroll
	for (int i = 0; i < WIRE_STACK_REGISTER_COUNT; i++)
		stack->registers[i] = 0;
}

/* How many addresses the helper has written; it fails for a thread without user code. */
static __always_inline uint32_t address_cnt(long bytes, uint32_t max)
{
	uint32_t cnt = bytes > 0 ? (uint32_t)bytes / 8 : 0;

	return cnt < max ? cnt : max;
}

static __always_inline void send_addresses(void *ctx, const struct look *look)
{
	struct scratch *scratch = scratch_of_cpu();
	uint32_t kernel_cnt = 0, user_cnt;
	struct emit out;

	if (!scratch)
		return;
	if (look->wants_kernel)
		kernel_cnt = address_cnt(bpf_get_stack(ctx, scratch->kernel, sizeof(scratch->kernel), 0),
					 WIRE_STACK_KERNEL_MAX);
	user_cnt = address_cnt(bpf_get_stack(ctx, scratch->user, WIRE_STACK_USER_MAX * 8, BPF_F_USER_STACK),
			       WIRE_STACK_USER_MAX);
	barrier_var(kernel_cnt);
	if (kernel_cnt > WIRE_STACK_KERNEL_MAX)
		return;
	bpf_probe_read_kernel(scratch->words, kernel_cnt * 8, scratch->kernel);
	bpf_probe_read_kernel(scratch->words + kernel_cnt, sizeof(scratch->user), scratch->user);
	if (kernel_cnt + user_cnt <= WORD_CNT_SMALL) {
		struct stack_small *small = emit_reserve(&out, WIRE_STACK, sizeof(*small));

		if (!small) {
			emit_lost(&out, WIRE_STACK, bpf_ktime_get_ns());
			return;
		}
		fill(&out, &small->stack, look, kernel_cnt, user_cnt);
		bpf_probe_read_kernel(small->words, sizeof(small->words), scratch->words);
		emit_submit(&out, small);
	} else {
		struct stack_large *large = emit_reserve(&out, WIRE_STACK, sizeof(*large));

		if (!large) {
			emit_lost(&out, WIRE_STACK, bpf_ktime_get_ns());
			return;
		}
		fill(&out, &large->stack, look, kernel_cnt, user_cnt);
		bpf_probe_read_kernel(large->words, sizeof(large->words), scratch->words);
		emit_submit(&out, large);
	}
}

#if defined(__TARGET_ARCH_x86)
static __always_inline void copy_registers(struct wire_stack *stack, struct task_struct *task)
{
	struct pt_regs *regs = (void *)bpf_task_pt_regs(task);

	stack->registers[0] = regs->ax;
	stack->registers[1] = regs->dx;
	stack->registers[2] = regs->cx;
	stack->registers[3] = regs->bx;
	stack->registers[4] = regs->si;
	stack->registers[5] = regs->di;
	stack->registers[6] = regs->bp;
	stack->registers[7] = regs->sp;
	stack->registers[8] = regs->r8;
	stack->registers[9] = regs->r9;
	stack->registers[10] = regs->r10;
	stack->registers[11] = regs->r11;
	stack->registers[12] = regs->r12;
	stack->registers[13] = regs->r13;
	stack->registers[14] = regs->r14;
	stack->registers[15] = regs->r15;
	stack->registers[16] = regs->ip;
	stack->has_registers = 1;
}
#elif defined(__TARGET_ARCH_arm64)
static __always_inline void copy_registers(struct wire_stack *stack, struct task_struct *task)
{
	struct user_pt_regs *regs = (void *)bpf_task_pt_regs(task);

	stack->registers[0] = regs->regs[19];
	stack->registers[1] = regs->regs[20];
	stack->registers[2] = regs->regs[21];
	stack->registers[3] = regs->regs[22];
	stack->registers[4] = regs->regs[23];
	stack->registers[5] = regs->regs[24];
	stack->registers[6] = regs->regs[29];
	stack->registers[7] = regs->sp;
	stack->registers[8] = regs->regs[25];
	stack->registers[9] = regs->regs[26];
	stack->registers[10] = regs->regs[27];
	stack->registers[11] = regs->regs[28];
	stack->registers[12] = regs->regs[30];
	stack->registers[16] = regs->pc;
	stack->has_registers = 1;
}
#endif

/* To the end of its page, and one page more, if that is there. */
static __always_inline uint32_t copy_bytes(uint8_t *bytes, uint64_t from)
{
	uint64_t first = PAGE_BYTES - (from & (PAGE_BYTES - 1));

	if (bpf_probe_read_user(bytes, first, (const void *)from))
		return 0;
	return first + (bpf_probe_read_user(bytes + first, PAGE_BYTES, (const void *)(from + first))
				? 0
				: PAGE_BYTES);
}

static __always_inline void send_copy(void *ctx, struct task_struct *task, const struct look *look)
{
	struct wire_stack_copy *copy;
	uint32_t kernel_cnt = 0;
	struct emit out;

	copy = emit_reserve(&out, WIRE_STACK, sizeof(*copy));
	if (!copy) {
		emit_lost(&out, WIRE_STACK, bpf_ktime_get_ns());
		return;
	}
	fill(&out, &copy->stack, look, 0, 0);
	if (look->wants_kernel)
		kernel_cnt = address_cnt(bpf_get_stack(ctx, copy->kernel, sizeof(copy->kernel), 0),
					 WIRE_STACK_KERNEL_MAX);
	copy->stack.kernel_cnt = kernel_cnt;
	copy_registers(&copy->stack, task);
	copy->stack.byte_cnt = copy_bytes(copy->bytes, copy->stack.registers[WIRE_STACK_REGISTER_SP]);
	emit_submit(&out, copy);
}

static __always_inline void send_stack(void *ctx, struct task_struct *task, const struct look *look,
				       bool is_copy)
{
	if (cfg_has_task_pt_regs && is_copy) {
		send_copy(ctx, task, look);
		return;
	}
	send_addresses(ctx, look);
}

/* Is somebody to look who waits for it? Each is looked at once. */
static __always_inline bool is_new_futex(struct task_struct *task, uint64_t address)
{
	struct futex_key key = { .mm = (uint64_t)task->mm, .address = address };
	uint32_t tgid = task->tgid, ring_idx = bpf_get_smp_processor_id() & cfg_ring_mask;
	uint32_t *seen = bpf_map_lookup_elem(&futexes_seen, &key);
	void *ring;

	if (seen && *seen == tgid)
		return false;
	ring = bpf_map_lookup_elem(&rings, &ring_idx);
	if (!ring || bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) > cfg_first_look_bytes)
		return false;
	return bpf_map_update_elem(&futexes_seen, &key, &tgid, BPF_ANY) == 0;
}

__hidden void stack_of_block(void *ctx, struct task_struct *prev, const struct block *block,
			     uint64_t begin_ns)
{
	struct look look = { .begin_ns = begin_ns };

	if (phase != WIRE_PHASE_RECORDING)
		return;
	if (cfg_stacks_off_cpu) {
		look.what = WIRE_STACK_OFF_CPU;
		look.wants_kernel = 1;
		send_stack(ctx, prev, &look, cfg_copies_stacks);
	}
	if (cfg_names_futexes && block->reason == BLOCK_LOCK && block->is_address &&
	    is_new_futex(prev, block->object)) {
		look.what = WIRE_STACK_FUTEX;
		look.object = block->object;
		look.wants_kernel = 0;
		send_stack(ctx, prev, &look, true);
	}
}

/*
 * Not __hidden: such a function is verified once, for any arguments, and not again on every way that leads to
 * it. Up to 5.18 that is what lets the switch's program, which has many ways, be loaded at all; later kernels
 * load it faster.
 */
__noinline uint64_t stack_faults_of_address(uint64_t address)
{
	uint64_t faults = 0;

	/*
	 * Without branches: the verifier would have to follow each of them through every turn of the loop.
	 */
	for (uint32_t i = 0; i < FAULT_RANGE_MAX; i++) {
		uint64_t distance = address - fault_ranges[i].begin;
		uint64_t is_in = (~distance & (distance - (fault_ranges[i].end - fault_ranges[i].begin))) >>
				 63;

		faults |= is_in << (fault_ranges[i].fault & 31);
	}
	return faults;
}

/* Likewise. */
__noinline uint64_t stack_fault_of_frames(uint64_t frame_cnt)
{
	struct scratch *scratch = scratch_of_cpu();
	uint64_t faults = 0;

	if (!scratch)
		return FAULT_UNKNOWN;
	for (uint32_t i = 0; i < FAULT_FRAME_MAX && i < frame_cnt; i++)
		faults |= stack_faults_of_address(scratch->kernel[i]);
	/*
	 * The inner one counts: a file's page may have to wait for memory, and all of them for the address
	 * space.
	 */
	if (faults & 1u << FAULT_USERFAULTFD)
		return FAULT_USERFAULTFD;
	if (faults & 1u << FAULT_MIGRATION)
		return FAULT_MIGRATION;
	if (faults & 1u << FAULT_SWAP)
		return FAULT_SWAP;
	if (faults & 1u << FAULT_FILE)
		return FAULT_FILE;
	if (faults & 1u << FAULT_ANONYMOUS)
		return FAULT_ANONYMOUS;
	if (faults & 1u << FAULT_UNKNOWN) /* the lock that it waits for is another one */
		return FAULT_UNKNOWN;
	return faults & 1u << FAULT_MMAP_LOCK ? FAULT_MMAP_LOCK : FAULT_UNKNOWN;
}

__hidden uint64_t stack_fault(void *ctx)
{
	struct scratch *scratch = scratch_of_cpu();

	if (!scratch)
		return FAULT_UNKNOWN;
	return stack_fault_of_frames(
		address_cnt(bpf_get_stack(ctx, scratch->kernel, FAULT_FRAME_MAX * 8, 0), FAULT_FRAME_MAX));
}

SEC("?perf_event")
int on_sample(void *ctx)
{
	struct task_struct *task = compat_current_task();
	struct look look = { .what = WIRE_STACK_ON_CPU, .object = cfg_sample_ns, .wants_kernel = 1 };

	if (phase != WIRE_PHASE_RECORDING || !thread_clock_if_any(task))
		return 0;
	send_stack(ctx, task, &look, cfg_copies_stacks);
	return 0;
}
