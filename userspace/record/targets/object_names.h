/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the descriptors that threads wait for refer to: looked up when a file is
 * first waited for, by its inode, so that a number that is used again is
 * noticed, and told to the log as TXTRACE_RECORD_OBJECT. A descriptor that is
 * closed, or another file's, by the time of the look stays without a name.
 *
 * Looks take a hundredth of the recorder's time at most; what is not looked up
 * then is when it is waited for again.
 */
#ifndef OBJECT_NAMES_H
#define OBJECT_NAMES_H

#include <sys/types.h>

#include "event/event.h"
#include "txtrace/log.h"

struct object_names;

typedef int (*object_sink)(void *context, const struct txtrace_record *record);

/* What `fd` of `pid` is: fd_name_read(), or what a test puts in its place. */
typedef int (*object_reader)(void *context, pid_t pid, uint32_t fd, uint64_t inode, char *name);

struct object_names_options {
	object_reader read;
	void *read_context;
	object_sink sink;
	void *sink_context;
};

struct object_names *object_names_new(const struct object_names_options *options); /* NULL: no memory */
void object_names_free(struct object_names *names); /* NULL is allowed */

/*
 * A switch, or a wakeup that tells what its wait was for, as it comes: 0,
 * -ENOMEM, or what the sink returned.
 */
int object_names_see(struct object_names *names, const struct event *event);

/* Tells all that are known once more: a new file has begun. */
int object_names_tell(struct object_names *names, uint64_t time_ns);

#endif
