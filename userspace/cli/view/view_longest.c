/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/view/view_longest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void view_longest_init(struct view_longest *longest, size_t item_bytes, size_t room)
{
	*longest = (struct view_longest){ .item_bytes = item_bytes, .room = room };
}

void view_longest_release(struct view_longest *longest)
{
	free(longest->items);
	*longest = (struct view_longest){ 0 };
}

static void *item_at(const struct view_longest *longest, size_t idx)
{
	return (char *)longest->items + idx * longest->item_bytes;
}

static uint64_t length_of(const struct view_longest *longest, size_t idx)
{
	uint64_t length_ns;

	memcpy(&length_ns, item_at(longest, idx), sizeof(length_ns));
	return length_ns;
}

static int compare(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

/* The length that as many as there is room for have at least; one more, if too many have it. */
static uint64_t least_of(const uint64_t *lengths, size_t cnt, size_t room)
{
	uint64_t least_ns = room > 0 ? lengths[cnt - room] : UINT64_MAX;

	return room > 0 && lengths[cnt - room - 1] == least_ns ? least_ns + 1 : least_ns;
}

int view_longest_cut(struct view_longest *longest, size_t room)
{
	uint64_t *lengths;
	size_t kept = 0;

	longest->room = room;
	if (longest->cnt <= room)
		return 0;
	lengths = calloc(longest->cnt, sizeof(*lengths));
	if (!lengths)
		return -ENOMEM;
	for (size_t i = 0; i < longest->cnt; i++)
		lengths[i] = length_of(longest, i);
	qsort(lengths, longest->cnt, sizeof(*lengths), compare);
	longest->least_ns = least_of(lengths, longest->cnt, room);
	free(lengths);
	for (size_t i = 0; i < longest->cnt; i++) {
		if (length_of(longest, i) < longest->least_ns)
			continue;
		if (kept != i)
			memcpy(item_at(longest, kept), item_at(longest, i), longest->item_bytes);
		kept++;
	}
	longest->cnt = kept;
	return 0;
}

bool view_longest_wants(struct view_longest *longest, uint64_t length_ns)
{
	longest->all_cnt++;
	return length_ns >= longest->least_ns;
}

void *view_longest_add(struct view_longest *longest, uint64_t length_ns)
{
	void *items, *item;

	if (longest->cnt >= 2 * longest->room && view_longest_cut(longest, longest->room))
		return NULL;
	items = array_grow(longest->items, &longest->size, longest->cnt, longest->item_bytes);
	if (!items)
		return NULL;
	longest->items = items;
	item = item_at(longest, longest->cnt++);
	memset(item, 0, longest->item_bytes);
	memcpy(item, &length_ns, sizeof(length_ns));
	return item;
}
