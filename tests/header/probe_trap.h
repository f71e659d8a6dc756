/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A tracer of its own process, without a kernel's help: puts a breakpoint on
 * the first byte of each probe, where a uprobe would be, sets a semaphore, and
 * writes down what stands in the argument registers when it is hit; or reads
 * the ring, as a recorder does. It sees the probes of the object that it is
 * linked into, and of the ring what its own thread marks.
 *
 * With TXTRACE_DISABLE there is nothing to trap, and no call is ever seen.
 */
#ifndef PROBE_TRAP_H
#define PROBE_TRAP_H

#ifdef __cplusplus
extern "C" {
#endif

enum probe_trap_way {
	PROBE_TRAP_NOT = 0,
	PROBE_TRAP_PROBES = 1,     /* a probe for each kind of mark */
	PROBE_TRAP_RING_PROBE = 2, /* the probe `ring`, and nobody accepts the memory */
	PROBE_TRAP_RING = 3
};

void probe_trap_attach(enum probe_trap_way way);
void probe_trap_detach(void);
void probe_trap_attach_again(void); /* in the way of the last time */

/*
 * What was called since probe_trap_attach(), one line each, as `begin(#1,
 * "label", 0)`: ids are numbered in the order in which they first appear, and
 * the bytes of a key are shown as text. Valid until the next call of
 * probe_trap_attach().
 */
const char *probe_trap_calls(void);

#ifdef __cplusplus
}
#endif

#endif
