/* SPDX-License-Identifier: BSD-2-Clause */
/* The map from two numbers to a pointer, held against a plain list of what was put. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdlib.h>

#include "base/id_map.h"

static int things[4096];

static void an_empty_map_has_nothing(void **state)
{
	struct id_map map;
	size_t position = 0;

	(void)state;
	id_map_init(&map);
	assert_null(id_map_get(&map, 0, 0));
	assert_null(id_map_remove(&map, 0, 0));
	assert_null(id_map_next(&map, &position));
	id_map_release(&map);
	assert_null(id_map_get(&map, 1, 1)); /* and can be used again */
	assert_int_equal(id_map_put(&map, 1, 1, &things[0]), 0);
	assert_ptr_equal(id_map_get(&map, 1, 1), &things[0]);
	id_map_release(&map);
}

static void both_numbers_count(void **state)
{
	struct id_map map;

	(void)state;
	id_map_init(&map);
	assert_int_equal(id_map_put(&map, 1, 2, &things[0]), 0);
	assert_int_equal(id_map_put(&map, 2, 1, &things[1]), 0);
	assert_int_equal(id_map_put(&map, 0, 0, &things[2]), 0);
	assert_int_equal(id_map_put(&map, UINT64_MAX, UINT64_MAX, &things[3]), 0);
	assert_ptr_equal(id_map_get(&map, 1, 2), &things[0]);
	assert_ptr_equal(id_map_get(&map, 2, 1), &things[1]);
	assert_ptr_equal(id_map_get(&map, 0, 0), &things[2]);
	assert_ptr_equal(id_map_get(&map, UINT64_MAX, UINT64_MAX), &things[3]);
	assert_null(id_map_get(&map, 1, 1));
	assert_int_equal(map.cnt, 4);
	id_map_release(&map);
}

/*
 * Who replaces a value has freed the old one: it must not fail for want of memory, so it must not grow the
 * map.
 */
static void a_replaced_value_needs_no_memory(void **state)
{
	struct id_map map;

	(void)state;
	id_map_init(&map);
	for (int i = 0; i < 4096; i++) {
		struct id_map_slot *slots;

		assert_int_equal(id_map_put(&map, 0, i, &things[i]), 0);
		slots = map.slots;
		for (int j = 0; j <= i; j += 1 + i / 8) {
			assert_int_equal(id_map_put(&map, 0, j, &things[0]), 0);
			assert_int_equal(id_map_put(&map, 0, j, &things[j]), 0);
		}
		assert_ptr_equal(map.slots, slots);
		assert_int_equal(map.cnt, i + 1);
	}
	for (int i = 0; i < 4096; i++)
		assert_ptr_equal(id_map_get(&map, 0, i), &things[i]);
	id_map_release(&map);
}

#define KEYS 300

struct listed {
	int *values[KEYS];
	size_t cnt;
};

static void every_one_is_visited_once(const struct id_map *map, const struct listed *listed)
{
	size_t position = 0, cnt = 0;
	bool was_visited[KEYS] = { false };
	int *value;

	while ((value = id_map_next(map, &position))) {
		size_t key = value - things;

		assert_true(key < KEYS);
		assert_false(was_visited[key]);
		assert_ptr_equal(listed->values[key], value);
		was_visited[key] = true;
		cnt++;
	}
	assert_int_equal(cnt, listed->cnt);
	assert_int_equal(map->cnt, listed->cnt);
}

/* Few keys that lie close together, put and removed in any order: gaps are closed over and over. */
static void it_agrees_with_a_list(void **state)
{
	uint64_t random = 1;

	(void)state;
	for (int round = 0; round < 30; round++) {
		struct listed listed = { .cnt = 0 };
		struct id_map map;

		id_map_init(&map);
		map.seed = round; /* else it is the map's address */
		for (int step = 0; step < 3000; step++) {
			size_t key;

			random = random * 6364136223846793005u + 1442695040888963407u;
			key = (random >> 33) % KEYS;
			if (random >> 60 < (step / 500 % 2 ? 5 : 10)) {
				assert_int_equal(id_map_put(&map, key / 7, key, &things[key]), 0);
				listed.cnt += !listed.values[key];
				listed.values[key] = &things[key];
			} else {
				assert_ptr_equal(id_map_remove(&map, key / 7, key), listed.values[key]);
				listed.cnt -= !!listed.values[key];
				listed.values[key] = NULL;
			}
			assert_ptr_equal(id_map_get(&map, key / 7, key), listed.values[key]);
			if (step % 100 == 0)
				every_one_is_visited_once(&map, &listed);
		}
		for (size_t key = 0; key < KEYS; key++)
			assert_ptr_equal(id_map_get(&map, key / 7, key), listed.values[key]);
		id_map_release(&map);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_map_has_nothing),
		cmocka_unit_test(both_numbers_count),
		cmocka_unit_test(a_replaced_value_needs_no_memory),
		cmocka_unit_test(it_agrees_with_a_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
