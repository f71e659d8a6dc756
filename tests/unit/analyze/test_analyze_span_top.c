/* SPDX-License-Identifier: BSD-2-Clause */
/* The spans with the most of something, out of many. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/span/span_top.h"
#include "analyze/thread_names.h"

static unsigned int sort_of(const char *name)
{
	unsigned int sort = 0;

	while (span_top_sort(sort) && strcmp(span_top_sort(sort), name) != 0)
		sort++;
	assert_non_null(span_top_sort(sort));
	return sort;
}

static const struct txtrace_string nobody;

static void the_largest_of_many_come_in_order(void **state)
{
	struct span_top *top = span_top_new(10, sort_of("wall"));

	(void)state;
	for (uint64_t i = 0; i < 1000; i++) { /* 0, 7, 14, … 999 modulo 1000: each once, mixed */
		struct txtrace_span span = { .id = i * 7 % 1000, .begin_ns = 5, .end_ns = 5 + i * 7 % 1000 };

		assert_int_equal(span_top_add(top, &span, nobody), 0);
	}
	span_top_finish(top);
	assert_int_equal(span_top_count(top), 10);
	for (size_t i = 0; i < 10; i++)
		assert_int_equal(span_top_get(top, i)->id, 999 - i);
	span_top_free(top);
}

static void each_sort_looks_at_its_own_part(void **state)
{
	/* Span n has most of the n-th part, and nothing of the others. */
	static const char *const sorts[] = { "on_cpu", "runnable", "detached", "unknown",    "lock",
					     "disk",   "network",  "sleep",    "page_fault", "pipe",
					     "wait",   "stopped",  "other",    "throttled",  "work" };
	const size_t cnt = sizeof(sorts) / sizeof(sorts[0]);

	(void)state;
	for (size_t i = 0; i < cnt; i++) {
		struct span_top *top = span_top_new(1, sort_of(sorts[i]));

		for (size_t n = 0; n < cnt; n++) {
			struct txtrace_span span = { .id = n, .begin_ns = n };
			uint64_t *const parts[] = {
				&span.ledger.on_cpu_ns,
				&span.ledger.runnable_ns,
				&span.ledger.detached_ns,
				&span.ledger.unknown_ns,
				&span.ledger.blocked_ns[0],
				&span.ledger.blocked_ns[1],
				&span.ledger.blocked_ns[2],
				&span.ledger.blocked_ns[3],
				&span.ledger.blocked_ns[4],
				&span.ledger.blocked_ns[5],
				&span.ledger.blocked_ns[6],
				&span.ledger.blocked_ns[7],
				&span.ledger.blocked_ns[8],
				&span.ledger.blocked_ns[9],
				&span.work_ns,
			};

			*parts[n] = 5;
			assert_int_equal(span_top_add(top, &span, nobody), 0);
		}
		span_top_finish(top);
		assert_int_equal(span_top_get(top, 0)->id, i);
		span_top_free(top);
	}
}

static void blocked_is_the_sum_and_begin_the_earliest(void **state)
{
	struct txtrace_span spread = { .id = 1, .begin_ns = 3 }, single = { .id = 2, .begin_ns = 1 },
			    none = { .id = 3, .begin_ns = 2 };
	struct span_top *blocked = span_top_new(3, sort_of("blocked")),
			*begin = span_top_new(3, sort_of("begin"));

	(void)state;
	for (unsigned int i = 0; i < TXTRACE_BLOCK_REASON_COUNT; i++)
		spread.ledger.blocked_ns[i] = 10;
	single.ledger.blocked_ns[TXTRACE_BLOCK_DISK] = 89;
	assert_int_equal(span_top_add(blocked, &none, nobody) | span_top_add(blocked, &single, nobody) |
				 span_top_add(blocked, &spread, nobody),
			 0);
	assert_int_equal(span_top_add(begin, &spread, nobody) | span_top_add(begin, &single, nobody) |
				 span_top_add(begin, &none, nobody),
			 0);
	span_top_finish(blocked);
	span_top_finish(begin);
	assert_int_equal(span_top_get(blocked, 0)->id, 1);
	assert_int_equal(span_top_get(blocked, 1)->id, 2);
	assert_int_equal(span_top_get(begin, 0)->id, 2);
	assert_int_equal(span_top_get(begin, 1)->id, 3);
	assert_int_equal(span_top_get(begin, 2)->id, 1);
	span_top_free(blocked);
	span_top_free(begin);
}

static void strings_are_copied_and_long_ones_clipped(void **state)
{
	struct span_top *top = span_top_new(1, sort_of("wall"));
	char *text = malloc(10000), comm[] = "worker";
	struct txtrace_span span = {
		.end_ns = 5, .label = { text, 5 }, .tag = { text, 10000 }, .key = { NULL, 0 }
	};
	struct txtrace_string name = { comm, 6 };

	(void)state;
	memset(text, 'x', 10000);
	assert_int_equal(span_top_add(top, &span, name), 0);
	memset(text, 'y', 10000);
	comm[0] = 'X';
	span_top_finish(top);
	assert_int_equal(span_top_get(top, 0)->label.length, 5);
	assert_memory_equal(span_top_get(top, 0)->label.bytes, "xxxxx", 5);
	assert_int_equal(span_top_get(top, 0)->tag.length, 4096);
	assert_int_equal(span_top_get(top, 0)->tag.bytes[4095], 'x');
	assert_int_equal(span_top_get(top, 0)->key.length, 0);
	assert_memory_equal(span_top_thread_name(top, 0).bytes, "worker", 6);
	span_top_free(top);
	free(text);
}

static void the_order_in_which_equal_spans_come_does_not_matter(void **state)
{
	(void)state;
	for (uint64_t first = 0; first < 6; first++) {
		struct span_top *top = span_top_new(3, sort_of("wall"));

		for (uint64_t i = 0; i < 6; i++) {
			struct txtrace_span span = { .id = (first + i) % 6, .begin_ns = 1, .end_ns = 9 };

			assert_int_equal(span_top_add(top, &span, nobody), 0);
		}
		span_top_finish(top);
		for (uint64_t i = 0; i < 3; i++)
			assert_int_equal(span_top_get(top, i)->id, i);
		span_top_free(top);
	}
}

static void none_is_a_limit_and_no_sort_is_no_top(void **state)
{
	struct span_top *top = span_top_new(0, sort_of("wall"));
	struct txtrace_span span = { .end_ns = 5 };

	(void)state;
	assert_int_equal(span_top_add(top, &span, nobody), 0);
	span_top_finish(top);
	assert_int_equal(span_top_count(top), 0);
	span_top_free(top);
	assert_null(span_top_new(5, 1000));
}

/* ---- thread names ---- */

static void name_thread(struct thread_names *names, uint32_t pid, uint32_t tid, const char *comm)
{
	struct txtrace_thread thread = { .pid = pid, .tid = tid, .comm = { comm, strlen(comm) } };

	thread_names_add(names, &thread);
}

static void expect_name(const struct thread_names *names, uint32_t pid, uint32_t tid, const char *expected)
{
	struct txtrace_string name = thread_names_get(names, pid, tid);

	assert_int_equal(name.length, strlen(expected));
	if (name.length > 0)
		assert_memory_equal(name.bytes, expected, name.length);
}

static void the_last_name_of_a_thread_counts(void **state)
{
	struct thread_names *names = thread_names_new();

	(void)state;
	expect_name(names, 1, 5, "");
	name_thread(names, 1, 5, "bash");
	name_thread(names, 2, 5, "other");
	name_thread(names, 1, 5, "bank");
	name_thread(names, 1, 5, ""); /* an exit may come without one */
	expect_name(names, 1, 5, "bank");
	expect_name(names, 2, 5, "other");
	expect_name(names, 3, 5, "");
	thread_names_free(names);
}

static void a_million_threads_leave_the_last_ones_known(void **state)
{
	struct thread_names *names = thread_names_new();

	(void)state;
	for (uint32_t tid = 0; tid < 1000000; tid++) {
		char comm[16];

		snprintf(comm, sizeof(comm), "t%u", tid);
		name_thread(names, 1, tid, comm);
	}
	expect_name(names, 1, 999999, "t999999");
	expect_name(names, 1, 999999 - 65535, "t934464");
	expect_name(names, 1, 0, "");
	thread_names_free(names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_largest_of_many_come_in_order),
		cmocka_unit_test(each_sort_looks_at_its_own_part),
		cmocka_unit_test(blocked_is_the_sum_and_begin_the_earliest),
		cmocka_unit_test(strings_are_copied_and_long_ones_clipped),
		cmocka_unit_test(the_order_in_which_equal_spans_come_does_not_matter),
		cmocka_unit_test(none_is_a_limit_and_no_sort_is_no_top),
		cmocka_unit_test(the_last_name_of_a_thread_counts),
		cmocka_unit_test(a_million_threads_leave_the_last_ones_known),
	};

	return cmocka_run_group_tests_name("analyze_span_top", tests, NULL, NULL);
}
