/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which program a process runs, as the records of processes tell, or else the
 * command of the capture. Programs have numbers: a set of them is a bit mask.
 * Two names are of one program if both are absolute paths and equal, or if one
 * is not and their last parts are equal: a command may be spelled without its
 * path.
 */
#ifndef SPAN_PROGRAMS_H
#define SPAN_PROGRAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/id_map.h"
#include "txtrace/log.h"

#define PROGRAMS_MAX 64 /* those that come later are not told apart from one that is not known */

struct span_programs {
	char *names[PROGRAMS_MAX];
	unsigned int cnt;
	struct id_map by_pid; /* to an entry of names */
	uint64_t of_capture;  /* the program of processes of which nothing was said, as a mask */
	uint32_t recent_pid;  /* what was asked for last, and the answer; pid 0: nothing */
	uint64_t recent;
};

void span_programs_init(struct span_programs *programs);
void span_programs_release(struct span_programs *programs);

/* Another capture begins: its pids are other processes. command may be empty. 0 or -ENOMEM. */
int span_programs_begin_capture(struct span_programs *programs, const char *command);

/* Takes what a record tells of its process. 0 or -ENOMEM. */
int span_programs_see(struct span_programs *programs, const struct txtrace_process *process);

/* A mask of one program; 0: not known. */
uint64_t span_programs_search(struct span_programs *programs, uint32_t pid);

/* Of more than one program. */
static inline bool span_programs_is_mixed(uint64_t mask)
{
	return mask & (mask - 1);
}

static inline uint64_t span_programs_of(struct span_programs *programs, uint32_t pid)
{
	return pid && pid == programs->recent_pid ? programs->recent : span_programs_search(programs, pid);
}

#endif
