/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Looks on while the probes are taken out. The kernel takes the lock of the
 * memory of each process that has mapped the file, one after the other: a
 * process that holds its own holds us, and meanwhile fork() waits on the whole
 * machine. When that takes more than two seconds, a thread looks for processes
 * that block reads of their memory, and names them.
 */
#ifndef DETACH_WATCH_H
#define DETACH_WATCH_H

#include "attach/process/process_reader.h"
#include "record/messages/messages.h"

struct detach_watch;

/*
 * The reader is the watch's meanwhile. NULL: nobody looks on (no memory, no
 * thread, or there is no reader).
 */
struct detach_watch *detach_watch_new(const struct messages *messages, struct process_reader *reader);

/* It is over. NULL is allowed. */
void detach_watch_free(struct detach_watch *watch);

#endif
