/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The name under which an output is made until it is complete: of use with what
 * writes NAME.partial and renames it to NAME (log_file.h). Nobody else has that
 * name, so that `repair -o app.txtrace app.txtrace.partial` does not put its
 * own input aside.
 *
 * A child process waits for the end of this one, and removes NAME.partial and
 * NAME if that came before the output had its own name or was given up: so
 * Ctrl-C or a kill -9 leaves nothing. Without a child (no more processes
 * allowed) such a file stays.
 */
#ifndef LOG_BESIDE_H
#define LOG_BESIDE_H

#include <sys/types.h>

struct log_beside {
	const char *path; /* the caller's; outlives this */
	char *name;       /* NULL: path is a device or a pipe, and written to as it is */
	char *partial;
	pid_t guard;      /* 0: none */
	int guard_fd;     /* 0: none */
};

/* -EISDIR, -ENOMEM. */
int log_beside_init(struct log_beside *beside, const char *path);

/* To be made. */
const char *log_beside_name(const struct log_beside *beside);

/* It is complete: it becomes path. Negative errno, and then nothing is left. */
int log_beside_commit(struct log_beside *beside);

/* Removes what there is of it. All zero, or after a commit, it does nothing. */
void log_beside_abort(struct log_beside *beside);

#endif
