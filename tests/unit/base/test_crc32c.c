/* SPDX-License-Identifier: BSD-2-Clause */
/* CRC-32C: published answers, and both ways of computing it agree on every length and alignment. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/crc32c.h"

/* RFC 3720, B.4, and the check value of the catalogue of CRCs. */
static void gives_published_answers(void **state)
{
	uint8_t bytes[32];

	(void)state;
	assert_int_equal(crc32c("123456789", 9), 0xe3069283);
	assert_int_equal(crc32c("", 0), 0);
	memset(bytes, 0, sizeof(bytes));
	assert_int_equal(crc32c(bytes, sizeof(bytes)), 0x8a9136aa);
	memset(bytes, 0xff, sizeof(bytes));
	assert_int_equal(crc32c(bytes, sizeof(bytes)), 0x62a8ab43);
	for (uint8_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = i;
	assert_int_equal(crc32c(bytes, sizeof(bytes)), 0x46dd794e);
}

static void both_ways_agree(void **state)
{
	uint8_t bytes[600];

	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 131 >> 3 ^ i);
	for (size_t begin = 0; begin < 9; begin++)
		for (size_t length = 0; begin + length <= sizeof(bytes); length++)
			assert_int_equal(crc32c(bytes + begin, length),
					 crc32c_extend_portable(0, bytes + begin, length));
}

static void parts_give_the_whole(void **state)
{
	const char text[] = "the quick brown fox jumps over the lazy dog";

	(void)state;
	for (size_t cut = 0; cut < sizeof(text); cut++) {
		assert_int_equal(crc32c_extend(crc32c(text, cut), text + cut, sizeof(text) - cut),
				 crc32c(text, sizeof(text)));
		assert_int_equal(crc32c_extend_portable(crc32c(text, cut), text + cut, sizeof(text) - cut),
				 crc32c(text, sizeof(text)));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gives_published_answers),
		cmocka_unit_test(both_ways_agree),
		cmocka_unit_test(parts_give_the_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
