// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Who has the CPUs that traced threads wait for, and where they wait, as far as the switches and wakeups of
 * traced threads do not tell.
 */
#include "cpu_watch.h"
#include "block_reason.h"

struct cpu_watch cpu_watches[WIRE_CPU_MAX + 1];

__hidden int cpu_watch_tell(struct cpu_watch *watch, struct task_struct *prev)
{
	uint64_t now_ns, steal_ns, since_ns = watch->since_ns, since_steal_ns = watch->steal_ns;
	struct wire_other *event;
	struct emit out;

	event = emit_reserve(&out, WIRE_OTHER, sizeof(*event));
	steal_ns = steal_and_time(prev, out.cpu, &now_ns);
	cpu_watch_begin(watch, now_ns, steal_ns);
	if (!event)
		return emit_lost(&out, WIRE_OTHER, now_ns);
	emit_header(&out, &event->header, WIRE_OTHER, 0, (uint64_t)prev->tgid << 32 | (uint32_t)prev->pid,
		    now_ns);
	event->since_ns = since_ns < now_ns ? since_ns : now_ns;
	event->stolen_ns = since_ns < now_ns ? steal_between(since_steal_ns, steal_ns) : 0;
	if (bpf_probe_read_kernel(event->comm, sizeof(event->comm), &prev->comm))
		__builtin_memset(event->comm, 0, sizeof(event->comm));
	emit_submit(&out, event);
	return 0;
}

/*
 * The wait for the old CPU ends and the one for the new CPU begins at the same time. The event says which
 * task has the old CPU, and since when: its queue is locked, so no switch can change that meanwhile.
 */
static __always_inline void move(struct task_struct *task, struct thread_clock *clock, uint32_t cpu)
{
	uint32_t from_cpu = clock->waits_on - 1;
	uint64_t now_ns, since_ns = cpu_watch_of(from_cpu)->since_ns;
	uint64_t since_steal_ns = cpu_watch_of(from_cpu)->steal_ns;
	struct cpu_watch *watch = cpu_watch_join(clock, cpu);
	struct task_struct *other = compat_queue_current(task);
	struct wire_move *event;
	struct emit out;

	event = emit_reserve(&out, WIRE_MOVE, sizeof(*event));
	now_ns = bpf_ktime_get_ns();
	cpu_watch_begin_at(watch, cpu, now_ns);
	if (!event) {
		emit_lost(&out, WIRE_MOVE, now_ns);
		return;
	}
	emit_header(&out, &event->header, WIRE_MOVE, 0, (uint64_t)task->tgid << 32 | (uint32_t)task->pid,
		    now_ns);
	event->since_ns = since_ns < now_ns ? since_ns : now_ns;
	event->stolen_ns = since_ns < now_ns ? steal_between(since_steal_ns, steal_of(from_cpu)) : 0;
	event->from_cpu = from_cpu;
	event->other_tid = other ? BPF_CORE_READ(other, pid) : 0;
	event->other_tgid = other ? BPF_CORE_READ(other, tgid) : 0;
	event->is_unknown = !other;
	if (!other || bpf_probe_read_kernel(event->other_comm, sizeof(event->other_comm), &other->comm))
		__builtin_memset(event->other_comm, 0, sizeof(event->other_comm));
	emit_submit(&out, event);
}

/*
 * A wakeup chooses a CPU: what is done there from the wakeup on is what is done there now. Else the thread
 * has waited for the other one until now. Threads that run or sleep wait for none.
 */
SEC("tp_btf/sched_migrate_task")
int on_migrate(uint64_t *ctx)
{
	struct task_struct *task = (struct task_struct *)ctx[0];
	uint32_t cpu = (uint32_t)ctx[1];
	struct thread_clock *clock = thread_clock_if_any(task);
	struct cpu_watch *watch;

	if (!clock || phase == WIRE_PHASE_STOPPED)
		return 0;
	clock->cpu = cpu;
	if (compat_task_state(task) & TASK_STATE_WAKING) {
		watch = cpu_watch_join(clock, cpu);
		cpu_watch_begin_at(watch, cpu, clock->now.wake_ns ? clock->now.wake_ns : bpf_ktime_get_ns());
	} else if (clock->waits_on) {
		move(task, clock, cpu);
	}
	return 0;
}

/* The first wait of a new thread: no wakeup tells of it. */
SEC("tp_btf/sched_wakeup_new")
int on_wakeup_new(uint64_t *ctx)
{
	struct task_struct *task = (struct task_struct *)ctx[0];
	struct thread_clock *clock = thread_clock_if_any(task);

	if (!clock || phase == WIRE_PHASE_STOPPED || clock->now.state != WIRE_THREAD_RUNNABLE)
		return 0;
	clock->cpu = compat_task_cpu(task);
	cpu_watch_begin_at(cpu_watch_join(clock, clock->cpu), clock->cpu, bpf_ktime_get_ns());
	return 0;
}
