// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The scheduler's side: who leaves a CPU and why, who gets it, who woke whom, which threads there are. */
#include "vmlinux.h"
#include "block_reason.h"
#include "compat.h"
#include "cpu_watch.h"
#include "emit.h"
#include "entered.h"
#include "mark_ring.h"
#include "process_target.h"
#include "span_filter.h"
#include "stack.h"
#include "thread_clock.h"
#include "wait_end.h"
#include "waker.h"

static __always_inline uint64_t pid_tgid_of(struct task_struct *task)
{
	return (uint64_t)task->tgid << 32 | (uint32_t)task->pid;
}

static __always_inline uint8_t how_it_left(bool preempt, unsigned int state)
{
	if (preempt)
		return WIRE_LEFT_PREEMPTED;
	if (!state)
		return WIRE_LEFT_YIELDED;
	return state & TASK_STATE_DEAD ? WIRE_LEFT_DEAD : WIRE_LEFT_BLOCKED;
}

struct end_with_clocks {
	struct wire_thread_end end;
	struct wire_clocks clocks;
};

/* It is in no span any more: exited, or exec'd, before which it had another tid, if old_tid is not 0. */
static __always_inline void leave_all(struct task_struct *task, uint32_t old_tid)
{
	entered_forget((uint32_t)task->pid);
	if (old_tid)
		entered_forget(old_tid);
}

/*
 * The task is the current one, and on a CPU: its clocks are read without a race but for preemption, which the
 * count would tell.
 */
static __always_inline int send_end(struct task_struct *task, const uint8_t kind, uint32_t old_tid)
{
	struct thread_clock *clock = thread_clock_of(task);
	struct end_with_clocks *event;
	struct emit out;
	uint64_t now_ns, steal_ns;
	uint32_t switch_cnt;

	if (!clock || phase == WIRE_PHASE_STOPPED)
		return 0;
	clock->now.has_ended = kind == WIRE_THREAD_EXIT;
	if (span_filter_is_on())
		leave_all(task, old_tid);
	mark_ring_leave(task, clock, MARK_RING_NOW);
	event = emit_reserve(&out, kind, sizeof(*event));
	if (!event)
		return emit_lost(&out, kind, bpf_ktime_get_ns());
	thread_clock_see_running(clock);
	switch_cnt = *(volatile uint32_t *)&clock->now.switch_cnt;
	steal_ns = steal_and_time(task, out.cpu, &now_ns);
	thread_clock_read(clock, now_ns, steal_ns, &event->clocks);
	emit_header(&out, &event->end.header, kind,
		    thread_clock_flags(clock, *(volatile uint32_t *)&clock->now.switch_cnt == switch_cnt),
		    pid_tgid_of(task), now_ns);
	event->end.old_tid = old_tid;
	event->end.padding = 0;
	emit_submit(&out, event);
	return 0;
}

/*
 * The thread that left may wait for a CPU again: for this one, or, if its wakeup has overtaken it, for the
 * one that it was last on.
 */
static __always_inline void watch_who_left(struct task_struct *task, struct thread_clock *clock, uint32_t cpu,
					   uint8_t left_as)
{
	if (left_as == WIRE_LEFT_PREEMPTED || left_as == WIRE_LEFT_YIELDED ||
	    (left_as == WIRE_LEFT_BLOCKED && compat_task_state(task) & TASK_STATE_WAKING))
		cpu_watch_join(clock, cpu);
	else
		cpu_watch_leave(clock);
}

/* Of somebody untraced who had the CPU while the traced thread that gets it now waited. */
static __always_inline void fill_other(struct wire_switch *event, uint32_t other_ns, uint64_t stolen_ns,
				       struct task_struct *prev)
{
	event->object = event->inode = 0;
	event->is_stolen_shared = 0;
	event->stolen_ns = other_ns ? stolen_ns : 0;
	event->other_ns = other_ns;
	if (event->other_ns && prev->pid &&
	    bpf_probe_read_kernel(event->other_comm, sizeof(event->other_comm), &prev->comm))
		event->other_ns = 0;
}

static __always_inline void fill_left(struct wire_switch *event, bool is_stolen_shared, uint64_t stolen_ns,
				      const struct block *block)
{
	event->is_stolen_shared = is_stolen_shared;
	event->stolen_ns = stolen_ns;
	event->object = block->object;
	event->inode = block->inode;
	event->syscall_nr = block->syscall_nr;
}

static __always_inline void fill_switch(struct wire_switch *event, struct task_struct *next,
					bool next_is_traced, uint8_t left_as, uint8_t reason)
{
	event->next_tid = next->pid;
	event->next_tgid = next->tgid;
	event->left_as = left_as;
	event->reason = reason;
	event->next_is_traced = next_is_traced;
}

/*
 * The same number, but the verifier does not know which: else it would follow each of a dozen reasons through
 * all that comes behind. anything: of which it knows nothing.
 */
static __always_inline uint64_t blur(uint64_t number, uint64_t anything)
{
	asm volatile("%0 += %1\n\t%0 -= %1" : "+r"(number) : "r"(anything));
	return number;
}

/*
 * The state is the tracepoint's argument, not the task's field: a waker may already have changed the field.
 */
static __always_inline uint8_t why_it_left(uint64_t *ctx, struct thread_clock *clock, struct block *block)
{
	struct task_struct *prev = (struct task_struct *)ctx[1];
	unsigned int state = cfg_has_prev_state ? (unsigned int)ctx[3] : compat_task_state(prev);
	uint8_t left_as = how_it_left((bool)ctx[0], state);

	if (left_as == WIRE_LEFT_DEAD && !clock->now.has_ended) {
		send_end(prev, WIRE_THREAD_EXIT, 0);
		target_exit(prev);
	}
	clock->wait.kind = WAIT_NONE;
	if (left_as == WIRE_LEFT_BLOCKED) {
		block_describe(prev, state, block);
		if (block->wait_kind)
			wait_begin(clock, block);
		if (cfg_has_timeline && block->reason == BLOCK_PAGE_FAULT && fault_range_cnt)
			block->object = stack_fault(ctx);
	} else if (left_as != WIRE_LEFT_DEAD && compat_is_throttled(prev)) {
		left_as = WIRE_LEFT_BLOCKED;
		block->reason = BLOCK_THROTTLED;
	}
	block->reason = blur(block->reason, ctx[0]);
	return blur(left_as, ctx[0]);
}

static __always_inline uint32_t state_behind(uint8_t left_as)
{
	return left_as == WIRE_LEFT_BLOCKED ? WIRE_THREAD_BLOCKED : WIRE_THREAD_RUNNABLE;
}

/* All that a switch does without a timeline. */
static __always_inline void move_clocks(struct task_struct *prev, struct thread_clock *out_clock,
					struct thread_clock *in_clock, uint8_t left_as, uint32_t reason)
{
	uint64_t now_ns, steal_ns = steal_and_time(prev, bpf_get_smp_processor_id(), &now_ns);

	if (out_clock)
		thread_clock_leave(out_clock, now_ns, steal_ns, state_behind(left_as), reason);
	if (in_clock)
		thread_clock_arrive(in_clock, now_ns, steal_ns);
	if (left_as == WIRE_LEFT_DEAD)
		thread_clock_forget(prev);
}

/* Returns what was stolen of the CPU while the thread had it. */
static __always_inline uint64_t leave_cpu(struct task_struct *task, struct thread_clock *clock, uint32_t cpu,
					  uint64_t now_ns, uint64_t steal_ns, uint8_t left_as,
					  uint32_t reason)
{
	uint64_t stolen_ns = 0;

	/* before the clock tells a waker that it sleeps */
	watch_who_left(task, clock, cpu, left_as);
	clock->cpu = cpu; /* its switch-in may have been hidden */
	if (clock->now.state == WIRE_THREAD_ON_CPU)
		stolen_ns = steal_between(clock->steal_ns, steal_ns);
	thread_clock_leave(clock, now_ns, steal_ns, state_behind(left_as), reason);
	return stolen_ns;
}

/* Returns the flags of the switch event. */
static __always_inline uint16_t arrive_on_cpu(struct thread_clock *clock, const struct cpu_watch *watch,
					      uint32_t cpu, uint64_t now_ns, uint64_t steal_ns,
					      bool is_from_untraced)
{
	cpu_watch_leave(clock);
	clock->cpu = cpu;
	thread_clock_arrive(clock, now_ns, steal_ns);
	return is_from_untraced && watch->waiting_cnt ? WIRE_OTHERS_WAIT : 0;
}

/* The clocks move even if the event finds no room. */
SEC("tp_btf/sched_switch")
int on_sched_switch(uint64_t *ctx)
{
	struct task_struct *prev = (struct task_struct *)ctx[1];
	struct task_struct *next = (struct task_struct *)ctx[2];
	struct thread_clock *out_clock = thread_clock_if_any(prev);
	struct thread_clock *in_clock = thread_clock_if_any(next);
	struct block block = { .syscall_nr = SYSCALL_NONE };
	uint8_t left_as = WIRE_LEFT_UNTRACED;
	uint32_t cpu = bpf_get_smp_processor_id();
	struct cpu_watch *watch = cpu_watch_of(cpu);
	uint64_t now_ns, steal_ns, stolen_ns = 0;
	uint32_t other_ns = 0;
	bool is_shared = false;
	struct wire_switch *event;
	uint16_t flags = 0;
	struct emit out;

	if (phase == WIRE_PHASE_STOPPED)
		return 0;
	if (!out_clock) {
		/* clang would test both by or-ing the pointers, which the verifier forbids */
		barrier_var(in_clock);
		if (!in_clock)
			return cfg_has_timeline && watch->waiting_cnt ? cpu_watch_tell(watch, prev) : 0;
	}
	if (out_clock) {
		mark_ring_leave(prev, out_clock, MARK_RING_NOW);
		left_as = why_it_left(ctx, out_clock, &block);
	}
	if (!cfg_has_timeline) {
		move_clocks(prev, out_clock, in_clock, left_as, block.reason);
		return 0;
	}
	event = emit_reserve(&out, WIRE_SWITCH, sizeof(*event));
	steal_ns = steal_and_time(prev, cpu, &now_ns);
	if (!out_clock && watch->waiting_cnt) {
		other_ns = cpu_watch_length(watch, now_ns);
		stolen_ns = steal_between(watch->steal_ns, steal_ns);
	}
	if (out_clock) {
		stolen_ns = leave_cpu(prev, out_clock, cpu, now_ns, steal_ns, left_as, block.reason);
		is_shared = out_clock->is_stolen_shared;
	}
	if (in_clock)
		flags = arrive_on_cpu(in_clock, watch, cpu, now_ns, steal_ns, !out_clock);
	cpu_watch_begin(watch, now_ns, steal_ns);
	if (left_as == WIRE_LEFT_DEAD)
		thread_clock_forget(prev);
	if (!event) /* tested once: the verifier of 5.10 forgets what it knew of a pointer that was spilled */
		return emit_lost(&out, WIRE_SWITCH, now_ns);
	if (out_clock)
		fill_left(event, is_shared, stolen_ns, &block);
	else
		fill_other(event, other_ns, stolen_ns, prev);
	emit_header(&out, &event->header, WIRE_SWITCH, flags, pid_tgid_of(prev), now_ns);
	fill_switch(event, next, in_clock != 0, left_as, block.reason);
	emit_submit(&out, event);
	if (left_as == WIRE_LEFT_BLOCKED && (cfg_stacks_off_cpu || cfg_names_futexes))
		stack_of_block(ctx, prev, &block, now_ns);
	return 0;
}

static __always_inline void fill_wake(struct wire_wake *event, struct emit *out, struct task_struct *wakee,
				      struct task_struct *waker, uint16_t flags, uint64_t now_ns)
{
	emit_header(out, &event->header, WIRE_WAKE, flags, compat_current_pid_tgid(waker), now_ns);
	event->wakee_tid = wakee->pid;
	event->wakee_tgid = wakee->tgid;
	compat_current_comm(waker, event->waker_comm);
}

/* The end of a wait of which only the end tells what it was for. flags: waker_flags(). */
static __noinline int wake_from_wait(struct task_struct *wakee, struct thread_clock *clock, uint16_t flags)
{
	struct files_struct *files = wakee->files;
	struct wire_wait_end *event;
	struct cpu_watch *watch;
	struct emit out;
	uint64_t now_ns;

	wait_decide(wakee, files, clock, flags);
	if (!cfg_has_timeline) {
		state_clock_wake(&clock->now, bpf_ktime_get_ns());
		return 0;
	}
	event = emit_reserve(&out, WIRE_WAKE, sizeof(*event));
	watch = cpu_watch_join(clock, clock->cpu);
	now_ns = bpf_ktime_get_ns();
	cpu_watch_begin_at(watch, clock->cpu, now_ns);
	state_clock_wake(&clock->now, now_ns);
	if (!event)
		return emit_lost(&out, WIRE_WAKE, now_ns);
	fill_wake(&event->wake, &out, wakee, compat_current_task(), flags | WIRE_HAS_WAIT_END, now_ns);
	event->object = clock->wait.object;
	event->inode = wait_inode(files, &clock->wait, clock->now.reason);
	event->reason = clock->now.reason;
	__builtin_memset(event->padding, 0, sizeof(event->padding));
	emit_submit(&out, event);
	return 0;
}

/*
 * For waker_flags(), where nothing else is at hand: one for each CPU, on which nobody else is here meanwhile.
 */
static struct {
	volatile uint64_t pointer;
	uint64_t padding[7]; /* a cache line for each */
} scratch[WIRE_CPU_MAX];

/* Its frame stays small, for waker_flags(). */
SEC("tp_btf/sched_waking")
int on_sched_waking(uint64_t *ctx)
{
	struct task_struct *wakee = (struct task_struct *)ctx[0];
	struct thread_clock *clock = thread_clock_if_any(wakee);
	struct cpu_watch *watch = 0;
	struct task_struct *waker;
	struct wire_wake *event;
	struct emit out;
	uint64_t now_ns;
	uint16_t flags;

	if (!clock || phase == WIRE_PHASE_STOPPED)
		return 0;
	if (wait_ends(clock)) {
		flags = waker_flags(compat_current_task(),
				    &scratch[bpf_get_smp_processor_id() & (WIRE_CPU_MAX - 1)].pointer);
		return wake_from_wait(wakee, clock, flags);
	}
	if (!cfg_has_timeline) {
		state_clock_wake(&clock->now, bpf_ktime_get_ns());
		return 0;
	}
	event = emit_reserve(&out, WIRE_WAKE, sizeof(*event));
	if (clock->now.state == WIRE_THREAD_BLOCKED && clock->now.reason != BLOCK_THROTTLED)
		watch = cpu_watch_join(clock, clock->cpu);
	now_ns = bpf_ktime_get_ns();
	cpu_watch_begin_at(watch, clock->cpu, now_ns);
	state_clock_wake(&clock->now, now_ns);
	if (!event)
		return emit_lost(&out, WIRE_WAKE, now_ns);
	waker = compat_current_task();
	flags = waker_flags(waker, &event->header.time_ns);
	fill_wake(event, &out, wakee, waker, flags, now_ns);
	emit_submit(&out, event);
	return 0;
}

/*
 * The threads that are there already: run after the other programs are attached, and again when a process
 * with several threads becomes a target.
 */
SEC("iter/task")
int seed_threads(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct block block = {};
	uint32_t state = WIRE_THREAD_ON_CPU;
	struct thread_clock *clock;
	unsigned int sleeping;

	if (!task)
		return 0;
	if (!target_seed(task) || thread_clock_of(task))
		return 0;
	sleeping = compat_task_state(task);
	if (sleeping & TASK_STATE_DEAD)
		return 0;
	if (sleeping & TASK_STATE_NEW) {
		state = WIRE_THREAD_RUNNABLE;
	} else if (!task->on_cpu) {
		state = sleeping ? WIRE_THREAD_BLOCKED : WIRE_THREAD_RUNNABLE;
		if (sleeping)
			block_describe(task, sleeping, &block);
	}
	clock = thread_clock_start(task, state, block.reason, WIRE_IS_SEED);
	if (clock && state == WIRE_THREAD_BLOCKED && block.wait_kind) {
		clock->wait.on = block.wait_on;
		clock->wait.object = block.object;
		clock->wait.kind = block.wait_kind;
	}
	return 0;
}

SEC("tp_btf/sched_process_fork")
int on_fork(uint64_t *ctx)
{
	struct task_struct *parent = (struct task_struct *)ctx[0];
	struct task_struct *child = (struct task_struct *)ctx[1];

	thread_clock_forget(child);
	if (phase == WIRE_PHASE_STOPPED)
		return 0;
	if (parent->tgid == child->tgid ? thread_clock_of(parent) != 0 : target_fork(parent, child))
		thread_clock_start(child, WIRE_THREAD_RUNNABLE, 0, 0);
	return 0;
}

SEC("tp_btf/task_rename")
int on_rename(uint64_t *ctx)
{
	struct task_struct *task = (struct task_struct *)ctx[0];
	struct thread_clock *clock = thread_clock_of(task);

	if (phase == WIRE_PHASE_STOPPED)
		return 0;
	if (clock)
		thread_clock_rename(task, clock, (const char *)ctx[1]);
	else if (target_rename(task, (const char *)ctx[1]))
		thread_clock_start(task, WIRE_THREAD_ON_CPU, 0, 0);
	return 0;
}

/*
 * A kernel that can be preempted here (7.3, at the latest) does not run the program for a thread while it is
 * held up in another one on the same CPU. Then the last switch says it.
 */
SEC("tp_btf/sched_process_exit")
int on_exit_of_thread(uint64_t *ctx)
{
	struct task_struct *task = (struct task_struct *)ctx[0];

	send_end(task, WIRE_THREAD_EXIT, 0);
	if (phase != WIRE_PHASE_STOPPED)
		target_exit(task);
	return 0;
}

SEC("tp_btf/sched_process_exec")
int on_exec(uint64_t *ctx)
{
	struct task_struct *task = (struct task_struct *)ctx[0];
	enum target_exec change;

	if (phase == WIRE_PHASE_STOPPED)
		return 0;
	send_end(task, WIRE_EXEC, (uint32_t)ctx[1]);
	mark_ring_forget(task);
	change = target_exec(task, (struct linux_binprm *)ctx[2]);
	if (change == TARGET_EXEC_JOINS)
		thread_clock_start(task, WIRE_THREAD_ON_CPU, 0, 0);
	if (change != TARGET_EXEC_LEAVES)
		return 0;
	send_end(task, WIRE_THREAD_EXIT, 0);
	target_leave(task);
	thread_clock_drop(task);
	return 0;
}

/* A process was moved into a cgroup, with its threads or one by one. */
SEC("?tp_btf/cgroup_attach_task")
int on_cgroup_attach(uint64_t *ctx)
{
	if (phase != WIRE_PHASE_STOPPED)
		target_move((struct task_struct *)ctx[2]);
	return 0;
}
