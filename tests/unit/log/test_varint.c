/* SPDX-License-Identifier: BSD-2-Clause */
/* The numbers of a batch's dictionary: the bytes that docs/log-format.md says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "log/format/varint.h"

static const struct {
	uint64_t value;
	size_t length;
	const char *bytes;
} leb128_answers[] = {
	{ 0, 1, "\x00" },
	{ 127, 1, "\x7f" },
	{ 128, 2, "\x80\x01" },
	{ 624485, 3, "\xe5\x8e\x26" },
	{ UINT64_MAX, 10, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01" },
};

static void leb128_is_as_published(void **state)
{
	uint8_t bytes[LEB128_MAX_BYTES];

	(void)state;
	for (size_t i = 0; i < sizeof(leb128_answers) / sizeof(leb128_answers[0]); i++) {
		const uint8_t *at = bytes;
		uint64_t value = 0;

		assert_int_equal(leb128_put(bytes, leb128_answers[i].value), leb128_answers[i].length);
		assert_memory_equal(bytes, leb128_answers[i].bytes, leb128_answers[i].length);
		assert_true(leb128_get(&at, bytes + leb128_answers[i].length, &value));
		assert_int_equal(value, leb128_answers[i].value);
		assert_ptr_equal(at, bytes + leb128_answers[i].length);
	}
}

static bool reads(const char *text, size_t length)
{
	const uint8_t *at = (const uint8_t *)text;
	uint64_t value;

	return leb128_get(&at, at + length, &value);
}

static void leb128_refuses_what_is_cut_or_too_long(void **state)
{
	(void)state;
	assert_false(reads("", 0));
	assert_false(reads("\x80", 1));
	assert_false(reads("\xff\xff\xff\xff\xff\xff\xff\xff\xff", 9));
	assert_false(reads("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10));
	assert_false(reads("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 11));
}

static void zigzag_puts_the_sign_last(void **state)
{
	(void)state;
	assert_int_equal(zigzag(0), 0);
	assert_int_equal(zigzag((uint64_t)-1), 1);
	assert_int_equal(zigzag(1), 2);
	assert_int_equal(zigzag(INT64_MAX), UINT64_MAX - 1);
	assert_int_equal(zigzag((uint64_t)INT64_MIN), UINT64_MAX);
	for (unsigned int shift = 0; shift < 64; shift++)
		assert_int_equal(unzigzag(zigzag(UINT64_C(0xf00dfeedcafe1234) << shift)),
				 UINT64_C(0xf00dfeedcafe1234) << shift);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(leb128_is_as_published),
		cmocka_unit_test(leb128_refuses_what_is_cut_or_too_long),
		cmocka_unit_test(zigzag_puts_the_sign_last),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
