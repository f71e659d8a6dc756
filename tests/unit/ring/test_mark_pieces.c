/* SPDX-License-Identifier: BSD-2-Clause */
/* Texts in pieces: the memory that they take, whatever the program writes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ring/mark_pieces.h"
#include "ring/mark_pool.h"

#define THREADS 100

static void put(struct mark_pieces *text, struct mark_pieces_memory *memory, uint32_t number, size_t bytes)
{
	for (uint64_t i = 0; i < (bytes + MARK_PIECE_BYTES - 1) / MARK_PIECE_BYTES; i++) {
		const struct mark_slot slot = { .commit = (uint64_t)number << 32 | i, .id = i };

		mark_pieces_add(text, memory, &slot);
	}
}

static struct mark take(struct mark_pieces *text, struct mark_pieces_memory *memory, uint32_t number,
			size_t bytes)
{
	struct mark mark = { .kind = MARK_ATTR_STRING, .value = (uint64_t)bytes << 32 | number };

	mark_pieces_take(text, memory, &mark);
	return mark;
}

/* However many threads there are: memory is of texts that have begun and not ended. */
static void a_text_that_was_taken_has_no_memory(void **state)
{
	static struct mark_pieces texts[THREADS];
	struct mark_pieces_memory memory = { 0 };

	(void)state;
	for (size_t i = 0; i < THREADS; i++) {
		size_t length = i % 3 ? 30 : MARK_POOL_TEXT_MAX;
		struct mark mark;

		put(&texts[i], &memory, 7, length);
		mark = take(&texts[i], &memory, 7, length);
		assert_false(mark.is_unreadable);
		assert_int_equal(mark.text_length, length);
		assert_int_equal(((const uint64_t *)mark.text)[0], 0);
		assert_int_equal(((const uint64_t *)mark.text)[3], 1);
		assert_int_equal(memory.byte_cnt, 0);
	}
	mark_pieces_memory_release(&memory);
}

/* A program begins as many as it likes, and ends none. */
static void what_is_under_way_has_a_limit(void **state)
{
	static struct mark_pieces texts[THREADS];
	struct mark_pieces_memory memory = { 0 };
	size_t whole = 0;

	(void)state;
	for (size_t i = 0; i < THREADS; i++)
		put(&texts[i], &memory, 7, MARK_POOL_TEXT_MAX);
	assert_in_range(memory.byte_cnt, MARK_PIECES_BYTES / 2, MARK_PIECES_BYTES);
	for (size_t i = 0; i < THREADS; i++)
		whole += !take(&texts[i], &memory, 7, MARK_POOL_TEXT_MAX).is_unreadable;
	assert_int_equal(whole, MARK_PIECES_BYTES / (2 * MARK_POOL_TEXT_MAX));
	assert_int_equal(memory.byte_cnt, 0);
	put(&texts[THREADS - 1], &memory, 8, 100);
	assert_false(take(&texts[THREADS - 1], &memory, 8, 100).is_unreadable);
	mark_pieces_memory_release(&memory);
}

/* Handlers that jump away leave texts open; a thread that ends gives back their memory. */
static void a_thread_gives_back_all(void **state)
{
	struct mark_pieces text = { 0 };
	struct mark_pieces_memory memory = { 0 };

	(void)state;
	for (uint32_t number = 1; number <= 10 * MARK_PIECES_OPEN_MAX; number++)
		put(&text, &memory, number, 10000);
	assert_in_range(memory.byte_cnt, MARK_PIECES_OPEN_MAX * 10000, MARK_PIECES_OPEN_MAX * 20000);
	mark_pieces_release(&text, &memory);
	assert_int_equal(memory.byte_cnt, 0);
	mark_pieces_memory_release(&memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_text_that_was_taken_has_no_memory),
		cmocka_unit_test(what_is_under_way_has_a_limit),
		cmocka_unit_test(a_thread_gives_back_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
