/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keeps the probes up with what the targets map: at an exec, when one joins,
 * when a library is loaded later (dlopen). Nothing is polled: the kernel side
 * tells of the former, perf's records of mappings of the latter
 * (attach/process/map_watch.h). Where these cannot be had, /proc is looked at SCAN_NS
 * apart.
 *
 * A mapping is told of before the loader has made those that follow it
 * (read-only data, where labels lie), so a process is looked at at once, and
 * again when it has mapped nothing for a moment.
 */
#ifndef ATTACH_WATCH_H
#define ATTACH_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "attach/attach.h"
#include "record/targets/target_set.h"
#include "txtrace/event.h"

struct attach_watch;

struct attach_watch_options {
	struct attach *attach;     /* these live as long as the watch */
	struct target_set *targets;
	bool is_any;               /* whoever has probes, target or not */
	/* processes to come matter: look as soon as something is mapped, not once a tick */
	bool is_quick;
	/*
	 * what others map can wait for some milliseconds: no file of a new content is to be noticed before a
	 * process of it ends
	 */
	bool may_rest;
	/* a target was looked at, because it has mapped something; NULL: nobody wants to know */
	void (*looked)(void *context, uint32_t pid);
	void *context;
};

int attach_watch_open(struct attach_watch **watch, const struct attach_watch_options *options);

/* Readable: attach_watch_run(); -1: none now. After news of others only, it rests for some milliseconds. */
int attach_watch_fd(const struct attach_watch *watch, uint64_t now_ns);

/* When to run it at the latest. */
uint64_t attach_watch_due_ns(const struct attach_watch *watch, uint64_t now_ns);

/* Whatever comes out of a ring: programs and their ends are what matters. */
void attach_watch_hear(struct attach_watch *watch, const struct wire_process *wire);

/*
 * By the order of events the process has ended: nothing more comes of what it
 * ran before, and nothing is noted for it any more.
 */
void attach_watch_end(struct attach_watch *watch, pid_t pid, uint64_t end_ns);

/*
 * A new program, as it is told by the order of events: one that has come to be
 * by a thread that took over the process.
 */
void attach_watch_soon(struct attach_watch *watch, pid_t pid);

void attach_watch_run(struct attach_watch *watch, uint64_t now_ns);

/* All processes that there are: those of is_any, at the start. */
void attach_watch_scan_all(struct attach_watch *watch);

/*
 * Whether anybody, target or not, has mapped a program or library since the
 * last call, as far as can be known.
 */
bool attach_watch_take_news(struct attach_watch *watch);

/* What cannot be helped, counted. */
struct attach_watch_stats {
	/*
	 * programs and libraries that ran before their probes were attached, because nobody had met their
	 * files before
	 */
	uint64_t late_cnt;
	uint64_t late_max_ns; /* for that long at most; what was marked meanwhile is not known */
	/* programs that ended before anybody could look what they are, and that are no known ones */
	uint64_t missed_cnt;
};

void attach_watch_stats(const struct attach_watch *watch, struct attach_watch_stats *stats);

void attach_watch_close(struct attach_watch *watch); /* NULL is allowed */

#endif
