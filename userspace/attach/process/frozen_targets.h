/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes whose memory cannot be read, because a read does not come back: a
 * program that maps a file of its own FUSE server can have the kernel wait for
 * that server while it holds the lock of the program's memory.
 *
 * Each process may keep us waiting for FROZEN_WAIT_NS, some time ago counting
 * less; then it is frozen, and is not asked again. Of a user of whose processes
 * FROZEN_OF_USER_MAX have come to that within FROZEN_USER_NS none is asked
 * until that is over, so that whoever makes processes gains nothing by it.
 */
#ifndef FROZEN_TARGETS_H
#define FROZEN_TARGETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define FROZEN_WAIT_NS UINT64_C(1000000000)
/* a process that makes us wait less than a sixteenth of the time is not frozen */
#define FROZEN_FORGIVE_SHIFT 4
#define FROZEN_OF_USER_MAX 4
#define FROZEN_USER_NS UINT64_C(600000000000)
#define FROZEN_SLOW_MAX 64 /* processes that have made us wait, and are not frozen: the last ones */

struct frozen_target {
	pid_t pid;
	uid_t uid;
	uint64_t start_ticks; /* with the pid it names one process */
	uint64_t since_ns;
	char comm[64]; /* any bytes */
};

struct slow_target {
	pid_t pid;
	uint64_t start_ticks;
	uint64_t waited_ns; /* until then, less what is forgiven */
	uint64_t at_ns;
};

/* Zeroed: none. */
struct frozen_targets {
	struct frozen_target *targets;
	size_t cnt;
	struct slow_target slow[FROZEN_SLOW_MAX];
	size_t slow_idx; /* the next to be replaced */
};

void frozen_targets_release(struct frozen_targets *set);

/* Not to be asked. A process that has this pid now, and is another one, is. */
bool frozen_targets_refuse(const struct frozen_targets *set, pid_t pid, uint64_t now_ns);

/* How long a process may keep us waiting now. */
uint64_t frozen_targets_left_ns(const struct frozen_targets *set, pid_t pid, uint64_t now_ns);

/* It has kept us waiting. The new entry if it is frozen by that, or NULL. */
const struct frozen_target *frozen_targets_wait(struct frozen_targets *set, pid_t pid, uint64_t waited_ns,
						uint64_t now_ns);

#endif
