/* SPDX-License-Identifier: BSD-2-Clause */
/* What is written is valid JSON whatever the strings hold, and an error sticks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "unit/skip.h"

static void expect_text(struct json *json, const char *expected)
{
	assert_int_equal(json->err, 0);
	assert_int_equal(json->length, strlen(expected));
	assert_memory_equal(json->bytes, expected, json->length);
	assert_int_equal(json_release(json), 0);
}

static void commas_and_brackets_are_the_writers_business(void **state)
{
	struct json json;

	(void)state;
	json_init_memory(&json);
	json_object_begin(&json);
	json_member_u64(&json, "pid", 42);
	json_name(&json, "empty");
	json_object_begin(&json);
	json_object_end(&json);
	json_name(&json, "list");
	json_array_begin(&json);
	json_u64(&json, 1);
	json_array_begin(&json);
	json_array_end(&json);
	json_line_break(&json);
	json_object_begin(&json);
	json_member_bool(&json, "a", true);
	json_member_null(&json, "b");
	json_object_end(&json);
	json_bool(&json, false);
	json_array_end(&json);
	json_member_text(&json, "none", NULL);
	json_name_string(&json, "a\0\xff", 3);
	json_u64(&json, 1);
	json_object_end(&json);
	json_newline(&json);
	expect_text(&json,
		    "{\"pid\":42,\"empty\":{},\"list\":[1,[]\n,{\"a\":true,\"b\":null},false],\"none\":null,"
		    "\"a\\u0000\xef\xbf\xbd\":1}\n");
}

static void numbers_keep_every_digit(void **state)
{
	struct json json;

	(void)state;
	json_init_memory(&json);
	json_array_begin(&json);
	json_u64(&json, 0);
	json_u64(&json, UINT64_MAX);
	json_i64(&json, INT64_MIN);
	json_i64(&json, -7);
	json_u64_string(&json, UINT64_MAX);
	json_double(&json, 0.1);
	json_double(&json, 1.0 / 3.0);
	json_double(&json, -2.5e300);
	json_double(&json, NAN);
	json_double(&json, -INFINITY);
	json_fixed(&json, 12.5, 2);
	json_u64_scaled(&json, 1234567, 3);
	json_u64_scaled(&json, 7, 3);
	json_u64_scaled(&json, 0, 0);
	json_u64_scaled(&json, UINT64_MAX, 19);
	json_array_end(&json);
	expect_text(&json,
		    "[0,18446744073709551615,-9223372036854775808,-7,\"18446744073709551615\",0.1,"
		    "0.3333333333333333,-2.5e+300,null,null,12.50,1234.567,0.007,0,1.8446744073709551615]");
}

static void any_bytes_make_a_valid_string(void **state)
{
	static const struct {
		const char *bytes;
		size_t length;
		const char *expected;
	} cases[] = {
		{ "plain", 5, "\"plain\"" },
		{ "", 0, "\"\"" },
		{ "a\"b\\c/", 6, "\"a\\\"b\\\\c/\"" },
		{ "\b\t\n\f\r", 5, "\"\\b\\t\\n\\f\\r\"" },
		{ "\0\x01\x1f\x7f", 4, "\"\\u0000\\u0001\\u001f\\u007f\"" },
		/* terminals obey these, too */
		{ "\xc2\x80\xc2\x9b\xc2\xa0", 6, "\"\\u0080\\u009b\xc2\xa0\"" },
		{ "\x1b[31m", 5, "\"\\u001b[31m\"" },
		{ "gr\xc3\xbc\xc3\x9f", 6, "\"gr\xc3\xbc\xc3\x9f\"" },
		{ "\xf0\x9f\x92\xa1", 4, "\"\xf0\x9f\x92\xa1\"" },
		{ "\xff", 1, "\"\xef\xbf\xbd\"" },                                 /* never a first byte */
		{ "\x80x", 2, "\"\xef\xbf\xbdx\"" },                               /* a tail without a head */
		{ "\xc3", 1, "\"\xef\xbf\xbd\"" },                                 /* cut off */
		/* the quote is not swallowed */
		{ "\xc3\"", 2, "\"\xef\xbf\xbd\\\"\"" },
		{ "\xc0\xaf", 2, "\"\xef\xbf\xbd\xef\xbf\xbd\"" },                 /* overlong */
		{ "\xed\xa0\x80", 3, "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" }, /* surrogate */
		/* beyond U+10FFFF */
		{ "\xf4\x90\x80\x80", 4, "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct json json;

		json_init_memory(&json);
		json_string(&json, cases[i].bytes, cases[i].length);
		expect_text(&json, cases[i].expected);
	}
}

static void a_pretty_document_has_one_member_a_line(void **state)
{
	struct json json;

	(void)state;
	json_init_memory(&json);
	json.is_pretty = true;
	json_object_begin(&json);
	json_member_u64(&json, "a", 1);
	json_name(&json, "b");
	json_array_begin(&json);
	json_u64(&json, 2);
	json_array_end(&json);
	json_name(&json, "c");
	json_array_begin(&json);
	json_array_end(&json);
	json_object_end(&json);
	expect_text(&json, "{\n  \"a\": 1,\n  \"b\": [\n    2\n  ],\n  \"c\": []\n}");
}

static void calls_that_do_not_pair_up_are_an_error(void **state)
{
	struct json json;

	(void)state;
	json_init_memory(&json);
	json_object_begin(&json);
	json_u64(&json, 1); /* no name */
	assert_int_equal(json.err, -EINVAL);
	json_object_end(&json);
	assert_int_equal(json_release(&json), -EINVAL);

	json_init_memory(&json);
	json_array_begin(&json);
	json_object_end(&json);
	assert_int_equal(json_release(&json), -EINVAL);

	json_init_memory(&json);
	json_array_begin(&json);
	assert_int_equal(json_release(&json), -EINVAL); /* still open */

	json_init_memory(&json);
	for (int i = 0; i < JSON_DEPTH_MAX; i++)
		json_array_begin(&json);
	assert_int_equal(json.err, 0);
	json_array_begin(&json);
	assert_int_equal(json_release(&json), -EINVAL);
}

static void a_full_disk_is_remembered(void **state)
{
	FILE *file = fopen("/dev/full", "w");
	struct json json;

	(void)state;
	if (!file)
		skip_because("there is no /dev/full");
	setvbuf(file, NULL, _IONBF, 0);
	json_init_file(&json, file);
	json_u64(&json, 1);
	assert_int_equal(json.err, -ENOSPC);
	json_u64(&json, 2);
	assert_int_equal(json_release(&json), -ENOSPC);
	fclose(file);
}

static void a_file_gets_long_documents_in_parts(void **state)
{
	char *text = NULL;
	size_t length = 0;
	FILE *file = open_memstream(&text, &length);
	struct json json;

	(void)state;
	json_init_file(&json, file);
	json_array_begin(&json);
	for (int i = 0; i < 10000; i++)
		json_u64(&json, 7);
	fflush(file);
	assert_in_range(length, 1, 19999);
	json_array_end(&json);
	fflush(file);
	assert_int_equal(length, 20001); /* all of it, before the release */
	assert_int_equal(json_release(&json), 0);
	fclose(file);
	assert_memory_equal(text, "[7,7,", 5);
	assert_memory_equal(text + 19996, ",7,7]", 5);
	free(text);
}

static void a_reset_starts_the_next_document(void **state)
{
	struct json json;

	(void)state;
	json_init_memory(&json);
	json_array_begin(&json);
	json_u64(&json, 1);
	json_reset(&json);
	json_text(&json, "next");
	expect_text(&json, "\"next\"");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commas_and_brackets_are_the_writers_business),
		cmocka_unit_test(numbers_keep_every_digit),
		cmocka_unit_test(any_bytes_make_a_valid_string),
		cmocka_unit_test(a_pretty_document_has_one_member_a_line),
		cmocka_unit_test(calls_that_do_not_pair_up_are_an_error),
		cmocka_unit_test(a_full_disk_is_remembered),
		cmocka_unit_test(a_file_gets_long_documents_in_parts),
		cmocka_unit_test(a_reset_starts_the_next_document),
	};

	return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}
