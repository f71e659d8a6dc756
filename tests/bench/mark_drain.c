/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the recorder does with a mark in shared memory before it is attributed: out of the pool, its counter
 * converted (drain), made a record of the stream (push), and merged by time. A thread on another CPU marks;
 * then the recorder's code is run on what it has marked. Prints the medians of ROUNDS in ns for each mark.
 *
 *	mark_drain MARKS ROUNDS		MARKS: begin and end, at most 400000
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../unit/ring/own_pool.h"
#include "base/clock.h"
#include "merge/merge.h"
#include "record/mark_rings.h"

#define TID 77
#define MARKS_MAX 400000
#define ROUNDS_MAX 1000

static struct merge *merged;
static uint64_t given_cnt;
static pthread_barrier_t go, done;
static size_t mark_cnt, round_cnt;

static void fail(const char *what)
{
	fprintf(stderr, "mark_drain: %s\n", what);
	exit(1);
}

static int push(void *context, const void *record, size_t size)
{
	const struct wire_header *header = record;

	(void)context;
	return merge_push(merged, 0, header->time_ns, record, size);
}

static int push_loss(void *context, const struct wire_loss *loss)
{
	(void)context;
	(void)loss;
	fail("marks were lost");
	return 0;
}

static int take(void *context, const void *record, size_t size)
{
	(void)context;
	(void)record;
	(void)size;
	given_cnt++;
	return 0;
}

static void use_cpu(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void *mark(void *unused)
{
	use_cpu(1);
	for (size_t round = 0; round < round_cnt; round++) {
		pthread_barrier_wait(&go);
		for (size_t i = 0; i < mark_cnt / 2; i++)
			TXTRACE_END(TXTRACE_BEGIN("loop"));
		pthread_barrier_wait(&done);
	}
	return unused;
}

static int compare(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

static void print(const char *what, double *each)
{
	qsort(each, round_cnt, sizeof(*each), compare);
	printf("%s %.1f\n", what, each[round_cnt / 2]);
}

static void hear_lane(struct mark_rings *rings, uintptr_t address, uint32_t place)
{
	const struct wire_pool pool = {
		.header = { .kind = WIRE_POOL,
			    .tid = TID,
			    .tgid = (uint32_t)getpid(),
			    .time_ns = clock_now_ns(),
			    .size = sizeof(pool) },
		.address = address,
		.lane = place,
	};

	if (mark_rings_hear(rings, &pool, sizeof(pool)))
		fail("no memory");
}

/* Of all lanes: this thread's, and the marking one's once it has marked. */
static void hear_lanes(struct mark_rings *rings, uintptr_t address)
{
	struct txtrace_pool_ *memory = (struct txtrace_pool_ *)address;

	for (uint32_t place = MARK_HEAD_CHUNKS * MARK_PLACES_IN_CHUNK; place < MARK_PLACE_COUNT; place++)
		if (memory->chunks[place / MARK_PLACES_IN_CHUNK] == MARK_CHUNK_LANES &&
		    MARK_END_PLACE(txtrace_lane_at_(memory, place)->position))
			hear_lane(rings, address, place);
}

/* In one piece, as it is without other work between: the first call takes all, and pushes what one pushes. */
static void read_marks(struct mark_rings *rings, double *drain, double *pushing, double *merging)
{
	uint64_t begin_ns = clock_now_ns(), drained_ns, pushed_ns;

	if (mark_rings_drain(rings, UINT64_MAX, false))
		fail("the pool cannot be read");
	drained_ns = clock_now_ns();
	while (mark_rings_have_more(rings))
		if (mark_rings_drain(rings, UINT64_MAX, true))
			fail("no memory");
	pushed_ns = clock_now_ns();
	given_cnt = 0;
	merge_set_watermark(merged, 0, clock_now_ns());
	if (merge_run(merged, take, NULL))
		fail("no memory");
	*drain = (double)(drained_ns - begin_ns) / (double)mark_cnt;
	*pushing = (double)(pushed_ns - drained_ns) / (double)mark_cnt;
	*merging = (double)(clock_now_ns() - pushed_ns) / (double)mark_cnt;
}

int main(int argc, char **argv)
{
	static double drain[ROUNDS_MAX], pushing[ROUNDS_MAX], merging[ROUNDS_MAX];
	const struct mark_rings_options options = { .push = push, .push_loss = push_loss };
	struct mark_rings *rings = mark_rings_new(&options);
	pthread_t thread;
	uintptr_t address;
	int fd;

	mark_cnt = argc == 3 ? (size_t)atol(argv[1]) : 0;
	round_cnt = argc == 3 ? (size_t)atol(argv[2]) : 0;
	if (!mark_cnt || mark_cnt > MARKS_MAX || !round_cnt || round_cnt > ROUNDS_MAX)
		fail("usage: mark_drain MARKS ROUNDS");
	merged = merge_new(1);
	fd = make_own_pool(&address);
	if (!rings || !merged || fd < 0)
		fail("this process may not open what it has mapped: it needs root");
	close(fd);
	use_cpu(0);
	hear_lane(rings, address, 0);
	pthread_barrier_init(&go, NULL, 2);
	pthread_barrier_init(&done, NULL, 2);
	if (pthread_create(&thread, NULL, mark, NULL))
		fail("no thread");
	for (size_t i = 0; i < round_cnt; i++) {
		pthread_barrier_wait(&go);
		pthread_barrier_wait(&done);
		if (i == 0)
			hear_lanes(rings, address);
		read_marks(rings, &drain[i], &pushing[i], &merging[i]);
		if (i > 0 && given_cnt != mark_cnt)
			fail("not all marks came out");
	}
	pthread_join(thread, NULL);
	print("drain", drain);
	print("push", pushing);
	print("merge", merging);
	mark_rings_free(rings);
	merge_free(merged);
	return 0;
}
