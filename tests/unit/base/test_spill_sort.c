/* SPDX-License-Identifier: BSD-2-Clause */
/* Sorting with little memory: all items come back, in order, with their bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/spill_sort.h"

static char folder[] = "/tmp/test_spill_sort.XXXXXX";
static int directory;

static int make_folder(void **state)
{
	(void)state;
	directory = mkdtemp(folder) ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	return directory < 0;
}

static int remove_folder(void **state)
{
	(void)state;
	close(directory);
	return rmdir(folder); /* no file has stayed */
}

/* Each number once, as a permutation makes it; its length and bytes follow from it. */
#define PRIME 10007u

static uint32_t length_of(uint32_t number)
{
	return number % 97 == 0 ? 9000 : number % 13;
}

static void sort_all(size_t memory_bytes)
{
	struct spill_sort *sort = spill_sort_new(directory, memory_bytes);
	struct spill_item item;
	char bytes[9000];

	for (uint32_t i = 1; i < PRIME; i++) {
		uint32_t number = (uint32_t)((uint64_t)i * 7919 % PRIME);

		memset(bytes, (int)number, length_of(number));
		assert_int_equal(spill_sort_add(sort, number / 100, UINT64_MAX - number, bytes,
						length_of(number)),
				 0);
	}
	assert_int_equal(spill_sort_end(sort), 0);
	for (uint32_t hundred = 0, left = PRIME - 1; left > 0; hundred++) {
		uint32_t first = hundred * 100 > 0 ? hundred * 100 : 1, last = hundred * 100 + 99;

		/* of one `high`, the largest number has the least `low` */
		for (uint32_t number = last < PRIME ? last : PRIME - 1; number >= first; number--, left--) {
			assert_int_equal(spill_sort_next(sort, &item), 1);
			assert_int_equal(item.high, hundred);
			assert_int_equal(item.low, UINT64_MAX - number);
			assert_int_equal(item.length, length_of(number));
			memset(bytes, (int)number, item.length);
			assert_memory_equal(item.bytes, bytes, item.length);
		}
	}
	assert_int_equal(spill_sort_next(sort, &item), 0);
	assert_int_equal(spill_sort_next(sort, &item), 0);
	spill_sort_free(sort);
}

static void in_memory_and_on_disk_it_is_the_same(void **state)
{
	(void)state;
	sort_all(64 << 20);
	sort_all(1 << 20); /* a few runs */
	sort_all(4096);    /* hundreds of runs, and items that are larger than a cursor's buffer */
}

static void nothing_and_one_empty_item(void **state)
{
	struct spill_sort *sort = spill_sort_new(directory, 4096);
	struct spill_item item;

	(void)state;
	spill_sort_free(NULL);
	assert_int_equal(spill_sort_end(sort), 0);
	assert_int_equal(spill_sort_next(sort, &item), 0);
	spill_sort_free(sort);
	sort = spill_sort_new(directory, 4096);
	assert_int_equal(spill_sort_add(sort, 1, 2, NULL, 0), 0);
	assert_int_equal(spill_sort_end(sort), 0);
	assert_int_equal(spill_sort_next(sort, &item), 1);
	assert_int_equal(item.high, 1);
	assert_int_equal(item.low, 2);
	assert_int_equal(item.length, 0);
	assert_int_equal(spill_sort_next(sort, &item), 0);
	spill_sort_free(sort);
}

static void a_directory_that_takes_no_file_is_an_error(void **state)
{
	struct spill_sort *sort = spill_sort_new(-1, 4096);
	char bytes[1500] = { 0 };
	int err = 0;

	(void)state;
	for (int i = 0; i < 10 && !err; i++)
		err = spill_sort_add(sort, 1, 2, bytes, sizeof(bytes));
	assert_int_equal(err, -EBADF);
	spill_sort_free(sort);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_memory_and_on_disk_it_is_the_same),
		cmocka_unit_test(nothing_and_one_empty_item),
		cmocka_unit_test(a_directory_that_takes_no_file_is_an_error),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
