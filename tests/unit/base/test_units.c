/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers as people write and read them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>

#include "base/units.h"

static void durations_are_read(void **state)
{
	static const struct {
		const char *text;
		int err;
		uint64_t ns;
	} cases[] = {
		{ "5", 0, 5000000000 },
		{ "0", 0, 0 },
		{ "250ns", 0, 250 },
		{ "10us", 0, 10000 },
		{ "10\xc2\xb5s", 0, 10000 },
		{ "10\xce\xbcs", 0, 10000 },
		{ "5ms", 0, 5000000 },
		{ "1.5s", 0, 1500000000 },
		{ "0.1s", 0, 100000000 },
		{ "0.000001s", 0, 1000 },
		{ "0.00000199s", 0, 1000 }, /* more than six digits are dropped */
		{ "2m", 0, 120000000000 },
		{ "1h", 0, 3600000000000 },
		{ "", -EINVAL, 0 },
		{ "ms", -EINVAL, 0 },
		{ "-5ms", -EINVAL, 0 },
		{ "5 ms", -EINVAL, 0 },
		{ "5.", -EINVAL, 0 },
		{ "5..1s", -EINVAL, 0 },
		{ "5msx", -EINVAL, 0 },
		{ "0x10", -EINVAL, 0 },
		{ "18446744073s", 0, 18446744073000000000u },
		{ "18446744074s", -ERANGE, 0 },
		{ "99999999999999999999ns", -ERANGE, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t ns = 0;

		assert_int_equal(units_parse_duration(cases[i].text, &ns), cases[i].err);
		if (!cases[i].err)
			assert_int_equal(ns, cases[i].ns);
	}
}

static void sizes_are_read(void **state)
{
	static const struct {
		const char *text;
		int err;
		uint64_t bytes;
	} cases[] = {
		{ "4096", 0, 4096 },	      { "64K", 0, 65536 },  { "1.5M", 0, 1572864 },
		{ "2G", 0, 2147483648 },      { "1KiB", 0, 1024 },  { "7B", 0, 7 },
		{ "16T", 0, 17592186044416 }, { "5X", -EINVAL, 0 }, { "16777216T", -ERANGE, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t bytes = 0;

		assert_int_equal(units_parse_size(cases[i].text, &bytes), cases[i].err);
		if (!cases[i].err)
			assert_int_equal(bytes, cases[i].bytes);
	}
}

static void plain_numbers_take_no_fraction_and_no_unit(void **state)
{
	uint64_t value;

	(void)state;
	assert_int_equal(units_parse_u64("18446744073709551615", &value), 0);
	assert_true(value == UINT64_MAX);
	assert_int_equal(units_parse_u64("18446744073709551616", &value), -ERANGE);
	assert_int_equal(units_parse_u64("1.5", &value), -EINVAL);
	assert_int_equal(units_parse_u64("1K", &value), -EINVAL);
	assert_int_equal(units_parse_u64("+1", &value), -EINVAL);
}

static void durations_have_three_digits(void **state)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} cases[] = {
		{ 0, "0" },
		{ 1, "1 ns" },
		{ 999, "999 ns" },
		{ 1000, "1.00 \xc2\xb5s" },
		{ 1999, "1.99 \xc2\xb5s" },
		{ 41300, "41.3 \xc2\xb5s" },
		{ 412999, "412 \xc2\xb5s" },
		{ 999999, "999 \xc2\xb5s" }, /* never "1000 µs" */
		{ 5210000, "5.21 ms" },
		{ 12000000000, "12.0 s" },
		{ 3812000000000, "3,812 s" },
		{ UINT64_MAX, "18,446,744,073 s" },
	};
	char buffer[UNITS_SIZE];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(units_format_duration(buffer, cases[i].ns), cases[i].text);
}

static void sizes_counts_and_shares_are_written(void **state)
{
	char buffer[UNITS_SIZE];

	(void)state;
	assert_string_equal(units_format_size(buffer, 0), "0 B");
	assert_string_equal(units_format_size(buffer, 812), "812 B");
	assert_string_equal(units_format_size(buffer, 4096), "4.00 KiB");
	assert_string_equal(units_format_size(buffer, 1300000000), "1.21 GiB");
	assert_string_equal(units_format_size(buffer, UINT64_MAX), "16,777,215 TiB");
	assert_string_equal(units_format_count(buffer, 0), "0");
	assert_string_equal(units_format_count(buffer, 999), "999");
	assert_string_equal(units_format_count(buffer, 1000), "1,000");
	assert_string_equal(units_format_count(buffer, 1234567), "1,234,567");
	assert_string_equal(units_format_count(buffer, UINT64_MAX), "18,446,744,073,709,551,615");
	assert_string_equal(units_format_share(buffer, 1, 3), "33.3 %");
	assert_string_equal(units_format_share(buffer, 0, 3), "0.0 %");
	assert_string_equal(units_format_share(buffer, 3, 3), "100.0 %");
	assert_string_equal(units_format_share(buffer, 1, 5000), "<0.1 %");
	assert_string_equal(units_format_share(buffer, 0, 0), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(durations_are_read),
		cmocka_unit_test(sizes_are_read),
		cmocka_unit_test(plain_numbers_take_no_fraction_and_no_unit),
		cmocka_unit_test(durations_have_three_digits),
		cmocka_unit_test(sizes_counts_and_shares_are_written),
	};

	return cmocka_run_group_tests_name("units", tests, NULL, NULL);
}
