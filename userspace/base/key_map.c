/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/key_map.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define FIRST_BUCKET_CNT 64

struct key_map_node {
	struct key_map_node *next;
	uint64_t hash;
	size_t key_length;
	alignas(max_align_t) unsigned char value[]; /* then the key */
};

void key_map_init(struct key_map *map, size_t value_bytes, void (*release)(void *value))
{
	*map = (struct key_map){ .value_bytes = value_bytes, .release = release };
	if (getrandom(&map->seed, sizeof(map->seed), GRND_NONBLOCK) != sizeof(map->seed))
		map->seed = (uintptr_t)map; /* early at boot: as random as addresses are */
}

void key_map_release(struct key_map *map)
{
	key_map_prune(map, NULL, NULL);
	free(map->buckets);
	*map = (struct key_map){ 0 };
}

/* Multiply and fold, eight bytes at a time. */
static uint64_t mix(uint64_t a, uint64_t b)
{
	__uint128_t product = (__uint128_t)(a ^ 0x9e3779b97f4a7c15ull) * (b ^ 0xd6e8feb86659fd93ull);

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t hash_key(const struct key_map *map, const void *key, size_t key_length)
{
	const unsigned char *bytes = key;
	uint64_t hash = mix(map->seed, key_length), word;

	while (key_length > 0) {
		size_t length = key_length < sizeof(word) ? key_length : sizeof(word);

		word = 0;
		memcpy(&word, bytes, length);
		hash = mix(hash, word ^ map->seed);
		bytes += length;
		key_length -= length;
	}
	return hash;
}

static struct key_map_node **find_link(const struct key_map *map, uint64_t hash, const void *key,
				       size_t key_length)
{
	struct key_map_node **link = &map->buckets[hash & (map->bucket_cnt - 1)];

	for (; *link; link = &(*link)->next) {
		struct key_map_node *node = *link;

		if (node->hash == hash && node->key_length == key_length &&
		    (key_length == 0 || !memcmp(node->value + map->value_bytes, key, key_length)))
			break;
	}
	return link;
}

void *key_map_find(const struct key_map *map, const void *key, size_t key_length)
{
	struct key_map_node *node;

	if (map->count == 0)
		return NULL;
	node = *find_link(map, hash_key(map, key, key_length), key, key_length);
	return node ? node->value : NULL;
}

/* A table that can't grow gets slower, nothing else: only the first allocation must succeed. */
static bool grow(struct key_map *map)
{
	size_t cnt = map->bucket_cnt ? 2 * map->bucket_cnt : FIRST_BUCKET_CNT;
	struct key_map_node **buckets;

	if (map->count < map->bucket_cnt)
		return true;
	buckets = calloc(cnt, sizeof(struct key_map_node *));
	if (!buckets)
		return map->bucket_cnt > 0;
	for (size_t i = 0; i < map->bucket_cnt; i++) {
		for (struct key_map_node *node = map->buckets[i], *next; node; node = next) {
			struct key_map_node **bucket = &buckets[node->hash & (cnt - 1)];

			next = node->next;
			node->next = *bucket;
			*bucket = node;
		}
	}
	free(map->buckets);
	map->buckets = buckets;
	map->bucket_cnt = cnt;
	return true;
}

void *key_map_add(struct key_map *map, const void *key, size_t key_length, bool *is_new)
{
	uint64_t hash = hash_key(map, key, key_length);
	struct key_map_node **link, *node;

	*is_new = false;
	if (!grow(map))
		return NULL;
	link = find_link(map, hash, key, key_length);
	if (*link)
		return (*link)->value;
	node = calloc(1, sizeof(*node) + map->value_bytes + key_length);
	if (!node)
		return NULL;
	node->hash = hash;
	node->key_length = key_length;
	if (key_length > 0)
		memcpy(node->value + map->value_bytes, key, key_length);
	*link = node;
	map->count++;
	*is_new = true;
	return node->value;
}

static void unlink_node(struct key_map *map, struct key_map_node **link)
{
	struct key_map_node *node = *link;

	*link = node->next;
	if (map->release)
		map->release(node->value);
	free(node);
	map->count--;
}

void key_map_remove(struct key_map *map, const void *key, size_t key_length)
{
	struct key_map_node **link;

	if (map->count == 0)
		return;
	link = find_link(map, hash_key(map, key, key_length), key, key_length);
	if (*link)
		unlink_node(map, link);
}

void key_map_prune(struct key_map *map, bool (*should_go)(void *context, const void *value), void *context)
{
	for (size_t i = 0; i < map->bucket_cnt; i++) {
		struct key_map_node **link = &map->buckets[i];

		while (*link) {
			if (!should_go || should_go(context, (*link)->value))
				unlink_node(map, link);
			else
				link = &(*link)->next;
		}
	}
}
