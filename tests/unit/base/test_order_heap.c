/* SPDX-License-Identifier: BSD-2-Clause */
/* Items come out in order, whatever the order in which they went in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/order_heap.h"

struct item {
	uint32_t key;
	uint32_t number;
	char padding[5];
};

static bool is_before(const void *first, const void *second)
{
	const struct item *a = first, *b = second;

	return a->key != b->key ? a->key < b->key : a->number < b->number;
}

static const struct order_heap_kind kind = { sizeof(struct item), is_before };

static void add(struct order_heap *heap, uint32_t key, uint32_t number)
{
	const struct item item = { .key = key, .number = number };

	assert_int_equal(order_heap_add(heap, &kind, &item), 0);
}

static void an_empty_one_gives_nothing(void **state)
{
	struct order_heap heap = { 0 };
	struct item item;

	(void)state;
	assert_null(order_heap_first(&heap, &kind));
	assert_false(order_heap_take(&heap, &kind, &item));
	order_heap_release(&heap);
}

/* 5,000 items with 1,000 different keys, each five times: in order, and of one key as they were added. */
static void all_come_in_order(void **state)
{
	struct order_heap heap = { 0 };
	struct item item;

	(void)state;
	for (uint32_t i = 0; i < 5000; i++)
		add(&heap, i * 7919 % 1000, i);
	assert_int_equal(heap.cnt, 5000);
	for (uint32_t i = 0; i < 5000; i++) {
		const struct item *first = order_heap_first(&heap, &kind);

		assert_int_equal(first->key, i / 5);
		assert_true(order_heap_take(&heap, &kind, &item));
		assert_int_equal(item.key, i / 5);
		assert_int_equal(item.number * 7919 % 1000, i / 5);
		assert_int_equal(item.number / 1000, i % 5);
	}
	assert_int_equal(heap.cnt, 0);
	order_heap_release(&heap);
}

/* A window of three: what comes two places too late is put into order, what comes later is not. */
static void a_window_puts_into_order(void **state)
{
	static const uint32_t keys[] = { 3, 2, 1, 6, 5, 4, 9, 8, 0 };
	static const uint32_t expected[] = { 1, 2, 3, 4, 5, 6, 0, 8, 9 };
	struct order_heap heap = { 0 };
	struct item item;
	size_t out = 0;

	(void)state;
	for (uint32_t i = 0; i < 9; i++) {
		if (heap.cnt == 3 && order_heap_take(&heap, &kind, &item))
			assert_int_equal(item.key, expected[out++]);
		add(&heap, keys[i], i);
	}
	while (order_heap_take(&heap, &kind, &item))
		assert_int_equal(item.key, expected[out++]);
	assert_int_equal(out, 9);
	order_heap_release(&heap);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_one_gives_nothing),
		cmocka_unit_test(all_come_in_order),
		cmocka_unit_test(a_window_puts_into_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
