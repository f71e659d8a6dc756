/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What descriptors refer to now, as the object records tell: the last of each
 * counts. Memory up to a budget; what comes later has no name.
 */
#ifndef FD_NAMES_H
#define FD_NAMES_H

#include "base/id_map.h"
#include "base/string_pool.h"
#include "txtrace/log.h"

struct fd_names {
	struct id_map numbers; /* by process and descriptor: 1 + number of the name */
	struct string_pool *names;
	size_t max_bytes;
};

int fd_names_init(struct fd_names *names, size_t max_bytes); /* 0 or -ENOMEM */
void fd_names_release(struct fd_names *names);

int fd_names_add(struct fd_names *names, const struct txtrace_object *object); /* 0 or -ENOMEM */

/* 1 + the number of the name, or 0: not known. */
uint32_t fd_names_find(const struct fd_names *names, uint32_t pid, uint64_t fd);

/* By that number; empty for 0. Valid until the release. */
struct txtrace_string fd_names_get(const struct fd_names *names, uint32_t number);

#endif
