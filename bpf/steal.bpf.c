// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "steal.h"

#include <bpf/bpf_core_read.h>

struct steal_clock steal_clocks[WIRE_CPU_MAX];

const volatile int64_t cfg_steal_offset;
const volatile bool cfg_steal_is_late;

/* Whatever class a task is of, its cfs_rq is one of the CPU that it is on, or waits for. */
__hidden uint64_t steal_address(struct task_struct *task)
{
	struct cfs_rq *queue = 0;
	struct rq *rq;

	if (!steal_is_told() || !bpf_core_field_exists(task->se.cfs_rq) || !bpf_core_field_exists(queue->rq))
		return 0;
	rq = BPF_CORE_READ(task, se.cfs_rq, rq);
	return rq ? (uint64_t)rq + cfg_steal_offset : 0;
}
