/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which container and pod a process is in, by the names of its cgroups. Docker,
 * containerd, CRI-O and Podman put a container's id there, 64 hexadecimal
 * digits, and the kubelet the uid of the pod. Nothing but the name says so: a user
 * who may create cgroups can choose any.
 */
#ifndef CONTAINER_IDENTITY_H
#define CONTAINER_IDENTITY_H

#include <stddef.h>
#include <sys/types.h>

struct container_identity {
	char container[65]; /* empty: none, or not known */
	char pod[37];	    /* in lower case, with dashes; or 32 digits without, of a static pod */
};

/* Of the text of /proc/PID/cgroup. Of containers within containers, the innermost one. */
void container_identity_parse(struct container_identity *identity, const char *text, size_t length);

/* Of a process as it is now. 0 or a negative errno; then both are empty. */
int container_identity_read(struct container_identity *identity, pid_t pid);

#endif
