/* SPDX-License-Identifier: BSD-2-Clause */
/* What this process may do. Sets of capabilities have a bit for each: CAPABILITY_BIT(CAP_BPF) | … */
#ifndef CAPABILITIES_H
#define CAPABILITIES_H

#include <linux/capability.h>
#include <stdbool.h>
#include <stdint.h>

#ifndef CAP_BPF /* 5.8 */
#define CAP_PERFMON 38
#define CAP_BPF 39
#endif
#ifndef CAP_CHECKPOINT_RESTORE /* 5.9 */
#define CAP_CHECKPOINT_RESTORE 40
#endif

#define CAPABILITY_BIT(capability) (UINT64_C(1) << (capability))

/* Whether it has the capability in effect now. */
bool capability_is_effective(unsigned int capability);

/* Those that the calling thread has, or could put in effect by itself. */
uint64_t capabilities_held(void);

/*
 * Of the calling thread: these are in effect, and of the others none can be had
 * any more. What is not held is not asked for. 0 or a negative errno.
 */
int capabilities_keep(uint64_t kept);

/*
 * Whether the thread may change what is in this directory if these are in
 * effect alone. The thread has all in effect again then that it holds.
 */
bool capabilities_suffice_to_change(uint64_t these, const char *directory);

#endif
