/* SPDX-License-Identifier: BSD-2-Clause */
/* A set of spans holds what was added, tells processes apart, and stays within its budget. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyze/span_set.h"

static void what_was_added_is_there(void **state)
{
	struct span_set *set = span_set_new(1 << 20);
	struct span_note *note = span_set_add(set, 7, 42);

	(void)state;
	assert_non_null(note);
	assert_int_equal(note->flags, 0);
	note->flags = 3;
	assert_int_equal(span_set_get(set, 7, 42)->flags, 3);
	assert_ptr_equal(span_set_add(set, 7, 42), span_set_get(set, 7, 42));
	assert_null(span_set_get(set, 8, 42));
	assert_null(span_set_get(set, 7, 43));
	assert_non_null(span_set_add(set, 0, 0));
	assert_int_equal(span_set_count(set), 2);
	span_set_free(set);
}

/* 3/4 of the slots of a table that is a third of the budget at least, with the half that it grew from. */
static void a_budget_is_kept_and_told(void **state)
{
	struct span_set *set = span_set_new(1 << 20);
	size_t cnt = 0, visited = 0, position = 0;
	uint64_t sum = 0;
	struct span_note *note;

	(void)state;
	while (span_set_add(set, (uint32_t)cnt % 3, cnt))
		cnt++;
	assert_true(span_set_is_full(set));
	assert_in_range(cnt, (1 << 20) / 16 / 4, (1 << 20) / 16 / 3 * 2);
	assert_int_equal(span_set_count(set), cnt);
	for (size_t i = 0; i < cnt; i++)
		assert_non_null(span_set_get(set, (uint32_t)i % 3, i));
	assert_null(span_set_get(set, (uint32_t)cnt % 3, cnt));
	assert_non_null(span_set_add(set, 0, 0)); /* what is there is found all the same */
	while ((note = span_set_next(set, &position))) {
		visited++;
		sum += note->id;
	}
	assert_int_equal(visited, cnt);
	assert_int_equal(sum, cnt * (cnt - 1) / 2);
	span_set_free(set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_added_is_there),
		cmocka_unit_test(a_budget_is_kept_and_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
