/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows put together by the values of their columns: what goes in comes out, group by group. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "sql/row_groups.h"

struct fruit {
	struct txtrace_string name; /* empty: NULL */
	struct txtrace_string text;
	uint64_t number;
};

enum { NAME, TEXT, NUMBER, COLUMN_CNT };

static const struct record_field columns[COLUMN_CNT] = {
	[NAME] = { .name = "name", .type = RECORD_STRING, .offset = offsetof(struct fruit, name) },
	[TEXT] = { .name = "text", .type = RECORD_STRING, .offset = offsetof(struct fruit, text) },
	[NUMBER] = { .name = "number", .type = RECORD_COUNT, .offset = offsetof(struct fruit, number) },
};

static const struct record_kind table = { .plural = "fruits", .fields = columns, .field_cnt = COLUMN_CNT };

static struct row_groups *groups_by(uint64_t wanted, uint8_t column, bool is_descending)
{
	const struct group_by by = { column, is_descending };
	struct row_groups *groups;

	assert_int_equal(row_groups_new(&groups, &table, wanted | 1ull << column, &by, 1), 0);
	return groups;
}

static int add(struct row_groups *groups, const char *name, const char *text, uint64_t number)
{
	const struct fruit fruit = { { name, strlen(name) }, { text, strlen(text) }, number };
	const struct sql_row row = { .source = &fruit };

	return row_groups_add(groups, &row);
}

static void assert_text(const struct row_groups *groups, size_t column, const char *text)
{
	const struct sql_value *value = row_groups_value(groups, column);

	if (!text) {
		assert_int_equal(value->type, SQL_NULL);
		return;
	}
	assert_int_equal(value->type, SQL_TEXT);
	assert_int_equal(value->length, strlen(text));
	assert_memory_equal(value->bytes, text, value->length);
}

static void assert_next(struct row_groups *groups, const char *name, int64_t number)
{
	assert_int_equal(row_groups_next(groups), 1);
	assert_text(groups, NAME, name);
	assert_int_equal(row_groups_value(groups, NUMBER)->type, SQL_INTEGER);
	assert_int_equal(row_groups_value(groups, NUMBER)->integer, number);
}

static void groups_are_in_order_and_rows_in_theirs(void **state)
{
	static const char *const names[2][4] = { { NULL, "fig", "figs", "pear" },
						 { "pear", "figs", "fig", NULL } };
	static const int64_t numbers[2][4] = { { 3, 1, 5, 2 }, { 2, 5, 1, 3 } };

	(void)state;
	for (int is_descending = 0; is_descending < 2; is_descending++) {
		struct row_groups *groups = groups_by(1 << NUMBER, NAME, is_descending);

		assert_int_equal(add(groups, "fig", "", 1), 0);
		assert_int_equal(add(groups, "pear", "", 2), 0);
		assert_int_equal(add(groups, "", "", 3), 0);
		assert_int_equal(add(groups, "fig", "", 4), 0);
		assert_int_equal(add(groups, "figs", "", 5), 0);
		assert_int_equal(row_groups_sort(groups), 0);
		for (int i = 0; i < 4; i++) {
			const char *name = names[is_descending][i];

			assert_next(groups, name, numbers[is_descending][i]);
			if (name && strcmp(name, "fig") == 0)
				assert_next(groups, name, 4);
		}
		assert_int_equal(row_groups_next(groups), 0);
		row_groups_free(groups);
	}
}

/* Numbers above 2^63 are floating-point numbers, and come behind the others. */
static void numbers_are_in_order(void **state)
{
	static const uint64_t numbers[] = { UINT64_MAX, 7, 0, INT64_MAX, 1ull << 40 };
	static const int64_t sorted[] = { 0, 7, 1ll << 40, INT64_MAX };
	struct row_groups *groups = groups_by(0, NUMBER, false);

	(void)state;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		assert_int_equal(add(groups, "", "", numbers[i]), 0);
	assert_int_equal(row_groups_sort(groups), 0);
	for (size_t i = 0; i < sizeof(sorted) / sizeof(sorted[0]); i++)
		assert_next(groups, NULL, sorted[i]);
	assert_int_equal(row_groups_next(groups), 1);
	assert_int_equal(row_groups_value(groups, NUMBER)->type, SQL_REAL);
	assert_int_equal(row_groups_next(groups), 0);
	row_groups_free(groups);
}

/* Far more than the blocks hold: short rows, and every hundredth one that is longer than a block. */
static void rows_go_to_the_file_and_come_back(void **state)
{
	static const char *const names[] = { "fig", "kiwi", "pear" };
	static char longer[20001], text[32];
	struct row_groups *groups = groups_by(1 << TEXT | 1 << NUMBER, NAME, false);

	(void)state;
	memset(longer, 'x', sizeof(longer) - 1);
	for (unsigned int i = 0; i < 30000; i++) {
		snprintf(text, sizeof(text), "text %u", i);
		assert_int_equal(add(groups, names[i % 3], i % 100 == 99 ? longer : text, i), 0);
	}
	assert_int_equal(row_groups_sort(groups), 0);
	for (unsigned int group = 0; group < 3; group++) {
		for (unsigned int i = group; i < 30000; i += 3) {
			snprintf(text, sizeof(text), "text %u", i);
			assert_next(groups, names[group], i);
			assert_text(groups, TEXT, i % 100 == 99 ? longer : text);
		}
	}
	assert_int_equal(row_groups_next(groups), 0);
	row_groups_free(groups);
}

/* Rows of which nothing is asked but their group are only counted. */
static void rows_without_columns_are_there(void **state)
{
	struct row_groups *groups = groups_by(0, NAME, false);
	uint64_t cnt = 0;

	(void)state;
	for (unsigned int i = 0; i < 100000; i++)
		assert_int_equal(add(groups, i % 4 ? "fig" : "pear", "", i), 0);
	assert_int_equal(row_groups_sort(groups), 0);
	while (row_groups_next(groups) > 0)
		cnt += row_groups_value(groups, NAME)->length == 3;
	assert_int_equal(cnt, 75000);
	row_groups_free(groups);
}

static void too_many_groups_are_refused(void **state)
{
	struct row_groups *groups = groups_by(0, NUMBER, false);

	(void)state;
	for (unsigned int i = 0; i < 4096; i++)
		assert_int_equal(add(groups, "", "", i), 0);
	assert_int_equal(add(groups, "", "", 17), 0);
	assert_int_equal(add(groups, "", "", 4096), -E2BIG);
	row_groups_free(groups);
	row_groups_free(NULL);
}

static void no_rows_have_no_groups(void **state)
{
	struct row_groups *groups = groups_by(1 << NUMBER, NAME, false);

	(void)state;
	assert_int_equal(row_groups_sort(groups), 0);
	assert_int_equal(row_groups_next(groups), 0);
	assert_int_equal(row_groups_next(groups), 0);
	row_groups_free(groups);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups_are_in_order_and_rows_in_theirs),
		cmocka_unit_test(numbers_are_in_order),
		cmocka_unit_test(rows_go_to_the_file_and_come_back),
		cmocka_unit_test(rows_without_columns_are_there),
		cmocka_unit_test(too_many_groups_are_refused),
		cmocka_unit_test(no_rows_have_no_groups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
