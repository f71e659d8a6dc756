/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The longest items of a log, within a room that does not follow the log: an
 * array grows to twice the room, then only the longest stay, and from then on
 * shorter ones are not taken.
 *
 *	if (view_longest_wants(&longest, to - from) && (item = view_longest_add(&longest)))
 *		*item = ...;                            its first member is its length in ns
 */
#ifndef VIEW_LONGEST_H
#define VIEW_LONGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct view_longest {
	void *items; /* each begins with a uint64_t: its length in ns */
	size_t cnt;
	size_t item_bytes;
	uint64_t all_cnt;  /* that there were */
	uint64_t least_ns; /* shorter ones are not among the items */

	/* private */
	size_t room;
	size_t size;
};

void view_longest_init(struct view_longest *longest, size_t item_bytes, size_t room);
void view_longest_release(struct view_longest *longest);

/* Counts the item; whether it may be among the longest. */
bool view_longest_wants(struct view_longest *longest, uint64_t length_ns);

/* Of an item that is wanted: where it is to be written. NULL: no memory. Others may have moved. */
void *view_longest_add(struct view_longest *longest, uint64_t length_ns);

/* Only so many stay. 0 or -ENOMEM. */
int view_longest_cut(struct view_longest *longest, size_t room);

#endif
