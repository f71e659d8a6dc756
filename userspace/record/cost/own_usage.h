/* SPDX-License-Identifier: BSD-2-Clause */
/* What the recorder itself takes of the machine. */
#ifndef OWN_USAGE_H
#define OWN_USAGE_H

#include <stdint.h>

uint64_t own_usage_cpu_ns(void);       /* of all threads, since the process began */
uint64_t own_usage_memory_bytes(void); /* resident now; 0: it can't be told */

#endif
