/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/id_map.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_SLOTS 64

static size_t home(const struct id_map *map, uint64_t high, uint64_t low)
{
	uint64_t h = (low ^ map->seed) * 0x9e3779b97f4a7c15ULL;

	h ^= high + (h >> 29);
	h *= 0xbf58476d1ce4e5b9ULL;
	return (h ^ (h >> 32)) & map->mask;
}

void id_map_init(struct id_map *map)
{
	*map = (struct id_map){ .seed = (uintptr_t)map * 0x2545f4914f6cdd1dULL };
}

void id_map_release(struct id_map *map)
{
	free(map->slots);
	id_map_init(map);
}

static struct id_map_slot *find(const struct id_map *map, uint64_t high, uint64_t low)
{
	size_t i = home(map, high, low);

	while (map->slots[i].value && (map->slots[i].low != low || map->slots[i].high != high))
		i = (i + 1) & map->mask;
	return &map->slots[i];
}

static int grow(struct id_map *map)
{
	size_t old_cnt = map->slots ? map->mask + 1 : 0, new_cnt = old_cnt ? old_cnt * 2 : FIRST_SLOTS;
	struct id_map_slot *old = map->slots, *slots = calloc(new_cnt, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	map->slots = slots;
	map->mask = new_cnt - 1;
	for (size_t i = 0; i < old_cnt; i++)
		if (old[i].value)
			*find(map, old[i].high, old[i].low) = old[i];
	free(old);
	return 0;
}

void *id_map_get(const struct id_map *map, uint64_t high, uint64_t low)
{
	return map->slots ? find(map, high, low)->value : NULL;
}

int id_map_put(struct id_map *map, uint64_t high, uint64_t low, void *value)
{
	struct id_map_slot *slot = map->slots ? find(map, high, low) : NULL;

	if (slot && slot->value) {
		slot->value = value;
		return 0;
	}
	if (!map->slots || map->cnt * 2 > map->mask) {
		int err = grow(map);

		if (err)
			return err;
		slot = find(map, high, low);
	}
	map->cnt++;
	*slot = (struct id_map_slot){ .high = high, .low = low, .value = value };
	return 0;
}

/* Closes the gap: whatever stands behind it and would no longer be found moves up. */
void *id_map_remove(struct id_map *map, uint64_t high, uint64_t low)
{
	struct id_map_slot *slot;
	size_t gap, i;
	void *value;

	if (!map->slots)
		return NULL;
	slot = find(map, high, low);
	value = slot->value;
	if (!value)
		return NULL;
	gap = slot - map->slots;
	for (i = (gap + 1) & map->mask; map->slots[i].value; i = (i + 1) & map->mask) {
		size_t wanted = home(map, map->slots[i].high, map->slots[i].low);

		if (((i - wanted) & map->mask) >= ((i - gap) & map->mask)) {
			map->slots[gap] = map->slots[i];
			gap = i;
		}
	}
	map->slots[gap].value = NULL;
	map->cnt--;
	return value;
}

void *id_map_next(const struct id_map *map, size_t *position)
{
	size_t cnt = map->slots ? map->mask + 1 : 0;

	while (*position < cnt) {
		void *value = map->slots[(*position)++].value;

		if (value)
			return value;
	}
	return NULL;
}
