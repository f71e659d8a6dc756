/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The ids of spans that begin on this side. */
#ifndef FOREIGN_ID_H
#define FOREIGN_ID_H

#include "vmlinux.h"
#include "txtrace/event.h"

#include <bpf/bpf_helpers.h>

#define ID_BLOCK_BITS 12 /* of the macros' ids bit 12 is always set, of ours never */

/* Of each CPU: how many ids it has given, in a line of its own. */
extern uint64_t foreign_ids[WIRE_CPU_MAX][8];

/*
 * Before 5.12 there is no instruction that adds and tells the sum, and a program in which there is one is
 * refused, even where it is never reached. None is needed: before 6.0 nothing preempts a program of a uprobe.
 * So what makes ids is there twice, and the recorder takes the one or the other.
 */
static __always_inline uint64_t foreign_next_number(uint64_t *counter, const bool is_preemptible)
{
	if (is_preemptible)
		return __sync_fetch_and_add(counter, 1) + 1;
	(*counter)++;
	return *counter;
}

static __always_inline uint64_t foreign_make_id(const bool is_preemptible)
{
	uint64_t cpu = bpf_get_smp_processor_id() & (WIRE_CPU_MAX - 1);
	uint64_t number = foreign_next_number(foreign_ids[cpu], is_preemptible);
	uint64_t low = number & ((1 << ID_BLOCK_BITS) - 1), high = number >> ID_BLOCK_BITS;

	return (high * WIRE_CPU_MAX + cpu) << (ID_BLOCK_BITS + 1) | low;
}

#endif
