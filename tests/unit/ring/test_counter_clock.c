/* SPDX-License-Identifier: BSD-2-Clause */
/* Times that follow from looks which are known, and from real ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "ring/counter_clock.h"

static void keep(struct counter_clock *clock, uint64_t counter, uint64_t time_ns)
{
	const struct counter_look look = { counter, time_ns, 0 };

	assert_false(counter_clock_keep(clock, &look));
}

/* A line bends where the kernel corrects its clock. */
static void is_on_the_line(void **state)
{
	struct counter_clock clock;

	(void)state;
	memset(&clock, 0, sizeof(clock));
	keep(&clock, 1000, 50000);
	keep(&clock, 4000, 51000);
	keep(&clock, 7000, 53000);
	assert_int_equal(counter_clock_time_ns(&clock, 2500), 50500); /* 3 a ns */
	assert_int_equal(counter_clock_time_ns(&clock, 4000), 51000);
	assert_int_equal(counter_clock_time_ns(&clock, 5500), 52000);  /* 1.5 a ns */
	assert_int_equal(counter_clock_time_ns(&clock, 10000), 55000); /* behind the last look */
	assert_int_equal(counter_clock_time_ns(&clock, 700), 49900);   /* before the first */
}

/* More looks than are kept, and a counter whose lowest 56 bits begin anew. */
static void begins_anew(void **state)
{
	const uint64_t first = (UINT64_C(1) << 56) - 100 * 3000, mask = (UINT64_C(1) << 56) - 1;
	struct counter_clock clock;

	(void)state;
	memset(&clock, 0, sizeof(clock));
	for (uint64_t i = 0; i < 200; i++)
		keep(&clock, first + i * 3000, 1000000 + i * 1000);
	for (uint64_t i = 137; i < 210; i++)
		assert_int_equal(counter_clock_time_ns(&clock, (first + i * 3000) & mask),
				 1000000 + i * 1000);
	/* older than what is kept: on the oldest line */
	assert_int_equal(counter_clock_time_ns(&clock, first + 3000), 1001000);
}

/* A machine that was moved: the counter goes on elsewhere, at the same pace; what it showed is told apart. */
static void jump_is_seen(void **state)
{
	static const int64_t jumps[] = { 1000000000, -1000000000, 600000, -600000 };
	struct counter_clock clock;

	(void)state;
	for (size_t i = 0; i < sizeof(jumps) / sizeof(jumps[0]); i++) {
		uint64_t counter = 5000000000, time_ns = 1000000000;
		struct counter_look look;

		memset(&clock, 0, sizeof(clock));
		for (int at = 0; at < 100; at++) { /* 3 a ns; off by 30 us for a moment */
			keep(&clock, counter + (at == 50 ? 90000 : 0), time_ns);
			counter += 30000000;
			time_ns += 10000000;
		}
		look = (struct counter_look){ counter + (uint64_t)jumps[i], time_ns, 0 };
		assert_true(counter_clock_keep(&clock, &look));
		assert_int_equal(counter_clock_time_ns(&clock, look.counter + 3000), time_ns + 1000);
		look.counter += 30000000;
		look.time_ns += 10000000;
		assert_false(counter_clock_keep(&clock, &look));
		assert_int_equal(counter_clock_time_ns(&clock, look.counter - 3000), look.time_ns - 1000);
	}
}

/* A look that was held up says less: it is none that shows a jump. */
static void doubtful_look_is_no_jump(void **state)
{
	const struct counter_look doubtful = { 63000000, 20000000, 3000000 };
	struct counter_clock clock;

	(void)state;
	memset(&clock, 0, sizeof(clock));
	keep(&clock, 0, 0);
	keep(&clock, 30000000, 10000000);
	assert_false(counter_clock_keep(&clock, &doubtful));
}

/* A short line whose ends are askew leads far off: that is no jump. After one, the next is seen at once. */
static void short_line_is_no_jump(void **state)
{
	const struct counter_look askew = { 3000000, 1000500, 2000 };
	struct counter_look later = { 3000000000, 1000000000, 0 };
	struct counter_clock clock;

	(void)state;
	memset(&clock, 0, sizeof(clock));
	keep(&clock, 0, 0);
	assert_false(counter_clock_keep(&clock, &askew)); /* half a us in one ms: half a ms in a second */
	assert_false(counter_clock_keep(&clock, &later));
	for (int i = 0; i < 3; i++) {
		later.counter += 30000000 + 600000 + 300000 * (i > 0); /* 0.2 ms, then 0.3 */
		later.time_ns += 10000000;
		assert_true(counter_clock_keep(&clock, &later));
	}
}

/* A counter that is read between two readings of the clock has a time between them, but for a little. */
static void is_the_time(void **state)
{
	struct counter_clock clock;

	(void)state;
	if (!counter_clock_is_usable())
		skip();
	counter_clock_init(&clock);
	for (int i = 0; i < 2000; i++) {
		uint64_t before_ns = clock_now_ns(), counter, after_ns, time_ns;
		bool has_jumped = false;

		counter = counter_clock_read();
		after_ns = clock_now_ns();
		if (i % 10 == 0)
			counter_clock_look(&clock, &has_jumped);
		time_ns = counter_clock_time_ns(&clock, counter & ((UINT64_C(1) << 56) - 1));
		assert_in_range(time_ns, before_ns - 1000, after_ns + 1000);
		assert_false(has_jumped);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_on_the_line),	 cmocka_unit_test(begins_anew),
		cmocka_unit_test(jump_is_seen),		 cmocka_unit_test(doubtful_look_is_no_jump),
		cmocka_unit_test(short_line_is_no_jump), cmocka_unit_test(is_the_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
