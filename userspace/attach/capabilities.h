/* SPDX-License-Identifier: BSD-2-Clause */
/* What this process may do. */
#ifndef CAPABILITIES_H
#define CAPABILITIES_H

#include <linux/capability.h>
#include <stdbool.h>

#ifndef CAP_BPF /* 5.8 */
#define CAP_PERFMON 38
#define CAP_BPF 39
#endif

/* Whether it has the capability in effect now. */
bool capability_is_effective(unsigned int capability);

#endif
