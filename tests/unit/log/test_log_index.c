/* SPDX-License-Identifier: BSD-2-Clause */
/* The index stays as small as it is meant to be, and still covers every batch and counts every span. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log/format/log_index.h"
#include "log/format/varint.h"

struct totals {
	uint64_t entry_cnt;
	uint64_t batch_cnt;
	uint64_t record_cnt;
	uint64_t first_ns;
	uint64_t last_ns;
	uint64_t last_offset;
	uint64_t label_cnt;
	uint64_t span_cnt; /* of listed labels */
	uint64_t other_span_cnt;
};

static uint64_t take(const uint8_t **at, const uint8_t *end)
{
	uint64_t value = 0;

	assert_true(leb128_get(at, end, &value));
	return value;
}

static void read_totals(const struct log_index *index, struct totals *totals)
{
	uint8_t *buffer = malloc(LOG_INDEX_BYTES_MAX);
	uint32_t length = log_index_encode(index, buffer);
	const uint8_t *at = buffer, *end = buffer + length;
	uint64_t first_ns = 0, last_ns;

	assert_in_range(length, 1, LOG_INDEX_BYTES_MAX);
	memset(totals, 0, sizeof(*totals));
	totals->first_ns = UINT64_MAX;
	totals->entry_cnt = take(&at, end);
	for (uint64_t i = 0; i < totals->entry_cnt; i++) {
		totals->last_offset += take(&at, end);
		totals->batch_cnt += take(&at, end);
		totals->record_cnt += take(&at, end);
		first_ns += unzigzag(take(&at, end));
		last_ns = first_ns + take(&at, end);
		totals->first_ns = first_ns < totals->first_ns ? first_ns : totals->first_ns;
		totals->last_ns = last_ns > totals->last_ns ? last_ns : totals->last_ns;
	}
	totals->other_span_cnt = take(&at, end);
	totals->label_cnt = take(&at, end);
	for (uint64_t i = 0; i < totals->label_cnt; i++) {
		totals->span_cnt += take(&at, end);
		at += take(&at, end);
	}
	assert_ptr_equal(at, end);
	free(buffer);
}

/* Batch i: at 100 i, 3 records, from time 1000 i - 5 to 1000 i + 2000. */
static void every_batch_is_covered(void **state)
{
	static const uint32_t batch_cnts[] = {
		0, 1, 2, LOG_INDEX_ENTRY_MAX, LOG_INDEX_ENTRY_MAX + 1, 3 * LOG_INDEX_ENTRY_MAX + 7, 100000
	};

	(void)state;
	for (size_t i = 0; i < sizeof(batch_cnts) / sizeof(batch_cnts[0]); i++) {
		struct totals totals;
		struct log_index index;
		uint32_t batch_cnt = batch_cnts[i];

		assert_int_equal(log_index_init(&index), 0);
		for (uint64_t j = 1; j <= batch_cnt; j++) {
			struct log_index_entry entry = { 100 * j, 1000 * j - 5, 1000 * j + 2000, 3, 1 };

			log_index_add_batch(&index, &entry);
		}
		read_totals(&index, &totals);
		assert_int_equal(totals.batch_cnt, batch_cnt);
		assert_int_equal(totals.record_cnt, 3 * batch_cnt);
		assert_in_range(totals.entry_cnt,
				batch_cnt < LOG_INDEX_ENTRY_MAX ? batch_cnt : LOG_INDEX_ENTRY_MAX / 2,
				LOG_INDEX_ENTRY_MAX);
		if (batch_cnt) {
			assert_int_equal(totals.first_ns, 995);
			assert_int_equal(totals.last_ns, 1000 * (uint64_t)batch_cnt + 2000);
			assert_in_range(totals.last_offset, 1, 100 * (uint64_t)batch_cnt);
		}
		log_index_release(&index);
	}
}

static void every_span_is_counted(void **state)
{
	struct log_index index;
	struct totals totals;
	char label[32], *endless = calloc(1, 60000);

	(void)state;
	assert_int_equal(log_index_init(&index), 0);
	log_index_add_spans(&index, NULL, 0, 1);
	for (unsigned int round = 0; round < 2; round++)
		for (unsigned int i = 0; i < 3000; i++)
			log_index_add_spans(&index, label,
					    (size_t)snprintf(label, sizeof(label), "label %u", i), 1);
	read_totals(&index, &totals);
	assert_int_equal(totals.label_cnt, LOG_INDEX_LABEL_MAX);
	assert_int_equal(totals.span_cnt + totals.other_span_cnt, 6001);
	assert_int_equal(totals.span_cnt, 1 + 2 * (LOG_INDEX_LABEL_MAX - 1));
	log_index_release(&index);

	/* Labels that are too long for what there is are counted too. */
	assert_int_equal(log_index_init(&index), 0);
	for (size_t length = 59000; length < 59010; length++)
		log_index_add_spans(&index, endless, length, 1);
	log_index_add_spans(&index, endless, 100u << 20, 4);
	read_totals(&index, &totals);
	assert_int_equal(totals.label_cnt, 1);
	assert_int_equal(totals.other_span_cnt, 13);
	log_index_release(&index);
	free(endless);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_batch_is_covered),
		cmocka_unit_test(every_span_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
