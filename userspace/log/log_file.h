/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The file that a log is written to: `path.partial`, which becomes `path` when it is complete. Until then a file of that name stays as it was.
 * A `path.partial` that a crash left behind is kept as `path.partial.1`. A path that is a device or a pipe is written to directly.
 * Under sudo (SUDO_UID and SUDO_GID in root's environment) the file belongs to the invoking user. Errors are negative errno.
 */
#ifndef LOG_FILE_H
#define LOG_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct log_file;

/* -EBUSY: path.partial is being written by another recorder. -EISDIR: path is a directory. */
int log_file_open(struct log_file **file, const char *path);

/* All of it, or an error: then the bytes that did get out are taken back where that is possible, so that the file ends where it ended before. */
int log_file_write(struct log_file *file, const void *head, size_t head_bytes, const void *body, size_t body_bytes);

uint64_t log_file_bytes(const struct log_file *file);

/* Takes its name; frees it in any case. After an error path.partial stays. */
int log_file_complete(struct log_file *file);

/* Frees it; path.partial stays, or goes if there is nothing in it worth keeping. NULL is allowed. */
void log_file_abandon(struct log_file *file);
void log_file_discard(struct log_file *file);

#endif
