/* SPDX-License-Identifier: BSD-2-Clause */
/* Which of the spans that cross leave their thread's row. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "export/crossings.h"

#define TID 7

static struct txtrace_span span_of(uint64_t id, uint32_t tid, uint64_t begin_ns, uint64_t end_ns)
{
	return (struct txtrace_span){
		.id = id, .pid = 1, .tid = tid, .end_tid = tid, .begin_ns = begin_ns, .end_ns = end_ns
	};
}

struct drawn {
	uint32_t tid;
	uint64_t begin_ns, end_ns;
	bool leaves;
};

static void expect(const struct drawn *spans, size_t cnt)
{
	struct crossings *crossings = crossings_new();

	assert_non_null(crossings);
	for (size_t i = 0; i < cnt; i++) {
		struct txtrace_span span = span_of(i + 1, spans[i].tid, spans[i].begin_ns, spans[i].end_ns);

		assert_int_equal(crossings_see(crossings, &span), 0);
	}
	for (size_t i = 0; i < cnt; i++) {
		struct txtrace_span span = span_of(i + 1, spans[i].tid, spans[i].begin_ns, spans[i].end_ns);

		if (crossings_has(crossings, &span) != spans[i].leaves)
			fail_msg("span %zu of %zu: expected that it %s", i, cnt,
				 spans[i].leaves ? "leaves" : "stays");
	}
	crossings_free(crossings);
}

#define EXPECT(...)                                   \
	expect((const struct drawn[]){ __VA_ARGS__ }, \
	       sizeof((const struct drawn[]){ __VA_ARGS__ }) / sizeof(struct drawn))

static void spans_that_nest_stay(void **state)
{
	(void)state;
	EXPECT({ TID, 10, 20, false }, { TID, 30, 40, false }, { TID, 10, 40, false }, { TID, 40, 50, false },
	       { TID, 5, 50, false });
}

static void the_shorter_one_leaves(void **state)
{
	(void)state;
	EXPECT({ TID, 100, 200, true }, { TID, 300, 500, false }, { TID, 150, 650, false },
	       { TID, 600, 700, true });
	EXPECT({ TID, 100, 900, false }, { TID, 850, 950, true });
	EXPECT({ TID, 100, 200, false }, { TID, 150, 250, true }); /* equally long: the first to end stays */
}

static void what_has_left_sends_nobody_away(void **state)
{
	(void)state;
	/* The second leaves because of the first; the third crosses the second alone. */
	EXPECT({ TID, 0, 1000, false }, { TID, 990, 1100, true }, { TID, 1050, 1070 + 60, false });
}

static void threads_have_rows_of_their_own(void **state)
{
	(void)state;
	EXPECT({ TID, 100, 200, false }, { TID + 1, 150, 650, false });
}

/* A span is compared with the last 48 of its thread at least. */
static void many_spans_are_forgotten_in_order(void **state)
{
	struct crossings *crossings = crossings_new();
	struct txtrace_span span;

	(void)state;
	assert_non_null(crossings);
	for (uint64_t i = 0; i < 1000; i++) {
		span = span_of(i + 1, TID, 100 * i, 100 * i + 50);
		assert_int_equal(crossings_see(crossings, &span), 0);
	}
	span = span_of(2000, TID, 100 * (1000 - 47) + 25, 100000);
	assert_int_equal(crossings_see(crossings, &span), 0);
	for (uint64_t i = 0; i < 1000; i++) {
		span = span_of(i + 1, TID, 0, 0);
		assert_int_equal(crossings_has(crossings, &span), i == 1000 - 47);
	}
	crossings_free(crossings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spans_that_nest_stay),
		cmocka_unit_test(the_shorter_one_leaves),
		cmocka_unit_test(what_has_left_sends_nobody_away),
		cmocka_unit_test(threads_have_rows_of_their_own),
		cmocka_unit_test(many_spans_are_forgotten_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
