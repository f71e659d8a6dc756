/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/compare/wait_counts.h"

#define NO_SYSCALL 0xffff

void wait_counts_init(struct wait_counts *counts)
{
	id_map_init(&counts->asleep);
}

void wait_counts_release(struct wait_counts *counts)
{
	id_map_release(&counts->asleep);
}

/* In place of a pointer; never NULL. */
static void *pack(const struct txtrace_run *run)
{
	uintptr_t call = run->syscall_nr >= 0 && run->syscall_nr < NO_SYSCALL ? (uintptr_t)run->syscall_nr
									      : NO_SYSCALL;

	return (void *)(call << 16 | (uintptr_t)run->reason << 8 | 1);
}

static int add_run(struct wait_counts *counts, const struct txtrace_run *run)
{
	if (run->left_as != TXTRACE_LEFT_BLOCKED || run->reason >= TXTRACE_BLOCK_REASON_COUNT ||
	    counts->asleep.cnt >= WAIT_COUNTS_THREADS_MAX) {
		id_map_remove(&counts->asleep, run->pid, run->tid);
		return 0;
	}
	return id_map_put(&counts->asleep, run->pid, run->tid, pack(run));
}

int wait_counts_add(struct wait_counts *counts, const struct txtrace_record *record, struct ended_wait *wait)
{
	uintptr_t packed;

	if (record->kind == TXTRACE_RECORD_RUN)
		return add_run(counts, &record->run);
	if (record->kind != TXTRACE_RECORD_WAKE)
		return 0;
	packed = (uintptr_t)id_map_remove(&counts->asleep, record->wake.pid, record->wake.tid);
	if (!packed)
		return 0;
	wait->reason = (uint8_t)(packed >> 8);
	wait->syscall_nr = packed >> 16 == NO_SYSCALL ? -1 : (int32_t)(packed >> 16);
	return 1;
}
