/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Why a task that is about to leave the CPU sleeps: read off its saved
 * registers and its state; no other tracepoint is needed.
 */
#ifndef BLOCK_REASON_H
#define BLOCK_REASON_H

#include "vmlinux.h"
#include "compat.h"
#include "txtrace/event.h"

/* Bits of the state that the scheduler hands over; the same numbers since 4.14. */
#define TASK_STATE_STOPPED (0x0004 | 0x0008) /* stopped, traced */
#define TASK_STATE_DEAD (0x0010 | 0x0020 | 0x0080)
#define TASK_STATE_WAKING 0x0200 /* somebody is waking it, and has yet to choose its CPU */
#define TASK_STATE_NEW 0x0800 /* being forked: it has not run yet */

struct block {
	int32_t syscall_nr; /* SYSCALL_NONE, SYSCALL_UNKNOWN */
	uint32_t reason;    /* enum block_reason */
	/* futex address, fd, how many fds << 32 | the first, ns that a sleep asked for, or 0 */
	uint64_t object;
	uint64_t inode;     /* of the fd's file, else 0 */
	bool is_address;    /* object is that of a futex */
	uint32_t wait_kind; /* enum wait_kind: only its end tells what it is for */
	uint64_t wait_on;   /* as in struct open_wait */
	struct syscall_entry call;
	struct files_struct *files; /* of the task */
};

/*
 * files: the task's own, which is loaded early: the verifier takes 1 ms for
 * each way on which it meets that load (6.18). Fields of typed pointers are
 * loads; what is behind one of no type, as a slot of the table is, takes a call
 * of a helper.
 */
static __always_inline struct file *file_of_fd(struct files_struct *files, uint64_t fd)
{
	struct fdtable *table = files->fdt;
	struct file **slots = table->fd;
	struct file *file = 0;

	if (fd >= table->max_fds || bpf_probe_read_kernel(&file, sizeof(file), &slots[fd]))
		return 0;
	return file;
}

/* of what has no file: eventfd, signalfd, timerfd, epoll; since 6.16 they say that they are regular files */
#define MAGIC_ANONYMOUS 0x09041934

#define MODE_TYPE 0170000
#define MODE_PIPE 0010000
#define MODE_SOCKET 0140000
#define MODE_REGULAR 0100000
#define MODE_BLOCK 0060000
#define MODE_DIRECTORY 0040000

/* For what is anonymous: `anonymous`. Sockets and pipes first: each read is a call. */
static __always_inline uint32_t reason_of_inode(struct inode *inode, const uint32_t anonymous)
{
	uint32_t type;

	if (!inode)
		return BLOCK_OTHER;
	type = BPF_CORE_READ(inode, i_mode) & MODE_TYPE;
	if (type == MODE_SOCKET)
		return BLOCK_NETWORK;
	if (type == MODE_PIPE)
		return BLOCK_PIPE;
	if (BPF_CORE_READ(inode, i_sb, s_magic) == MAGIC_ANONYMOUS)
		return anonymous;
	switch (type) {
	case MODE_REGULAR:
	case MODE_BLOCK:
	case MODE_DIRECTORY:
		return BLOCK_DISK;
	default:
		return BLOCK_PIPE;
	}
}

/* state: of the task as the scheduler told it. Works on the current task and on any other that sleeps. */
void block_describe(struct task_struct *task, unsigned int state, struct block *block);

#endif
