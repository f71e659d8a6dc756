/* SPDX-License-Identifier: BSD-2-Clause */
/* The pool and the index of its items, held against plain arrays of what was put. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <string.h>

#include "base/hash_index.h"
#include "base/pool.h"

#define ITEMS 20000

struct item {
	uint64_t value;
	unsigned char rest[40];
};

static uint32_t numbers[ITEMS];
static struct item *items[ITEMS];

static uint32_t next_random(uint64_t *random)
{
	*random = *random * 6364136223846793005u + 1442695040888963407u;
	return *random >> 33;
}

static void an_item_stays_where_it_is(void **state)
{
	struct pool pool;

	(void)state;
	pool_init(&pool, sizeof(struct item));
	for (uint32_t i = 0; i < ITEMS; i++) {
		items[i] = pool_take(&pool, &numbers[i]);
		assert_non_null(items[i]);
		assert_int_equal((uintptr_t)items[i] % 8, 0);
		assert_int_equal(numbers[i], i);
		items[i]->value = i;
		memset(items[i]->rest, 0xff, sizeof(items[i]->rest));
	}
	for (uint32_t i = 0; i < ITEMS; i++) {
		assert_ptr_equal(pool_item(&pool, numbers[i]), items[i]);
		assert_int_equal(items[i]->value, i);
	}
	assert_int_equal(pool.cnt, ITEMS);
	pool_release(&pool);
	assert_int_equal(pool.cnt, 0);
}

/* However long it goes on, the pool is no larger than what there was at once. */
static void what_was_given_back_is_used_again(void **state)
{
	uint64_t random = 1;
	struct pool pool;

	(void)state;
	pool_init(&pool, sizeof(struct item));
	for (uint32_t i = 0; i < 1000; i++) {
		items[i] = pool_take(&pool, &numbers[i]);
		items[i]->value = i;
	}
	for (int i = 0; i < 100000; i++) {
		uint32_t at = next_random(&random) % 1000;

		assert_int_equal(items[at]->value, at);
		pool_give_back(&pool, numbers[at]);
		items[at] = pool_take(&pool, &numbers[at]);
		items[at]->value = at;
		assert_true(numbers[at] < 1000);
	}
	assert_int_equal(pool.fresh, 1000);
	assert_int_equal(pool.cnt, 1000);
	pool_release(&pool);
}

static bool is_indexed(const struct hash_index *index, uint32_t hash, uint32_t wanted)
{
	HASH_INDEX_EACH(index, hash, slot, item) {
		if (item == wanted)
			return true;
	}
	return false;
}

/*
 * Few different hashes, at the end of the table and at its beginning: long runs that wrap around, with gaps
 * that close.
 */
static void an_index_finds_what_is_in_it_and_nothing_else(void **state)
{
	static bool is_in[ITEMS];
	uint64_t random = 7;
	struct hash_index index;
	uint32_t cnt = 0;

	(void)state;
	memset(is_in, 0, sizeof(is_in));
	hash_index_init(&index);
	assert_false(is_indexed(&index, 0, 0));
	for (int step = 0; step < 60000; step++) {
		uint32_t item = next_random(&random) % 2000,
			 hash = item % 3 ? UINT32_MAX - item % 50 : item % 20;

		assert_int_equal(is_indexed(&index, hash, item), is_in[item]);
		if (is_in[item])
			hash_index_remove(&index, hash, item);
		else
			assert_int_equal(hash_index_put(&index, hash, item), 0);
		is_in[item] = !is_in[item];
		cnt += is_in[item] ? 1 : -1;
		assert_int_equal(index.cnt, cnt);
	}
	for (uint32_t item = 0; item < 2000; item++)
		assert_int_equal(is_indexed(&index, item % 3 ? UINT32_MAX - item % 50 : item % 20, item),
				 is_in[item]);
	assert_true(index.mask < 2 * 4096);
	hash_index_release(&index);
	assert_false(is_indexed(&index, 0, 0)); /* and can be used again */
}

static void numbers_in_a_row_are_neighbours_and_others_are_not(void **state)
{
	(void)state;
	for (uint64_t low = 0; low < 8000; low += 8) {
		uint32_t first = hash_of_pair(1, 2, low);

		for (uint32_t i = 0; i < 8; i++)
			assert_int_equal(hash_of_pair(1, 2, low + i), first + i);
		assert_int_not_equal(hash_of_pair(1, 2, low + 8), first);
		assert_int_not_equal(hash_of_pair(1, 3, low), first);
		assert_int_not_equal(hash_of_pair(2, 2, low), first);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_item_stays_where_it_is),
		cmocka_unit_test(what_was_given_back_is_used_again),
		cmocka_unit_test(an_index_finds_what_is_in_it_and_nothing_else),
		cmocka_unit_test(numbers_in_a_row_are_neighbours_and_others_are_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
