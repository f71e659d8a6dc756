/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A hash table from byte strings to values of one size. Owns copies of the
 * keys; a value stays where it is until it is removed. The hash is seeded at
 * random, so that keys chosen by somebody else can't make it slow.
 */
#ifndef KEY_MAP_H
#define KEY_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct key_map_node;

struct key_map {
	size_t count;

	/* private */
	struct key_map_node **buckets;
	size_t bucket_cnt;
	size_t value_bytes;
	void (*release)(void *value);
	uint64_t seed;
};

/* release is called for each value that leaves; it may be NULL. */
void key_map_init(struct key_map *map, size_t value_bytes, void (*release)(void *value));
void key_map_release(struct key_map *map);

/* The value, or NULL. A key of length 0 may be NULL. */
void *key_map_find(const struct key_map *map, const void *key, size_t key_length);

/* The value; *is_new tells whether it was made (all zero). NULL: no memory. */
void *key_map_add(struct key_map *map, const void *key, size_t key_length, bool *is_new);

void key_map_remove(struct key_map *map, const void *key, size_t key_length);

/* Removes those of which should_go says so (context is handed on); all if it is NULL. */
void key_map_prune(struct key_map *map, bool (*should_go)(void *context, const void *value), void *context);

#endif
