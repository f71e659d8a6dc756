/* SPDX-License-Identifier: BSD-2-Clause */
#include "event/sched_mode.h"

#include <stddef.h>

const char *const sched_mode_names[] = { [SCHED_TIMELINE] = "timeline",
					 [SCHED_LEDGER] = "ledger",
					 [SCHED_NONE] = "off",
					 [SCHED_MODE_COUNT] = NULL };
