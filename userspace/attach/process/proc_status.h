/* SPDX-License-Identifier: BSD-2-Clause */
/* What the kernel says about one process or thread: /proc/PID/stat and status. */
#ifndef PROC_STATUS_H
#define PROC_STATUS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct proc_status {
	pid_t tgid;       /* the process it belongs to; itself, unless it is a thread */
	pid_t inner_pid;  /* in its own PID namespace */
	pid_t parent_pid;
	uid_t uid;        /* who runs it */
	bool is_kernel_thread;
	uint64_t start_ticks; /* since boot, in clock ticks */
	/*
	 * another number after an exec (as good as certain, with address space randomisation), the same after
	 * a fork; never 0
	 */
	uint64_t image;
	char comm[64];        /* any bytes */
};

/* 0; -ESRCH: there is none; errors of open and read; -EBADMSG: not what a kernel writes. */
int proc_status_read(struct proc_status *status, pid_t pid);

/*
 * Whether a thread of the process is in seccomp's strict mode, where it may
 * neither make memory nor read the time stamp counter. One that cannot be seen
 * is not.
 */
bool proc_status_is_strict(pid_t pid);

#endif
