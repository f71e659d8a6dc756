/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files that a log makes in its directory: what they are called, in which order, and which of them go. It knows nothing of what is in them but
 * the first eight bytes of a log.
 *
 * "app.txtrace" is the newest one; the older ones, of this log and of those before, are app.000001.txtrace, app.000002.txtrace, … (file_number.h).
 * While it is written, the newest one is app.txtrace.partial, and locked. Numbers are given in the order of time and go on from what is there:
 * no name is ever given twice while its file is there, and nothing is overwritten but by log_set_replace(). What a crash left as .partial takes
 * its place at the next begin, as if it had been complete.
 *
 * The directory is held open: it may be renamed meanwhile. When it was removed, all that needs it gives -ENOENT. Errors are negative errno.
 */
#ifndef LOG_SET_H
#define LOG_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct log_set;

/* -EISDIR: path is a directory. A device or a pipe is direct: it is what is written to, and nothing but begin may be called. */
int log_set_open(struct log_set **set, const char *path);
void log_set_close(struct log_set *set); /* NULL is allowed */

bool log_set_is_direct(const struct log_set *set);

/*
 * Makes the .partial: empty, locked, mode 0600, under sudo (SUDO_UID and SUDO_GID in root's environment) the invoking user's. Returns its descriptor.
 * -EBUSY: somebody else is writing it.
 */
int log_set_begin(struct log_set *set);

/* What becomes of the .partial. */
int log_set_replace(struct log_set *set); /* the newest one; what was there is gone */
int log_set_finish(struct log_set *set);  /* the newest one; what was there gets the next number */
int log_set_number(struct log_set *set);  /* an older one, with the next number; an older newest one gets the one before */
void log_set_discard(struct log_set *set);

struct log_set_limits {
	uint64_t file_cnt;    /* 0: any number */
	uint64_t total_bytes; /* 0: any */
};

/*
 * Removes older files, the oldest first, until those that stay are within the limits, together with one more of growing_bytes (UINT64_MAX: there is
 * none). Only logs are counted and removed: whatever has such a name and does not begin like one stays. What can't be removed stays, too.
 */
int log_set_prune(struct log_set *set, const struct log_set_limits *limits, uint64_t growing_bytes);

/* Bytes in the files that stayed, at the last prune. */
uint64_t log_set_older_bytes(const struct log_set *set);

/* The numbers that log_set_number() gave, as far as they were not removed: from the first to the last, 0 if there are none. */
void log_set_numbers(const struct log_set *set, uint64_t *first, uint64_t *last);

#endif
