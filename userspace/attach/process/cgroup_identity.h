/* SPDX-License-Identifier: BSD-2-Clause */
/* Which cgroup a folder is, in the kernel's own numbers: of the v2 tree, or of any hierarchy of v1. */
#ifndef CGROUP_IDENTITY_H
#define CGROUP_IDENTITY_H

#include <stdint.h>

#include "base/error.h"

struct cgroup_identity {
	uint64_t id;        /* of the cgroup in its hierarchy: the inode of its folder */
	uint32_t hierarchy; /* 0: v2; else as in /proc/cgroups, below 64 */
};

/* 0, or a negative errno and a sentence. */
int cgroup_identity_of_path(struct cgroup_identity *identity, const char *path, struct error *error);

#endif
