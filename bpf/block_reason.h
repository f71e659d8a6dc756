/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Why a task that is about to leave the CPU sleeps: read off its saved registers and its state; no other tracepoint is needed. */
#ifndef BLOCK_REASON_H
#define BLOCK_REASON_H

#include "vmlinux.h"
#include "txtrace/event.h"

/* Bits of the state that the scheduler hands over; the same numbers since 4.14. */
#define TASK_STATE_STOPPED (0x0004 | 0x0008) /* stopped, traced */
#define TASK_STATE_DEAD (0x0010 | 0x0020 | 0x0080)
#define TASK_STATE_WAKING 0x0200 /* somebody is waking it, and has yet to choose its CPU */
#define TASK_STATE_NEW 0x0800 /* being forked: it has not run yet */

struct block {
	int32_t syscall_nr; /* SYSCALL_NONE, SYSCALL_UNKNOWN */
	uint32_t reason;    /* enum block_reason */
	uint64_t object;    /* futex address, fd, how many fds << 32 | the first, ns that a sleep asked for, or 0 */
	uint64_t inode;     /* of the fd's file, else 0 */
	bool is_address;    /* object is that of a futex */
};

/* state: of the task as the scheduler told it. Works on the current task and on any other that sleeps. */
void block_describe(struct task_struct *task, unsigned int state, struct block *block);

#endif
