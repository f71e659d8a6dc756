/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pieces come out as they went in, in order, wherever they lie in the ring; there is room for what fits and
 * for no more.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <string.h>

#include "log/write/batch_queue.h"

#define HEAD_BYTES 8 /* the queue's own, for each piece */

/* A piece of that size, every byte of which is its number. */
static bool put_piece(struct batch_queue *queue, size_t size, uint8_t number)
{
	uint8_t *bytes = batch_queue_reserve(queue, size, false);

	if (!bytes)
		return false;
	memset(bytes, number, size);
	batch_queue_commit(queue);
	return true;
}

static void take_piece(struct batch_queue *queue, size_t expected_size, uint8_t expected_number)
{
	size_t size = 0;
	const uint8_t *bytes = batch_queue_take(queue, &size);

	assert_non_null(bytes);
	assert_true((uintptr_t)bytes % 8 == 0);
	assert_int_equal(size, expected_size);
	for (size_t i = 0; i < size; i++)
		assert_int_equal(bytes[i], expected_number);
	batch_queue_release(queue);
}

static void pieces_come_in_order_until_the_end(void **state)
{
	struct batch_queue *queue = batch_queue_new(1000);
	size_t size;

	(void)state;
	assert_true(put_piece(queue, 1, 1) && put_piece(queue, 100, 2) && put_piece(queue, 33, 3));
	batch_queue_end(queue);
	take_piece(queue, 1, 1);
	take_piece(queue, 100, 2);
	take_piece(queue, 33, 3);
	assert_null(batch_queue_take(queue, &size));
	assert_null(batch_queue_take(queue, &size));
	batch_queue_free(queue);
}

static void it_is_full_to_the_byte(void **state)
{
	struct batch_queue *queue = batch_queue_new(4 * (HEAD_BYTES + 16));

	(void)state;
	for (uint8_t i = 0; i < 4; i++)
		assert_true(put_piece(queue, 16, i));
	assert_false(put_piece(queue, 1, 9));
	take_piece(queue, 16, 0);
	assert_false(put_piece(queue, 17, 9)); /* one byte too many for the gap */
	assert_true(put_piece(queue, 16, 4));
	assert_false(put_piece(queue, 1, 9));
	for (uint8_t i = 1; i < 5; i++)
		take_piece(queue, 16, i);
	/* empty, it is one stretch again */
	assert_true(put_piece(queue, 4 * (HEAD_BYTES + 16) - HEAD_BYTES, 5));
	take_piece(queue, 4 * (HEAD_BYTES + 16) - HEAD_BYTES, 5);
	batch_queue_free(queue);
}

static void what_never_fits_is_refused_even_by_who_waits(void **state)
{
	struct batch_queue *queue = batch_queue_new(64);

	(void)state;
	assert_null(batch_queue_reserve(queue, 64 - HEAD_BYTES + 1, true));
	assert_null(batch_queue_reserve(queue, SIZE_MAX, true));
	assert_null(batch_queue_reserve(queue, SIZE_MAX - 7, true));
	assert_non_null(batch_queue_reserve(queue, 64 - HEAD_BYTES, true));
	batch_queue_free(queue);
	assert_null(batch_queue_reserve(queue = batch_queue_new(0), 1, true));
	batch_queue_free(queue);
	batch_queue_free(NULL);
}

/* What is in it while it is read is not written over, wherever the piece lies. */
static void a_piece_stays_until_it_is_released(void **state)
{
	struct batch_queue *queue = batch_queue_new(2 * (HEAD_BYTES + 16));
	const uint8_t *bytes;
	size_t size;

	(void)state;
	assert_true(put_piece(queue, 16, 1) && put_piece(queue, 16, 2));
	bytes = batch_queue_take(queue, &size);
	assert_false(put_piece(queue, 16, 3));
	assert_int_equal(bytes[15], 1);
	batch_queue_release(queue);
	assert_true(put_piece(queue, 16, 3));
	take_piece(queue, 16, 2);
	take_piece(queue, 16, 3);
	batch_queue_free(queue);
}

/* Every size at every place: a model that only counts tells what has to be in it. */
static void sizes_at_all_places(void **state)
{
	struct batch_queue *queue = batch_queue_new(1 << 10);
	struct { size_t size; uint8_t number; } model[256];
	size_t head = 0, tail = 0, put_cnt = 0, full_cnt = 0;
	uint32_t random = 1;

	(void)state;
	for (unsigned int i = 0; i < 200000; i++) {
		random = random * 1664525 + 1013904223;
		if (random >> 31) {
			size_t size = 1 + (random >> 8) % ((random >> 4) % 8 ? 60 : 900);

			if (put_piece(queue, size, (uint8_t)put_cnt)) {
				model[head % 256].size = size;
				model[head++ % 256].number = (uint8_t)put_cnt++;
			} else {
				assert_true(head > tail); /* the empty one takes each of these */
				full_cnt++;
			}
		} else if (head > tail) {
			take_piece(queue, model[tail % 256].size, model[tail % 256].number);
			tail++;
		}
	}
	assert_true(put_cnt > 10000 && full_cnt > 1000);
	batch_queue_free(queue);
}

#define PIECES 100000u

struct crossing {
	struct batch_queue *queue;
	unsigned int taken_cnt;
	bool is_in_order;
};

static size_t size_of_piece(uint32_t number)
{
	return sizeof(number) + number * 2654435761u % 200;
}

static void *take_all(void *context)
{
	struct crossing *crossing = context;
	const uint8_t *bytes;
	size_t size;

	crossing->is_in_order = true;
	while ((bytes = batch_queue_take(crossing->queue, &size))) {
		uint32_t number;

		memcpy(&number, bytes, sizeof(number));
		crossing->is_in_order &= number == crossing->taken_cnt && size == size_of_piece(number) &&
					 (size == sizeof(number) || bytes[size - 1] == (uint8_t)number);
		crossing->taken_cnt++;
		batch_queue_release(crossing->queue);
	}
	return NULL;
}

static void two_threads_lose_nothing(void **state)
{
	struct crossing crossing = { .queue = batch_queue_new(2000) };
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, take_all, &crossing), 0);
	for (uint32_t i = 0; i < PIECES; i++) {
		uint8_t *bytes = batch_queue_reserve(crossing.queue, size_of_piece(i), true);

		memset(bytes, (uint8_t)i, size_of_piece(i));
		memcpy(bytes, &i, sizeof(i));
		batch_queue_commit(crossing.queue);
		if (i % 1000 == 999)
			batch_queue_wait(crossing.queue);
	}
	batch_queue_end(crossing.queue);
	pthread_join(thread, NULL);
	assert_int_equal(crossing.taken_cnt, PIECES);
	assert_true(crossing.is_in_order);
	batch_queue_free(crossing.queue);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pieces_come_in_order_until_the_end),
		cmocka_unit_test(it_is_full_to_the_byte),
		cmocka_unit_test(what_never_fits_is_refused_even_by_who_waits),
		cmocka_unit_test(a_piece_stays_until_it_is_released),
		cmocka_unit_test(sizes_at_all_places),
		cmocka_unit_test(two_threads_lose_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
