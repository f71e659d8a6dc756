/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program that marks and a reader of its pool, both here: everything that was
 * marked comes, in its order, or is counted as lost; memory comes back; and
 * whatever stands in the pool, the reader goes on.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/seeded_random.h"
#include "pool_world.h"

_Static_assert((int)MARK_BEGIN == (int)TXTRACE_MARK_BEGIN_ && (int)MARK_END == (int)TXTRACE_MARK_END_ &&
		       (int)MARK_EVENT == (int)TXTRACE_MARK_EVENT_ &&
		       (int)MARK_LINK == (int)TXTRACE_MARK_LINK_,
	       "the reader numbers marks as the program does");
_Static_assert((int)MARK_ATTR == (int)TXTRACE_MARK_ATTR_ && (int)MARK_TAG == (int)TXTRACE_MARK_TAG_ &&
		       (int)MARK_KEY_EVENT == (int)TXTRACE_MARK_KEY_EVENT_ &&
		       (int)MARK_PIECE == (int)TXTRACE_MARK_PIECE_ &&
		       (int)MARK_POOL == (int)TXTRACE_MARK_POOL_ &&
		       (int)MARK_FILLING == (int)TXTRACE_MARK_FILLING_ &&
		       (int)MARK_GONE == (int)TXTRACE_MARK_GONE_,
	       "the same");
_Static_assert(MARK_POOL_MAGIC == TXTRACE_POOL_MAGIC_ && MARK_POOL_BYTES == TXTRACE_POOL_BYTES_ &&
		       MARK_CHUNK_SLOTS == TXTRACE_CHUNK_SLOTS_ && MARK_LANE_SLOTS == TXTRACE_LANE_SLOTS_ &&
		       MARK_POOL_TEXT_MAX == TXTRACE_TEXT_MAX_,
	       "the reader has the program's sizes");
_Static_assert(sizeof(struct mark_pool_head) == sizeof(struct txtrace_pool_) &&
		       offsetof(struct mark_pool_head, chunks) == offsetof(struct txtrace_pool_, chunks) &&
		       offsetof(struct mark_pool_head, given_cnt) ==
			       offsetof(struct txtrace_pool_, given_cnt) &&
		       offsetof(struct mark_lane, lost) == offsetof(struct txtrace_lane_, lost) &&
		       offsetof(struct mark_lane, slots) == offsetof(struct txtrace_lane_, slots),
	       "the reader has the program's layout");

static uint64_t address_of(const char *literal)
{
	return (uint64_t)(uintptr_t)literal;
}

static void is_seen(size_t at, uint8_t kind, uint64_t id, const char *name, uint64_t value)
{
	assert_true(at < world.cnt);
	assert_int_equal(world.seen[at].kind, kind);
	assert_int_equal(world.seen[at].id, id);
	assert_string_equal(world.seen[at].name ? (const char *)(uintptr_t)world.seen[at].name : "", name);
	assert_int_equal(world.seen[at].value, value);
}

static void has_text(size_t at, uint8_t kind, uint64_t id, const char *name, const char *text)
{
	is_seen(at, kind, id, name, 0);
	assert_int_equal(world.seen[at].text_length, strlen(text));
	assert_memory_equal(world.seen[at].text, text, strlen(text) < 32 ? strlen(text) : 31);
	assert_false(world.seen[at].is_unreadable);
}

static void each_kind_comes(void **state)
{
	const char *long_text = "a text that needs three pieces: 24 bytes are one of them";
	txtrace_span_t s, d;
	const char *none = NULL;

	(void)state;
	NEED_POOL();
	s = TXTRACE_BEGIN("first");
	d = TXTRACE_BEGIN_DETACHED("second", s);
	TXTRACE_ENTER(d);
	TXTRACE_ATTR(d, "signed", -5);
	TXTRACE_ATTR(d, "text", "short");
	TXTRACE_TAG(d, long_text);
	TXTRACE_TAG(d, "");
	TXTRACE_TAG(d, none);
	TXTRACE_EVENT(d, "retry");
	TXTRACE_COUNTER("queue", 9);
	TXTRACE_LINK(d, s, "because");
	TXTRACE_EXIT(d);
	TXTRACE_KEY_BEGIN("keyed", "k\0ey", 4);
	TXTRACE_KEY_EVENT("k\0ey", 4, "seen");
	TXTRACE_KEY_END("k\0ey", 4);
	TXTRACE_END(d);
	TXTRACE_END(s);
	drain();
	assert_int_equal(world.cnt, 17);
	is_seen(0, MARK_BEGIN, s, "first", 0);
	is_seen(1, MARK_BEGIN_DETACHED, d, "second", s);
	is_seen(2, MARK_ENTER, d, "", 0);
	is_seen(3, MARK_ATTR + TXTRACE_ATTR_INT_, d, "signed", (uint64_t)-5);
	has_text(4, MARK_ATTR_STRING, d, "text", "short");
	has_text(5, MARK_TAG, d, "", long_text);
	has_text(6, MARK_TAG, d, "", "");
	assert_true(world.seen[7].kind == MARK_TAG && world.seen[7].is_unreadable);
	is_seen(8, MARK_EVENT, d, "retry", 0);
	is_seen(9, MARK_COUNTER, 0, "queue", 9);
	is_seen(10, MARK_LINK, d, "because", s);
	is_seen(11, MARK_EXIT, d, "", 0);
	is_seen(12, MARK_KEY_BEGIN, 0, "keyed", 0);
	assert_int_equal(world.seen[12].text_length, 4);
	assert_memory_equal(world.seen[12].text, "k\0ey", 4);
	is_seen(13, MARK_KEY_EVENT, 0, "seen", 0);
	is_seen(14, MARK_KEY_END, 0, "", 0);
	is_seen(15, MARK_END, d, "", 0);
	is_seen(16, MARK_END, s, "", 0);
	assert_true(world.is_in_order);
	assert_int_equal(world.seen[0].name, address_of((const char *)(uintptr_t)world.seen[0].name));
}

/* More marks than there is room for, read in between: the same few chunks are used again and again. */
static void chunks_are_used_again(void **state)
{
	uint32_t chunk_cnt;

	(void)state;
	NEED_POOL();
	for (int round = 0; round < 200; round++) {
		for (int i = 0; i < 5000; i++) {
			txtrace_span_t s = TXTRACE_BEGIN("again");

			TXTRACE_END(s);
		}
		drain();
		if (round == 0)
			chunk_cnt = world.memory->chunk_cnt;
	}
	assert_int_equal(world.cnt_of[MARK_BEGIN], 1000000);
	assert_int_equal(world.cnt_of[MARK_END], 1000000);
	assert_true(world.is_in_order);
	assert_in_range(world.memory->chunk_cnt, chunk_cnt, chunk_cnt + 1);
	assert_true(chunks_in_use() <= 1);
}

/* Nobody reads: what finds no room is counted, by kind. */
static void overload_is_counted(void **state)
{
	const uint64_t cnt = MARK_CHUNK_COUNT * (uint64_t)MARK_CHUNK_SLOTS;
	uint64_t lost;

	(void)state;
	NEED_POOL();
	for (uint64_t i = 0; i < cnt; i++) {
		txtrace_span_t s = TXTRACE_BEGIN("much");

		TXTRACE_EVENT(s, "event");
		TXTRACE_TAG(s, "12345");
	}
	drain();
	lost = world.lost_of[MARK_BEGIN] + world.lost_of[MARK_EVENT] + world.lost_of[MARK_TAG & 31];
	assert_int_equal(world.cnt_of[MARK_BEGIN] + world.lost_of[MARK_BEGIN], cnt);
	assert_int_equal(world.cnt_of[MARK_EVENT] + world.lost_of[MARK_EVENT], cnt);
	assert_int_equal(world.cnt_of[MARK_TAG] + world.lost_of[MARK_TAG & 31], cnt);
	assert_true(lost > cnt && world.cnt_of[MARK_BEGIN] > cnt / 8);
	assert_true(world.is_in_order);
	TXTRACE_EVENT(1, "room again");
	drain();
	assert_int_equal(world.cnt_of[MARK_EVENT] + world.lost_of[MARK_EVENT], cnt + 1);
}

#define CROWD 4
#define CROWD_MARKS 200000u

/* What each of them marks, by its number; and what of that was received and lost. */
static struct crowd {
	uint64_t received[CROWD][256];
	uint64_t lost[CROWD][MARK_LOST_KINDS];
	uint32_t places[CROWD]; /* of their lanes; that of each is known by the ids of what is received */
} crowd;

static void *mark_much(void *context)
{
	const uint64_t number = *(const uint64_t *)context;

	for (uint64_t i = 0; i < CROWD_MARKS * (number + 1); i++) {
		TXTRACE_EVENT(number + 1, "much");
		if (i % 2)
			TXTRACE_COUNTER("much", (int64_t)number);
		if (i % 4 == number)
			TXTRACE_ENTER(number + 1);
	}
	return NULL;
}

static int take_of_crowd(void *context, const struct mark *mark)
{
	const uint64_t number = mark->kind == MARK_COUNTER ? mark->value : mark->id - 1;

	(void)context;
	assert_true(number < CROWD);
	assert_true(!crowd.places[number] || crowd.places[number] == mark->tid);
	crowd.places[number] = mark->tid;
	crowd.received[number][mark->kind]++;
	return 0;
}

static int lose_of_crowd(void *context, uint32_t tid, uint32_t kind, uint64_t cnt)
{
	(void)context;
	for (int number = 0; number < CROWD; number++)
		if (crowd.places[number] == tid) {
			crowd.lost[number][kind] += cnt;
			return 0;
		}
	fail_msg("a thread that has marked nothing has lost something");
	return 0;
}

/* Nobody reads before all have marked more than finds room: by thread and kind, sent is received and lost. */
static void overload_is_counted_by_thread(void **state)
{
	const struct mark_pool_sink of_crowd = { .take = take_of_crowd, .lose = lose_of_crowd };
	uint64_t numbers[CROWD], lost_cnt = 0;
	pthread_t threads[CROWD];

	(void)state;
	NEED_POOL();
	for (uint64_t i = 0; i < CROWD; i++) {
		numbers[i] = i;
		assert_int_equal(pthread_create(&threads[i], NULL, mark_much, &numbers[i]), 0);
	}
	for (int i = 0; i < CROWD; i++)
		pthread_join(threads[i], NULL);
	find_lanes();
	assert_int_equal(mark_pool_drain(world.pool, world.now_ns += 1000, &of_crowd), 0);
	for (uint64_t i = 0; i < CROWD; i++) {
		const uint64_t sent = CROWD_MARKS * (i + 1);

		assert_int_equal(crowd.received[i][MARK_EVENT] + crowd.lost[i][MARK_EVENT], sent);
		assert_int_equal(crowd.received[i][MARK_COUNTER] + crowd.lost[i][MARK_COUNTER], sent / 2);
		assert_int_equal(crowd.received[i][MARK_ENTER] + crowd.lost[i][MARK_ENTER], sent / 4);
		lost_cnt += crowd.lost[i][MARK_EVENT];
		mark_pool_end_thread(world.pool, crowd.places[i], world.now_ns);
	}
	assert_true(lost_cnt > CROWD_MARKS);
	drain();
}

static void *mark_twice(void *context)
{
	txtrace_span_t s = TXTRACE_BEGIN("twice");

	TXTRACE_END(s);
	return context;
}

/* Each has a lane of its own, which is given back when it has ended. */
static void threads_come_and_go(void **state)
{
	pthread_t threads[100];
	uint32_t chunk_cnt = 0;

	(void)state;
	NEED_POOL();
	for (int round = 0; round < 20; round++) {
		for (int i = 0; i < 100; i++)
			assert_int_equal(pthread_create(&threads[i], NULL, mark_twice, NULL), 0);
		for (int i = 0; i < 100; i++)
			pthread_join(threads[i], NULL);
		find_lanes();
		for (uint32_t place = world.own_place + 1; place < MARK_PLACE_COUNT; place++)
			mark_pool_end_thread(world.pool, place, world.now_ns);
		drain();
		if (round == 1)
			chunk_cnt = world.memory->chunk_cnt;
		if (round > 1)
			assert_int_equal(world.memory->chunk_cnt, chunk_cnt);
	}
	assert_int_equal(world.cnt_of[MARK_BEGIN], 2000);
	assert_int_equal(world.cnt_of[MARK_END], 2000);
}

/*
 * A thread tells of its lane twice, and the second time is read when it has ended and its lane was given
 * back: what the next thread marks in it is not taken for the first one's.
 */
static void an_ended_thread_is_told_of_late(void **state)
{
	uint32_t place = 0;
	uint64_t end_ns;
	pthread_t thread;

	(void)state;
	NEED_POOL();
	assert_int_equal(pthread_create(&thread, NULL, mark_twice, NULL), 0);
	pthread_join(thread, NULL);
	drain();
	assert_int_equal(world.cnt, 2);
	place = world.seen[0].tid; /* which the tests call it */
	end_ns = world.now_ns;
	mark_pool_end_thread(world.pool, place, end_ns);
	drain();
	assert_int_equal(mark_pool_add_lane(world.pool, place, place, end_ns - 1), 0);
	forget_seen();
	assert_int_equal(pthread_create(&thread, NULL, mark_twice, NULL), 0);
	pthread_join(thread, NULL);
	assert_int_equal(mark_pool_add_lane(world.pool, place, 7777, end_ns + 1), 0);
	drain();
	assert_int_equal(world.cnt, 2);
	assert_int_equal(world.seen[0].tid, 7777);
	mark_pool_end_thread(world.pool, 7777, world.now_ns);
	drain();
}

/* A slot that is taken and not filled: what is behind it waits, for as long as is said, and then comes. */
static void missing_slot_is_given_up(void **state)
{
	struct txtrace_lane_ *lane;
	uint64_t chunks, before_ns;

	(void)state;
	NEED_POOL();
	lane = txtrace_lane_at_(world.memory, world.own_place);
	chunks = chunks_in_use();
	TXTRACE_EVENT(1, "before");
	lane->position++;
	TXTRACE_EVENT(2, "behind");
	before_ns = world.now_ns;
	drain();
	assert_int_equal(world.cnt, 1);
	assert_int_equal(mark_pool_waits_since_ns(world.pool), before_ns);
	world.now_ns += MARK_POOL_WAIT_NS;
	drain();
	assert_int_equal(world.cnt, 2);
	assert_int_equal(world.lost_of[0], 1);
	assert_int_equal(mark_pool_waits_since_ns(world.pool), UINT64_MAX);
	for (uint64_t i = 0; i < 2 * MARK_CHUNK_SLOTS; i++)
		TXTRACE_EVENT(3, "further");
	drain();
	assert_int_equal(world.cnt, 2 + 2 * MARK_CHUNK_SLOTS);
	assert_true(chunks_in_use() <= chunks + 2); /* the one with the slot, and the present one */
	assert_true(chunks_in_use() > 1);
}

/* Those that were missing at the same time wait together; what is missing since then is waited for anew. */
static void missing_slots_are_given_up_together(void **state)
{
	struct txtrace_lane_ *lane;
	uint64_t first_ns;

	(void)state;
	NEED_POOL();
	lane = txtrace_lane_at_(world.memory, world.own_place);
	for (uint64_t i = 0; i < 300; i++) { /* in three chunks */
		lane->position += MARK_USED(lane->position) < MARK_CHUNK_SLOTS;
		TXTRACE_EVENT(2, "behind");
	}
	drain();
	assert_int_equal(world.cnt, 0);
	first_ns = world.now_ns;
	drain();
	lane->position += MARK_USED(lane->position) < MARK_CHUNK_SLOTS;
	TXTRACE_EVENT(3, "later");
	world.now_ns = first_ns + MARK_POOL_WAIT_NS;
	drain();
	assert_int_equal(world.cnt, 300);
	assert_in_range(world.lost_of[0], 290, 300);
	/* it is not known when it was taken: since the others were */
	assert_int_equal(mark_pool_waits_since_ns(world.pool), first_ns);
	world.now_ns += MARK_POOL_WAIT_NS;
	drain();
	assert_int_equal(world.cnt, 301);
	assert_int_equal(mark_pool_waits_since_ns(world.pool), UINT64_MAX);
}

/* Read at last, and then nothing is written there any more. */
static void refused_program_goes_to_the_probe(void **state)
{
	(void)state;
	NEED_POOL();
	TXTRACE_EVENT(1, "read");
	drain();
	mark_pool_refuse(world.pool);
	for (int i = 0; i < 1000; i++)
		TXTRACE_EVENT(2, "told by the probe");
	assert_int_equal(world.cnt, 1);
	assert_int_equal(MARK_USED(txtrace_lane_at_(world.memory, world.own_place)->position) &
				 MARK_CHUNK_SLOTS,
			 MARK_CHUNK_SLOTS);
	mark_pool_accept(world.pool);
	for (int i = 0; i < 1000; i++)
		TXTRACE_EVENT(3, "in the ring again");
	mark_pool_close(world.pool);
	assert_int_equal(mark_pool_open(&world.pool, open_own((uintptr_t)world.memory)), 0);
	mark_pool_accept(world.pool);
	TXTRACE_EVENT(4, "of another reader");
	drain();
	assert_int_equal(world.cnt, 2);
	is_seen(1, MARK_EVENT, 4, "of another reader", 0);
}

/* A second reader waits until the first one has gone; then it gets what is marked from then on. */
static void reader_follows_another(void **state)
{
	uintptr_t address = (uintptr_t)world.memory;
	struct mark_pool *second;

	(void)state;
	NEED_POOL();
	assert_int_equal(mark_pool_open(&second, open_own(address)), -EBUSY);
	for (int i = 0; i < 300; i++)
		TXTRACE_EVENT(1, "of the first one");
	drain();
	assert_int_equal(world.cnt, 300);
	for (int i = 0; i < 10; i++)
		TXTRACE_EVENT(2, "read by nobody");
	mark_pool_close(world.pool); /* as if it was killed: the program marks on */
	for (int i = 0; i < 300; i++)
		TXTRACE_EVENT(3, "read by nobody");
	assert_int_equal(mark_pool_open(&world.pool, open_own(address)), 0);
	mark_pool_accept(world.pool);
	for (int i = 0; i < 300; i++)
		TXTRACE_EVENT(4, "of the second one");
	drain();
	assert_int_equal(world.cnt, 600);
	for (int i = 300; i < 600; i++)
		assert_int_equal(world.seen[i].id, 4);
	assert_int_equal(world.lost_of[0], 0);
	for (int i = 0; i < 300; i++)
		TXTRACE_EVENT(5, "further");
	drain();
	assert_int_equal(world.cnt, 900);
	assert_true(world.is_in_order);
}

static void put_piece(const char *text, uint64_t number, uint64_t piece)
{
	uint64_t words[3];

	memcpy(words, text + piece * sizeof(words), sizeof(words));
	assert_int_equal(txtrace_mark_(TXTRACE_MARK_PIECE_, words[0], (const char *)(uintptr_t)words[1],
				       words[2], number << 32 | piece),
			 1);
}

/* A thread that is stopped between two pieces of a text may be interrupted many times before it goes on. */
static void texts_within_a_text(void **state)
{
	const char text[48] = "the first piece of it.  the second piece of it.";

	(void)state;
	NEED_POOL();
	put_piece(text, 1, 0);
	for (int i = 0; i < 20; i++)
		TXTRACE_TAG(7, "of a handler");
	put_piece(text, 1, 1);
	txtrace_mark_(TXTRACE_MARK_TAG_, 6, NULL, (uintptr_t)text, UINT64_C(48) << 32 | 1);
	drain();
	assert_int_equal(world.cnt, 21);
	for (size_t i = 0; i < 20; i++)
		has_text(i, MARK_TAG, 7, "", "of a handler");
	assert_int_equal(world.seen[20].id, 6);
	assert_false(world.seen[20].is_unreadable);
	assert_int_equal(world.seen[20].text_length, 48);
}

static int count(void *context, const struct mark *mark)
{
	uint64_t *cnt = context;

	assert_true(mark->text_length <= MARK_POOL_TEXT_MAX);
	for (uint32_t i = 0; i < mark->text_length; i += 512)
		*cnt += ((const unsigned char *)mark->text)[i];
	++*cnt;
	return 0;
}

static int count_lost(void *context, uint32_t tid, uint32_t kind, uint64_t cnt)
{
	(void)context;
	(void)tid;
	assert_true(kind < MARK_LOST_KINDS && cnt > 0);
	return 0;
}

static uint64_t below(struct seeded_random *random, uint32_t end)
{
	return seeded_random_below(random, end);
}

/* An open file of its own, which the pool takes over. */
static int open_again(int fd)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, O_RDWR | O_CLOEXEC);
}

/* Numbers that mean something, and others. */
static uint64_t evil(struct seeded_random *random)
{
	const uint64_t chunk = below(random, MARK_CHUNK_COUNT + 4);
	const uint64_t place = (MARK_HEAD_CHUNKS + below(random, 2)) * MARK_PLACES_IN_CHUNK +
			       below(random, 4);

	switch (below(random, 7)) {
	case 0:
		return MARK_CHUNK_LANES;
	case 1:
		return MARK_CHUNK_SLOTS_OF | below(random, 6) << 32 | place;
	case 2:
		return below(random, 6) << 44 | (chunk + 1) * MARK_PLACES_IN_CHUNK << 24 | below(random, 200);
	case 3:
		return (uint64_t)below(random, 128) << 56 | below(random, 5) << 32 | below(random, 3);
	case 4:
		return 0;
	case 5:
		return chunk;
	default:
		return seeded_random_next(random);
	}
}

/* A pool that is full of nonsense, and changes while it is read. */
static void nonsense_harms_nobody(void **state)
{
	struct mark_pool_sink counting = { .take = count, .lose = count_lost };
	int fd = memfd_create("pool", MFD_CLOEXEC);
	struct mark_pool_head *head;
	struct seeded_random random;
	uint64_t cnt = 0;

	(void)state;
	assert_int_equal(ftruncate(fd, MARK_POOL_BYTES), 0);
	head = mmap(NULL, MARK_POOL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(head, MAP_FAILED);
	seeded_random_init(&random, 4711);
	counting.context = &cnt;
	for (int round = 0; round < 60; round++) {
		uint64_t *words = (uint64_t *)(void *)head, now_ns = 1;
		struct mark_pool *pool;

		head->magic = MARK_POOL_MAGIC;
		head->version = MARK_POOL_VERSION;
		head->bytes = MARK_POOL_BYTES;
		assert_int_equal(mark_pool_open(&pool, open_again(fd)), 0);
		for (int change = 0; change < 20; change++) {
			for (int i = 0; i < 3000; i++)
				words[8 + seeded_random_below(&random, 13 * MARK_CHUNK_BYTES / 8)] = evil(
					&random);
			head->chunk_cnt = (uint32_t)evil(&random);
			head->chunks[MARK_HEAD_CHUNKS] = MARK_CHUNK_LANES;
			for (uint64_t i = 0; i < 8; i++)
				mark_pool_add_lane(pool, evil(&random), (uint32_t)i, now_ns);
			for (uint64_t i = 0; i < 4; i++)
				mark_pool_add_lane(pool, MARK_HEAD_CHUNKS * MARK_PLACES_IN_CHUNK + i,
						   (uint32_t)i, now_ns);
			if (change % 3 == 0)
				mark_pool_end_thread(pool, (uint32_t)below(&random, 8), now_ns);
			assert_int_equal(mark_pool_drain(pool, now_ns += MARK_POOL_WAIT_NS / 2, &counting),
					 0);
		}
		mark_pool_refuse(pool);
		mark_pool_close(pool);
	}
	assert_true(cnt > 1000);
	munmap(head, MARK_POOL_BYTES);
	close(fd);
}

/* What is no pool, or another version's, is refused. */
static void other_memory_is_refused(void **state)
{
	int fd = memfd_create("pool", MFD_CLOEXEC);
	struct mark_pool_head head = { .magic = MARK_POOL_MAGIC, .version = 2, .bytes = MARK_POOL_BYTES };
	struct mark_pool *pool;

	(void)state;
	assert_int_equal(mark_pool_open(&pool, open_again(fd)), -EPROTO);
	assert_int_equal(ftruncate(fd, MARK_POOL_BYTES), 0);
	assert_int_equal(mark_pool_open(&pool, open_again(fd)), -EPROTO);
	assert_int_equal(pwrite(fd, &head, 64, 0), 64);
	assert_int_equal(mark_pool_open(&pool, open_again(fd)), -EPROTO);
	close(fd);
}

static atomic_bool is_changing;

/* As recorders that come and go. */
static void *accept_now_and_then(void *context)
{
	(void)context;
	while (atomic_load(&is_changing)) {
		__atomic_store_n(&world.memory->accepted, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&world.memory->accepted, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

/* A text is in the ring with all of its pieces, or it goes to the probe. */
static void no_text_comes_without_its_pieces(void **state)
{
	const struct txtrace_piece pieces[] = { { "three", 5 },
						{ "in one, and", 11 },
						{ " that is all that there is", 26 } };
	uint64_t cnt = 0;
	pthread_t thread;

	(void)state;
	NEED_POOL();
	atomic_store(&is_changing, true);
	pthread_create(&thread, NULL, accept_now_and_then, NULL);
	for (int round = 0; round < 300; round++) {
		for (int i = 0; i < 1000; i++) {
			TXTRACE_ATTR(7, "text", "this needs two pieces, which are 24 bytes each");
			TXTRACE_ATTR_PIECES(7, "pieces", pieces, 3);
		}
		drain();
		for (size_t i = 0; i < world.cnt; i++)
			assert_false(world.seen[i].is_unreadable);
		cnt += world.cnt;
		forget_seen();
	}
	atomic_store(&is_changing, false);
	pthread_join(thread, NULL);
	assert_true(cnt > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kind_comes),
		cmocka_unit_test(chunks_are_used_again),
		cmocka_unit_test(no_text_comes_without_its_pieces),
		cmocka_unit_test(overload_is_counted),
		cmocka_unit_test(overload_is_counted_by_thread),
		cmocka_unit_test(threads_come_and_go),
		cmocka_unit_test(an_ended_thread_is_told_of_late),
		cmocka_unit_test(texts_within_a_text),
		cmocka_unit_test(missing_slot_is_given_up),
		cmocka_unit_test(missing_slots_are_given_up_together),
		cmocka_unit_test(reader_follows_another),
		cmocka_unit_test(refused_program_goes_to_the_probe),
		cmocka_unit_test(nonsense_harms_nobody),
		cmocka_unit_test(other_memory_is_refused),
	};

	return cmocka_run_group_tests(tests, open_world, close_world);
}
