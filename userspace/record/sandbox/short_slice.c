/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/sandbox/short_slice.h"

#include <linux/sched.h>
#include <linux/sched/types.h> /* not with <sched.h>, which defines some of it, too */
#include <sys/syscall.h>
#include <unistd.h>

#define SLICE_NS 100000u

/* glibc has no functions for these two. What is not changed here is set again as it was: nice, above all. */
void short_slice_take(void)
{
	struct sched_attr attr = { .size = sizeof(attr) };

	if (syscall(SYS_sched_getattr, 0, &attr, sizeof(attr), 0) ||
	    (attr.sched_policy != SCHED_NORMAL && attr.sched_policy != SCHED_BATCH) ||
	    attr.sched_runtime <= SLICE_NS) /* 0: the kernel has none */
		return;
	attr.sched_runtime = SLICE_NS;
	syscall(SYS_sched_setattr, 0, &attr, 0);
}
