/* SPDX-License-Identifier: BSD-2-Clause */
/* What the log's header says about where and when it was recorded. */
#ifndef CAPTURE_START_H
#define CAPTURE_START_H

#include <stdint.h>

#include "txtrace/log.h"

/* The same moment on CLOCK_MONOTONIC and CLOCK_REALTIME. */
void capture_read_clocks(uint64_t *monotonic_ns, uint64_t *realtime_ns);

/* Fills in machine, kernel, clocks and a new capture id. command and options are cut off if they are long. */
void capture_start_fill(struct txtrace_log_info *info, uint32_t pid, const char *command,
			const char *options);

#endif
