/* SPDX-License-Identifier: BSD-2-Clause */
/* Larger rings are advised against losses that they prevent, and only against those. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "record/loss_advice.h"

static void rings_that_were_full_should_be_larger(void **state)
{
	struct loss_advice advice;

	(void)state;
	assert_string_equal(loss_advice_give(&advice, 17, 0), "a larger --ring-size helps");
}

static void against_programs_left_out_no_ring_helps(void **state)
{
	struct loss_advice advice;

	(void)state;
	assert_null(strstr(loss_advice_give(&advice, 17, 17), "--ring-size"));
	assert_non_null(strstr(advice.text, "the kernel did not run our programs"));
}

static void of_both_each_is_said(void **state)
{
	struct loss_advice advice;

	(void)state;
	assert_non_null(strstr(loss_advice_give(&advice, 2000000, 1234567), "a larger --ring-size helps, but for 1,234,567 of them"));
	assert_non_null(strstr(advice.text, "no option helps"));
	loss_advice_give(&advice, UINT64_MAX, UINT64_MAX - 1);
	assert_non_null(strstr(advice.text, "no option helps"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rings_that_were_full_should_be_larger),
		cmocka_unit_test(against_programs_left_out_no_ring_helps),
		cmocka_unit_test(of_both_each_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
