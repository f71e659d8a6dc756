/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Strings of strangers become text that a terminal can be shown; patterns match them; equal ones share a
 * number.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/glob.h"
#include "base/string_pool.h"
#include "base/text.h"

static void nothing_that_a_terminal_obeys_gets_through(void **state)
{
	static const struct {
		const char *bytes;
		size_t length;
		const char *escaped;
	} cases[] = {
		{ "plain", 5, "plain" },
		{ "tx/b\xc3\xbc" "cher \xe6\x97\xa5", 14, "tx/b\xc3\xbc" "cher \xe6\x97\xa5" },
		{ "\x1b]0;owned\x07", 10, "\\e]0;owned\\x07" },
		{ "a\tb\r\n", 5, "a\\tb\\r\\n" },
		{ "a\\n", 3, "a\\\\n" }, /* a backslash is not mistaken for an escape */
		{ "\0", 1, "\\x00" },
		{ "\x7f", 1, "\\x7f" },
		{ "\xc2\x9b" "31m", 5, "\\u{9b}31m" },           /* CSI in one character */
		{ "\xe2\x80\xae" "gpj", 6, "\\u{202e}gpj" },      /* right-to-left override */
		{ "\xe2\x80\x8b", 3, "\\u{200b}" },               /* zero width space */
		/* Arabic letter mark: turns text around, too */
		{ "\xd8\x9c", 2, "\\u{61c}" },
		{ "\xe1\xa0\x8e", 3, "\\u{180e}" },               /* Mongolian vowel separator */
		/* Hangul fillers: letters that are blank */
		{ "\xe1\x85\x9f\xe1\x85\xa0", 6, "\\u{115f}\\u{1160}" },
		{ "\xe3\x85\xa4\xef\xbe\xa0", 6, "\\u{3164}\\u{ffa0}" },
		{ "\xe2\xa0\x80", 3, "\\u{2800}" },               /* a Braille pattern without dots */
		{ "\xef\xb8\x80\xef\xb8\x8f", 6, "\\u{fe00}\\u{fe0f}" },     /* variation selectors */
		/* no characters: XML forbids them */
		{ "\xef\xbf\xbe\xef\xbf\xbf", 6, "\\u{fffe}\\u{ffff}" },
		{ "\xf0\x9f\xbf\xbe\xef\xb7\x90", 7, "\\u{1fffe}\\u{fdd0}" },
		{ "a\xc2\xa0" "b\xe3\x80\x80", 7, "a\\u{a0}b\\u{3000}" }, /* blanks that are others */
		{ "\xcd\x8f\xf0\x9d\x85\x99", 6, "\\u{34f}\\u{1d159}" },
		{ "\xef\xbf\xbd\xd8\xa7", 5, "\xef\xbf\xbd\xd8\xa7" }, /* what is seen stays */
		/* a command to a CI service, where a line begins */
		{ "::error::x", 10, "\\x3a:error::x" },
		{ "  ::stop", 8, "  \\x3a:stop" },
		{ ":::", 3, "\\x3a::" },
		{ "std::vector: #1", 15, "std::vector: #1" },
		{ ":", 1, ":" },
		{ "x##[error]", 10, "x#\\x23[error]" },           /* and anywhere */
		{ "##vso[", 6, "#\\x23vso[" },
		{ "\xff\xfe", 2, "\\xff\\xfe" },
		{ "\xe2\x82", 2, "\\xe2\\x82" }, /* cut off */
	};
	struct text text = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		text_clear(&text);
		text_append_escaped(&text, cases[i].bytes, cases[i].length);
		assert_string_equal(text_string(&text), cases[i].escaped);
	}
	text_clear(&text);
	text_append_quoted(&text, "say \"hi\"", 8);
	assert_string_equal(text_string(&text), "\"say \\\"hi\\\"\"");
	text_release(&text);
}

static void long_text_is_clipped_by_columns(void **state)
{
	static const struct {
		const char *bytes;
		size_t columns;
		const char *clipped;
	} cases[] = {
		{ "checkout", 8, "checkout" },
		{ "checkout", 7, "checko\xe2\x80\xa6" },
		{ "checkout", 1, "\xe2\x80\xa6" },
		{ "checkout", 0, "" },
		/* three, two wide each */
		{ "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e", 6, "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e" },
		{ "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e", 5, "\xe6\x97\xa5\xe6\x9c\xac\xe2\x80\xa6" },
		{ "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e", 4, "\xe6\x97\xa5\xe2\x80\xa6" },
		{ "ab\x01", 5, "ab\xe2\x80\xa6" }, /* no half of an escape */
		{ "ab\x01", 6, "ab\\x01" },
	};
	struct text text = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		text_clear(&text);
		text_append(&text, "<");
		text_append_clipped(&text, cases[i].bytes, strlen(cases[i].bytes), cases[i].columns);
		assert_string_equal(text_string(&text) + 1, cases[i].clipped);
	}
	text_release(&text);
}

static void combining_characters_take_no_column(void **state)
{
	(void)state;
	assert_int_equal(text_columns("e\xcc\x81", 3), 1);
	assert_int_equal(text_columns("\xf0\x9f\x92\xa1", 4), 2);
	assert_int_equal(text_columns("\xc2\xb5s", 3), 2);
}

static void text_grows(void **state)
{
	struct text text = { 0 };

	(void)state;
	assert_string_equal(text_string(&text), "");
	for (int i = 0; i < 1000; i++)
		text_append_format(&text, "%03d,", i);
	assert_int_equal(text.err, 0);
	assert_int_equal(text.length, 4000);
	assert_memory_equal(text.bytes + 3996, "999,", 5);
	text_clear(&text);
	text_append_u64(&text, 0);
	text_append_u64(&text, UINT64_MAX);
	assert_string_equal(text_string(&text), "018446744073709551615");
	text_release(&text);
}

static void patterns_match_like_a_shells(void **state)
{
	static const struct {
		const char *pattern;
		const char *bytes;
		bool matches;
	} cases[] = {
		{ "commit", "commit", true },
		{ "commit", "commits", false },
		{ "commit*", "commits", true },
		{ "*", "", true },
		{ "", "", true },
		{ "", "a", false },
		{ "?", "", false },
		{ "a?c", "abc", true },
		{ "*.lock", "tx.lock", true },
		{ "*a*b*", "xxaxxbxx", true },
		{ "*a*b*", "xxbxxaxx", false },
		{ "tx[0-9]", "tx7", true },
		{ "tx[!0-9]", "tx7", false },
		{ "tx[!0-9]", "txa", true },
		{ "[]]", "]", true },
		{ "[a-", "[a-", true },
		{ "\\*", "*", true },
		{ "\\*", "a", false },
		{ "a\\", "a\\", true },
		{ "*aab", "aaaab", true },
		{ "**", "x", true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (glob_matches(cases[i].pattern, cases[i].bytes, strlen(cases[i].bytes)) !=
		    cases[i].matches)
			fail_msg("'%s' against '%s'", cases[i].pattern, cases[i].bytes);
	}
	assert_true(glob_matches("a*c", "a\0c", 3));
}

static void equal_strings_share_a_number(void **state)
{
	struct string_pool *pool = string_pool_new();
	const uint32_t many = 20000;
	uint32_t number;
	size_t length;

	(void)state;
	assert_int_equal(string_pool_find(pool, "", 0), STRING_POOL_NONE);
	assert_int_equal(string_pool_add(pool, "", 0, &number), 0);
	assert_int_equal(number, 0);
	assert_int_equal(string_pool_add(pool, "a\0b", 3, &number), 0);
	assert_int_equal(number, 1);
	assert_int_equal(string_pool_add(pool, "a", 1, &number), 0);
	assert_int_equal(number, 2);
	for (uint32_t i = 0; i < 2 * many; i++) { /* twice the same */
		char name[16];

		snprintf(name, sizeof(name), "label-%u", i % many);
		assert_int_equal(string_pool_add(pool, name, strlen(name), &number), 0);
		assert_int_equal(number, 3 + i % many);
	}
	assert_int_equal(string_pool_count(pool), 3 + many);
	assert_memory_equal(string_pool_get(pool, 1, &length), "a\0b", 3);
	assert_int_equal(length, 3);
	assert_memory_equal(string_pool_get(pool, 3 + 777, &length), "label-777", 9);
	assert_int_equal(string_pool_find(pool, "label-777", 9), 780);
	assert_int_equal(string_pool_find(pool, "label-", 6), STRING_POOL_NONE);
	string_pool_free(pool);
}

static void what_others_read_is_valid_text_of_one_line(void **state)
{
	static const struct {
		const char *bytes;
		size_t length;
		const char *visible;
	} cases[] = {
		{ "", 0, "" },
		{ "a\\\"b", 4, "a\\\"b" },
		{ "\0\n\x1f\x7f", 4, "\xe2\x90\x80\xe2\x90\x8a\xe2\x90\x9f\xe2\x90\xa1" },
		{ "b\xc3\xbc" "c", 4, "b\xc3\xbc" "c" },
		{ "\xc3(\xff", 3, "\xef\xbf\xbd(\xef\xbf\xbd" },
		{ "\xed\xa0\x80", 3, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" }, /* a surrogate */
		{ "x\xe2\x82", 3, "x\xef\xbf\xbd\xef\xbf\xbd" },
		{ "\xc2\x9b\xc2\x80\xc2\xa0", 6, "\xef\xbf\xbd\xef\xbf\xbd\xc2\xa0" },
	};
	struct text text = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		text_clear(&text);
		text_append_visible(&text, cases[i].bytes, cases[i].length);
		assert_string_equal(text_string(&text), cases[i].visible);
	}
	text_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_others_read_is_valid_text_of_one_line),
		cmocka_unit_test(nothing_that_a_terminal_obeys_gets_through),
		cmocka_unit_test(long_text_is_clipped_by_columns),
		cmocka_unit_test(combining_characters_take_no_column),
		cmocka_unit_test(text_grows),
		cmocka_unit_test(patterns_match_like_a_shells),
		cmocka_unit_test(equal_strings_share_a_number),
	};

	return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
