/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads that run here and there, and mark: told once as probes tell it, each mark with its thread's
 * clocks, and once as shared memory does, marks without clocks and the stays of the threads in the rings of
 * their CPUs, which are read at random times and up to different ones. The records must be the same, to the
 * nanosecond.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/seeded_random.h"
#include "ring/mark_join.h"

#define THREADS 5
#define CPUS 3
#define STAYS 200
#define MARKS_MAX 8 /* of a stay */
#define DRAINS 60

struct one_mark {
	uint64_t time_ns;
	uint64_t id;
	bool is_keyed;
};

struct one_stay {
	uint64_t since_ns;
	uint64_t end_ns;
	uint32_t cpu;
	struct wire_clocks clocks; /* when it began */
	struct one_mark marks[MARKS_MAX];
	size_t mark_cnt;
	bool is_told;
	size_t asked_cnt; /* marks that were there when it was asked last */
};

struct thread {
	struct one_stay stays[STAYS];
	size_t stay;	   /* the next record is of this one, … */
	size_t mark;	   /* … and of this mark in it */
	bool has_clocks;   /* the stay's were sent */
	uint64_t added_ns; /* marks up to then were read */
};

struct world {
	struct seeded_random random;
	struct mark_join *join;
	struct thread threads[THREADS];
	uint64_t end_ns;
	size_t record_cnt;
};

static uint64_t below(struct world *world, uint64_t limit)
{
	return seeded_random_below(&world->random, limit);
}

/* ---- what happened ---- */

static void make_thread(struct world *world, uint32_t number)
{
	struct wire_clocks clocks = { .born_ns = 50 };
	uint64_t now_ns = 1000 + below(world, 1000), id = number * 100000;

	for (size_t i = 0; i < STAYS; i++) {
		struct one_stay *stay = &world->threads[number].stays[i];
		uint64_t away_ns = 300 + below(world, 20000);

		*stay = (struct one_stay){ .since_ns = now_ns,
					   .cpu = (uint32_t)below(world, CPUS),
					   .clocks = clocks };
		stay->end_ns = now_ns + 1000 + below(world, 30000);
		stay->mark_cnt = below(world, MARKS_MAX + 1);
		for (size_t at = 0; at < stay->mark_cnt; at++)
			stay->marks[at] = (struct one_mark){
				.time_ns = now_ns + (at + 1) * (stay->end_ns - now_ns) / (MARKS_MAX + 2),
				.id = id++,
				.is_keyed = below(world, 10) == 0,
			};
		clocks.on_cpu_ns += stay->end_ns - now_ns;
		clocks.blocked_ns[BLOCK_LOCK] += away_ns;
		now_ns = stay->end_ns + away_ns;
	}
	if (now_ns > world->end_ns)
		world->end_ns = now_ns;
}

/* ---- as probes tell it ---- */

static int take(void *context, const void *record, size_t size)
{
	struct world *world = context;
	const struct wire_header *header = record;
	struct thread *thread = &world->threads[header->tid - 1];
	size_t base = header->kind == WIRE_END ? sizeof(struct wire_span) : sizeof(struct wire_key);
	const struct one_stay *stay;
	const struct one_mark *mark;
	struct wire_clocks clocks;
	bool has_clocks;

	while (thread->stay < STAYS && thread->mark == thread->stays[thread->stay].mark_cnt) {
		thread->stay++;
		thread->mark = 0;
		thread->has_clocks = false;
	}
	assert_true(thread->stay < STAYS);
	stay = &thread->stays[thread->stay];
	mark = &stay->marks[thread->mark++];
	has_clocks = mark->is_keyed || !thread->has_clocks;
	thread->has_clocks = true;
	assert_int_equal(header->time_ns, mark->time_ns);
	assert_int_equal(header->cpu, stay->cpu);
	assert_int_equal(header->flags, has_clocks ? WIRE_HAS_CLOCKS : 0);
	assert_int_equal(size, base + (has_clocks ? sizeof(clocks) : 0));
	if (!mark->is_keyed)
		assert_int_equal(((const struct wire_span *)record)->id, mark->id);
	if (has_clocks) {
		clocks = stay->clocks;
		clocks.on_cpu_ns += mark->time_ns - stay->since_ns;
		assert_memory_equal((const unsigned char *)record + base, &clocks, sizeof(clocks));
	}
	world->record_cnt++;
	return 0;
}

/* ---- as shared memory does ---- */

static void tell_stay(struct world *world, uint32_t number, struct one_stay *stay, uint64_t time_ns,
		      bool goes_on)
{
	const struct wire_stay told = {
		.header = { .time_ns = time_ns,
			    .tid = number + 1,
			    .tgid = 1,
			    .cpu = (uint16_t)stay->cpu,
			    .kind = WIRE_STAY,
			    .size = sizeof(told) },
		.since_ns = stay->since_ns,
		.state = WIRE_THREAD_ON_CPU,
		.is_still_on_cpu = goes_on,
		.clocks = stay->clocks,
	};

	assert_int_equal(mark_join_stay(world->join, &told), 0);
	stay->is_told |= !goes_on;
}

/* What has come into the ring of one CPU. A thread that has not marked since it was asked tells nothing. */
static void read_ring(struct world *world, uint32_t cpu, uint64_t until_ns)
{
	for (uint32_t number = 0; number < THREADS; number++)
		for (size_t i = 0; i < STAYS; i++) {
			struct one_stay *stay = &world->threads[number].stays[i];

			if (stay->cpu == cpu && !stay->is_told && stay->end_ns <= until_ns &&
			    stay->mark_cnt > stay->asked_cnt)
				tell_stay(world, number, stay, stay->end_ns, false);
		}
}

static void read_marks(struct world *world, uint32_t number, uint64_t until_ns)
{
	struct thread *thread = &world->threads[number];

	for (size_t i = 0; i < STAYS; i++)
		for (size_t at = 0; at < thread->stays[i].mark_cnt; at++) {
			const struct one_mark *mark = &thread->stays[i].marks[at];
			union {
				struct wire_header header;
				struct wire_span span;
				struct wire_key key;
			} record = { .header = { .time_ns = mark->time_ns,
						 .tid = number + 1,
						 .tgid = 1,
						 .kind = mark->is_keyed ? WIRE_KEY_BEGIN : WIRE_END,
						 .size = sizeof(struct wire_span) } };

			if (mark->is_keyed)
				record.header.size = sizeof(struct wire_key);
			else
				record.span.id = mark->id;
			if (mark->time_ns > thread->added_ns && mark->time_ns <= until_ns)
				assert_int_equal(mark_join_add(world->join, &record.header), 0);
		}
	thread->added_ns = until_ns;
}

static void ask(struct world *world, uint64_t now_ns)
{
	for (uint32_t number = 0; number < THREADS; number++)
		for (size_t i = 0; i < STAYS; i++) {
			struct one_stay *stay = &world->threads[number].stays[i];
			size_t cnt = 0;

			if (stay->since_ns > now_ns || stay->end_ns <= now_ns)
				continue;
			while (cnt < stay->mark_cnt && stay->marks[cnt].time_ns <= now_ns)
				cnt++;
			if (cnt > stay->asked_cnt)
				tell_stay(world, number, stay, now_ns, true);
			stay->asked_cnt = cnt;
		}
}

static void drain(struct world *world, uint64_t now_ns, uint64_t before_ns)
{
	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		read_ring(world, cpu, before_ns + below(world, now_ns - before_ns + 1));
	for (uint32_t number = 0; number < THREADS; number++)
		read_marks(world, number, now_ns);
	assert_int_equal(mark_join_settle(world->join, 0, 0), 0);
	if (below(world, 3))
		return;
	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		read_ring(world, cpu, now_ns);
	ask(world, now_ns);
	assert_int_equal(mark_join_settle(world->join, now_ns, now_ns), 0);
}

static void records_are_the_same(void **state)
{
	struct world *world = calloc(1, sizeof(*world));

	(void)state;
	assert_non_null(world);
	for (uint64_t seed = 1; seed <= 100; seed++) {
		uint64_t now_ns = 0, before_ns = 0, mark_cnt = 0;

		memset(world, 0, sizeof(*world));
		seeded_random_init(&world->random, seed);
		world->join = mark_join_new(take, world);
		for (uint32_t number = 0; number < THREADS; number++)
			make_thread(world, number);
		for (int i = 0; i < DRAINS; i++, before_ns = now_ns) {
			now_ns += below(world, 2 * world->end_ns / DRAINS);
			drain(world, now_ns, before_ns);
		}
		for (uint32_t cpu = 0; cpu < CPUS; cpu++)
			read_ring(world, cpu, UINT64_MAX);
		for (uint32_t number = 0; number < THREADS; number++)
			read_marks(world, number, UINT64_MAX);
		assert_int_equal(mark_join_settle(world->join, UINT64_MAX, UINT64_MAX), 0);
		for (uint32_t number = 0; number < THREADS; number++)
			for (size_t i = 0; i < STAYS; i++)
				mark_cnt += world->threads[number].stays[i].mark_cnt;
		assert_int_equal(world->record_cnt, mark_cnt);
		assert_int_equal(mark_join_waiting_cnt(world->join), 0);
		mark_join_free(world->join);
	}
	free(world);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(records_are_the_same) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
