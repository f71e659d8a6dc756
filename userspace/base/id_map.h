/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A hash map from a pair of numbers to a pointer (never NULL) that the caller
 * owns. Open addressing, grows and never shrinks; an operation costs one probe
 * sequence. Hostile keys can make it slow, not wrong: each map is seeded by its
 * own address.
 */
#ifndef ID_MAP_H
#define ID_MAP_H

#include <stddef.h>
#include <stdint.h>

struct id_map_slot {
	uint64_t high, low;
	void *value; /* NULL: free */
};

struct id_map {
	struct id_map_slot *slots;
	size_t mask; /* slots - 1; slots is a power of two, or 0 before the first put */
	size_t cnt;
	uint64_t seed;
};

void id_map_init(struct id_map *map);
void id_map_release(struct id_map *map); /* the values are the caller's */

void *id_map_get(const struct id_map *map, uint64_t high, uint64_t low); /* NULL: not there */
/* 0 or -ENOMEM; to replace needs no memory */
int id_map_put(struct id_map *map, uint64_t high, uint64_t low, void *value);
void *id_map_remove(struct id_map *map, uint64_t high, uint64_t low); /* what was there, or NULL */

/*
 * Visits all, in no order: for (size_t i = 0; (value = id_map_next(map, &i));).
 * Nothing may be put or removed meanwhile.
 */
void *id_map_next(const struct id_map *map, size_t *position);

#endif
