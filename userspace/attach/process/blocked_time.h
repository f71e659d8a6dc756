/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For how long a process or thread of ours was blocked while we waited for it.
 * A deadline must not count the time in which the machine was busy, or in which
 * all of us were stopped.
 */
#ifndef BLOCKED_TIME_H
#define BLOCKED_TIME_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define BLOCKED_LOOK_MS 20 /* apart */

/* What it did until a moment. */
struct blocked_look {
	uint64_t at_ns;   /* 0: nobody has looked yet */
	uint64_t busy_ns; /* on a CPU, or waiting for one */
	bool is_blocked;  /* now */
};

/* What cannot be looked at is taken for blocked. */
void blocked_look(struct blocked_look *seen, pid_t tid);

/*
 * How long it was blocked between two looks; at most as long as they should be
 * apart, twice: we may have been stopped in between ourselves.
 */
uint64_t blocked_between(const struct blocked_look *before, const struct blocked_look *after);

#endif
