/* SPDX-License-Identifier: BSD-2-Clause */
/* Marks and the stays of their threads, in any order: what is pushed must be what a probe would have sent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ring/mark_join.h"

#define PUSHED_MAX 64
#define TID 7

struct pushed {
	uint64_t time_ns;
	uint64_t id;
	uint16_t flags;
	uint16_t cpu;
	struct wire_clocks clocks; /* if flags say so */
};

struct world {
	struct mark_join *join;
	struct pushed pushed[PUSHED_MAX];
	size_t cnt;
};

static int take(void *context, const void *record, size_t size)
{
	struct world *world = context;
	struct pushed *pushed = &world->pushed[world->cnt++];
	const struct wire_span *span = record;
	size_t base = span->header.kind == WIRE_KEY_BEGIN ? sizeof(struct wire_key) : sizeof(*span);

	assert_true(world->cnt < PUSHED_MAX);
	assert_int_equal(span->header.size, size);
	assert_int_equal(size,
			 base + (span->header.flags & WIRE_HAS_CLOCKS ? sizeof(struct wire_clocks) : 0));
	*pushed = (struct pushed){ .time_ns = span->header.time_ns,
				   .id = span->header.kind == WIRE_KEY_BEGIN ? 0 : span->id,
				   .flags = span->header.flags,
				   .cpu = span->header.cpu };
	if (span->header.flags & WIRE_HAS_CLOCKS)
		memcpy(&pushed->clocks, (const unsigned char *)record + base, sizeof(pushed->clocks));
	return 0;
}

static void open_world(struct world *world)
{
	memset(world, 0, sizeof(*world));
	world->join = mark_join_new(take, world);
	assert_non_null(world->join);
}

static void mark(struct world *world, uint64_t id, uint64_t time_ns)
{
	const struct wire_span span = {
		.header = { .time_ns = time_ns,
			    .tid = TID,
			    .tgid = TID,
			    .kind = WIRE_END,
			    .size = sizeof(span) },
		.id = id,
	};

	assert_int_equal(mark_join_add(world->join, &span.header), 0);
}

/* On CPU 3 from since_ns to end_ns, after 1000 ns on a CPU and 500 asleep since time 100. */
static struct wire_stay stay_of(uint64_t since_ns, uint64_t end_ns)
{
	return (struct wire_stay){
		.header = { .time_ns = end_ns,
			    .tid = TID,
			    .tgid = TID,
			    .cpu = 3,
			    .kind = WIRE_STAY,
			    .size = sizeof(struct wire_stay) },
		.since_ns = since_ns,
		.state = WIRE_THREAD_ON_CPU,
		.clocks = { .born_ns = 100, .on_cpu_ns = 1000, .blocked_ns = { [BLOCK_SLEEP] = 500 } },
	};
}

static void stay(struct world *world, uint64_t since_ns, uint64_t end_ns)
{
	const struct wire_stay told = stay_of(since_ns, end_ns);

	assert_int_equal(mark_join_stay(world->join, &told), 0);
}

/* It was asked, and is still there. */
static void asked(struct world *world, uint64_t since_ns, uint64_t asked_ns)
{
	struct wire_stay told = stay_of(since_ns, asked_ns);

	told.is_still_on_cpu = 1;
	assert_int_equal(mark_join_stay(world->join, &told), 0);
}

static void is_pushed(const struct world *world, size_t at, uint64_t id, uint64_t time_ns, uint16_t flags)
{
	assert_true(at < world->cnt);
	assert_int_equal(world->pushed[at].id, id);
	assert_int_equal(world->pushed[at].time_ns, time_ns);
	assert_int_equal(world->pushed[at].flags, flags);
}

static void first_mark_of_a_stay_has_clocks(void **state)
{
	struct world world;

	(void)state;
	open_world(&world);
	mark(&world, 1, 10100);
	mark(&world, 2, 10200);
	assert_int_equal(mark_join_settle(world.join, 9000, 9000), 0);
	assert_int_equal(world.cnt, 0); /* they wait */
	assert_int_equal(mark_join_waits_since_ns(world.join), 10100);
	stay(&world, 10000, 11000);
	mark(&world, 3, 20300);
	stay(&world, 20000, 21000);
	assert_int_equal(mark_join_settle(world.join, 21000, 21000), 0);
	assert_int_equal(mark_join_waits_since_ns(world.join), UINT64_MAX);
	assert_int_equal(world.cnt, 3);
	is_pushed(&world, 0, 1, 10100, WIRE_HAS_CLOCKS);
	assert_int_equal(world.pushed[0].clocks.on_cpu_ns, 1100);
	assert_int_equal(world.pushed[0].clocks.blocked_ns[BLOCK_SLEEP], 500);
	assert_int_equal(world.pushed[0].clocks.born_ns, 100);
	assert_int_equal(world.pushed[0].cpu, 3);
	is_pushed(&world, 1, 2, 10200, 0);
	is_pushed(&world, 2, 3, 20300, WIRE_HAS_CLOCKS);
	assert_int_equal(world.pushed[2].clocks.on_cpu_ns, 1300);
	mark_join_free(world.join);
}

/*
 * With --irq a stay is told in parts: what an interrupt took lies between them, and what is marked behind it
 * has clocks that know of it.
 */
static void marks_around_an_interrupt(void **state)
{
	struct wire_stay before = stay_of(10000, 10400), after = stay_of(10000, 11000);
	struct world world;

	(void)state;
	after.clocks.on_cpu_ns -= 200;
	after.clocks.interrupt_ns = 200;
	open_world(&world);
	for (uint64_t id = 1; id <= 4; id++)
		mark(&world, id, 10000 + (id <= 2 ? 100 : 600) + id);
	assert_int_equal(mark_join_stay(world.join, &before), 0);
	assert_int_equal(mark_join_stay(world.join, &after), 0);
	assert_int_equal(mark_join_settle(world.join, 11000, 11000), 0);
	assert_int_equal(world.cnt, 4);
	is_pushed(&world, 0, 1, 10101, WIRE_HAS_CLOCKS);
	assert_int_equal(world.pushed[0].clocks.on_cpu_ns, 1101);
	assert_int_equal(world.pushed[0].clocks.interrupt_ns, 0);
	is_pushed(&world, 1, 2, 10102, 0);
	is_pushed(&world, 2, 3, 10603, WIRE_HAS_CLOCKS);
	assert_int_equal(world.pushed[2].clocks.on_cpu_ns, 1403);
	assert_int_equal(world.pushed[2].clocks.interrupt_ns, 200);
	is_pushed(&world, 3, 4, 10604, 0);
	mark_join_free(world.join);
}

/* One that is asked tells the same stay again and again, and goes on in it. */
static void asked_thread_goes_on(void **state)
{
	struct world world;

	(void)state;
	open_world(&world);
	mark(&world, 1, 10100);
	mark(&world, 2, 10510); /* before it was asked, by another clock */
	asked(&world, 10000, 10500);
	assert_int_equal(mark_join_settle(world.join, 10500, 10500), 0);
	mark(&world, 3, 10800);
	assert_int_equal(mark_join_settle(world.join, 10550, 10550), 0);
	assert_int_equal(world.cnt, 2);
	stay(&world, 10000, 11000);
	assert_int_equal(mark_join_settle(world.join, 11000, 11000), 0);
	is_pushed(&world, 0, 1, 10100, WIRE_HAS_CLOCKS);
	is_pushed(&world, 1, 2, 10510, 0); /* its clocks were sent */
	is_pushed(&world, 2, 3, 10800, 0);
	mark_join_free(world.join);
}

/* The two clocks differ by a little: a mark lies in its stay. */
static void mark_lies_in_its_stay(void **state)
{
	struct world world;

	(void)state;
	open_world(&world);
	mark(&world, 1, 9990);
	mark(&world, 2, 11010);
	stay(&world, 10000, 11000);
	assert_int_equal(mark_join_settle(world.join, 12000, 12000), 0);
	is_pushed(&world, 0, 1, 10000, WIRE_HAS_CLOCKS);
	assert_int_equal(world.pushed[0].clocks.on_cpu_ns, 1000);
	is_pushed(&world, 1, 2, 11000, 0);
	mark_join_free(world.join);
}

static void lost_stay_leaves_no_clocks(void **state)
{
	struct world world;

	(void)state;
	open_world(&world);
	mark(&world, 1, 5000); /* in a stay that was lost, before one that was not */
	mark(&world, 2, 10100);
	mark(&world, 3, 15000); /* likewise, behind */
	mark(&world, 4, 30000); /* not told yet */
	stay(&world, 10000, 11000);
	assert_int_equal(mark_join_settle(world.join, 29000, 29000), 0);
	assert_int_equal(world.cnt, 3);
	is_pushed(&world, 0, 1, 5000, WIRE_NO_CLOCKS);
	is_pushed(&world, 1, 2, 10100, WIRE_HAS_CLOCKS);
	is_pushed(&world, 2, 3, 15000, WIRE_NO_CLOCKS);
	assert_int_equal(mark_join_waits_since_ns(world.join), 30000);
	mark_join_free(world.join);
}

/*
 * The kernel has hidden that it came onto its CPU: what passed since it was woken is unknown, what it slept
 * is not.
 */
static void hidden_arrival_is_unknown(void **state)
{
	struct wire_stay told = stay_of(10000, 11000);
	struct world world;

	(void)state;
	open_world(&world);
	told.state = WIRE_THREAD_RUNNABLE;
	mark(&world, 1, 10500);
	mark(&world, 2, 10700);
	mark(&world, 3, 20600);
	assert_int_equal(mark_join_stay(world.join, &told), 0);
	stay(&world, 20000, 21000);
	assert_int_equal(mark_join_settle(world.join, 21000, 21000), 0);
	is_pushed(&world, 0, 1, 10500, WIRE_HAS_CLOCKS | WIRE_NOT_ARRIVED);
	is_pushed(&world, 1, 2, 10700, WIRE_HAS_CLOCKS | WIRE_NOT_ARRIVED);
	is_pushed(&world, 2, 3, 20600, WIRE_HAS_CLOCKS);
	assert_int_equal(world.pushed[0].clocks.unknown_ns, 500);
	assert_int_equal(world.pushed[1].clocks.unknown_ns, 700);
	assert_int_equal(world.pushed[1].clocks.on_cpu_ns, 1000);
	assert_int_equal(world.pushed[1].clocks.blocked_ns[BLOCK_SLEEP], 500);
	mark_join_free(world.join);
}

/* A thread that was moved tells its stays to the rings of several CPUs. */
static void stays_come_in_any_order(void **state)
{
	struct world world;

	(void)state;
	open_world(&world);
	for (uint64_t i = 1; i <= 6; i++)
		mark(&world, i, i * 10000 + 100);
	for (uint64_t i = 2; i <= 6; i += 2)
		stay(&world, i * 10000, i * 10000 + 1000);
	for (uint64_t i = 1; i <= 6; i += 2)
		stay(&world, i * 10000, i * 10000 + 1000);
	assert_int_equal(mark_join_settle(world.join, 70000, 70000), 0);
	assert_int_equal(world.cnt, 6);
	for (uint64_t i = 1; i <= 6; i++)
		is_pushed(&world, i - 1, i, i * 10000 + 100, WIRE_HAS_CLOCKS);
	mark_join_free(world.join);
}

/* Before the next stay there may be one that was not read yet: the mark waits, and what is behind it. */
static void stay_comes_after_the_next(void **state)
{
	struct world world;

	(void)state;
	open_world(&world);
	mark(&world, 1, 10100);
	mark(&world, 2, 20100);
	mark(&world, 3, 30100);
	stay(&world, 10000, 11000);
	stay(&world, 30000, 31000);
	assert_int_equal(mark_join_settle(world.join, 0, 0), 0);
	assert_int_equal(world.cnt, 1);
	assert_int_equal(mark_join_waiting_cnt(world.join), 2);
	stay(&world, 20000, 21000);
	assert_int_equal(mark_join_settle(world.join, 0, 0), 0);
	assert_int_equal(world.cnt, 3);
	for (uint64_t i = 1; i <= 3; i++)
		is_pushed(&world, i - 1, i, i * 10000 + 100, WIRE_HAS_CLOCKS);
	assert_int_equal(mark_join_waiting_cnt(world.join), 0);
	mark_join_free(world.join);
}

/* A thread has a lane for each object file in which it marks, and another one had its number before. */
static void marks_come_from_several_lanes(void **state)
{
	struct world world;

	(void)state;
	open_world(&world);
	for (uint64_t i = 2; i <= 6; i += 2)
		mark(&world, i, i * 10000 + 100);
	for (uint64_t i = 1; i <= 6; i += 2)
		mark(&world, i, i * 10000 + 100);
	for (uint64_t i = 1; i <= 6; i++)
		stay(&world, i * 10000, i * 10000 + 1000);
	assert_int_equal(mark_join_settle(world.join, 70000, 70000), 0);
	assert_int_equal(world.cnt, 6);
	for (uint64_t i = 1; i <= 6; i++)
		is_pushed(&world, i - 1, i, i * 10000 + 100, WIRE_HAS_CLOCKS);
	mark_join_free(world.join);
}

/* Of keyed spans each event has the clocks, as with probes. */
static void keyed_mark_has_clocks(void **state)
{
	const struct wire_key key = {
		.header = { .time_ns = 10200,
			    .tid = TID,
			    .tgid = TID,
			    .kind = WIRE_KEY_BEGIN,
			    .size = sizeof(key) },
		.key_length = 1,
	};
	struct world world;

	(void)state;
	open_world(&world);
	mark(&world, 1, 10100);
	assert_int_equal(mark_join_add(world.join, &key.header), 0);
	stay(&world, 10000, 11000);
	assert_int_equal(mark_join_settle(world.join, 11000, 11000), 0);
	is_pushed(&world, 1, 0, 10200, WIRE_HAS_CLOCKS);
	assert_int_equal(world.pushed[1].clocks.on_cpu_ns, 1200);
	mark_join_free(world.join);
}

/* The number of a thread that has ended is used again. */
static void number_is_used_again(void **state)
{
	struct world world;

	(void)state;
	open_world(&world);
	mark(&world, 1, 10100);
	stay(&world, 10000, 11000);
	mark_join_forget(world.join, TID, 11000);
	assert_int_equal(mark_join_settle(world.join, 12000, 12000), 0);
	assert_int_equal(mark_join_ended_cnt(world.join), 1);
	mark(&world, 2, 2000000100);
	asked(&world, 2000000000, 2000000200);
	assert_int_equal(mark_join_settle(world.join, 2000000200, 2000000200), 0);
	assert_int_equal(mark_join_settle(world.join, 2000000300, 2000000300), 0);
	assert_int_equal(mark_join_ended_cnt(world.join), 0);
	mark(&world, 3, 2000001300);
	stay(&world, 2000000000, 2000001400);
	assert_int_equal(mark_join_settle(world.join, 2000001400, 2000001400), 0);
	assert_int_equal(world.cnt, 3);
	is_pushed(&world, 1, 2, 2000000100, WIRE_HAS_CLOCKS);
	is_pushed(&world, 2, 3, 2000001300, 0);
	mark_join_free(world.join);
}

/* Its memory is read more than a second after its end. */
static void what_an_ended_thread_told_stays_until_its_marks_are_there(void **state)
{
	struct world world;

	(void)state;
	open_world(&world);
	stay(&world, 10000, 11000);
	mark_join_forget(world.join, TID, 11000);
	assert_int_equal(mark_join_settle(world.join, 3000000000, 10050), 0);
	assert_int_equal(mark_join_ended_cnt(world.join), 1);
	mark(&world, 1, 10100);
	assert_int_equal(mark_join_settle(world.join, 3000000000, 3000000000), 0);
	is_pushed(&world, 0, 1, 10100, WIRE_HAS_CLOCKS);
	assert_int_equal(mark_join_ended_cnt(world.join), 0);
	mark_join_free(world.join);
}

/* Not at once: what it told last may come later. */
static void ended_thread_is_forgotten(void **state)
{
	struct world world;

	(void)state;
	open_world(&world);
	mark(&world, 1, 10100);
	stay(&world, 10000, 11000);
	mark_join_forget(world.join, TID, 11000);
	mark_join_forget(world.join, TID, 11000);
	assert_int_equal(mark_join_settle(world.join, 500000000, 500000000), 0);
	assert_int_equal(mark_join_ended_cnt(world.join), 1);
	assert_int_equal(mark_join_settle(world.join, 1000011000, 1000011000), 0);
	assert_int_equal(mark_join_ended_cnt(world.join), 0);
	assert_int_equal(world.cnt, 1);
	mark_join_free(world.join);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_mark_of_a_stay_has_clocks),
		cmocka_unit_test(marks_around_an_interrupt),
		cmocka_unit_test(asked_thread_goes_on),
		cmocka_unit_test(mark_lies_in_its_stay),
		cmocka_unit_test(lost_stay_leaves_no_clocks),
		cmocka_unit_test(ended_thread_is_forgotten),
		cmocka_unit_test(what_an_ended_thread_told_stays_until_its_marks_are_there),
		cmocka_unit_test(hidden_arrival_is_unknown),
		cmocka_unit_test(stays_come_in_any_order),
		cmocka_unit_test(stay_comes_after_the_next),
		cmocka_unit_test(marks_come_from_several_lanes),
		cmocka_unit_test(keyed_mark_has_clocks),
		cmocka_unit_test(number_is_used_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
