/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/hash_index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/big_memory.h"

#define FIRST_SLOTS 64

/* An empty index has one slot, which is free and never written. */
static const struct hash_slot no_slots[1];

void hash_index_init(struct hash_index *index)
{
	*index = (struct hash_index){ .slots = (struct hash_slot *)no_slots };
}

void hash_index_release(struct hash_index *index)
{
	if (index->slots != no_slots)
		free(index->slots);
	hash_index_init(index);
}

static void place(struct hash_index *index, struct hash_slot slot)
{
	uint32_t at = slot.hash & index->mask;

	while (index->slots[at].item)
		at = (at + 1) & index->mask;
	index->slots[at] = slot;
}

static int grow(struct hash_index *index)
{
	struct hash_index bigger = { .mask = index->mask ? index->mask * 2 + 1 : FIRST_SLOTS - 1,
				     .cnt = index->cnt };

	if (index->mask >= UINT32_MAX / 2)
		return -ENOMEM;
	bigger.slots = big_memory_new(((size_t)bigger.mask + 1) * sizeof(*bigger.slots));
	if (!bigger.slots)
		return -ENOMEM;
	memset(bigger.slots, 0, ((size_t)bigger.mask + 1) * sizeof(*bigger.slots));
	for (size_t i = 0; i <= index->mask; i++)
		if (index->slots[i].item)
			place(&bigger, index->slots[i]);
	if (index->slots != no_slots)
		free(index->slots);
	*index = bigger;
	return 0;
}

int hash_index_put(struct hash_index *index, uint32_t hash, uint32_t item)
{
	if (index->cnt >= (index->mask + (uint64_t)1) / 2) {
		int err = grow(index);

		if (err)
			return err;
	}
	index->cnt++;
	place(index, (struct hash_slot){ .hash = hash, .item = item + 1 });
	return 0;
}

/* Closes the gap: whatever stands behind it and would no longer be found moves up. */
void hash_index_remove(struct hash_index *index, uint32_t hash, uint32_t item)
{
	uint32_t gap = hash & index->mask;

	while (index->slots[gap].item != item + 1)
		gap = (gap + 1) & index->mask;
	for (uint32_t i = (gap + 1) & index->mask; index->slots[i].item; i = (i + 1) & index->mask) {
		uint32_t home = index->slots[i].hash & index->mask;

		if (((i - home) & index->mask) >= ((i - gap) & index->mask)) {
			index->slots[gap] = index->slots[i];
			gap = i;
		}
	}
	index->slots[gap].item = 0;
	index->cnt--;
}

size_t hash_index_bytes(const struct hash_index *index)
{
	return index->slots == no_slots ? 0 : ((size_t)index->mask + 1) * sizeof(*index->slots);
}
