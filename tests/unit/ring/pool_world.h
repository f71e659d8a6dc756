/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program that marks, which is this one, and a reader of its pool. Each test
 * includes this once, behind the headers of cmocka.
 */
#ifndef POOL_WORLD_H
#define POOL_WORLD_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "../skip.h"
#include "own_pool.h"
#include "ring/mark_pool.h"
#include "txtrace.h"

#define SEEN_MAX 4096

struct seen {
	uint32_t tid;
	uint8_t kind;
	bool is_truncated;
	bool is_unreadable;
	uint64_t id;
	uint64_t name;
	uint64_t value;
	char text[32];
	uint32_t text_length;
};

static struct world {
	struct txtrace_pool_ *memory;
	struct mark_pool *pool;
	uint32_t own_place; /* of this thread's lane */
	uint64_t now_ns;
	struct seen seen[SEEN_MAX]; /* the first ones */
	size_t cnt;
	uint64_t cnt_of[256];
	uint64_t lost_of[MARK_LOST_KINDS];
	uint64_t last_counter;
	bool is_in_order;
} world;

static int take(void *context, const struct mark *mark)
{
	struct seen *seen = &world.seen[world.cnt];

	(void)context;
	world.cnt_of[mark->kind]++;
	world.is_in_order &= mark->counter >= *mark->last_ns;
	*mark->last_ns = mark->counter;
	if (world.cnt == SEEN_MAX)
		return 0;
	world.cnt++;
	*seen = (struct seen){ .tid = mark->tid,
			       .kind = mark->kind,
			       .is_truncated = mark->is_truncated,
			       .is_unreadable = mark->is_unreadable,
			       .id = mark->id,
			       .name = mark->name,
			       .value = mark->value,
			       .text_length = mark->text_length };
	if (mark->text)
		memcpy(seen->text, mark->text,
		       mark->text_length < sizeof(seen->text) ? mark->text_length : sizeof(seen->text) - 1);
	return 0;
}

static int lose(void *context, uint32_t tid, uint32_t kind, uint64_t cnt)
{
	(void)context;
	(void)tid;
	world.lost_of[kind] += cnt;
	return 0;
}

static const struct mark_pool_sink sink = { .take = take, .lose = lose };

/* As the probe tells it: the lanes that somebody has, by their places. */
static void find_lanes(void)
{
	for (uint32_t chunk = MARK_HEAD_CHUNKS; chunk < world.memory->chunk_cnt; chunk++) {
		if (world.memory->chunks[chunk] != MARK_CHUNK_LANES)
			continue;
		for (uint32_t i = 0; i < MARK_PLACES_IN_CHUNK; i++) {
			uint32_t place = chunk * MARK_PLACES_IN_CHUNK + i;

			if (MARK_END_PLACE(txtrace_lane_at_(world.memory, place)->position)) {
				assert_int_equal(mark_pool_add_lane(world.pool, place, place, world.now_ns),
						 0);
				world.own_place = world.own_place ? world.own_place : place;
			}
		}
	}
}

static void drain(void)
{
	find_lanes();
	world.now_ns += 1000;
	assert_int_equal(mark_pool_drain(world.pool, world.now_ns, &sink), 0);
}

static void forget_seen(void)
{
	world.cnt = 0;
	memset(world.cnt_of, 0, sizeof(world.cnt_of));
	memset(world.lost_of, 0, sizeof(world.lost_of));
	world.is_in_order = true;
}

/* From acceptance on there are lanes. */
static int open_world(void **state)
{
	uintptr_t address;
	int fd;

	(void)state;
	fd = make_own_pool(&address);
	if (fd < 0)
		return 0; /* each test is skipped */
	world.memory = (struct txtrace_pool_ *)address;
	world.now_ns = 1000000;
	assert_int_equal(mark_pool_open(&world.pool, fd), 0);
	mark_pool_accept(world.pool);
	TXTRACE_END(1);
	find_lanes();
	return 0;
}

static int close_world(void **state)
{
	(void)state;
	mark_pool_close(world.pool);
	return 0;
}

static uint64_t chunks_in_use(void)
{
	return world.memory->taken_cnt - world.memory->given_cnt;
}

#define NEED_POOL()                                                                   \
	do {                                                                          \
		if (!world.pool)                                                      \
			skip_because("this process may not open what it has mapped"); \
		drain();                                                              \
		forget_seen();                                                        \
	} while (0)

#endif
