// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "compat.h"
#include "emit.h"
#include "process_target.h"

#include <bpf/bpf_core_read.h>

#define CGROUP_HIERARCHY_MAX 16 /* a kernel has as many as it has controllers, and one */
#define CGROUP_DEPTH_MAX 32

#define ERROR_EXISTS (-17)

struct targets_map targets SEC(".maps");

/* The rules: TARGET_COMM, TARGET_EXE, TARGET_CGROUP, TARGET_ANY. */
const volatile uint32_t cfg_target_rules;
const volatile bool cfg_follows_children;
const volatile uint64_t cfg_cgroup_hierarchies; /* a bit for each hierarchy that target_cgroups has one of */
const volatile pid_t cfg_recorder_tgid;      /* never a target by a rule: it would record its own recording */

uint64_t lost_targets; /* processes that found no room in the map */

struct file_key {
	uint64_t inode;
	uint64_t device; /* of the file system itself, as the kernel has it: major << 20 | minor */
};

struct cgroup_key {
	uint64_t id;
	uint64_t hierarchy;
};

struct comm_key {
	char comm[16];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, struct comm_key);
	__type(value, uint32_t);
} target_comms SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, struct file_key);
	__type(value, uint32_t);
} target_exes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, struct cgroup_key);
	__type(value, uint32_t);
} target_cgroups SEC(".maps");

/* ---- telling ---- */

static __always_inline uint32_t inner_pid_of(struct task_struct *leader)
{
	struct pid *pid = BPF_CORE_READ(leader, thread_pid);
	unsigned int level = BPF_CORE_READ(pid, level);
	struct upid *numbers = (void *)((char *)pid + bpf_core_field_offset(pid->numbers));
	struct upid innermost = {};

	bpf_probe_read_kernel(&innermost, sizeof(innermost), numbers + (level & 63));
	return innermost.nr;
}

static __always_inline struct file_key exe_of(struct task_struct *task)
{
	struct inode *inode = BPF_CORE_READ(task, mm, exe_file, f_inode);
	struct file_key key = { .inode = BPF_CORE_READ(inode, i_ino),
				.device = BPF_CORE_READ(inode, i_sb, s_dev) };

	return key;
}

struct telling {
	struct target *target;
	const char *comm; /* NULL: the process' own */
	const char *path; /* NULL: none */
	uint8_t change;
	uint16_t flags;
	bool wakes; /* the recorder has something to do now */
};

static __always_inline void tell(struct task_struct *task, const struct telling *telling)
{
	struct task_struct *leader = BPF_CORE_READ(task, group_leader);
	struct wire_process *event;
	struct emit out;
	uint64_t now_ns;
	long length = 0;
	uint32_t tgid = BPF_CORE_READ(task, tgid);
	struct file_key exe = exe_of(task);

	event = emit_reserve(&out, WIRE_PROCESS, sizeof(*event));
	now_ns = bpf_ktime_get_ns();
	if (!event) {
		emit_lost(&out, WIRE_PROCESS, now_ns);
		return;
	}
	if (telling->path)
		length = bpf_probe_read_kernel_str(event->path, sizeof(event->path), telling->path);
	emit_header(&out, &event->header, WIRE_PROCESS,
		    telling->flags | (length == sizeof(event->path) ? WIRE_IS_TRUNCATED : 0),
		    (uint64_t)tgid << 32 | tgid, now_ns);
	event->start_ns = BPF_CORE_READ(leader, start_time);
	event->code_start = BPF_CORE_READ(task, mm, start_code);
	event->exe_inode = exe.inode;
	event->exe_device = exe.device;
	event->parent_tgid = BPF_CORE_READ(leader, real_parent, tgid);
	event->inner_pid = inner_pid_of(leader);
	event->thread_cnt = BPF_CORE_READ(task, signal, nr_threads);
	event->change = telling->change;
	event->reasons = telling->target ? telling->target->reasons : 0;
	event->path_length = length > 0 ? length - 1 : 0;
	if (bpf_probe_read_kernel(event->comm, sizeof(event->comm),
				  telling->comm ? telling->comm : leader->comm))
		__builtin_memset(event->comm, 0, sizeof(event->comm));
	if (telling->target)
		telling->target->is_told = 1;
	if (telling->wakes)
		bpf_ringbuf_submit(event, BPF_RB_FORCE_WAKEUP);
	else
		emit_submit(&out, event);
}

/* ---- rules ---- */

static __always_inline bool comm_matches(const char *comm)
{
	struct comm_key key = {};

	return bpf_probe_read_kernel_str(key.comm, sizeof(key.comm), comm) > 0 &&
	       bpf_map_lookup_elem(&target_comms, &key);
}

static __always_inline bool exe_matches(struct task_struct *task)
{
	struct file_key key = exe_of(task);

	return key.inode && bpf_map_lookup_elem(&target_exes, &key);
}

/* Or one that it lies in. */
static __always_inline bool cgroup_is_target(struct cgroup *cgroup, uint64_t hierarchy)
{
	for (int i = 0; i < CGROUP_DEPTH_MAX && cgroup; i++) {
		struct cgroup_key key = { .id = BPF_CORE_READ(cgroup, kn, id), .hierarchy = hierarchy };
		struct cgroup_subsys_state *parent;

		if (bpf_map_lookup_elem(&target_cgroups, &key))
			return true;
		parent = BPF_CORE_READ(cgroup, self.parent);
		cgroup = parent ? BPF_CORE_READ(parent, cgroup) : 0;
	}
	return false;
}

static __noinline bool cgroup_matches(struct task_struct *task)
{
	struct css_set *set = BPF_CORE_READ(task, cgroups);
	struct list_head *at = BPF_CORE_READ(set, cgrp_links.next);

	for (int i = 0; i < CGROUP_HIERARCHY_MAX && at; i++) {
		struct cgrp_cset_link *link = 0;
		struct cgroup *cgroup;
		int hierarchy;

		if ((char *)at == (char *)set + bpf_core_field_offset(set->cgrp_links))
			return false;
		link = (void *)((char *)at - bpf_core_field_offset(link->cgrp_link));
		cgroup = BPF_CORE_READ(link, cgrp);
		hierarchy = BPF_CORE_READ(cgroup, root, hierarchy_id);
		if (hierarchy >= 0 && hierarchy < 64 && cfg_cgroup_hierarchies >> hierarchy & 1 &&
		    cgroup_is_target(cgroup, hierarchy))
			return true;
		at = BPF_CORE_READ(link, cgrp_link.next);
	}
	return false;
}

/* Why the task's process would be traced as it is now. */
static __always_inline uint32_t rules_of(struct task_struct *task)
{
	struct task_struct *leader;
	uint32_t reasons = 0;

	if (!(cfg_target_rules & (TARGET_COMM | TARGET_EXE | TARGET_CGROUP)))
		return 0;
	if (BPF_CORE_READ(task, tgid) == cfg_recorder_tgid || !BPF_CORE_READ(task, mm))
		return 0;
	leader = BPF_CORE_READ(task, group_leader);
	if (cfg_target_rules & TARGET_COMM &&
	    comm_matches((char *)leader + bpf_core_field_offset(leader->comm)))
		reasons |= TARGET_COMM;
	if (cfg_target_rules & TARGET_EXE && exe_matches(task))
		reasons |= TARGET_EXE;
	if (cfg_target_rules & TARGET_CGROUP && cgroup_matches(task))
		reasons |= TARGET_CGROUP;
	return reasons;
}

static __always_inline struct target *target_of(struct task_struct *task)
{
	uint32_t tgid = BPF_CORE_READ(task, tgid);

	return bpf_map_lookup_elem(&targets, &tgid);
}

/* False: there is no room, which is counted. Who is in the map already is a target, of course. */
static __always_inline bool join(struct task_struct *task, uint32_t reasons, struct telling *telling)
{
	struct target initial = { .reasons = reasons };
	uint32_t tgid = BPF_CORE_READ(task, tgid);
	long err = bpf_map_update_elem(&targets, &tgid, &initial, BPF_NOEXIST);

	if (err == ERROR_EXISTS)
		return true;
	if (err) {
		__sync_fetch_and_add(&lost_targets, 1);
		return false;
	}
	telling->target = bpf_map_lookup_elem(&targets, &tgid);
	if (!telling->change)
		telling->change = WIRE_PROCESS_JOINED;
	tell(task, telling);
	return true;
}

/* As it would be, had we seen its fork. */
static __always_inline bool is_child_of_target(struct task_struct *task)
{
	uint32_t parent_tgid = BPF_CORE_READ(task, group_leader, real_parent, tgid);

	return cfg_follows_children && BPF_CORE_READ(task, tgid) != cfg_recorder_tgid &&
	       bpf_map_lookup_elem(&targets, &parent_tgid);
}

__hidden bool target_seed(struct task_struct *task)
{
	struct telling telling = { .flags = WIRE_IS_SEED, .change = WIRE_PROCESS_JOINED };
	uint32_t reasons;

	telling.target = target_of(task);
	if (telling.target) {
		if (!telling.target->is_told)
			tell(task, &telling);
		return true;
	}
	reasons = rules_of(task);
	if (is_child_of_target(task))
		reasons |= TARGET_CHILD;
	return reasons && join(task, reasons, &telling);
}

__hidden bool target_fork(struct task_struct *parent, struct task_struct *child)
{
	struct telling telling = { .change = WIRE_PROCESS_FORKED };
	uint32_t reasons = 0;

	if (cfg_follows_children && target_of(parent))
		reasons = TARGET_CHILD;
	reasons |= rules_of(child);
	return reasons && join(child, reasons, &telling);
}

__hidden bool target_rename(struct task_struct *task, const char *comm)
{
	struct telling telling = { .comm = comm, .wakes = true };

	if (!(cfg_target_rules & TARGET_COMM) || task->pid != task->tgid || task->tgid == cfg_recorder_tgid ||
	    !BPF_CORE_READ(task, mm))
		return false;
	return comm_matches(comm) && join(task, TARGET_COMM, &telling);
}

/* A thread of a target whose fork was missed is adopted. */
__hidden bool target_meet(struct task_struct *task)
{
	struct telling telling = { .wakes = true };
	uint32_t tgid = bpf_get_current_pid_tgid() >> 32;

	if (bpf_map_lookup_elem(&targets, &tgid))
		return true;
	return cfg_target_rules & TARGET_ANY && join(task, TARGET_ANY, &telling);
}

__hidden void target_move(struct task_struct *task)
{
	struct telling telling = { .wakes = true };
	uint32_t reasons;

	if (target_of(task))
		return;
	reasons = rules_of(task);
	if (reasons)
		join(task, reasons, &telling);
}

/* Who is named, or a target's child, stays; the others are looked at anew. */
__hidden enum target_exec target_exec(struct task_struct *task, struct linux_binprm *program)
{
	struct telling telling = { .path = BPF_CORE_READ(program, filename), .wakes = true };
	uint32_t reasons = rules_of(task);

	telling.target = target_of(task);
	if (!telling.target)
		return reasons && join(task, reasons, &telling) ? TARGET_EXEC_JOINS : TARGET_EXEC_NOTHING;
	reasons |= telling.target->reasons & (TARGET_NAMED | TARGET_CHILD);
	if (!reasons)
		return TARGET_EXEC_LEAVES;
	telling.target->reasons = reasons;
	telling.change = WIRE_PROCESS_EXEC;
	tell(task, &telling);
	return TARGET_EXEC_NOTHING;
}

static __always_inline void forget(struct task_struct *task, uint8_t change)
{
	struct telling telling = { .change = change };
	uint32_t tgid = BPF_CORE_READ(task, tgid);

	if (!bpf_map_delete_elem(&targets, &tgid))
		tell(task, &telling);
}

__hidden void target_leave(struct task_struct *task)
{
	forget(task, WIRE_PROCESS_LEFT);
}

/*
 * The kernel counts a thread out before it tells: the last ones may both find that nobody is left, and one of
 * them finds the process in the map.
 */
__hidden void target_exit(struct task_struct *task)
{
	if (!BPF_CORE_READ(task, signal, live.counter))
		forget(task, WIRE_PROCESS_EXITED);
}
