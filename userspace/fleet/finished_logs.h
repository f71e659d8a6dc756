/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The logs of a directory that nobody writes any more, the oldest first: those
 * with their final name, and those that a recorder left when it was killed.
 */
#ifndef FINISHED_LOGS_H
#define FINISHED_LOGS_H

#include <stddef.h>
#include <stdint.h>

struct finished_log {
	char *path;
	int64_t written_ns; /* its mtime; with the number of the file: a name for what is in it */
	uint64_t inode;
	uint64_t device;
};

struct finished_logs {
	struct finished_log *logs;
	size_t cnt;
	size_t room;
	size_t held_cnt; /* files that are still being written, and are not in the list */
};

/* All zero before. 0, or a negative errno: the directory can't be read, or there is no memory. */
int finished_logs_read(struct finished_logs *list, const char *directory);
void finished_logs_release(struct finished_logs *list);

#endif
