/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sorts more items than fit into memory: what does not fit goes to an unnamed
 * file, in sorted runs that are merged in the end. An item is some bytes under
 * a pair of numbers, by which it is sorted, `high` first.
 *
 *	struct spill_sort *sort = spill_sort_new(directory, 64 << 20);
 *	struct spill_item item;
 *
 *	err = spill_sort_add(sort, time_ns, number, bytes, length);      for each
 *	err = spill_sort_end(sort);
 *	while ((got = spill_sort_next(sort, &item)) > 0)
 *		use(&item);
 *	spill_sort_free(sort);
 *
 * Memory: about memory_bytes, and twice the longest item. Items of the same
 * numbers come in any order.
 */
#ifndef SPILL_SORT_H
#define SPILL_SORT_H

#include <stddef.h>
#include <stdint.h>

struct spill_sort;

struct spill_item {
	uint64_t high, low;
	const void *bytes; /* until the next call */
	uint32_t length;
};

/*
 * directory: a descriptor, which stays the caller's and open, of where the file
 * is made once it is needed. memory_bytes: from 4 KiB to 1 GiB. NULL: no memory.
 */
struct spill_sort *spill_sort_new(int directory, size_t memory_bytes);
void spill_sort_free(struct spill_sort *sort); /* NULL is allowed */

/* 0 or a negative errno: -ENOMEM, or what writing the file failed with. */
int spill_sort_add(struct spill_sort *sort, uint64_t high, uint64_t low, const void *bytes, uint32_t length);

/* No more will be added. Once; before the first next. */
int spill_sort_end(struct spill_sort *sort);

/* 1 and the next item; 0 at the end; a negative errno. */
int spill_sort_next(struct spill_sort *sort, struct spill_item *item);

#endif
