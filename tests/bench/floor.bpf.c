/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The floor under the recorder: programs that do nothing, where its own do something. */
#include "vmlinux.h"

#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

SEC("uprobe")
int on_probe(void *ctx)
{
	return 0;
}

SEC("tp_btf/sched_switch")
int on_switch(void *ctx)
{
	return 0;
}
