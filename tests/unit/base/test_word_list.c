/* SPDX-License-Identifier: BSD-2-Clause */
/* Commands in one string: what a shell would make of them, and what it would do more about. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/word_list.h"

static const struct {
	const char *text;
	const char *words[5];
} split[] = {
	{ "./server", { "./server" } },
	{ "  ./server\t--fast  4 ", { "./server", "--fast", "4" } },
	{ "./server --name 'a b'  \"c d\"", { "./server", "--name", "a b", "c d" } },
	{ "a'b c'\"d e\"f", { "ab cd ef" } },
	{ "a '' \"\"", { "a", "", "" } },
	{ "a\\ b \\$x \\\\ \\'", { "a b", "$x", "\\", "'" } },
	{ "sh -c 'exec \"$0\" | sort > x; #'", { "sh", "-c", "exec \"$0\" | sort > x; #" } },
	{ "a \"x\\\"y\\\\z\\q\"", { "a", "x\"y\\z\\q" } },
	{ "a --x=1 b=2 'c\nd'", { "a", "--x=1", "b=2", "c\nd" } },
	{ "a b c d", { "a", "b", "c", "d" } },
	{ "\xc3\xa4 \x01", { "\xc3\xa4", "\x01" } },
};

static const struct {
	const char *text;
	const char *complaint;
} refused[] = {
	{ "", "has no command in it" },
	{ " \t", "has no command in it" },
	{ "'' a", "has no command in it" },
	{ "a 'b", "has a ' that is not closed" },
	{ "a \"b", "has a \" that is not closed" },
	{ "a \"b\\", "has a \" that is not closed" },
	{ "a b\\", "ends with a backslash" },
	{ "a $HOME",
	  "has a '$' in it, which a shell would know what to do with; quote it, or say sh -c '…'" },
	{ "a \"$HOME\"",
	  "has a '$' in it, which a shell would know what to do with; quote it, or say sh -c '…'" },
	{ "a; b", "has a ';' in it, which a shell would know what to do with; quote it, or say sh -c '…'" },
	{ "a >b", "has a '>' in it, which a shell would know what to do with; quote it, or say sh -c '…'" },
	{ "a\nb", "has several lines; quote the line's end, or say sh -c '…'" },
	{ "LD_PRELOAD=x a", "begins with a variable of a shell; say env NAME=… COMMAND" },
};

static void words_are_those_of_a_shell(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(split) / sizeof(split[0]); i++) {
		struct error error = { "" };
		struct word_list words;
		size_t k = 0;

		assert_int_equal(word_list_split(&words, split[i].text, &error), 0);
		for (; split[i].words[k]; k++)
			assert_string_equal(words.argv[k], split[i].words[k]);
		assert_int_equal(words.cnt, k);
		assert_null(words.argv[k]);
		word_list_release(&words);
	}
}

static void what_only_a_shell_knows_is_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		struct error error = { "" };
		struct word_list words;

		assert_int_equal(word_list_split(&words, refused[i].text, &error), -EINVAL);
		assert_string_equal(error.text, refused[i].complaint);
		assert_null(words.argv);
	}
}

static void every_byte_is_a_word_or_a_complaint(void **state)
{
	(void)state;
	for (int byte = 1; byte < 256; byte++) {
		char text[4] = { 'a', ' ', (char)byte, '\0' };
		struct error error = { "" };
		struct word_list words;
		int err = word_list_split(&words, text, &error);

		assert_true(err == 0 || err == -EINVAL);
		assert_int_equal(err == 0, error.text[0] == '\0');
		word_list_release(&words);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_are_those_of_a_shell),
		cmocka_unit_test(what_only_a_shell_knows_is_refused),
		cmocka_unit_test(every_byte_is_a_word_or_a_complaint),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
