/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Samples what the scheduler accounts, where the threads of a family of processes are switched and woken, and
 * once each millisecond. See sched_account.c.
 */
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "sched_account.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* What is not in vmlinux.h, and no program of the recorder needs. */
struct sched_info___account {
	unsigned long pcount;
	unsigned long long run_delay;
	unsigned long long last_queued;
} __attribute__((preserve_access_index));

struct rq___account {
	__u64 clock;
	__u64 nr_switches;
	__u64 clock_task; /* without what a hypervisor stole, and on some kernels what interrupts took */
} __attribute__((preserve_access_index));

struct cfs_rq___account {
	struct rq___account *rq;
} __attribute__((preserve_access_index));

struct sched_entity___account {
	struct cfs_rq___account *cfs_rq;
} __attribute__((preserve_access_index));

struct task_struct___account {
	int pid;
	unsigned int __state; /* since 5.14 */
	struct sched_entity___account se;
	struct sched_info___account sched_info;
} __attribute__((preserve_access_index));

struct task_struct___account_before_5_14 {
	long state;
} __attribute__((preserve_access_index));

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 64 << 20);
} samples SEC(".maps");

/* Has an entry: the thread is of the family whose account is wanted. Children inherit it. */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, uint32_t);
} family SEC(".maps");

struct last_look {
	uint64_t time_ns;
	uint64_t removed_ns;
	uint64_t steal_ns;
};

/* Of the steal clock, from the CPU's struct rq; 0: there is none. */
const volatile int64_t cfg_steal_offset;

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct last_look);
} last_looks SEC(".maps");

/* Of each CPU: is a switch of the family's not done yet? */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, uint32_t);
} switching SEC(".maps");

/* Of each CPU: the last switch that the tracepoint told of. */
struct last_switch {
	uint64_t time_ns;
	uint64_t cnt; /* rq.nr_switches; 0: none yet */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct last_switch);
} last_switches SEC(".maps");

uint64_t lost_cnt;

static __always_inline bool is_of_family(struct task_struct *task)
{
	return bpf_task_storage_get(&family, task, 0, 0) != 0;
}

/*
 * Not the steal clock: if it grew by more than the time since the last update,
 * newer kernels remove only that time. If another CPU has updated one of the
 * clocks and not yet the other, this is too much, and the next sample has less
 * (sched_account.py).
 */
static __always_inline uint64_t removed_of(struct rq___account *rq)
{
	uint64_t clock_task_ns = BPF_CORE_READ(rq, clock_task);

	return BPF_CORE_READ(rq, clock) - clock_task_ns;
}

static __always_inline uint64_t steal_of(struct rq___account *rq, uint64_t otherwise_ns)
{
	uint64_t steal_ns;

	if (!cfg_steal_offset ||
	    bpf_probe_read_kernel(&steal_ns, sizeof(steal_ns), (char *)rq + cfg_steal_offset))
		return otherwise_ns;
	return steal_ns;
}

/* The queue of this CPU is that of a task that runs here. */
static __always_inline struct rq___account *queue_of(struct task_struct___account *task)
{
	return BPF_CORE_READ(task, se.cfs_rq, rq);
}

static __always_inline void emit(struct account_sample *sample, struct rq___account *rq)
{
	uint32_t zero = 0;
	struct last_look *last = bpf_map_lookup_elem(&last_looks, &zero);

	if (!last)
		return;
	sample->time_ns = bpf_ktime_get_ns();
	sample->removed_ns = removed_of(rq);
	sample->steal_ns = steal_of(rq, sample->removed_ns);
	sample->since_ns = last->time_ns;
	sample->cpu = bpf_get_smp_processor_id();
	if (sample->kind != ACCOUNT_TICK || sample->removed_ns != last->removed_ns ||
	    sample->steal_ns != last->steal_ns) {
		if (bpf_ringbuf_output(&samples, sample, sizeof(*sample), BPF_RB_NO_WAKEUP))
			__sync_fetch_and_add(&lost_cnt, 1);
		last->removed_ns = sample->removed_ns;
		last->steal_ns = sample->steal_ns;
	}
	last->time_ns = sample->time_ns;
}

static __always_inline bool is_going_to_sleep(struct task_struct___account *task)
{
	if (bpf_core_field_exists(task->__state))
		return BPF_CORE_READ(task, __state);
	return BPF_CORE_READ((struct task_struct___account_before_5_14 *)task, state);
}

/* Each switch of the machine is counted here. */
static __always_inline void tell_hidden(struct rq___account *rq)
{
	struct account_sample sample = { .kind = ACCOUNT_HIDDEN, .time_ns = bpf_ktime_get_ns() };
	uint64_t cnt = BPF_CORE_READ(rq, nr_switches);
	uint32_t zero = 0;
	struct last_switch *last = bpf_map_lookup_elem(&last_switches, &zero);

	if (!last)
		return;
	sample.since_ns = last->time_ns;
	sample.cpu = bpf_get_smp_processor_id();
	if (last->cnt && cnt != last->cnt + 1 &&
	    bpf_ringbuf_output(&samples, &sample, sizeof(sample), BPF_RB_NO_WAKEUP))
		__sync_fetch_and_add(&lost_cnt, 1);
	last->time_ns = sample.time_ns;
	last->cnt = cnt;
}

/*
 * The kernel counts the switch right after the tracepoint: until then, the next thread's wait is in
 * last_queued.
 */
SEC("tp_btf/sched_switch")
int on_switch(uint64_t *ctx)
{
	struct task_struct *prev_task = (void *)ctx[1], *next_task = (void *)ctx[2];
	struct task_struct___account *prev = (void *)prev_task, *next = (void *)next_task;
	struct account_sample sample = { .kind = ACCOUNT_SWITCH };
	uint32_t zero = 0, *is_switching = bpf_map_lookup_elem(&switching, &zero);
	struct rq___account *rq;
	uint64_t queued_ns, clock_ns;

	rq = queue_of(prev);
	if (!rq)
		return 0;
	tell_hidden(rq);
	if (!is_of_family(prev_task) && !is_of_family(next_task))
		return 0;
	if (!ctx[0] && is_going_to_sleep(prev))
		sample.kind = ACCOUNT_SLEEP;
	sample.tid = BPF_CORE_READ(prev, pid);
	sample.next_tid = BPF_CORE_READ(next, pid);
	sample.arrival_cnt = BPF_CORE_READ(next, sched_info.pcount);
	sample.delay_ns = BPF_CORE_READ(next, sched_info.run_delay);
	queued_ns = BPF_CORE_READ(next, sched_info.last_queued);
	clock_ns = BPF_CORE_READ(rq, clock); /* by which this switch is accounted: the queue is locked */
	sample.is_counted = queued_ns != 0;
	sample.clock_ns = clock_ns;
	if (queued_ns && queued_ns < clock_ns)
		sample.delay_ns += clock_ns - queued_ns;
	emit(&sample, rq);
	if (is_switching)
		*is_switching = 1;
	return 0;
}

/*
 * Attached behind everybody else's programs at this tracepoint, and again when somebody has come behind it:
 * see sched_account.c.
 */
SEC("tp_btf/sched_switch")
int on_switched(uint64_t *ctx)
{
	uint32_t zero = 0, *is_switching = bpf_map_lookup_elem(&switching, &zero);
	struct account_sample sample = { .kind = ACCOUNT_SWITCHED };
	struct rq___account *rq;

	if (!is_switching || !*is_switching)
		return 0;
	*is_switching = 0;
	rq = queue_of((void *)bpf_get_current_task());
	if (rq)
		emit(&sample, rq);
	return 0;
}

/* Of another thread, here. */
static __always_inline int tell_of(struct task_struct *task, uint32_t kind)
{
	struct account_sample sample = { .kind = kind };
	struct rq___account *rq;

	if (!is_of_family(task))
		return 0;
	rq = queue_of((void *)bpf_get_current_task());
	if (!rq)
		return 0;
	sample.tid = task->pid;
	emit(&sample, rq);
	return 0;
}

SEC("tp_btf/sched_waking")
int on_waking(uint64_t *ctx)
{
	return tell_of((void *)ctx[0], ACCOUNT_WAKING);
}

SEC("tp_btf/sched_wakeup")
int on_woken(uint64_t *ctx)
{
	return tell_of((void *)ctx[0], ACCOUNT_WOKEN);
}

SEC("tp_btf/sched_migrate_task")
int on_moved(uint64_t *ctx)
{
	return tell_of((void *)ctx[0], ACCOUNT_MOVED);
}

/* A recorder that lists threads may be making the child's storage just now: then the first try fails. */
static __always_inline bool join_family(struct task_struct *task)
{
	for (int i = 0; i < 3; i++)
		if (bpf_task_storage_get(&family, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE))
			return true;
	return false;
}

SEC("tp_btf/sched_process_fork")
int on_fork(uint64_t *ctx)
{
	if (!is_of_family((void *)ctx[0]))
		return 0;
	if (!join_family((void *)ctx[1]))
		__sync_fetch_and_add(&lost_cnt, 1);
	return tell_of((void *)ctx[1], ACCOUNT_WAKING);
}

/* A new thread is in a queue. Attached behind everybody else's programs, too. */
SEC("tp_btf/sched_wakeup_new")
int on_started(uint64_t *ctx)
{
	return tell_of((void *)ctx[0], ACCOUNT_WOKEN);
}

SEC("perf_event")
int on_tick(void *ctx)
{
	struct account_sample sample = { .kind = ACCOUNT_TICK };
	struct rq___account *rq = queue_of((void *)bpf_get_current_task());

	if (rq)
		emit(&sample, rq);
	return 0;
}
