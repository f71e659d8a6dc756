/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where the code of a thread is: when it blocks, sampled while it runs, and who
 * waits for a futex first. The rest is done by the recorder.
 */
#ifndef STACK_H
#define STACK_H

#include "vmlinux.h"
#include "block_reason.h"

extern const volatile bool cfg_stacks_off_cpu;   /* of every block */
extern const volatile bool cfg_names_futexes;    /* of the first wait for a futex */
/* what page faults wait for is known by these functions of the kernel */
extern uint32_t fault_range_cnt; /* 0: nothing is known of page faults */

/*
 * What the fault waits for, by the kernel functions it is in: enum block_fault.
 * ctx: of the scheduler's switch.
 */
uint64_t stack_fault(void *ctx);

/* The current task, prev, is about to leave: it has been told in an event of begin_ns. */
void stack_of_block(void *ctx, struct task_struct *prev, const struct block *block, uint64_t begin_ns);

#endif
