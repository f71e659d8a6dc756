/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * BPF_LINK_CREATE for BPF_TRACE_UPROBE_MULTI (kernel 6.6 and later), said to
 * the kernel directly: the headers and the libbpf of a stable distribution are
 * older than the feature. The layout is kernel ABI and does not change.
 */
#ifndef UPROBE_MULTI_H
#define UPROBE_MULTI_H

#include <stdint.h>

#define UPROBE_MULTI_ATTACH_TYPE 48 /* BPF_TRACE_UPROBE_MULTI of enum bpf_attach_type */

struct uprobe_multi {
	const char *path;
	const uint64_t *offsets;                 /* in the file */
	const uint64_t *semaphore_offsets;       /* 0: none; NULL: no site has one */
	const uint64_t *cookies;                 /* NULL: none */
	uint32_t cnt;
	uint32_t pid; /* 0: every process */
	uint32_t is_return; /* 1: hooks the return of the functions that begin at the offsets */
};

/* An fd of the link, which holds until it is closed, or a negative errno. */
int uprobe_multi_link(int prog_fd, const struct uprobe_multi *link);

#endif
