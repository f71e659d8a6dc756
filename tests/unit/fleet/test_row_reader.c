/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is written as RowBinary is read back; what is cut off anywhere is neither
 * read beyond its end nor taken for an answer.
 */
#include "fleet/row_reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "fleet/fleet_table.h"

#define LENGTHS 5

static const size_t lengths[LENGTHS] = { 0, 1, 127, 128, 20000 };
static char letters[20000];

static void write_rows(struct text *text)
{
	memset(letters, 'x', sizeof(letters));
	for (size_t i = 0; i < LENGTHS; i++) {
		fleet_append_u64(text, UINT64_MAX - i);
		fleet_append_string(text, letters, lengths[i]);
	}
	assert_int_equal(text->err, 0);
}

static void rows_come_back(void **state)
{
	struct text text = { 0 };
	struct row_reader reader;

	(void)state;
	write_rows(&text);
	reader = (struct row_reader){ .at = text.bytes, .end = text.bytes + text.length };
	for (size_t i = 0; i < LENGTHS; i++) {
		struct txtrace_string string;

		assert_true(row_reader_has_more(&reader));
		assert_int_equal(row_read_u64(&reader), UINT64_MAX - i);
		string = row_read_string(&reader);
		assert_int_equal(string.length, lengths[i]);
		assert_memory_equal(string.bytes, letters, lengths[i]);
	}
	assert_false(row_reader_has_more(&reader));
	assert_false(reader.is_bad);
	text_release(&text);
}

/* In a block of its own, so that a sanitizer sees a byte too many. */
static void a_cut_is_seen(void **state)
{
	struct text text = { 0 };

	(void)state;
	write_rows(&text);
	for (size_t length = 0; length < 600; length++) {
		char *cut = malloc(length ? length : 1);
		struct row_reader reader = { .at = cut, .end = cut + length };
		size_t used = 0;

		memcpy(cut, text.bytes, length);
		for (size_t i = 0; i < LENGTHS; i++) {
			used += sizeof(uint64_t) + lengths[i] +
				(lengths[i] < 128     ? 1
				 : lengths[i] < 16384 ? 2
						      : 3);
			row_read_u64(&reader);
			row_read_string(&reader);
			assert_int_equal(reader.is_bad, used > length);
		}
		free(cut);
	}
	text_release(&text);
}

/* A length that no answer has. */
static void a_forged_length_is_seen(void **state)
{
	char forged[] = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01x";
	struct row_reader reader = { .at = forged, .end = forged + sizeof(forged) - 1 };

	(void)state;
	assert_int_equal(row_read_string(&reader).length, 0);
	assert_true(reader.is_bad);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_come_back),
		cmocka_unit_test(a_cut_is_seen),
		cmocka_unit_test(a_forged_length_is_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
