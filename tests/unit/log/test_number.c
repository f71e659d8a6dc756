/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The numbers of a column: the codes and raw bits that docs/log-format.md says, and every number comes back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "log/format/number.h"

static const struct {
	uint64_t number;
	unsigned int low;
	uint8_t code;
	unsigned int bits;
} answers[] = {
	{ 0, 0, 0, 0 },
	{ 127, 0, 127, 0 },
	{ 128, 0, 128, 6 },
	{ 191, 0, 128, 6 },
	{ 192, 0, 129, 6 },
	{ 255, 0, 129, 6 },
	{ 256, 0, 130, 7 },
	{ 1000, 0, 133, 8 },
	{ UINT64_MAX, 0, 241, 62 },
	{ 5, 4, 0, 4 },
	{ 2047, 4, 127, 4 },
	{ 2048, 4, 128, 10 },
	{ 1, 31, 0, 31 },
	{ UINT64_MAX, 31, 179, 62 },
};

static void numbers_are_as_documented(void **state)
{
	uint8_t code;

	(void)state;
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		struct number_class of = number_class_of(answers[i].code, answers[i].low);

		assert_int_equal(number_code(answers[i].number, answers[i].low, &code), answers[i].bits);
		assert_int_equal(code, answers[i].code);
		assert_int_equal(of.bits, answers[i].bits);
		assert_int_equal(of.base + (answers[i].number & of.mask), answers[i].number);
	}
}

/* The codes that no number has, with any number of low bits; a table has only those of one word. */
static void other_codes_are_refused(void **state)
{
	struct number_table table;

	(void)state;
	for (unsigned int low = 0; low <= NUMBER_LOW_MAX; low++) {
		number_table_init(&table, low);
		assert_int_equal(table.low, low);
		for (unsigned int code = 0; code < 256; code++) {
			struct number_class of = number_class_of(code, low);

			assert_int_equal(of.bits == NUMBER_NO_BITS, code >= NUMBER_CODE_COUNT - 2 * low);
			assert_int_equal(table.classes[code].bits,
					 of.bits > NUMBER_WORD_BITS ? NUMBER_NO_BITS : of.bits);
			assert_int_equal(table.classes[code].base, of.base);
			assert_int_equal(table.classes[code].mask, of.mask);
		}
	}
}

/* The bits of 1, 2 and 3 in fields of 1, 2 and 3 bits: 1, then 10, then 011 from the lowest bit on. */
static void bits_begin_with_the_lowest(void **state)
{
	uint8_t bytes[16];
	struct bit_writer writer = { .at = bytes };

	(void)state;
	bits_put(&writer, 1, 1);
	bits_put(&writer, 2, 2);
	bits_put(&writer, 3, 3);
	assert_ptr_equal(bits_end(&writer), bytes + 1);
	assert_int_equal(bytes[0], 1 | 2 << 1 | 3 << 3);
}

#define NUMBERS 700u

static uint64_t some_number(uint64_t *random)
{
	*random ^= *random << 13;
	*random ^= *random >> 7;
	*random ^= *random << 17;
	return *random >> (*random % 64);
}

/* Whatever bit the one before ended at. */
static void every_number_comes_back(void **state)
{
	uint64_t random = 88172645463325252u, numbers[NUMBERS];
	uint8_t codes[NUMBERS], bytes[NUMBERS * 8 + 16];

	(void)state;
	for (unsigned int low = 0; low <= NUMBER_LOW_MAX; low++) {
		struct bit_writer writer = { .at = bytes };
		uint64_t bit = 0;

		for (uint32_t i = 0; i < NUMBERS; i++) {
			numbers[i] = i < 128 ? (UINT64_C(1) << i / 2) - i % 2 : some_number(&random);
			bits_put(&writer, numbers[i], number_code(numbers[i], low, &codes[i]));
		}
		memset(bits_end(&writer), 0xff, 16);
		for (uint32_t i = 0; i < NUMBERS; i++) {
			struct number_class of = number_class_of(codes[i], low);

			assert_int_equal(of.base + bits_get(bytes, bit, of.mask), numbers[i]);
			if (of.bits <= NUMBER_WORD_BITS)
				assert_int_equal(of.base + bits_get_word(bytes, bit, of.mask), numbers[i]);
			bit += of.bits;
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_as_documented),
		cmocka_unit_test(other_codes_are_refused),
		cmocka_unit_test(bits_begin_with_the_lowest),
		cmocka_unit_test(every_number_comes_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
