/* SPDX-License-Identifier: BSD-2-Clause */
/* How many rings there are, how large, and when the reader is woken up: so that no ring can fill before. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ring/ring_set.h"
#include "txtrace/event.h"

#define MIB (1u << 20)

static struct ring_set_options plan(size_t cpu_cnt, size_t total_bytes)
{
	struct ring_set_options options = { 0 };

	ring_set_plan(&options, cpu_cnt, total_bytes);
	return options;
}

static bool is_power_of_two(size_t number)
{
	return number && !(number & (number - 1));
}

static void each_cpu_has_a_ring(void **state)
{
	(void)state;
	assert_int_equal(plan(1, 0).ring_cnt, 1);
	assert_int_equal(plan(2, 0).ring_cnt, 2);
	assert_int_equal(plan(3, 0).ring_cnt, 4);
	assert_int_equal(plan(2, 0).ring_bytes, 16 * MIB);
	assert_int_equal(plan(2, 8 * MIB).ring_bytes, 4 * MIB);
	assert_int_equal(plan(2, 0).wake_bytes, 2 * MIB);
}

static void all_cpus_of_a_ring_wake_the_reader_before_it_is_full(void **state)
{
	(void)state;
	for (size_t cpu_cnt = 1; cpu_cnt <= WIRE_CPU_MAX; cpu_cnt++) {
		struct ring_set_options options = plan(cpu_cnt, 0);
		size_t sharing_cnt = (cpu_cnt + options.ring_cnt - 1) / options.ring_cnt;

		assert_true(is_power_of_two(options.ring_cnt) && options.ring_cnt <= WIRE_RING_MAX);
		assert_true(is_power_of_two(options.ring_bytes));
		assert_true(is_power_of_two(options.wake_bytes));
		assert_true(sharing_cnt * options.wake_bytes <= options.ring_bytes / 8);
		assert_true(sharing_cnt * options.wake_bytes * 2 > options.ring_bytes / 8);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_cpu_has_a_ring),
		cmocka_unit_test(all_cpus_of_a_ring_wake_the_reader_before_it_is_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
