/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which processes are traced. The map says it; the recorder puts in those that
 * are named, and the rules here those that fork, exec, move or meet a probe.
 * Whoever is in it has its threads' clocks started (thread_clock.h), and a
 * thread is traced exactly if it has clocks: so on the way of an event of a
 * traced thread nobody looks here.
 *
 * Every change is sent as a WIRE_PROCESS. Rules that are not asked for cost
 * nothing: the verifier cuts them away.
 */
#ifndef PROCESS_TARGET_H
#define PROCESS_TARGET_H

#include "vmlinux.h"
#include "txtrace/event.h"

#include <bpf/bpf_helpers.h>

struct target {
	uint32_t reasons; /* enum target_reason */
	uint32_t is_told; /* its WIRE_PROCESS has found room in a ring */
};

/* tgid -> why it is traced */
struct targets_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384); /* the recorder may make it larger */
	__type(key, uint32_t);
	__type(value, struct target);
};

extern struct targets_map targets SEC(".maps");

/* The threads of the task's process are to be traced, or not; the task is a thread that was there before. */
bool target_seed(struct task_struct *task);

/* The child is a process of its own: is it traced? */
bool target_fork(struct task_struct *parent, struct task_struct *child);

/* The task, which is not traced, gets this name: is it traced for that? */
bool target_rename(struct task_struct *task, const char *comm);

/* The current task, which has no clocks, has met a probe: is it traced? */
bool target_meet(struct task_struct *task);

/* The task's process has been moved to another cgroup. */
void target_move(struct task_struct *task);

enum target_exec {
	TARGET_EXEC_NOTHING = 0,
	TARGET_EXEC_JOINS = 1,
	TARGET_EXEC_LEAVES = 2, /* to be followed by target_leave(), once the last has been said of it */
};

enum target_exec target_exec(struct task_struct *task, struct linux_binprm *program);
void target_leave(struct task_struct *task);

/* The task exits, maybe as the last one of its process. */
void target_exit(struct task_struct *task);

#endif
