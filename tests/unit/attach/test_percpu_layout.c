/* SPDX-License-Identifier: BSD-2-Clause */
/* The places of per-CPU variables, in BTF that is made here, as older and newer kernels have it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "attach/probes/percpu_layout.h"

#define QUEUES_AT 4096

struct variable {
	const char *name;
	uint32_t type, place, bytes;
};

static struct btf *new_btf(uint32_t *number, uint32_t *queue)
{
	struct btf *btf = btf__new_empty();
	int added;

	assert_non_null(btf);
	added = btf__add_int(btf, "long unsigned int", 8, 0);
	assert_true(added > 0);
	*number = (uint32_t)added;
	added = btf__add_struct(btf, "rq", 2816 + 8);
	assert_true(added > 0);
	*queue = (uint32_t)added;
	assert_int_equal(btf__add_field(btf, "prev_steal_time_rq", (int)*number, 2816 * 8, 0), 0);
	return btf;
}

static void add_section(struct btf *btf, const struct variable *variables, size_t cnt)
{
	int ids[8];

	assert_true(cnt <= 8);
	for (size_t i = 0; i < cnt; i++) {
		ids[i] = btf__add_var(btf, variables[i].name, BTF_VAR_GLOBAL_ALLOCATED,
				      (int)variables[i].type);
		assert_true(ids[i] > 0);
	}
	assert_true(btf__add_datasec(btf, ".data..percpu", 1 << 16) > 0);
	for (size_t i = 0; i < cnt; i++)
		assert_int_equal(btf__add_datasec_var_info(btf, ids[i], variables[i].place,
							   variables[i].bytes),
				 0);
}

static void places_are_distances_from_the_queues(void **state)
{
	struct percpu_layout layout;
	uint32_t number, queue;
	struct btf *btf = new_btf(&number, &queue);
	const struct variable variables[] = {
		{ "__preempt_count", number, 16, 8 },
		{ "hrtimer_bases", number, QUEUES_AT - 256, 8 },
		{ "runqueues", queue, QUEUES_AT, 2824 },
		{ "timer_bases", number, QUEUES_AT + 2824, 8 },
	};

	(void)state;
	add_section(btf, variables, sizeof(variables) / sizeof(variables[0]));
	percpu_layout_read(btf, &layout);
	assert_int_equal(layout.preempt_count, 16 - QUEUES_AT);
	assert_int_equal(layout.hrtimer_bases, -256);
	assert_int_equal(layout.timer_bases, 2824);
	assert_int_equal(layout.kvm_steal, 0);
	assert_int_equal(layout.queue_steal, 2816);
	assert_int_equal(layout.interrupt_mask, 0x00ff0000);
	btf__free(btf);
}

/* 7.3: the count of disabled interrupts took the bits of the count of interrupts. */
static void bits_of_interrupts_are_where_this_kernel_has_them(void **state)
{
	struct percpu_layout layout;
	uint32_t number, queue;
	struct btf *btf = new_btf(&number, &queue);
	const struct variable variables[] = {
		{ "__preempt_count", number, 16, 8 },
		{ "local_interrupt_disable_state", number, 24, 8 },
		{ "runqueues", queue, QUEUES_AT, 2824 },
	};

	(void)state;
	add_section(btf, variables, sizeof(variables) / sizeof(variables[0]));
	percpu_layout_read(btf, &layout);
	assert_int_equal(layout.preempt_count, 16 - QUEUES_AT);
	assert_int_equal(layout.interrupt_mask, 0x7f000000);
	btf__free(btf);
}

static void without_the_section_there_are_no_places(void **state)
{
	struct percpu_layout layout = { .preempt_count = 1, .queue_steal = 1 };
	uint32_t number, queue;
	struct btf *btf = new_btf(&number, &queue);

	(void)state;
	percpu_layout_read(btf, &layout);
	assert_int_equal(layout.preempt_count, 0);
	assert_int_equal(layout.queue_steal, 0);
	assert_int_equal(layout.interrupt_mask, 0x00ff0000);
	btf__free(btf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(places_are_distances_from_the_queues),
		cmocka_unit_test(bits_of_interrupts_are_where_this_kernel_has_them),
		cmocka_unit_test(without_the_section_there_are_no_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
