/* SPDX-License-Identifier: BSD-2-Clause */
/* Texts that are shortened in the middle, and stay different. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/shorten.h"

static void expect(const char *whole, size_t columns, size_t tail_columns, const char *wanted)
{
	struct text text = { 0 };

	text_append_shortened(&text, whole, columns, tail_columns);
	assert_string_equal(text_string(&text), wanted);
	assert_true(text_columns(text_string(&text), text.length) <= columns);
	text_release(&text);
}

static void the_middle_is_left_out(void **state)
{
	(void)state;
	expect("short", 5, 2, "short");
	expect("abcdefghij", 7, 3, "abc\xe2\x80\xa6hij");
	expect("abcdefghij", 7, 0, "abcdef\xe2\x80\xa6");
	/* two columns each */
	expect("\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e", 5, 2, "\xe6\x97\xa5\xe2\x80\xa6\xe8\xaa\x9e");
	expect("\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e", 4, 1, "\xe6\x97\xa5\xe2\x80\xa6");
}

static void what_differs_stays_different(void **state)
{
	static const char *const alike[] = {
		"app::payments::authorize::step1",
		"app::payments::authorize::step2",
		"app::payments::capture::step1",
		"app::payments::capture::step2",
	};
	size_t columns = 12, tail;
	struct text texts[4] = { { 0 } };

	(void)state;
	assert_int_equal(shorten_choose(alike, 4, &columns, &tail), 0);
	for (size_t i = 0; i < 4; i++) {
		text_append_shortened(&texts[i], alike[i], columns, tail);
		for (size_t other = 0; other < i; other++)
			assert_string_not_equal(text_string(&texts[i]), text_string(&texts[other]));
	}
	for (size_t i = 0; i < 4; i++)
		text_release(&texts[i]);
}

static void equal_ones_need_no_room(void **state)
{
	static const char *const equal[] = { "one and the same long text", "one and the same long text" };
	size_t columns = 12, tail;

	(void)state;
	assert_int_equal(shorten_choose(equal, 2, &columns, &tail), 0);
	assert_int_equal(columns, 12);
	assert_int_equal(shorten_choose(NULL, 0, &columns, &tail), 0);
}

/* Of an empty string nothing is left to be shortened; before, that was taken for a lack of memory. */
static void empty_ones_stay_empty(void **state)
{
	static const char *const strings[] = { "network 86.9 % of all", "", "lock" };
	size_t columns = 12, tail;

	(void)state;
	assert_int_equal(shorten_choose(strings, 3, &columns, &tail), 0);
	assert_int_equal(columns, 12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_middle_is_left_out),
		cmocka_unit_test(what_differs_stays_different),
		cmocka_unit_test(equal_ones_need_no_room),
		cmocka_unit_test(empty_ones_stay_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
