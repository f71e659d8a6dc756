/* SPDX-License-Identifier: BSD-2-Clause */
/* Arrays that grow by doubling. */
#ifndef ARRAY_H
#define ARRAY_H

#include <stddef.h>
#include <stdlib.h>

#define ARRAY_FIRST_ROOM 16

/*
 * The array, with room for one more item of that size behind the cnt that it
 * has; it may have moved. NULL: no memory, and the array is as it was.
 */
static inline void *array_grow(void *items, size_t *room, size_t cnt, size_t size)
{
	size_t more = *room ? 2 * *room : ARRAY_FIRST_ROOM;
	void *grown;

	if (cnt < *room)
		return items;
	grown = reallocarray(items, more, size);
	if (grown)
		*room = more;
	return grown;
}

#endif
