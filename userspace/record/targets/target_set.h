/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The processes that are traced: who, why, since when, what it is called, until
 * when. The kernel side decides (bpf/process_target.h) and says so in a
 * WIRE_PROCESS for each change; the set hears it twice:
 *
 *	target_set_hear()   when it comes out of a ring, to look in /proc for what will soon be gone
 *	target_set_see()    when its turn has come among all events, to tell the log
 *
 * Those that the user named are held open besides, so that their end is known
 * whatever else is lost.
 */
#ifndef TARGET_SET_H
#define TARGET_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attach/process/container_identity.h"
#include "attach/process/target.h"
#include "event/event.h"
#include "txtrace/log.h"

struct process_reader;
struct target_set;

typedef int (*target_sink)(void *context, const struct txtrace_record *record);

struct target_set *target_set_new(target_sink sink, void *context); /* NULL: no memory */
/* who reads command lines; before that we do */
void target_set_set_reader(struct target_set *set, struct process_reader *reader);
/* closes those that were added. NULL is allowed */
void target_set_free(struct target_set *set);

/* ---- those that were named ---- */

/* The set's from now on. 0 or a negative errno. */
int target_set_add(struct target_set *set, struct target *target);

size_t target_set_named_cnt(const struct target_set *set);
struct target *target_set_named(const struct target_set *set, size_t idx);
int target_set_poll_fd(const struct target_set *set); /* readable when one of them has ended */

/* How many of them still run. Calls ended with each one that has ended since the last call. */
typedef void (*target_ended)(void *context, pid_t pid);
size_t target_set_reap(struct target_set *set, target_ended ended, void *context);

/* ---- all of them ---- */

/* size bytes, as they come out of a ring; what is no process is ignored. 0 or -ENOMEM. */
int target_set_hear(struct target_set *set, const struct wire_process *wire, size_t size);

/* An EVENT_PROCESS: 0, -ENOMEM, or what the sink returned. */
int target_set_see(struct target_set *set, const struct event *event);

/* Tells all that are traced once more: a new file has begun. */
int target_set_tell(struct target_set *set, uint64_t time_ns);

struct traced_process {
	uint32_t pid;
	uint32_t inner_pid;
	uint32_t parent_pid;
	uint32_t reasons; /* enum target_reason */
	uint64_t since_ns;
	uint64_t start_ns;
	uint64_t code_start;
	char comm[17];
	char *exe;     /* any bytes; NULL: not known */
	char *command; /* the arguments, separated by spaces; NULL: not known */
	struct container_identity container;
};

/* The process that has this pid now, as far as has been heard; NULL: it is not traced. */
const struct traced_process *target_set_get(const struct target_set *set, uint32_t pid);

/*
 * Where the process is that has this pid at the present point of the log, or had it last; NULL: it is not
 * known.
 */
const struct container_identity *target_set_place(const struct target_set *set, uint32_t pid);

size_t target_set_cnt(const struct target_set *set);

typedef void (*target_visit)(void *context, const struct traced_process *process);
void target_set_each(const struct target_set *set, target_visit visit, void *context);

struct target_set_stats {
	uint64_t joined_cnt; /* processes that were traced at any time */
	uint64_t ended_cnt;  /* of them: exited, or gone out of the rules */
};

void target_set_stats(const struct target_set *set, struct target_set_stats *stats);

#endif
