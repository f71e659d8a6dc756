/* SPDX-License-Identifier: BSD-2-Clause */
/* Error sentences, which carry strings of others to a terminal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/error.h"

static void a_sentence_is_formatted(void **state)
{
	struct error error;

	(void)state;
	error_set(&error, "no process has the pid %d: see ps -e", 77);
	assert_string_equal(error.text, "no process has the pid 77: see ps -e");
	error_set(&error, "%s", "");
	assert_string_equal(error.text, "");
	error_set(NULL, "nobody asks");
}

static void what_a_terminal_would_obey_is_escaped(void **state)
{
	static const struct {
		const char *string;
		const char *text;
	} cases[] = {
		{ "plain", "plain" },
		{ "a\nb\tc", "a\\x0ab\\x09c" },
		{ "\033[31mred", "\\x1b[31mred" },
		{ "\x7f", "\\x7f" },
		/* umlaut, euro, smile */
		{ "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80" },
		/* CSI as a C1 control */
		{ "\xc2\x9b" "31m", "\\xc2\\x9b31m" },
		{ "\x9b" "31m", "\\x9b31m" },
		{ "\xe2\x80\xae" "txt", "\\xe2\\x80\\xaetxt" }, /* from right to left */
		{ "\xff\xc3", "\\xff\\xc3" },
	};
	struct error error;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		error_set(&error, "%s", cases[i].string);
		assert_string_equal(error.text, cases[i].text);
	}
}

static void what_does_not_fit_is_cut_off(void **state)
{
	const size_t room = sizeof(((struct error *)NULL)->text);
	char longer[4096];
	struct error error;

	(void)state;
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	error_set(&error, "%s", longer);
	assert_in_range(strlen(error.text), room - 8, room - 1);
	assert_string_equal(error.text + strlen(error.text) - 4, "x...");

	memset(longer, '\n', 200); /* grows by escaping */
	longer[200] = '\0';
	error_set(&error, "%s", longer);
	assert_in_range(strlen(error.text), room - 8, room - 1);
	assert_string_equal(error.text + strlen(error.text) - 7, "\\x0a...");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sentence_is_formatted),
		cmocka_unit_test(what_a_terminal_would_obey_is_escaped),
		cmocka_unit_test(what_does_not_fit_is_cut_off),
	};

	return cmocka_run_group_tests_name("error", tests, NULL, NULL);
}
