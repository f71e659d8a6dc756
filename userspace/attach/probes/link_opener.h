/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes probe links in a thread of its own, and does not wait for ever: the
 * kernel takes the lock of the memory of each process that has mapped the file,
 * and a hostile one may hold its own for as long as it likes. The thread cannot
 * be stopped then, and any other link would wait behind it: so until the kernel
 * lets go of it, no link is made.
 *
 *	fd = link_opener_link(opener, prog_fd, &multi, object_fd);
 *	if (fd == -ETIMEDOUT)
 *		again once link_opener_is_held() says no
 */
#ifndef LINK_OPENER_H
#define LINK_OPENER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attach/probes/uprobe_multi.h"

struct link_opener;

struct link_opener *link_opener_new(uint64_t wait_ns); /* NULL: no memory */

/*
 * As uprobe_multi_link(), of the object open at object_fd: multi->path does not
 * count. -ETIMEDOUT: the kernel has kept the thread blocked for wait_ns, or it is
 * still about a link of before. What comes of it later is closed. An opener of NULL
 * waits for as long as it takes.
 */
int link_opener_link(struct link_opener *opener, int prog_fd, const struct uprobe_multi *multi,
		     int object_fd);

/* Whether a link would be -ETIMEDOUT at once. An opener of NULL never is. */
bool link_opener_is_held(struct link_opener *opener);

/* While it is held: closes the fd when it is no more. Takes it over; false: no memory, it is the caller's. */
bool link_opener_close_later(struct link_opener *opener, int fd);

/*
 * To be called when the caller has given up privileges, which each thread has for
 * itself: this thread ends, and a new one makes the next link. A thread that the
 * kernel blocks ends when the kernel returns. NULL is allowed.
 */
void link_opener_renew(struct link_opener *opener);

/* Waits until the kernel has come back. NULL is allowed. */
void link_opener_free(struct link_opener *opener);

#endif
