/* SPDX-License-Identifier: BSD-2-Clause */
/* The name under which an output is made, until it is complete: of use with what writes NAME.partial and renames it to NAME (log_file.h). */
#ifndef LOG_BESIDE_H
#define LOG_BESIDE_H

struct log_beside {
	const char *path; /* the caller's; outlives this */
	char *name;       /* NULL: path is a device or a pipe, and written to as it is */
};

/* -EISDIR, -ENOMEM. */
int log_beside_init(struct log_beside *beside, const char *path);

/* To be made. */
const char *log_beside_name(const struct log_beside *beside);

/* It is complete: it becomes path. Negative errno, and then nothing is left. */
int log_beside_commit(struct log_beside *beside);

/* Removes what there is of it. */
void log_beside_abort(struct log_beside *beside);

#endif
