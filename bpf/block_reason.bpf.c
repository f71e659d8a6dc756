// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "vmlinux.h"
#include "txtrace/syscalls.h"
#include "block_reason.h"
#include "compat.h"
#include "emit.h"

#define BY_FD 15 /* not a reason: the kind of file decides */

/* A table entry: reason in the low bits, what the first argument is above; 0 is "not in the table". */
#define ENTRY_KNOWN 0x80
#define ENTRY_NOTHING 0x00
#define ENTRY_FD 0x10
#define ENTRY_ADDRESS 0x20
#define ENTRY_DURATION 0x30
#define ENTRY_MOMENT 0x40
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
#define TABLE_ENTRY(name, x86, arm64, why, first) [TABLE_INDEX(x86, arm64)] = ENTRY_KNOWN | ENTRY_##first | (why),
	TXTRACE_BLOCKING_SYSCALLS(TABLE_ENTRY)
};

#define MODE_TYPE 0170000
#define MODE_SOCKET 0140000
#define MODE_REGULAR 0100000
#define MODE_BLOCK 0060000
#define MODE_DIRECTORY 0040000

static __always_inline struct inode *inode_of_fd(struct task_struct *task, uint64_t fd)
{
	struct fdtable *table = BPF_CORE_READ(task, files, fdt);
	struct file **slots = BPF_CORE_READ(table, fd);
	struct file *file = 0;

	if (fd >= BPF_CORE_READ(table, max_fds) || bpf_probe_read_kernel(&file, sizeof(file), &slots[fd]) || !file)
		return 0;
	return BPF_CORE_READ(file, f_inode);
}

static __always_inline uint32_t reason_of_inode(struct inode *inode)
{
	if (!inode)
		return BLOCK_OTHER;
	switch (BPF_CORE_READ(inode, i_mode) & MODE_TYPE) {
	case MODE_SOCKET:
		return BLOCK_NETWORK;
	case MODE_REGULAR:
	case MODE_BLOCK:
	case MODE_DIRECTORY:
		return BLOCK_DISK;
	default:
		return BLOCK_PIPE;
	}
}

#define CLOCK_MONOTONIC_ID 1
#define TIMER_IS_ABSOLUTE 1
#define NS_PER_SECOND 1000000000ULL

/* How long it asked to sleep; 0: that can't be read, or the moment is one of a clock that we do not read. Only of the current task. */
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

static __always_inline uint64_t object_of(struct task_struct *task, const struct syscall_entry *call, uint32_t entry)
{
	switch (entry & ENTRY_OBJECT_MASK) {
	case ENTRY_FD:
		return (uint32_t)call->first_argument; /* the kernel ignores what is above */
	case ENTRY_ADDRESS:
		return call->first_argument;
	case ENTRY_DURATION:
	case ENTRY_MOMENT:
		return task == bpf_get_current_task_btf() ? requested_ns(call, (entry & ENTRY_OBJECT_MASK) == ENTRY_DURATION) : 0;
	default:
		return 0;
	}
}

__hidden void block_describe(struct task_struct *task, unsigned int state, struct block *block)
{
	struct syscall_entry call = compat_syscall(task);
	struct inode *inode = 0;
	uint32_t entry;

	block->syscall_nr = call.nr;
	block->object = block->inode = 0;
	block->reason = BLOCK_OTHER;
	if (state & TASK_STATE_STOPPED) {
		block->reason = BLOCK_STOPPED;
		return;
	}
	if (call.nr == SYSCALL_NONE) {
		block->reason = BLOCK_PAGE_FAULT;
		return;
	}
	entry = call.nr >= 0 && call.nr < SYSCALL_TABLE_SIZE ? syscall_table[call.nr & (SYSCALL_TABLE_SIZE - 1)] : 0;
	if (!(entry & ENTRY_KNOWN)) {
		if (BPF_CORE_READ_BITFIELD_PROBED(task, in_iowait))
			block->reason = BLOCK_DISK;
		return;
	}
	if (cfg_has_timeline)
		block->object = object_of(task, &call, entry);
	block->reason = entry & ENTRY_REASON_MASK;
	if ((entry & ENTRY_OBJECT_MASK) == ENTRY_FD && (cfg_has_timeline || block->reason == BY_FD))
		inode = inode_of_fd(task, (uint32_t)call.first_argument);
	if (inode && cfg_has_timeline)
		block->inode = BPF_CORE_READ(inode, i_ino);
	if (block->reason == BY_FD)
		block->reason = reason_of_inode(inode);
}
