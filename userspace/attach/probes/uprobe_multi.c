/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/probes/uprobe_multi.h"

#include <errno.h>
#include <linux/bpf.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What union bpf_attr holds for this command, in kernels that have it. */
struct link_create_attr {
	uint32_t prog_fd;
	uint32_t target_fd;
	uint32_t attach_type;
	uint32_t flags;
	uint64_t path;
	uint64_t offsets;
	uint64_t ref_ctr_offsets;
	uint64_t cookies;
	uint32_t cnt;
	uint32_t uprobe_flags;
	uint32_t pid;
	uint32_t padding;
};

_Static_assert(sizeof(struct link_create_attr) == 64, "link_create_attr");

int uprobe_multi_link(int prog_fd, const struct uprobe_multi *link)
{
	struct link_create_attr attr = {
		.prog_fd = (uint32_t)prog_fd,
		.attach_type = UPROBE_MULTI_ATTACH_TYPE,
		.path = (uintptr_t)link->path,
		.offsets = (uintptr_t)link->offsets,
		.ref_ctr_offsets = (uintptr_t)link->semaphore_offsets,
		.cookies = (uintptr_t)link->cookies,
		.cnt = link->cnt,
		.uprobe_flags = link->is_return,
		.pid = link->pid,
	};
	long fd = syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));

	return fd < 0 ? -errno : (int)fd;
}
