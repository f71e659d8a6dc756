/* SPDX-License-Identifier: BSD-2-Clause */
/* Larger rings are advised against losses that they prevent, and only against those. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "record/messages/loss_advice.h"

static void rings_that_were_full_should_be_larger(void **state)
{
	struct loss_advice advice;

	(void)state;
	assert_string_equal(loss_advice_give(&advice, &(struct loss_causes){ .lost_cnt = 17 }),
			    "a larger --ring-size helps");
}

static void against_programs_left_out_no_ring_helps(void **state)
{
	struct loss_advice advice;

	(void)state;
	assert_null(
		strstr(loss_advice_give(&advice, &(struct loss_causes){ .lost_cnt = 17, .missed_cnt = 17 }),
		       "--ring-size"));
	assert_non_null(strstr(advice.text, "the kernel did not run our programs"));
}

static void against_full_tables_no_ring_helps(void **state)
{
	struct loss_advice advice;

	(void)state;
	assert_null(strstr(loss_advice_give(&advice, &(struct loss_causes){ .lost_cnt = 17, .full_cnt = 17 }),
			   "--ring-size"));
	assert_non_null(strstr(advice.text, "a table in the kernel was full"));
}

static void of_several_each_is_said(void **state)
{
	const struct loss_causes all = { .lost_cnt = 2000000, .missed_cnt = 1234567, .full_cnt = 1000 };
	const struct loss_causes most = { UINT64_MAX, UINT64_MAX - 2, 1 };
	struct loss_advice advice;

	(void)state;
	assert_non_null(
		strstr(loss_advice_give(&advice, &all), "for 764,433 of them a larger --ring-size helps"));
	assert_non_null(strstr(advice.text, "for 1,234,567 of them the kernel did not run"));
	assert_non_null(strstr(advice.text, "for 1,000 of them a table in the kernel was full"));
	loss_advice_give(&advice, &most);
	assert_string_equal(advice.text + strlen(advice.text) - strlen("no option helps"), "no option helps");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rings_that_were_full_should_be_larger),
		cmocka_unit_test(against_programs_left_out_no_ring_helps),
		cmocka_unit_test(against_full_tables_no_ring_helps),
		cmocka_unit_test(of_several_each_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
