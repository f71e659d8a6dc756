/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The file that a log is written to: `path.partial`, which gets its name when
 * it is complete (file_series.h). A path that is a device or a pipe is written
 * to directly. Errors are negative errno.
 */
#ifndef LOG_FILE_H
#define LOG_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "log/file/file_series.h"

struct log_file;

struct log_file_options {
	/* a pipe that nobody reads is -ENXIO; else it is waited for who reads it */
	bool refuses_unread;
	bool keeps_older;             /* what was called `path` gets a number instead of being replaced */
	/*
	 * for it and the older ones together; only if it keeps those. Old files are removed before a write
	 * would exceed the limits, but not before the first body has been written
	 */
	struct file_series_limits limits;
};

/*
 * NULL: replaces what is there. -EBUSY: path.partial is being written by
 * another recorder. -EISDIR: path is a directory.
 */
int log_file_open(struct log_file **file, const char *path, const struct log_file_options *options);

/* Other limits, for what is removed from now on. From any thread. */
void log_file_set_limits(struct log_file *file, const struct file_series_limits *limits);

/*
 * All of it, or an error: then the bytes that did get out are taken back where
 * that is possible, so that the file ends where it ended before.
 */
int log_file_write(struct log_file *file, const void *head, size_t head_bytes, const void *body,
		   size_t body_bytes);

/* What was written is on the disk. */
int log_file_sync(struct log_file *file);

/* -ENOENT: it was removed, or its directory was: what is written now would be gone at the end. */
int log_file_check(const struct log_file *file);

uint64_t log_file_bytes(const struct log_file *file);
bool log_file_is_direct(const struct log_file *file);

/* Completes it as an older one and begins the next, which is empty. Not if it is direct. */
int log_file_turn(struct log_file *file);

/* What is there under which name. */
struct log_file_names {
	uint64_t first_number; /* of those that log_file_turn() completed and that are still there; 0: none */
	uint64_t last_number;
	bool is_complete; /* path is it */
	bool is_partial;  /* path.partial is it */
};

/*
 * Frees it in any case, and tells what is left if names is not NULL. Complete
 * takes its name; after an error path.partial stays. Abandon leaves
 * path.partial; discard removes it, as there is nothing in it worth keeping.
 * NULL is allowed.
 */
int log_file_complete(struct log_file *file, struct log_file_names *names);
void log_file_abandon(struct log_file *file, struct log_file_names *names);
void log_file_discard(struct log_file *file, struct log_file_names *names);

#endif
