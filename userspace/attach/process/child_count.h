/* SPDX-License-Identifier: BSD-2-Clause */
/* The children that a process has at this moment. */
#ifndef CHILD_COUNT_H
#define CHILD_COUNT_H

#include <stddef.h>
#include <sys/types.h>

struct child_count {
	size_t cnt;
	size_t alike_cnt; /* of them: run the same file as their parent, and so have its probes */
};

/*
 * Adds those of this process. Of one that ends meanwhile, or on a kernel that
 * does not list children, there are none.
 */
void child_count_add(struct child_count *count, pid_t pid);

#endif
