/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program that marks, which is this one, and what the kernel tells of it, in
 * the orders in which it may be heard: the rings of several CPUs are read one
 * after the other.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "../ring/own_pool.h"
#include "../skip.h"
#include "record/mark_rings.h"
#include "txtrace.h"

#define TID 77

/* More threads than losses are told of one by one: of each of the first 64, and of the others together. */
#define CROWD_CNT 70
#define CROWD_TID 1000
#define TOLD_CNT 64

static struct {
	struct txtrace_pool_ *memory;
	struct mark_rings *marks;
	uint64_t begin_cnt;
	uint64_t end_cnt;
	uint64_t lost_cnt;
	uint64_t lost_of_none_cnt; /* of no thread in particular */
	uint64_t loss_cnt;	   /* records of losses */
	uint64_t lost_by_crowd[CROWD_CNT];
} heard;

static int push(void *context, const void *record, size_t size)
{
	const struct wire_header *header = record;

	(void)context;
	assert_true(size >= sizeof(*header));
	assert_true(header->tid == TID || header->tid >= CROWD_TID);
	heard.begin_cnt += header->kind == WIRE_BEGIN;
	heard.end_cnt += header->kind == WIRE_END;
	return 0;
}

static int push_loss(void *context, const struct wire_loss *loss)
{
	(void)context;
	heard.loss_cnt++;
	heard.lost_cnt += loss->span_event_cnt;
	if (!loss->header.tid)
		heard.lost_of_none_cnt += loss->span_event_cnt;
	else
		assert_int_equal(loss->header.tgid, getpid());
	if (loss->header.tid >= CROWD_TID)
		heard.lost_by_crowd[loss->header.tid - CROWD_TID] += loss->span_event_cnt;
	return 0;
}

static struct wire_header header_of(uint8_t kind, uint64_t time_ns, size_t size)
{
	return (struct wire_header){ .kind = kind,
				     .tid = TID,
				     .tgid = (uint32_t)getpid(),
				     .time_ns = time_ns,
				     .size = (uint16_t)size };
}

static void hear_lane(uint64_t lane, uint32_t tid, uint64_t time_ns)
{
	struct wire_pool pool = {
		.header = header_of(WIRE_POOL, time_ns, sizeof(pool)),
		.address = (uintptr_t)heard.memory,
		.lane = lane,
	};

	pool.header.tid = tid;
	assert_int_equal(mark_rings_hear(heard.marks, &pool, sizeof(pool)), 0);
}

static void hear_pool(uint64_t lane, uint64_t time_ns)
{
	hear_lane(lane, TID, time_ns);
}

static void hear_thread_end(uint64_t time_ns)
{
	const struct wire_header header = header_of(WIRE_THREAD_EXIT, time_ns, sizeof(header));

	assert_int_equal(mark_rings_hear(heard.marks, &header, sizeof(header)), 0);
}

static void hear_process_end(uint64_t time_ns)
{
	const struct wire_process process = {
		.header = header_of(WIRE_PROCESS, time_ns, sizeof(process)),
		.change = WIRE_PROCESS_EXITED,
	};

	assert_int_equal(mark_rings_hear(heard.marks, &process, sizeof(process)), 0);
}

static void drain_all(void)
{
	do
		assert_int_equal(mark_rings_drain(heard.marks, UINT64_MAX, true), 0);
	while (mark_rings_have_more(heard.marks));
}

/* The pool is there, and nobody reads it. */
static int open_rings(void **state)
{
	const struct mark_rings_options options = { .push = push, .push_loss = push_loss };
	uintptr_t address;
	int fd;

	(void)state;
	fd = make_own_pool(&address);
	if (fd < 0)
		return 0; /* each test is skipped */
	close(fd);
	heard.begin_cnt = heard.end_cnt = heard.lost_cnt = 0;
	heard.lost_of_none_cnt = heard.loss_cnt = 0;
	memset(heard.lost_by_crowd, 0, sizeof(heard.lost_by_crowd));
	heard.memory = (struct txtrace_pool_ *)address;
	heard.marks = mark_rings_new(&options);
	return heard.marks ? 0 : -1;
}

static bool is_lane(uint32_t place)
{
	return heard.memory->chunks[place / MARK_PLACES_IN_CHUNK] == MARK_CHUNK_LANES &&
	       MARK_END_PLACE(txtrace_lane_at_(heard.memory, place)->position);
}

/* The next one that a thread has, as the probe tells it; 0: there is none. */
static uint32_t find_lane_behind(uint32_t before)
{
	for (uint32_t place = before + 1; place < MARK_PLACE_COUNT; place++)
		if (is_lane(place))
			return place;
	return 0;
}

static uint32_t find_lane(void)
{
	return find_lane_behind(MARK_HEAD_CHUNKS * MARK_PLACES_IN_CHUNK - 1);
}

static int close_rings(void **state)
{
	(void)state;
	mark_rings_free(heard.marks);
	return 0;
}

/* The lane was told before all that ended, by a CPU whose ring had just been read. */
static void a_lane_that_is_heard_of_after_its_end(void **state)
{
	uint64_t told_ns, end_ns;
	txtrace_span_t span;
	uint32_t place;

	(void)state;
	if (!heard.marks)
		skip_because("this process may not open what it has mapped");
	hear_pool(0, clock_now_ns());
	drain_all();
	told_ns = clock_now_ns();
	span = TXTRACE_BEGIN("short");
	TXTRACE_END(span);
	TXTRACE_END(span);
	end_ns = clock_now_ns();
	hear_thread_end(end_ns);
	hear_process_end(end_ns);
	drain_all();
	place = find_lane();
	hear_pool(place, told_ns);
	drain_all();
	assert_int_equal(heard.begin_cnt, 1);
	assert_int_equal(heard.end_cnt, 2);
	assert_int_equal(heard.lost_cnt, 0);
}

/* The same of a library that was unloaded: what was told up to then has not all been heard. */
static void a_lane_that_is_heard_of_after_its_library_was_unloaded(void **state)
{
	uint64_t heard_ns, told_ns;
	txtrace_span_t span;

	(void)state;
	if (!heard.marks)
		skip_because("this process may not open what it has mapped");
	hear_pool(0, clock_now_ns());
	drain_all();
	heard_ns = clock_now_ns();
	told_ns = clock_now_ns();
	span = TXTRACE_BEGIN("short");
	TXTRACE_END(span);
	hear_pool(WIRE_POOL_GONE, clock_now_ns());
	assert_int_equal(mark_rings_drain(heard.marks, heard_ns, true), 0);
	hear_pool(find_lane(), told_ns);
	drain_all();
	assert_int_equal(heard.begin_cnt, 1);
	assert_int_equal(heard.end_cnt, 1);
	assert_int_equal(heard.lost_cnt, 0);
}

static pthread_barrier_t crowd_has_marked, crowd_may_end;

static void *mark_once(void *unused)
{
	TXTRACE_END(TXTRACE_BEGIN("here"));
	pthread_barrier_wait(&crowd_has_marked);
	pthread_barrier_wait(&crowd_may_end);
	return unused;
}

/* Thread i has lost i + 1 events. Where the lanes lie, only the memory says. */
static void losses_are_of_threads(void **state)
{
	uint32_t place = MARK_HEAD_CHUNKS * MARK_PLACES_IN_CHUNK - 1;
	pthread_t threads[CROWD_CNT];
	unsigned int told_cnt = 0;
	uint64_t others = 0;

	(void)state;
	if (!heard.marks)
		skip_because("this process may not open what it has mapped");
	hear_pool(0, clock_now_ns());
	drain_all();
	assert_int_equal(pthread_barrier_init(&crowd_has_marked, NULL, CROWD_CNT + 1), 0);
	assert_int_equal(pthread_barrier_init(&crowd_may_end, NULL, CROWD_CNT + 1), 0);
	for (int i = 0; i < CROWD_CNT; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, mark_once, NULL), 0);
	pthread_barrier_wait(&crowd_has_marked);
	for (uint32_t i = 0; i < CROWD_CNT; i++) {
		place = find_lane_behind(place);
		assert_int_not_equal(place, 0);
		txtrace_lane_at_(heard.memory, place)->lost[MARK_BEGIN] = i + 1;
		hear_lane(place, CROWD_TID + i, clock_now_ns());
	}
	drain_all();
	assert_int_equal(heard.loss_cnt, TOLD_CNT + 1);
	assert_int_equal(heard.lost_cnt, CROWD_CNT * (CROWD_CNT + 1) / 2);
	for (uint32_t i = 0; i < CROWD_CNT; i++) {
		told_cnt += heard.lost_by_crowd[i] == i + 1;
		others += heard.lost_by_crowd[i] ? 0 : i + 1;
	}
	assert_int_equal(told_cnt, TOLD_CNT);
	assert_int_equal(heard.lost_of_none_cnt, others);
	drain_all();
	assert_int_equal(heard.loss_cnt, TOLD_CNT + 1);
	pthread_barrier_wait(&crowd_may_end);
	for (int i = 0; i < CROWD_CNT; i++)
		pthread_join(threads[i], NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_lane_that_is_heard_of_after_its_end, open_rings,
						close_rings),
		cmocka_unit_test_setup_teardown(a_lane_that_is_heard_of_after_its_library_was_unloaded,
						open_rings, close_rings),
		cmocka_unit_test_setup_teardown(losses_are_of_threads, open_rings, close_rings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
