/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the kernel tells what a hypervisor has taken of each CPU: bpf/steal.h
 * reads it, docs/attribution.md, "Stolen time", says what becomes of it.
 */
#ifndef STEAL_SOURCE_H
#define STEAL_SOURCE_H

#include <stdint.h>

#include "attach/probes/percpu_layout.h"
#include "txtrace/event.h"

enum hypervisor {
	HYPERVISOR_NONE = 0,
	HYPERVISOR_KVM = 1,      /* it tells the time that it takes */
	HYPERVISOR_KVM_MUTE = 2, /* it does not */
	HYPERVISOR_OTHER = 3,
	HYPERVISOR_UNKNOWN = 4,  /* the processor does not say whether there is one */
};

/* Asks the processor, and the kernel. */
enum hypervisor hypervisor_find(void);

struct steal_source {
	enum steal_kind kind;
	int64_t offset; /* of the clock, from the CPU's `runqueues`; 0: NOT_TOLD */
	enum hypervisor hypervisor;
};

void steal_source_choose(struct steal_source *source, const struct percpu_layout *layout,
			 enum hypervisor hypervisor);

#endif
