/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Moves the records of one log beside those of others: times onto another
 * clock, processes and threads into a range of numbers of their own, and so
 * with CPUs. Span ids stay as they are: they are unique only with their
 * process, and that has a number of its own.
 */
#ifndef ID_SHIFT_H
#define ID_SHIFT_H

#include "txtrace/log.h"

/* Linux has no greater ones: PID_MAX_LIMIT on 64 bits, and more than the largest CONFIG_NR_CPUS. */
#define ID_SHIFT_PIDS (1u << 22)
#define ID_SHIFT_CPUS (1u << 13)
#define ID_SHIFT_RANGES (UINT32_MAX / ID_SHIFT_PIDS) /* so many logs have room beside each other */

struct id_shift {
	uint64_t time_ns;   /* added to all times, modulo 2^64 */
	/* ID_SHIFT_PIDS times this is added to pids and tids, but not to a 0 that stands for "nobody" */
	uint32_t pid_range;
	uint32_t cpu_range;
	bool is_alone; /* no other log is there: any pid, tid and CPU will do */
};

/*
 * 0; or -ERANGE: the record has a pid, tid or CPU that is none of Linux', so
 * that it could be taken for another log's.
 */
int id_shift_apply(const struct id_shift *shift, struct txtrace_record *record);

#endif
