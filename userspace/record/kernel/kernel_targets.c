/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/kernel/kernel_targets.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "record/kernel/fault_ranges.h" /* the skeleton has an array of such */
#include "txtrace/event.h"
#include "txtrace_bpf.skel.h"

#define MANY_TARGETS 65536 /* at the same time, where not all of them are named */
#define COMM_SIZE 16

/* As in bpf/process_target.h and process_target.bpf.c. */
struct target_value {
	uint32_t reasons;
	uint32_t is_told;
};

struct file_key {
	uint64_t inode;
	uint64_t device;
};

struct cgroup_key {
	uint64_t id;
	uint64_t hierarchy;
};

static uint64_t hierarchies_of(const struct target_rules *rules)
{
	uint64_t hierarchies = 0;
	struct cgroup_identity identity;
	struct error ignored; /* who adds it says so */

	for (size_t i = 0; i < rules->cgroup_cnt; i++)
		if (!cgroup_identity_of_path(&identity, rules->cgroups[i], &ignored))
			hierarchies |= UINT64_C(1) << identity.hierarchy;
	return hierarchies;
}

int kernel_targets_prepare(struct txtrace_bpf *bpf, const struct target_rules *rules)
{
	bpf->rodata->cfg_target_rules = (rules->comm_cnt ? TARGET_COMM : 0) |
					(rules->exe_cnt ? TARGET_EXE : 0) |
					(rules->cgroup_cnt ? TARGET_CGROUP : 0) |
					(rules->is_any ? TARGET_ANY : 0);
	bpf->rodata->cfg_follows_children = rules->follows_children;
	bpf->rodata->cfg_cgroup_hierarchies = hierarchies_of(rules);
	bpf->rodata->cfg_recorder_tgid = getpid();
	bpf_program__set_autoload(bpf->progs.on_cgroup_attach, rules->cgroup_cnt > 0);
	return target_rules_want_every_process(rules)
		       ? bpf_map__set_max_entries(bpf->maps.targets, MANY_TARGETS)
		       : 0;
}

int kernel_targets_add(struct txtrace_bpf *bpf, uint32_t tgid, struct error *error)
{
	struct target_value value = { .reasons = TARGET_NAMED };

	if (!bpf_map_update_elem(bpf_map__fd(bpf->maps.targets), &tgid, &value, BPF_ANY))
		return 0;
	error_set(error, "cannot make process %u a target: %s", tgid, strerror(errno));
	return -errno;
}

void kernel_targets_remove(struct txtrace_bpf *bpf, uint32_t tgid)
{
	bpf_map_delete_elem(bpf_map__fd(bpf->maps.targets), &tgid);
}

static int add_rule(struct bpf_map *map, const void *key, const char *what, struct error *error)
{
	uint32_t value = 1;

	if (!bpf_map_update_elem(bpf_map__fd(map), key, &value, BPF_ANY))
		return 0;
	error_set(error, "cannot look for %s: %s", what, strerror(errno));
	return -errno;
}

int kernel_targets_add_comm(struct txtrace_bpf *bpf, const char *comm, struct error *error)
{
	char key[COMM_SIZE] = "";

	strncpy(key, comm, sizeof(key) - 1); /* the kernel cuts them there, too */
	return add_rule(bpf->maps.target_comms, key, "a command's name", error);
}

int kernel_targets_add_exe(struct txtrace_bpf *bpf, const struct file_identity *exe, struct error *error)
{
	struct file_key key = { .inode = exe->inode, .device = exe->device };

	return add_rule(bpf->maps.target_exes, &key, "an executable", error);
}

void kernel_targets_remove_exe(struct txtrace_bpf *bpf, const struct file_identity *exe)
{
	struct file_key key = { .inode = exe->inode, .device = exe->device };

	bpf_map_delete_elem(bpf_map__fd(bpf->maps.target_exes), &key);
}

int kernel_targets_add_cgroup(struct txtrace_bpf *bpf, const struct cgroup_identity *cgroup,
			      struct error *error)
{
	struct cgroup_key key = { .id = cgroup->id, .hierarchy = cgroup->hierarchy };

	return add_rule(bpf->maps.target_cgroups, &key, "a cgroup", error);
}

uint64_t kernel_targets_lost(struct txtrace_bpf *bpf)
{
	return bpf->bss->lost_targets;
}
