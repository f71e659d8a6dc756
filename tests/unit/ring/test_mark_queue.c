/* SPDX-License-Identifier: BSD-2-Clause */
/* What goes into the queue comes out of it, in its order and with its owner; it has an end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/seeded_random.h"
#include "ring/mark_queue.h"

static struct mark_queue *queue;

static int open_queue(void **state)
{
	(void)state;
	queue = mark_queue_new();
	return queue ? 0 : -1;
}

static int close_queue(void **state)
{
	(void)state;
	mark_queue_free(queue);
	return 0;
}

static void add(uint64_t id, const char *text, uint32_t length)
{
	const struct mark mark = { .tid = (uint32_t)id * 3,
				   .kind = MARK_TAG,
				   .id = id,
				   .name = id + 1,
				   .value = id + 2,
				   .text = text,
				   .text_length = length };

	assert_int_equal(mark_queue_add(queue, &mark, id * 10), 0);
}

static void has(uint64_t id, uint32_t tgid, const char *text, uint32_t length)
{
	struct mark_owner owner;
	const struct queued_mark *mark = mark_queue_take(queue, &owner);

	assert_non_null(mark);
	assert_int_equal(mark->kind, MARK_TAG);
	assert_int_equal(mark->id, id);
	assert_int_equal(mark->name, id + 1);
	assert_int_equal(mark->value, id + 2);
	assert_int_equal(mark->tid, (uint32_t)id * 3);
	assert_int_equal(mark->time_ns, id * 10);
	assert_int_equal(mark->text_length, length);
	assert_memory_equal(queued_text(mark), text, length);
	assert_int_equal(owner.tgid, tgid);
	assert_int_equal(owner.label_base, tgid * 1000);
}

static void own(uint32_t tgid)
{
	const struct mark_owner owner = { .tgid = tgid, .label_base = tgid * 1000 };

	assert_int_equal(mark_queue_own(queue, &owner), 0);
}

static void marks_have_their_owners(void **state)
{
	struct mark_owner owner;
	const struct queued_mark *end;

	(void)state;
	assert_true(mark_queue_is_empty(queue));
	assert_null(mark_queue_take(queue, &owner));
	own(7);
	add(1, "", 0);
	add(2, "a text", 6);
	own(8);
	own(9);
	add(3, "x", 1);
	assert_int_equal(mark_queue_end_turn(queue, 12345), 0);
	own(7);
	assert_int_equal(mark_queue_end_turn(queue, 12346), 0);
	has(1, 7, "", 0);
	has(2, 7, "a text", 6);
	has(3, 9, "x", 1);
	end = mark_queue_take(queue, &owner);
	assert_int_equal(end->kind, 0);
	assert_int_equal(end->time_ns, 12345);
	assert_false(mark_queue_is_empty(queue));
	assert_int_equal(mark_queue_take(queue, &owner)->time_ns, 12346);
	assert_null(mark_queue_take(queue, &owner));
	assert_true(mark_queue_is_empty(queue));
}

/* In turns that are longer and shorter, through many blocks; texts up to the longest. */
static void order_is_kept(void **state)
{
	static char text[MARK_POOL_TEXT_MAX];
	struct seeded_random in, out;
	uint64_t added = 0, taken = 0;

	(void)state;
	memset(text, 'a', sizeof(text));
	seeded_random_init(&in, 1);
	seeded_random_init(&out, 1);
	own(5);
	for (int turn = 0; turn < 40; turn++) {
		for (int i = 0; i < 500; i++, added++)
			add(added, text,
			    (uint32_t)seeded_random_below(&in, added % 50 ? 100 : MARK_POOL_TEXT_MAX + 1u));
		for (int i = 0; i < (turn % 2 ? 900 : 50) && taken < added; i++, taken++)
			has(taken, 5, text,
			    (uint32_t)seeded_random_below(&out, taken % 50 ? 100 : MARK_POOL_TEXT_MAX + 1u));
	}
	for (; taken < added; taken++)
		has(taken, 5, text,
		    (uint32_t)seeded_random_below(&out, taken % 50 ? 100 : MARK_POOL_TEXT_MAX + 1u));
	assert_true(mark_queue_is_empty(queue));
}

static void longest_text_is_whole(void **state)
{
	static char text[MARK_POOL_TEXT_MAX];
	struct mark_owner owner;
	const struct queued_mark *mark;

	(void)state;
	add(1, text, sizeof(text));
	mark = mark_queue_take(queue, &owner);
	assert_int_equal(mark->text_length, MARK_POOL_TEXT_MAX);
	assert_false(mark->is_truncated);
	assert_memory_equal(queued_text(mark), text, sizeof(text));
}

/* While it says that it has room, all that a pool can hold fits below the limit, texts included. */
static void has_an_end(void **state)
{
	uint64_t cnt = 0, most = MARK_QUEUE_BYTES / sizeof(struct queued_mark);
	struct mark_owner owner;

	(void)state;
	for (; mark_queue_has_room(queue); cnt++)
		add(cnt, "", 0);
	assert_in_range(cnt + 2 * MARK_POOL_BYTES / sizeof(struct mark_slot), most / 100 * 98, most);
	for (uint64_t i = 0; i < cnt / 2; i++)
		assert_non_null(mark_queue_take(queue, &owner));
	assert_true(mark_queue_has_room(queue));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(marks_have_their_owners, open_queue, close_queue),
		cmocka_unit_test_setup_teardown(order_is_kept, open_queue, close_queue),
		cmocka_unit_test_setup_teardown(longest_text_is_whole, open_queue, close_queue),
		cmocka_unit_test_setup_teardown(has_an_end, open_queue, close_queue),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
