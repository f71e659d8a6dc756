/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Closes probe links in a thread of its own: the kernel takes the lock of the
 * memory of each process that has mapped the file, and a hostile one may hold
 * its own for as long as it likes. The thread is started when there is
 * something to close.
 */
#ifndef LINK_CLOSER_H
#define LINK_CLOSER_H

#include <stddef.h>

#include "attach/probes/probe_links.h"

struct link_closer;

struct link_closer *link_closer_new(void); /* NULL: no memory */

/*
 * Takes the links over; the array stays the caller's. Where that cannot be,
 * they are closed when it returns.
 */
void link_closer_take(struct link_closer *closer, struct probe_links **links, size_t cnt);

/* Waits until all are closed. NULL is allowed. */
void link_closer_free(struct link_closer *closer);

#endif
