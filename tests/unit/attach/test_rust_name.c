/* SPDX-License-Identifier: BSD-2-Clause */
/* Symbols of Rust and of others, and the names that they stand for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "attach/code/cxx_name.h"
#include "attach/code/rust_name.h"

static const struct {
	const char *symbol;
	const char *name; /* NULL: no Rust symbol */
} known[] = {
	{ "_RNvCs1234_7mycrate3foo", "mycrate::foo" },
	{ "_RNvMs_NtC7mycrate3barNtB4_3Foo3new", "<mycrate::bar::Foo>::new" },
	{ "_RINvC7mycrate4swapmE", "mycrate::swap::<u32>" },
	{ "_ZN7mycrate3foo17h0123456789abcdefE", "mycrate::foo" },
	{ "_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$"
	  "3bar17h930b740aa94f1d3aE",
	  "<Test + 'static as foo::Bar<Test>>::bar" },
	{ "_ZN4bank4moveEi", NULL },
	{ "main", NULL },
	{ "_R", NULL },
	{ "", NULL },
};

#define KNOWN_CNT (sizeof(known) / sizeof(known[0]))

static bool is_built_in(void)
{
	char *name = rust_name_read(known[0].symbol);

	free(name);
	return name;
}

static void expect(size_t idx, const char *name)
{
	if (!known[idx].name != !name || (name && strcmp(known[idx].name, name) != 0))
		fail_msg("'%s' became '%s', expected '%s'", known[idx].symbol, name ? name : "nothing",
			 known[idx].name ? known[idx].name : "nothing");
}

static void names_are_read_without_the_hash(void **state)
{
	(void)state;
	if (!is_built_in())
		skip();
	for (size_t i = 0; i < KNOWN_CNT; i++) {
		char *name = rust_name_read(known[i].symbol);

		expect(i, name);
		free(name);
	}
}

/* 2,100 bytes of one identifier are more than is kept. */
static void a_name_that_is_too_long_is_none(void **state)
{
	char symbol[2200] = "_RNvC1a2100";

	(void)state;
	memset(symbol + strlen(symbol), 'b', 2100);
	assert_null(rust_name_read(symbol));
}

/* The process that reads names of functions for --func and --list. */
static void the_reader_of_cxx_names_reads_them(void **state)
{
	const char *symbols[] = { known[0].symbol, "main", known[3].symbol, "_ZN4bank4moveEi" };
	char *names[4];

	(void)state;
	if (!is_built_in())
		skip();
	assert_int_equal(cxx_names_read(names, symbols, 4), 0);
	assert_string_equal(names[0], "mycrate::foo");
	assert_null(names[1]);
	assert_string_equal(names[2], "mycrate::foo");
	assert_string_equal(names[3], "bank::move(int)");
	for (size_t i = 0; i < 4; i++)
		free(names[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_read_without_the_hash),
		cmocka_unit_test(a_name_that_is_too_long_is_none),
		cmocka_unit_test(the_reader_of_cxx_names_reads_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
