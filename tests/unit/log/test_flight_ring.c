/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The memory of a flight recorder: what stays in it, what goes, and that what is there begins with
 * definitions.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log/write/flight_ring.h"

#define SECOND 1000000000ull

static void visit_number(const void *labels, label_visitor visit, void *context)
{
	visit(context, labels, strlen(labels), 3);
}

/* A batch of so many bytes and this second. */
static void add(struct flight_ring *ring, uint32_t bytes, uint64_t second, bool begins_segment)
{
	uint8_t *stored = malloc(bytes);
	char name[16];
	struct flight_batch batch = {
		.block = { .stored_bytes = bytes,
			   .record_cnt = 1,
			   .first_ns = second * SECOND,
			   .last_ns = second * SECOND + 1 },
		.stored = stored,
		.visit_labels = visit_number,
		.labels = name,
	};

	snprintf(name, sizeof(name), "s%u", (unsigned int)second);
	memset(stored, (int)second, bytes);
	assert_int_equal(flight_ring_add(ring, &batch, begins_segment), 0);
	free(stored);
}

struct found {
	char text[512];
};

static void see_label(void *context, const char *label, size_t length, uint64_t span_cnt)
{
	struct found *found = context;

	assert_int_equal(span_cnt, 3);
	snprintf(found->text + strlen(found->text), sizeof(found->text) - strlen(found->text), "%.*s ",
		 (int)length, label);
}

static int see(void *context, const struct flight_batch *batch)
{
	for (uint32_t i = 0; i < batch->block.stored_bytes; i++)
		assert_int_equal(batch->stored[i], batch->block.first_ns / SECOND);
	batch->visit_labels(batch->labels, see_label, context);
	return 0;
}

static void assert_holds(const struct flight_ring *ring, const char *wanted)
{
	struct found found = { "" };

	assert_int_equal(flight_ring_each(ring, see, &found), 0);
	assert_string_equal(found.text, wanted);
}

static void the_oldest_segment_goes_as_a_whole(void **state)
{
	const struct flight_ring_limits limits = { .max_bytes = 6500 };
	struct flight_ring *ring = flight_ring_new(&limits);

	(void)state;
	for (uint64_t second = 1; second <= 4; second++)
		add(ring, 1000, second, second % 2); /* segments of 1 2, 3 4 */
	assert_holds(ring, "s1 s2 s3 s4 ");
	add(ring, 1000, 5, true);
	assert_true(flight_ring_bytes(ring) > 5000 && flight_ring_bytes(ring) <= 6500);
	assert_holds(ring, "s1 s2 s3 s4 s5 ");
	add(ring, 1000, 6, false);
	assert_holds(ring, "s3 s4 s5 s6 ");
	assert_int_equal(flight_ring_cut_cnt(ring), 0);
	flight_ring_clear(ring);
	assert_holds(ring, "");
	assert_int_equal(flight_ring_bytes(ring), 0);
	add(ring, 10, 7, true);
	assert_holds(ring, "s7 ");
	flight_ring_free(ring);
}

/* Ten seconds are asked for: 3 stays as long as 5, the next segment, does not reach back so far by itself. */
static void what_is_old_goes_but_no_sooner(void **state)
{
	const struct flight_ring_limits limits = { .max_bytes = 1 << 20, .span_ns = 10 * SECOND };
	struct flight_ring *ring = flight_ring_new(&limits);

	(void)state;
	add(ring, 100, 3, true);
	add(ring, 100, 5, true);
	add(ring, 100, 14, true);
	assert_holds(ring, "s3 s5 s14 ");
	add(ring, 100, 15, false);
	assert_holds(ring, "s5 s14 s15 ");
	flight_ring_free(ring);
}

static void a_segment_that_is_too_large_loses_its_oldest_batches_and_that_is_counted(void **state)
{
	const struct flight_ring_limits limits = { .max_bytes = 4000 };
	struct flight_ring *ring = flight_ring_new(&limits);

	(void)state;
	for (uint64_t second = 1; second <= 5; second++)
		add(ring, 1000, second, second == 1);
	assert_holds(ring, "s3 s4 s5 ");
	assert_int_equal(flight_ring_cut_cnt(ring), 2);
	assert_true(flight_ring_bytes(ring) <= 4000);
	add(ring, 9000, 6, false); /* the last one stays, whatever its size */
	assert_holds(ring, "s6 ");
	flight_ring_free(ring);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_oldest_segment_goes_as_a_whole),
		cmocka_unit_test(what_is_old_goes_but_no_sooner),
		cmocka_unit_test(a_segment_that_is_too_large_loses_its_oldest_batches_and_that_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
