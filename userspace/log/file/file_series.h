/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files that are written under one name in one directory: what they are
 * called, in which order, and which of them go. It knows nothing of what is in
 * them but the first eight bytes of a log.
 *
 * "app.txtrace" is the newest one; the older ones are app.000001.txtrace,
 * app.000002.txtrace, … (file_number.h). While it is written, the newest one is
 * app.txtrace.partial, and locked. Numbers are given in the order of time and
 * go on from what is there: no name is given that some file has, and nothing is
 * overwritten but by file_series_replace(). What a crash left as .partial takes
 * its place at the next begin, as if it had been complete.
 *
 * The directory is held open: it may be renamed meanwhile. When it was removed,
 * all that needs it gives -ENOENT. Errors are negative errno.
 */
#ifndef FILE_SERIES_H
#define FILE_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct file_series;

/*
 * -EISDIR: path is a directory. A device or a pipe is direct: it is opened here
 * (base/named_output.h), and nothing but begin may be called, once. waits: for
 * somebody who reads the pipe; else -ENXIO.
 */
int file_series_open(struct file_series **series, const char *path, bool waits);
void file_series_close(struct file_series *series); /* NULL is allowed */

bool file_series_is_direct(const struct file_series *series);

/*
 * Makes the .partial: empty, locked, mode 0600. Returns its descriptor. -EBUSY:
 * somebody else is writing it.
 */
int file_series_begin(struct file_series *series);

/* What becomes of the .partial. */
int file_series_replace(struct file_series *series); /* the newest one; what was there is gone */
int file_series_finish(struct file_series *series);  /* the newest one; what was there gets the next number */
/* an older one, with the next number; an older newest one gets the one before */
int file_series_number(struct file_series *series);
void file_series_discard(struct file_series *series);

struct file_series_limits {
	uint64_t file_cnt;    /* 0: any number */
	uint64_t total_bytes; /* 0: any */
};

/*
 * Removes older files, the oldest first, until those that stay are within the
 * limits, together with one more of growing_bytes (UINT64_MAX: there is none).
 * Only logs are counted and removed: whatever has such a name and does not
 * begin like one stays. What can't be removed stays, too.
 */
int file_series_prune(struct file_series *series, const struct file_series_limits *limits,
		      uint64_t growing_bytes);

/* Bytes in the files that stayed, at the last prune. */
uint64_t file_series_older_bytes(const struct file_series *series);

/*
 * The numbers that file_series_number() gave, as far as they were not removed:
 * from the first to the last, 0 if there are none.
 */
void file_series_numbers(const struct file_series *series, uint64_t *first, uint64_t *last);

#endif
