/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * With whose rights the files that the caller names are opened, made, renamed
 * and removed: under sudo with those of the user who called it (file system uid
 * and gid, groups, no capability), so that this program reaches nothing for
 * that user that the user could not reach alone. Without sudo they are our own,
 * and all of this does nothing.
 *
 * A thread has these rights, since they cannot be had again once capabilities
 * were given up. It is started by the first caller_do() of a process; after a
 * fork the child has one of its own.
 */
#ifndef CALLER_H
#define CALLER_H

#include <stdbool.h>
#include <sys/types.h>

struct caller;

/* -EINVAL: SUDO_UID and SUDO_GID are no numbers. -ENOMEM. */
int caller_new(struct caller **caller);
void caller_free(struct caller *caller); /* NULL is allowed */

/* Whether the rights are another user's than ours. NULL: no. */
bool caller_is_other(const struct caller *caller);

/* Whose they are; 0 if they are our own. */
uid_t caller_uid(const struct caller *caller);

typedef int (*caller_work)(void *context);

/*
 * Has the work done with these rights, waits for it, and returns what it
 * returned; a negative errno if the rights cannot be had. A thread that the
 * work starts has them for its life. From one thread, not from within work.
 * NULL: with our own.
 */
int caller_do(struct caller *caller, caller_work work, void *context);

/*
 * strerror(), and that it is said to the user who called sudo. err: negative
 * errno. Until the next call of strerror().
 */
const char *caller_explain(const struct caller *caller, int err);

#endif
