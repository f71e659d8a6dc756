// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "compat.h"
#include "emit.h"
#include "thread_clock.h"

#include <bpf/bpf_core_read.h>

struct thread_clocks_map thread_clocks SEC(".maps");
struct table_clocks_map table_clocks SEC(".maps");

static __always_inline void thread_clock_send(struct emit *out, struct wire_thread *event,
					      struct task_struct *task, const struct thread_clock *clock,
					      uint32_t flags, const char *comm)
{
	uint64_t pid_tgid = (uint64_t)BPF_CORE_READ(task, tgid) << 32 | (uint32_t)BPF_CORE_READ(task, pid);

	emit_header(out, &event->header, WIRE_THREAD, flags, pid_tgid, clock->now.since_ns);
	event->born_ns = clock->clocks.born_ns;
	if (bpf_probe_read_kernel(event->comm, sizeof(event->comm), comm))
		__builtin_memset(event->comm, 0, sizeof(event->comm));
	event->state = clock->now.state;
	event->reason = clock->now.reason;
	event->padding[0] = event->padding[1] = 0;
	event->parent_tgid = BPF_CORE_READ(task, real_parent, tgid);
	if (flags & WIRE_IS_SEED)
		event->header.cpu = compat_task_cpu(task); /* rather than that of whoever lists the threads */
	emit_submit(out, event);
}

/*
 * Those that are there already, if another CPU was quicker; 0: there is no room, or ask again. The first map
 * of any program that stores something for a task makes its storage, and who is second at that gets nothing.
 */
static __always_inline struct thread_clock *thread_clock_make(struct task_struct *task,
							      struct thread_clock *initial)
{
	uint64_t key = (uint64_t)task;

	if (compat_has_task_storage())
		return bpf_task_storage_get(&thread_clocks, task, initial, BPF_LOCAL_STORAGE_GET_F_CREATE);
	bpf_map_update_elem(&table_clocks, &key, initial, BPF_NOEXIST);
	return bpf_map_lookup_elem(&table_clocks, &key);
}

/*
 * The reservation comes before the birth, so that no other event of this thread can have an earlier time than
 * the one that introduces it. The initial value goes in with the creation: the scheduler may look at it at
 * once. The fork and the list of threads may meet here, on two CPUs: the first one introduces the thread.
 */
__hidden struct thread_clock *thread_clock_start(struct task_struct *task, uint32_t state, uint32_t reason,
						 uint32_t flags)
{
	struct thread_clock initial = {
		.now = { .state = state, .reason = reason, .switch_cnt = 1 /* and none reported */ },
		.cpu = compat_task_cpu(task)
	};
	struct thread_clock *clock;
	struct wire_thread *event;
	struct emit out;

	event = emit_reserve(&out, WIRE_THREAD, sizeof(*event));
	initial.now.since_ns = bpf_ktime_get_ns();
	initial.clocks.born_ns = initial.now.since_ns;
	if (state == WIRE_THREAD_ON_CPU)
		initial.steal_ns = steal_read_at(steal_address(task), STEAL_UNKNOWN);
	clock = thread_clock_make(task, &initial);
	if (!clock)
		clock = thread_clock_make(task, &initial);
	if (!clock)
		__sync_fetch_and_add(&out.counters->lost_clocks, 1);
	if (!event)
		emit_lost(&out, WIRE_THREAD, initial.now.since_ns);
	else if (clock && clock->clocks.born_ns != initial.clocks.born_ns)
		emit_discard(&out, WIRE_THREAD, event);
	else
		thread_clock_send(&out, event, task, &initial, clock ? flags : flags | WIRE_NO_CLOCKS,
				  task->comm);
	return clock;
}

__hidden void thread_clock_rename(struct task_struct *task, const struct thread_clock *clock,
				  const char *comm)
{
	struct thread_clock renamed = { .clocks.born_ns = clock->clocks.born_ns };
	struct wire_thread *event;
	struct emit out;

	event = emit_reserve(&out, WIRE_THREAD, sizeof(*event));
	renamed.now.since_ns = bpf_ktime_get_ns();
	if (event)
		thread_clock_send(&out, event, task, &renamed, WIRE_IS_RENAME, comm);
	else
		emit_lost(&out, WIRE_THREAD, renamed.now.since_ns);
}
