/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hears of every executable mapping of a file that any process makes: of the
 * program and the libraries at an exec, of a plugin at dlopen. By perf's
 * records of them (PERF_RECORD_MMAP2 of a dummy event on each CPU), so nothing
 * is polled, and a process that maps nothing costs nothing.
 *
 * Needs CAP_PERFMON (or root). Where it cannot be had, /proc has to be looked
 * at from time to time.
 */
#ifndef MAP_WATCH_H
#define MAP_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct map_watch;

/*
 * is_quick: readable at each mapping; else when there are many, and to be read
 * from time to time. 0 or a negative errno.
 */
int map_watch_open(struct map_watch **watch, bool is_quick);

int map_watch_fd(const struct map_watch *watch); /* readable (poll): map_watch_read() */

struct map_news {
	pid_t pid; /* 0: some were lost: anybody may have mapped anything */
	uint64_t inode;
	uint32_t dev_major;
	uint32_t dev_minor;
	const char *path; /* in the process' mount namespace; any bytes; valid during the call */
};

/* Calls visit for each mapping of a file since the last call; a non-zero return stops and is the result. */
typedef int (*map_visit)(void *context, const struct map_news *news);
int map_watch_read(struct map_watch *watch, map_visit visit, void *context);

void map_watch_close(struct map_watch *watch); /* NULL is allowed */

#endif
