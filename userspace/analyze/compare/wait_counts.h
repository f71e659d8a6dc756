/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which waits a wakeup ended, told at the wakeup, when the span that waited is
 * still open (wait_finder.h tells a wait, with how long it was, when its thread
 * has left the CPU again, and its span may be over).
 */
#ifndef WAIT_COUNTS_H
#define WAIT_COUNTS_H

#include "base/id_map.h"
#include "txtrace/log.h"

#define WAIT_COUNTS_THREADS_MAX 1000000 /* waits of more are not told */

struct ended_wait {
	uint8_t reason; /* enum txtrace_block_reason */
	int32_t syscall_nr; /* negative: none, or not known */
};

struct wait_counts {
	struct id_map asleep; /* by pid and tid: what for */
};

void wait_counts_init(struct wait_counts *counts);
void wait_counts_release(struct wait_counts *counts);

/* Any record. 1: it is a wakeup that ended this wait; 0: it is not; -ENOMEM. */
int wait_counts_add(struct wait_counts *counts, const struct txtrace_record *record, struct ended_wait *wait);

#endif
