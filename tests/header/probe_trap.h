/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A tracer of its own process, without a kernel's help: puts a breakpoint on
 * the first byte of each probe, where a uprobe would be, sets the semaphore,
 * and writes down what stands in the argument registers when it is hit. It sees
 * the probes of the object that it is linked into.
 *
 * With TXTRACE_DISABLE there is nothing to trap, and no call is ever seen.
 */
#ifndef PROBE_TRAP_H
#define PROBE_TRAP_H

#ifdef __cplusplus
extern "C" {
#endif

void probe_trap_attach(void);
void probe_trap_detach(void);

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
