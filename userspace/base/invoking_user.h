/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who asked for the command to be run: the user behind sudo, or whoever we are.
 * All that may allocate is done before the fork, so that the child has system
 * calls to make and no more.
 */
#ifndef INVOKING_USER_H
#define INVOKING_USER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct invoking_user {
	bool is_other; /* than we are: there is something to become */
	uid_t uid;
	gid_t gid;
	gid_t *groups;
	size_t group_cnt;
	char **environment; /* ours, without sudo's traces: NULL-terminated */
	char *strings[3];   /* owned ones of them */
};

/* From SUDO_UID and SUDO_GID, which are heeded only by root. 0, -ENOMEM, or -EINVAL: they are no numbers. */
int invoking_user_read(struct invoking_user *user);
void invoking_user_release(struct invoking_user *user);

/* In the child: gives up what root has, for good. 0 or a negative errno. */
int invoking_user_become(const struct invoking_user *user);

#endif
