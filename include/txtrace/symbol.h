/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Where a function of the kernel lies: what user space asks a BPF program, and its answer, in one struct. */
#ifndef TXTRACE_SYMBOL_H
#define TXTRACE_SYMBOL_H

#ifndef __VMLINUX_H__
#include <stdint.h>
#endif

struct wire_symbol {
	char name[64];	/* asked for; the rest is zero */
	uint64_t begin; /* 0: there is none */
	char place[64]; /* as the kernel prints that address, terminated: "filemap_fault+0x0/0x8c0" */
};

_Static_assert(sizeof(struct wire_symbol) == 136, "no hole");

#endif
