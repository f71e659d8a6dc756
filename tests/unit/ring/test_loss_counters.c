/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Losses as the BPF programs count them, at any moment of a reader's look: each is told once, in a range of
 * time that covers it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/clock.h"

#include "ring/loss_counters.h"

#define LOSS_MAX 16

struct world {
	struct wire_counters shared[WIRE_CPU_MAX];
	uint64_t generation;
	struct loss_counters counters;
	struct wire_loss told[LOSS_MAX];
	size_t told_cnt;
	uint64_t lost_ns[LOSS_MAX]; /* the true times, all of CPU 0 */
	size_t lost_cnt;
	size_t lose_while_told; /* so many times, on CPU 0, while a loss is being told */
};

/* emit_lost() of bpf/emit.h */
static void lose(struct world *world, size_t cpu, uint8_t kind)
{
	struct wire_counters *c = &world->shared[cpu];
	uint64_t time_ns = clock_now_ns();

	if (c->generation != world->generation) {
		c->first_lost_ns = time_ns;
		c->generation = world->generation;
	}
	c->last_lost_ns = time_ns;
	c->lost[kind]++;
	if (cpu == 0)
		world->lost_ns[world->lost_cnt++] = time_ns;
}

static int take(void *context, const struct wire_loss *loss)
{
	struct world *world = context;

	assert_true(world->told_cnt < LOSS_MAX);
	world->told[world->told_cnt++] = *loss;
	for (; world->lose_while_told; world->lose_while_told--)
		lose(world, 0, WIRE_END);
	return 0;
}

static int make_world(void **state)
{
	struct world *world = calloc(1, sizeof(*world));

	*state = world;
	return world ? loss_counters_open(&world->counters, world->shared, WIRE_CPU_MAX, &world->generation)
		     : -1;
}

static int free_world(void **state)
{
	struct world *world = *state;

	loss_counters_close(&world->counters);
	free(world);
	return 0;
}

static void look(struct world *world)
{
	assert_int_equal(loss_counters_read(&world->counters, take, world), 0);
}

static bool is_covered(const struct world *world, uint64_t time_ns)
{
	for (size_t i = 0; i < world->told_cnt; i++)
		if (world->told[i].header.cpu == 0 && world->told[i].header.time_ns <= time_ns &&
		    time_ns <= world->told[i].last_ns)
			return true;
	return false;
}

/* All of CPU 0: as many as there were, none twice, none outside the ranges. */
static void assert_all_told(const struct world *world)
{
	uint64_t cnt = 0;

	for (size_t i = 0; i < world->told_cnt; i++)
		if (world->told[i].header.cpu == 0)
			cnt += world->told[i].span_event_cnt + world->told[i].sched_event_cnt;
	assert_int_equal(cnt, world->lost_cnt);
	for (size_t i = 0; i < world->lost_cnt; i++)
		assert_true(is_covered(world, world->lost_ns[i]));
}

static void nothing_lost_is_nothing_told(void **state)
{
	struct world *world = *state;

	look(world);
	look(world);
	assert_int_equal(world->told_cnt, 0);
}

static void kinds_are_told_apart(void **state)
{
	struct world *world = *state;

	lose(world, 0, WIRE_SWITCH);
	lose(world, 0, WIRE_WAKE);
	lose(world, 0, WIRE_BEGIN);
	look(world);
	look(world);
	assert_int_equal(world->told_cnt, 1);
	assert_int_equal(world->told[0].sched_event_cnt, 2);
	assert_int_equal(world->told[0].span_event_cnt, 1);
	assert_int_equal(world->told[0].kinds, 1 << WIRE_SWITCH | 1 << WIRE_WAKE | 1 << WIRE_BEGIN);
	assert_int_equal(world->told[0].header.time_ns, world->lost_ns[0]);
	assert_int_equal(world->told[0].last_ns, world->lost_ns[2]);
}

static void each_look_has_a_range_of_its_own(void **state)
{
	struct world *world = *state;

	lose(world, 0, WIRE_END);
	look(world);
	lose(world, 0, WIRE_END);
	lose(world, 0, WIRE_END);
	look(world);
	assert_int_equal(world->told_cnt, 2);
	assert_int_equal(world->told[1].header.time_ns, world->lost_ns[1]);
	assert_int_equal(world->told[1].last_ns, world->lost_ns[2]);
	assert_all_told(world);
}

/* CPU 0 has been looked at, the look goes on, and CPU 0 loses more. */
static void what_is_lost_during_a_look_is_covered(void **state)
{
	struct world *world = *state;

	lose(world, 0, WIRE_END);
	lose(world, 1, WIRE_END);
	world->lose_while_told = 1;
	look(world);
	lose(world, 0, WIRE_END);
	look(world);
	assert_all_told(world);
}

/* … and nothing more after that: the range must not reach back to where events were handled long ago. */
static void a_range_begins_behind_the_look_before(void **state)
{
	struct world *world = *state;
	uint64_t before_ns;

	lose(world, 0, WIRE_END);
	lose(world, 1, WIRE_END);
	before_ns = clock_now_ns();
	world->lose_while_told = 1;
	look(world);
	look(world);
	assert_all_told(world);
	assert_int_equal(world->told_cnt, 3);
	assert_true(world->told[2].header.time_ns >= before_ns);
}

static uint64_t fake_misses[4]; /* by fd */

static uint64_t misses_of(int prog_fd)
{
	return fake_misses[prog_fd];
}

/*
 * The kernel left a program out: as many events, of its kind, at an unknown moment since the look before, on
 * an unknown CPU.
 */
static void programs_that_were_left_out_are_losses(void **state)
{
	struct world *world = *state;
	struct loss_totals totals;
	uint64_t before_ns = clock_now_ns();

	world->counters.misses = misses_of;
	loss_counters_watch(&world->counters, 1, WIRE_THREAD);
	loss_counters_watch(&world->counters, 2, WIRE_EXEC);
	look(world);
	assert_int_equal(world->told_cnt, 0);
	fake_misses[1] = 3;
	look(world);
	fake_misses[1] = 5;
	fake_misses[2] = 1;
	look(world);
	assert_int_equal(world->told_cnt, 3);
	assert_int_equal(world->told[0].sched_event_cnt, 3);
	assert_int_equal(world->told[0].kinds, 1 << WIRE_THREAD);
	assert_int_equal(world->told[0].header.cpu, LOSS_CPU_UNKNOWN);
	assert_true(world->told[0].header.time_ns >= before_ns && world->told[0].last_ns <= clock_now_ns());
	assert_int_equal(world->told[1].sched_event_cnt, 2);
	assert_true(world->told[1].header.time_ns >= world->told[0].header.time_ns);
	assert_int_equal(world->told[2].span_event_cnt, 1);
	assert_int_equal(world->told[2].kinds, 1 << WIRE_EXEC);
	fake_misses[1] = 0; /* cannot be read any more */
	look(world);
	assert_int_equal(world->told_cnt, 3);
	loss_counters_totals(&world->counters, &totals);
	assert_int_equal(totals.sent_cnt, 6);
	assert_int_equal(totals.lost_cnt, 6);
	assert_int_equal(totals.missed_cnt, 6);
	assert_int_equal(loss_counters_of_kind(&world->counters, WIRE_THREAD), 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(nothing_lost_is_nothing_told, make_world, free_world),
		cmocka_unit_test_setup_teardown(kinds_are_told_apart, make_world, free_world),
		cmocka_unit_test_setup_teardown(each_look_has_a_range_of_its_own, make_world, free_world),
		cmocka_unit_test_setup_teardown(what_is_lost_during_a_look_is_covered, make_world,
						free_world),
		cmocka_unit_test_setup_teardown(a_range_begins_behind_the_look_before, make_world,
						free_world),
		cmocka_unit_test_setup_teardown(programs_that_were_left_out_are_losses, make_world,
						free_world),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
