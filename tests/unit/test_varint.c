/* SPDX-License-Identifier: BSD-2-Clause */
/* The numbers of a batch: the bytes that docs/log-format.md says, and every number comes back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "log/varint.h"

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
		assert_int_equal(unzigzag(zigzag(UINT64_C(0xf00dfeedcafe1234) << shift)), UINT64_C(0xf00dfeedcafe1234) << shift);
}

static const struct {
	uint64_t value;
	uint8_t first;
	unsigned int rest_bytes;
	const char *rest;
} split_answers[] = {
	{ 0, 0, 0, "" },
	{ 175, 175, 0, "" },
	{ 176, 176, 1, "\x00" },
	{ 16559, 239, 1, "\xff" },
	{ 16560, 240, 2, "\x00\x00" },
	{ 540847, 247, 2, "\xff\xff" },
	{ 540848, 248, 3, "\xb0\x40\x08" },
	{ 0xffffff, 248, 3, "\xff\xff\xff" },
	{ 0x1000000, 249, 4, "\x00\x00\x00\x01" },
	{ 0x123456789a, 250, 5, "\x9a\x78\x56\x34\x12" },
	{ 0x800000000000, 251, 6, "\x00\x00\x00\x00\x00\x80" },
	{ 0x80000000000000, 252, 7, "\x00\x00\x00\x00\x00\x00\x80" },
	{ UINT64_MAX, 253, 8, "\xff\xff\xff\xff\xff\xff\xff\xff" },
};

static uint64_t join(uint8_t first, const uint8_t *rest)
{
	uint64_t value = 0;

	for (unsigned int i = 0; i < 8; i++)
		value |= (uint64_t)rest[i] << (8 * i);
	return split_classes[first].base + (value & split_classes[first].rest_mask);
}

static void split_numbers_are_as_documented(void **state)
{
	uint8_t first, rest[SPLIT_REST_MAX_BYTES];

	(void)state;
	for (size_t i = 0; i < sizeof(split_answers) / sizeof(split_answers[0]); i++) {
		unsigned int rest_bytes = split_put(&first, rest, split_answers[i].value);

		assert_int_equal(first, split_answers[i].first);
		assert_int_equal(rest_bytes, split_answers[i].rest_bytes);
		assert_memory_equal(rest, split_answers[i].rest, rest_bytes);
		assert_int_equal(split_classes[first].rest_bytes, rest_bytes);
		assert_int_equal(join(first, rest), split_answers[i].value);
	}
	assert_int_equal(split_classes[254].rest_bytes, SPLIT_NO_REST);
	assert_int_equal(split_classes[255].rest_bytes, SPLIT_NO_REST);
}

static void every_split_number_comes_back(void **state)
{
	uint8_t first, rest[SPLIT_REST_MAX_BYTES];

	(void)state;
	for (uint64_t value = 0; value < 600000; value++) {
		split_put(&first, rest, value);
		assert_int_equal(join(first, rest), value);
	}
	for (unsigned int shift = 0; shift < 64; shift++) {
		for (uint64_t near = 0; near < 5; near++) {
			split_put(&first, rest, (UINT64_C(1) << shift) + near - 2);
			assert_int_equal(join(first, rest), (UINT64_C(1) << shift) + near - 2);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(leb128_is_as_published),
		cmocka_unit_test(leb128_refuses_what_is_cut_or_too_long),
		cmocka_unit_test(zigzag_puts_the_sign_last),
		cmocka_unit_test(split_numbers_are_as_documented),
		cmocka_unit_test(every_split_number_comes_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
