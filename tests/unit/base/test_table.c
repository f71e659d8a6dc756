/* SPDX-License-Identifier: BSD-2-Clause */
/* Columns line up, whatever is in them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>

#include "base/table.h"

static const struct table_column columns[] = {
	{ "label", TABLE_LEFT, NULL }, { "count", TABLE_RIGHT, NULL }, { "note", TABLE_LEFT, NULL },
};

static void expect_print(const struct table *table, bool has_colours, const char *expected)
{
	char *text = NULL;
	size_t length = 0;
	FILE *file = open_memstream(&text, &length);

	assert_int_equal(table_print(table, file, has_colours), 0);
	fclose(file);
	assert_string_equal(text, expected);
	free(text);
}

static void columns_are_as_wide_as_their_widest_cell(void **state)
{
	struct table *table = table_new(columns, 3);

	(void)state;
	table_cell(table, TABLE_PLAIN, "checkout");
	table_cell(table, TABLE_PLAIN, "1");
	table_cell(table, TABLE_PLAIN, "");
	table_cell(table, TABLE_PLAIN, "\xe6\x97\xa5\xe6\x9c\xac"); /* four columns in six bytes */
	table_cell_format(table, TABLE_PLAIN, "%d", 1234567);
	table_cell(table, TABLE_PLAIN, "\xc2\xb5");
	table_line(table, "");
	table_piece(table, TABLE_BOLD, "  a line");
	table_line(table, " that is wider than its column");
	table_cell(table, TABLE_PLAIN, "x");
	table_end_row(table);
	table_end_row(table);
	expect_print(table, false,
		     "label       count  note\n"
		     "checkout        1\n"
		     "\xe6\x97\xa5\xe6\x9c\xac      1234567  \xc2\xb5\n"
		     "\n"
		     "  a line that is wider than its column\n"
		     "x\n");
	table_free(table);
}

static void colours_take_no_column(void **state)
{
	struct table *table = table_new(columns, 3);

	(void)state;
	table_piece(table, "31", "##");
	table_piece(table, "32", "");
	table_piece(table, "34", "#");
	table_cell(table, TABLE_PLAIN, ".");
	table_cell(table, TABLE_BOLD, "7");
	table_cell(table, TABLE_DIM, "n");
	expect_print(table, true,
		     "\033[1mlabel\033[0m  \033[1mcount\033[0m  \033[1mnote\033[0m\n"
		     "\033[31m##\033[0m\033[34m#\033[0m.       \033[1m7\033[0m  \033[2mn\033[0m\n");
	expect_print(table, false,
		     "label  count  note\n"
		     "###.       7  n\n");
	table_free(table);
}

static void a_table_without_titles_has_no_title_line(void **state)
{
	static const struct table_column bare[] = { { "", TABLE_LEFT, NULL }, { NULL, TABLE_RIGHT, NULL } };
	struct table *table = table_new(bare, 2);

	(void)state;
	expect_print(table, false, "");
	table_cell(table, TABLE_PLAIN, "pid");
	table_cell(table, TABLE_PLAIN, "42");
	expect_print(table, false, "pid  42\n");
	table_free(table);
}

static void neighbours_of_a_group_have_its_name_above_them(void **state)
{
	static const char blocked[] = "blocked on";
	static const struct table_column grouped[] = {
		{ "label", TABLE_LEFT, NULL },	  { "lock", TABLE_RIGHT, blocked },
		{ "disk", TABLE_RIGHT, blocked }, { "sleep", TABLE_RIGHT, blocked },
		{ "x", TABLE_RIGHT, NULL },	  { "y", TABLE_RIGHT, "long" },
	};
	struct table *table = table_new(grouped, 6);

	(void)state;
	table_cell(table, TABLE_PLAIN, "tx");
	table_end_row(table);
	expect_print(
		table, false,
		"       \xe2\x94\x80\xe2\x94\x80 blocked on \xe2\x94\x80\xe2\x94\x80\xe2\x94\x80     long\n"
		"label  lock  disk  sleep  x  y\n"
		"tx\n");
	table_free(table);
}

static void a_line_within_a_row_is_an_error(void **state)
{
	struct table *table = table_new(columns, 3);

	(void)state;
	table_cell(table, TABLE_PLAIN, "x");
	assert_int_equal(table_print(table, stderr, false), -EINVAL);
	table_line(table, "oops");
	table_end_row(table);
	assert_int_equal(table_print(table, stderr, false), -EINVAL);
	table_free(table);
	assert_int_equal(table_print(NULL, stderr, false), -ENOMEM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_are_as_wide_as_their_widest_cell),
		cmocka_unit_test(colours_take_no_column),
		cmocka_unit_test(a_table_without_titles_has_no_title_line),
		cmocka_unit_test(neighbours_of_a_group_have_its_name_above_them),
		cmocka_unit_test(a_line_within_a_row_is_an_error),
	};

	return cmocka_run_group_tests_name("table", tests, NULL, NULL);
}
