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

#include <unistd.h>

#include "base/clock.h"
#include "../ring/own_pool.h"
#include "../skip.h"
#include "record/mark_rings.h"
#include "txtrace.h"

#define TID 77

static struct {
	struct txtrace_pool_ *memory;
	struct mark_rings *marks;
	uint64_t begin_cnt;
	uint64_t end_cnt;
	uint64_t lost_cnt;
} heard;

static int push(void *context, const void *record, size_t size)
{
	const struct wire_header *header = record;

	(void)context;
	assert_true(size >= sizeof(*header));
	assert_int_equal(header->tid, TID);
	heard.begin_cnt += header->kind == WIRE_BEGIN;
	heard.end_cnt += header->kind == WIRE_END;
	return 0;
}

static int push_loss(void *context, const struct wire_loss *loss)
{
	(void)context;
	heard.lost_cnt += loss->span_event_cnt;
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

static void hear_pool(uint64_t lane, uint64_t time_ns)
{
	const struct wire_pool pool = {
		.header = header_of(WIRE_POOL, time_ns, sizeof(pool)),
		.address = (uintptr_t)heard.memory,
		.lane = lane,
	};

	assert_int_equal(mark_rings_hear(heard.marks, &pool, sizeof(pool)), 0);
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
		assert_int_equal(mark_rings_drain(heard.marks, UINT64_MAX), 0);
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
	heard.memory = (struct txtrace_pool_ *)address;
	heard.marks = mark_rings_new(&options);
	return heard.marks ? 0 : -1;
}

/* This thread's, as the probe tells it: the only one that anybody has. */
static uint32_t find_lane(void)
{
	for (uint32_t place = MARK_HEAD_CHUNKS * MARK_PLACES_IN_CHUNK; place < MARK_PLACE_COUNT; place++)
		if (heard.memory->chunks[place / MARK_PLACES_IN_CHUNK] == MARK_CHUNK_LANES &&
		    MARK_END_PLACE(txtrace_lane_at_(heard.memory, place)->position))
			return place;
	return 0;
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
	assert_int_equal(mark_rings_drain(heard.marks, heard_ns), 0);
	hear_pool(find_lane(), told_ns);
	drain_all();
	assert_int_equal(heard.begin_cnt, 1);
	assert_int_equal(heard.end_cnt, 1);
	assert_int_equal(heard.lost_cnt, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_lane_that_is_heard_of_after_its_end, open_rings,
						close_rings),
		cmocka_unit_test_setup_teardown(a_lane_that_is_heard_of_after_its_library_was_unloaded,
						open_rings, close_rings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
