/* SPDX-License-Identifier: BSD-2-Clause */
/* Arrays that grow by doubling. */
#ifndef ARRAY_H
#define ARRAY_H

#include <stddef.h>
#include <stdlib.h>

#define ARRAY_FIRST_BYTES 256
#define ARRAY_FIRST_ROOM 4 /* of large items */

/*
 * The array, with room for one more item of that size behind the cnt that it
 * has; it may have moved. NULL: no memory, and the array is as it was.
 */
static inline void *array_grow(void *items, size_t *room, size_t cnt, size_t size)
{
	size_t first = ARRAY_FIRST_BYTES / size, more;
	void *grown;

	if (cnt < *room)
		return items;
	if (first < ARRAY_FIRST_ROOM)
		first = ARRAY_FIRST_ROOM;
	more = *room ? 2 * *room : first;
	grown = reallocarray(items, more, size);
	if (grown)
		*room = more;
	return grown;
}

/* The same for an array that has no member for its room: that is the next power of two. */
static inline void *array_grow_unnoted(void *items, size_t cnt, size_t size)
{
	if (cnt & (cnt - 1))
		return items;
	return reallocarray(items, cnt ? 2 * cnt : 1, size);
}

#endif
