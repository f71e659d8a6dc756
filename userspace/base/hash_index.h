/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers of items by the hash of what they are looked up by. The index knows
 * neither items nor keys: it tells which items have the hash, mostly one or
 * none, and the caller compares. Eight bytes for each slot, so that an index of
 * a million items stays near the processor. Open addressing, at most half full;
 * grows and never shrinks.
 *
 *	HASH_INDEX_EACH(index, hash, slot, item)
 *		if (is_it(item)) ...
 */
#ifndef HASH_INDEX_H
#define HASH_INDEX_H

#include <stddef.h>
#include <stdint.h>

struct hash_slot {
	uint32_t hash;
	uint32_t item; /* + 1; 0: free */
};

struct hash_index {
	struct hash_slot *slots;
	uint32_t mask; /* slots - 1; slots is a power of two */
	uint32_t cnt;
};

void hash_index_init(struct hash_index *index);
void hash_index_release(struct hash_index *index);

/* which is not in it. 0 or -ENOMEM */
int hash_index_put(struct hash_index *index, uint32_t hash, uint32_t item);
void hash_index_remove(struct hash_index *index, uint32_t hash, uint32_t item); /* which is in it */

size_t hash_index_bytes(const struct hash_index *index); /* memory that it holds */

/* The slots with that hash; while one visits them, nothing may be put or removed. */
#define HASH_INDEX_EACH(index, wanted, slot, number)							\
	for (uint32_t slot = (wanted) & (index)->mask, number; (number = (index)->slots[slot].item);	\
	     slot = (slot + 1) & (index)->mask)								\
		if (number--, (index)->slots[slot].hash == (wanted))

/*
 * Two numbers, mixed. Numbers are often given out in a row: eight neighbours by
 * `low` are neighbours in the index, too, on one line of the cache. Who can
 * choose the numbers must not know the seed.
 */
static inline uint32_t hash_of_pair(uint64_t seed, uint64_t high, uint64_t low)
{
	uint64_t hash = ((low >> 3) ^ seed) * 0x9e3779b97f4a7c15ULL;

	hash ^= high + (hash >> 29);
	hash *= 0xbf58476d1ce4e5b9ULL;
	return (uint32_t)(hash >> 32 & ~(uint64_t)7) | (uint32_t)(low & 7);
}

#endif
