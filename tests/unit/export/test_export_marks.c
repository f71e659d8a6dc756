/* SPDX-License-Identifier: BSD-2-Clause */
/* What is remembered about spans until they end: nothing disappears, and no more is kept than was allowed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/span_marks.h"

/* What was dropped, in order, as text: "span:attributes+links[o] ". */
struct dropped {
	char text[4096];
	size_t length;
	size_t attribute_cnt;
	int result;
};

static int note(void *context, const struct span_mark *mark)
{
	struct dropped *dropped = context;
	size_t attribute_cnt = 0, link_cnt = 0;

	for (const struct marked_attribute *attribute = mark->attributes; attribute;
	     attribute = attribute->next)
		attribute_cnt++;
	for (const struct marked_link *link = mark->links; link; link = link->next)
		link_cnt++;
	dropped->attribute_cnt += attribute_cnt;
	if (dropped->length < sizeof(dropped->text) - 64)
		dropped->length += (size_t)sprintf(dropped->text + dropped->length, "%llu:%zu+%zu%s ",
						   (unsigned long long)mark->span, attribute_cnt, link_cnt,
						   mark->open ? "o" : "");
	return dropped->result;
}

static struct txtrace_attribute attribute(uint64_t span, const char *name, const char *string)
{
	return (struct txtrace_attribute){
		.span = span,
		.pid = 1,
		.type = TXTRACE_ATTRIBUTE_STRING,
		.name = { name, strlen(name) },
		.string = { string, strlen(string) },
	};
}

static void add(struct span_marks *marks, uint64_t span, const char *name, const char *string)
{
	struct txtrace_attribute added = attribute(span, name, string);

	assert_int_equal(span_marks_add_attribute(marks, &added), 0);
}

static void a_span_finds_its_attributes_in_order(void **state)
{
	struct dropped dropped = { 0 };
	struct span_marks marks;
	const struct span_mark *mark;
	char name[] = "color";

	(void)state;
	span_marks_init(&marks, 1 << 20, note, &dropped);
	add(&marks, 7, name, "red");
	memset(name, 'x', strlen(name)); /* the strings were copied */
	add(&marks, 7, "size", "");
	add(&marks, 8, "color", "green");
	assert_int_equal(span_marks_add_link(&marks, 1, 7, 55), 0);

	mark = span_marks_find(&marks, 1, 7);
	assert_non_null(mark);
	assert_memory_equal(mark->attributes->attribute.name.bytes, "color", 5);
	assert_memory_equal(mark->attributes->attribute.string.bytes, "red", 3);
	assert_memory_equal(mark->attributes->next->attribute.name.bytes, "size", 4);
	assert_null(mark->attributes->next->next);
	assert_int_equal(mark->links->number, 55);
	assert_null(span_marks_find(&marks, 2, 7)); /* ids are unique within a process only */

	span_marks_forget(&marks, 1, 7);
	span_marks_forget(&marks, 1, 7);
	assert_null(span_marks_find(&marks, 1, 7));
	assert_non_null(span_marks_find(&marks, 1, 8));
	span_marks_release(&marks);
	assert_string_equal(dropped.text, "");
}

static void what_nobody_took_is_dropped_oldest_first(void **state)
{
	struct txtrace_open_span open = { .id = 6, .pid = 1, .label = { "tx", 2 }, .key = { "k", 1 } };
	struct dropped dropped = { 0 };
	struct span_marks marks;

	(void)state;
	span_marks_init(&marks, 1 << 20, note, &dropped);
	add(&marks, 5, "a", "1");
	assert_int_equal(span_marks_add_open(&marks, &open), 0);
	assert_int_equal(span_marks_add_open(&marks, &open), 0);
	assert_int_equal(span_marks_add_link(&marks, 1, 4, 9), 0);
	add(&marks, 3, "a", "1");
	add(&marks, 5, "b", "2");
	span_marks_forget(&marks, 1, 3);
	assert_int_equal(span_marks_drop_all(&marks), 0);
	assert_string_equal(dropped.text, "5:2+0 6:0+0o 4:0+1 ");
	assert_int_equal(marks.bytes, 0);
	span_marks_release(&marks);
}

static void the_budget_holds_and_nothing_disappears(void **state)
{
	struct dropped dropped = { 0 };
	struct span_marks marks;
	char string[1000];

	(void)state;
	memset(string, 's', sizeof(string) - 1);
	string[sizeof(string) - 1] = '\0';
	span_marks_init(&marks, 100000, note, &dropped);
	for (uint64_t i = 0; i < 10000; i++) {
		add(&marks, i / 3, "name", string);
		assert_true(marks.bytes <= 100000);
	}
	assert_memory_equal(dropped.text, "0:3+0 1:3+0 2:3+0 ", 18);
	assert_int_equal(span_marks_drop_all(&marks), 0);
	assert_int_equal(dropped.attribute_cnt, 10000);
	span_marks_release(&marks);
}

static void one_that_is_larger_than_the_budget_goes_at_once(void **state)
{
	struct dropped dropped = { 0 };
	struct span_marks marks;

	(void)state;
	span_marks_init(&marks, 10, note, &dropped);
	add(&marks, 5, "a", "1");
	assert_string_equal(dropped.text, "5:1+0 ");
	assert_null(span_marks_find(&marks, 1, 5));
	span_marks_release(&marks);
}

static void an_error_of_the_callback_comes_back(void **state)
{
	struct dropped dropped = { .result = -28 };
	struct span_marks marks;
	struct txtrace_attribute first = attribute(1, "a", "1");

	(void)state;
	span_marks_init(&marks, 10, note, &dropped);
	assert_int_equal(span_marks_add_attribute(&marks, &first), -28);
	span_marks_release(&marks);
}

/* ---- the table behind it ---- */

static bool is_odd(void *context, const void *value)
{
	(void)context;
	return *(const uint64_t *)value % 2;
}

static void a_table_finds_what_was_put_in_and_not_taken_out(void **state)
{
	struct key_map map;
	bool is_new;

	(void)state;
	key_map_init(&map, sizeof(uint64_t), NULL);
	assert_null(key_map_find(&map, "x", 1));
	for (uint64_t i = 0; i < 10000; i++) {
		uint64_t *value = key_map_add(&map, &i, sizeof(i), &is_new);

		assert_true(is_new);
		assert_int_equal(*value, 0);
		*value = i;
	}
	for (uint64_t i = 0; i < 10000; i += 3)
		key_map_remove(&map, &i, sizeof(i));
	assert_int_equal(map.count, 6666);
	for (uint64_t i = 0; i < 10000; i++) {
		uint64_t *value = key_map_find(&map, &i, sizeof(i));

		if (i % 3 == 0)
			assert_null(value);
		else
			assert_int_equal(*value, i);
	}
	key_map_prune(&map, is_odd, NULL);
	assert_int_equal(map.count, 3333);
	for (uint64_t i = 0; i < 10000; i++)
		assert_int_equal(key_map_find(&map, &i, sizeof(i)) != NULL, i % 3 != 0 && i % 2 == 0);
	assert_non_null(key_map_add(&map, "\1\0\0\0\0\0\0", 7, &is_new)); /* another length is another key */
	assert_true(is_new);
	key_map_release(&map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_span_finds_its_attributes_in_order),
		cmocka_unit_test(what_nobody_took_is_dropped_oldest_first),
		cmocka_unit_test(the_budget_holds_and_nothing_disappears),
		cmocka_unit_test(one_that_is_larger_than_the_budget_goes_at_once),
		cmocka_unit_test(an_error_of_the_callback_comes_back),
		cmocka_unit_test(a_table_finds_what_was_put_in_and_not_taken_out),
	};

	return cmocka_run_group_tests_name("export_marks", tests, NULL, NULL);
}
