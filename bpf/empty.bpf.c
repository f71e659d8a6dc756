// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Programs that do nothing: what it takes to get to one and back is what every other one costs besides its
 * own run time.
 */
#include "vmlinux.h"
#include "compat.h"

#include <bpf/bpf_helpers.h>

PROBE_PROGRAM("uprobe", on_empty_probe)
{
	return 0;
}

/* Not tp_btf, which is entered in the same way: for that libbpf reads all of the kernel's types. */
SEC("raw_tp/task_rename")
int on_empty_tracepoint(void *ctx)
{
	return 0;
}
