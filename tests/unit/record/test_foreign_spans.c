/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Spans of any probes are refused where the kernel does not tell which probe was hit, in one sentence, and
 * nowhere else.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "record/foreign_spans.h"

static const struct record_options one_span = {
	.foreign = { .spans = { "work=shop:begin..shop:end" }, .span_cnt = 1 },
};

static int open_with(const struct record_options *options, bool has_cookies, bool has_probe_paths,
		     struct error *error)
{
	struct kernel_features features = { .release = "5.10.0-46",
					    .has_cookies = has_cookies,
					    .has_probe_paths = has_probe_paths };
	struct foreign_plan *plan = NULL;
	int err = foreign_spans_open(&plan, options, &features, error);

	if (!err && foreign_spans_are_wanted(options))
		assert_non_null(plan);
	foreign_plan_free(plan);
	return err;
}

static void who_asks_for_none_needs_nothing(void **state)
{
	struct record_options none = { 0 };
	struct error error;

	(void)state;
	assert_int_equal(open_with(&none, false, false, &error), 0);
}

static void either_way_to_tell_probes_apart_will_do(void **state)
{
	struct error error;

	(void)state;
	assert_int_equal(open_with(&one_span, true, false, &error), 0);
	assert_int_equal(open_with(&one_span, false, true, &error), 0);
}

static void without_any_it_is_said_what_is_missing(void **state)
{
	struct error error;

	(void)state;
	assert_int_equal(open_with(&one_span, false, false, &error), -EOPNOTSUPP);
	assert_non_null(strstr(error.text, "--span, --func and --preset need Linux 5.15 or later"));
	assert_non_null(strstr(error.text, "5.10.0-46"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_asks_for_none_needs_nothing),
		cmocka_unit_test(either_way_to_tell_probes_apart_will_do),
		cmocka_unit_test(without_any_it_is_said_what_is_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
