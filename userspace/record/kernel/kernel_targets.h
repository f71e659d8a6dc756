/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel side's targets: the map of processes that are traced, and the
 * rules by which it takes in more (bpf/process_target.h).
 */
#ifndef KERNEL_TARGETS_H
#define KERNEL_TARGETS_H

#include <stdint.h>

#include "attach/process/cgroup_identity.h"
#include "attach/process/file_identity.h"
#include "attach/process/target_rules.h"
#include "base/error.h"

struct txtrace_bpf;

/* Before loading: what is not asked for is not loaded, or cut away. 0 or a negative errno. */
int kernel_targets_prepare(struct txtrace_bpf *bpf, const struct target_rules *rules);

int kernel_targets_add(struct txtrace_bpf *bpf, uint32_t tgid, struct error *error);
void kernel_targets_remove(struct txtrace_bpf *bpf, uint32_t tgid);

int kernel_targets_add_comm(struct txtrace_bpf *bpf, const char *comm, struct error *error);
int kernel_targets_add_exe(struct txtrace_bpf *bpf, const struct file_identity *exe, struct error *error);
void kernel_targets_remove_exe(struct txtrace_bpf *bpf, const struct file_identity *exe);
int kernel_targets_add_cgroup(struct txtrace_bpf *bpf, const struct cgroup_identity *cgroup,
			      struct error *error);

/* Processes for which there was no room. */
uint64_t kernel_targets_lost(struct txtrace_bpf *bpf);

#endif
