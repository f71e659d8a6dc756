// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "vmlinux.h"
#include "txtrace/syscalls.h"
#include "block_reason.h"
#include "compat.h"
#include "emit.h"
#include "thread_clock.h"

#define BY_FD 15 /* not a reason: the kind of file decides */

/* A table entry: reason in the low bits, what the first argument is above; 0 is "not in the table". */
#define ENTRY_KNOWN 0x80
#define ENTRY_NOTHING 0x00
#define ENTRY_FD 0x10
#define ENTRY_ADDRESS 0x20
#define ENTRY_DURATION 0x30
#define ENTRY_MOMENT 0x40
#define ENTRY_POLLED 0x50
#define ENTRY_SETS 0x60
#define ENTRY_RING 0x70
#define ENTRY_OBJECT_MASK 0x70
#define ENTRY_REASON_MASK 0x0f

#define SYSCALL_TABLE_SIZE 512 /* a power of two, above the highest number in the table */

/* The entry at [SYSCALL_TABLE_SIZE] takes the calls that the architecture lacks. */
#if defined(__TARGET_ARCH_x86)
#define TABLE_INDEX(x86, arm64) ((x86) < 0 ? SYSCALL_TABLE_SIZE : (x86))
#else
#define TABLE_INDEX(x86, arm64) ((arm64) < 0 ? SYSCALL_TABLE_SIZE : (arm64))
#endif

#pragma clang diagnostic ignored "-Winitializer-overrides"
static const volatile uint8_t syscall_table[SYSCALL_TABLE_SIZE + 1] = {
#define TABLE_ENTRY(name, x86, arm64, why, first) \
	[TABLE_INDEX(x86, arm64)] = ENTRY_KNOWN | ENTRY_##first | (why),
	TXTRACE_BLOCKING_SYSCALLS(TABLE_ENTRY)
};

/* A ring that a task has registered is told by its place in a table of the task's. */
#define RING_IS_REGISTERED 16 /* IORING_ENTER_REGISTERED_RING */
#define RING_MAX 16

static __always_inline struct file *file_of_ring(struct task_struct *task, struct files_struct *files,
						 const struct syscall_entry *call)
{
	struct io_uring_task *rings = 0;
	struct file *file = 0;

	if (!(call->fourth_argument & RING_IS_REGISTERED))
		return file_of_fd(files, (uint32_t)call->first_argument);
	if (!bpf_core_field_exists(task->io_uring) || !bpf_core_field_exists(rings->registered_rings))
		return 0;
	rings = BPF_CORE_READ(task, io_uring);
	bpf_probe_read_kernel(&file, sizeof(file),
			      (void *)rings + bpf_core_field_offset(rings->registered_rings) +
				      (call->first_argument & (RING_MAX - 1)) * sizeof(file));
	return file;
}

#define CLOCK_MONOTONIC_ID 1
#define TIMER_IS_ABSOLUTE 1
#define NS_PER_SECOND 1000000000ULL

/*
 * How long it asked to sleep; 0: that can't be read, or the moment is one of a clock that we do not read.
 * Only of the current task.
 */
static __always_inline uint64_t requested_ns(const struct syscall_entry *call, bool is_duration)
{
	const void *at = (const void *)(is_duration ? call->first_argument : call->third_argument);
	struct __kernel_timespec time;
	uint64_t ns, now_ns;

	if (bpf_probe_read_user(&time, sizeof(time), at))
		return 0;
	ns = (uint64_t)time.tv_sec * NS_PER_SECOND + (uint64_t)time.tv_nsec;
	if (is_duration || !(call->second_argument & TIMER_IS_ABSOLUTE))
		return ns;
	now_ns = bpf_ktime_get_ns();
	return call->first_argument == CLOCK_MONOTONIC_ID && ns > now_ns ? ns - now_ns : 0;
}

#define POLLED_LOOKS 3  /* so many entries are looked at for one that is not switched off */
#define SET_WORDS 16    /* of 64 descriptors: FD_SETSIZE */

struct polled_fd {
	int32_t fd; /* negative: not looked at by the kernel */
	uint16_t events;
	uint16_t revents;
};

/* The first of the descriptors, and above it how many there are; 0: not known. Only of the current task. */
static __always_inline uint64_t polled_fds(const struct syscall_entry *call)
{
	const struct polled_fd *list = (const void *)call->first_argument;
	uint32_t cnt = (uint32_t)call->second_argument;
	struct polled_fd polled;

	for (uint32_t i = 0; i < POLLED_LOOKS; i++) {
		if (i >= cnt || bpf_probe_read_user(&polled, sizeof(polled), list + i))
			break;
		if (polled.fd >= 0)
			return (uint64_t)cnt << 32 | (uint32_t)polled.fd;
	}
	return 0;
}

/*
 * What follows has no branches: the verifier would have to follow each of them through every turn of the
 * loop.
 */

static __always_inline uint64_t set_word(uint64_t set, uint32_t idx)
{
	uint64_t word = 0;

	/* 0 where there is nothing, as without that set */
	bpf_probe_read_user(&word, sizeof(word), (const uint64_t *)set + idx);
	return word;
}

static __always_inline uint64_t bit_cnt(uint64_t word)
{
	word -= word >> 1 & 0x5555555555555555ULL;
	word = (word & 0x3333333333333333ULL) + (word >> 2 & 0x3333333333333333ULL);
	word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fULL;
	return word * 0x0101010101010101ULL >> 56;
}

/* 1 if there is a bit, else 0. */
static __always_inline uint64_t is_any(uint64_t word)
{
	uint64_t negative = -word;

	barrier_var(negative); /* or clang makes a branch of it */
	return (word | negative) >> 63;
}

/* Ones below the bit `left`; none if that is negative, all from 64 on. */
static __always_inline uint64_t ones_below(int64_t left)
{
	uint64_t room = 63 - (uint64_t)left, below = (uint64_t)left;

	barrier_var(room); /* or clang makes branches of them */
	barrier_var(below);
	return (-(room >> 63) | ((1ULL << (left & 63)) - 1)) & ((below >> 63) - 1);
}

/*
 * Of select: what is below fd_cnt in any of its sets. Not static: verified once, and not on every way that
 * leads to it.
 */
__noinline uint64_t block_selected_fds(uint64_t fd_cnt, uint64_t reads, uint64_t writes, uint64_t exceptions)
{
	uint64_t first = 0, cnt = 0;

	for (uint32_t i = 0; i < SET_WORDS; i++) {
		uint64_t word = set_word(reads, i) | set_word(writes, i) | set_word(exceptions, i);

		word &= ones_below((int64_t)(int32_t)fd_cnt - (int64_t)i * 64);
		first |= -(is_any(word) & (is_any(cnt) ^ 1)) & (i * 64 + bit_cnt((word & -word) - 1));
		cnt += bit_cnt(word);
	}
	return cnt << 32 | first; /* if there is none, first is 0, too */
}

static __always_inline uint64_t object_of(struct task_struct *task, const struct syscall_entry *call,
					  uint32_t entry)
{
	switch (entry & ENTRY_OBJECT_MASK) {
	case ENTRY_FD:
	case ENTRY_RING:
		return (uint32_t)call->first_argument; /* the kernel ignores what is above */
	case ENTRY_ADDRESS:
		return call->first_argument;
	case ENTRY_DURATION:
	case ENTRY_MOMENT:
		return task == compat_current_task()
			       ? requested_ns(call, (entry & ENTRY_OBJECT_MASK) == ENTRY_DURATION)
			       : 0;
	case ENTRY_POLLED:
		return task == compat_current_task() ? polled_fds(call) : 0;
	case ENTRY_SETS:
		return task == compat_current_task()
			       ? block_selected_fds(call->first_argument, call->second_argument,
						    call->third_argument, call->fourth_argument)
			       : 0;
	default:
		return 0;
	}
}

/* Of several descriptors the first stands for all. */
static __always_inline struct file *file_of_block(struct task_struct *task, const struct block *block,
						  uint32_t argument)
{
	if (argument == ENTRY_RING)
		return file_of_ring(task, block->files, &block->call);
	if (argument == ENTRY_FD || ((argument == ENTRY_POLLED || argument == ENTRY_SETS) && block->object))
		return file_of_fd(block->files, (uint32_t)block->object);
	return 0;
}

/* What epoll and io_uring keep of a wait is what their file leads to. */
static __always_inline void describe_wait(struct block *block, uint32_t argument, struct file *file)
{
	block->wait_kind = argument == ENTRY_FD ? WAIT_EPOLL : argument == ENTRY_RING ? WAIT_RING : WAIT_POLL;
	if (block->wait_kind != WAIT_POLL && file)
		block->wait_on = (uint64_t)BPF_CORE_READ(file, private_data);
}

__hidden void block_describe(struct task_struct *task, unsigned int state, struct block *block)
{
	struct inode *inode;
	struct file *file;
	uint32_t entry;

	block->files = task->files;
	block->call = compat_syscall(task);
	if (compat_is_probe(block->call.nr))
		block->call.nr = SYSCALL_NONE;
	block->syscall_nr = block->call.nr;
	block->object = block->inode = block->wait_on = 0;
	block->is_address = false;
	block->wait_kind = WAIT_NONE;
	block->reason = BLOCK_OTHER;
	if (state & TASK_STATE_STOPPED) {
		block->reason = BLOCK_STOPPED;
		return;
	}
	if (block->call.nr == SYSCALL_NONE) {
		block->reason = BLOCK_PAGE_FAULT;
		return;
	}
	entry = block->call.nr >= 0 && block->call.nr < SYSCALL_TABLE_SIZE
			? syscall_table[block->call.nr & (SYSCALL_TABLE_SIZE - 1)]
			: 0;
	if (!(entry & ENTRY_KNOWN)) {
		if (BPF_CORE_READ_BITFIELD_PROBED(task, in_iowait))
			block->reason = BLOCK_DISK;
		return;
	}
	block->is_address = (entry & ENTRY_OBJECT_MASK) == ENTRY_ADDRESS;
	block->reason = entry & ENTRY_REASON_MASK;
	if (!cfg_has_timeline && block->reason != BY_FD && block->reason != BLOCK_POLL)
		return;
	block->object = object_of(task, &block->call, entry);
	file = file_of_block(task, block, entry & ENTRY_OBJECT_MASK);
	inode = file ? BPF_CORE_READ(file, f_inode) : 0;
	if (inode)
		block->inode = BPF_CORE_READ(inode, i_ino);
	if (block->reason == BLOCK_POLL)
		describe_wait(block, entry & ENTRY_OBJECT_MASK, file);
	else if (block->reason == BY_FD)
		block->reason = reason_of_inode(inode, BLOCK_PIPE);
}
