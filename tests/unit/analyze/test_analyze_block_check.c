/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a log says of its batches is held against them: headers and index are changed, with right checksums,
 * and found out.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyze/files/block_check.h"
#include "base/crc32c.h"
#include "log/format/log_header.h"
#include "log/write/log_writer.h"

static char path[64];

static int make_path(void **state)
{
	int fd;

	(void)state;
	snprintf(path, sizeof(path), "/tmp/test_block_check.XXXXXX");
	fd = mkstemp(path);
	return fd < 0 ? -1 : close(fd);
}

static int remove_path(void **state)
{
	(void)state;
	return unlink(path);
}

/* Two batches: spans "a" and "b" that end at 200 and 300, and "a" again, at 400. */
static void write_log(void)
{
	const struct txtrace_log_info info = { .start_monotonic_ns = 100, .host = "box" };
	const struct log_writer_options options = { .codec = LOG_CODEC_NONE };
	struct log_writer *writer;

	assert_int_equal(log_writer_open(&writer, path, &info, &options), 0);
	for (uint64_t i = 0; i < 3; i++) {
		const struct txtrace_record record = {
			.kind = TXTRACE_RECORD_SPAN,
			.span = { .id = i, .end_ns = 200 + 100 * i, .label = { i == 1 ? "b" : "a", 1 } }
		};

		assert_int_equal(log_writer_add(writer, &record), 0);
		if (i == 1)
			assert_int_equal(log_writer_flush(writer), 0);
	}
	assert_int_equal(log_writer_close(writer), 0);
}

/* ---- the file as bytes ---- */

struct image {
	uint8_t bytes[4096];
	size_t length;
	size_t batches[2];
	size_t index;
};

static void load_image(struct image *image)
{
	int fd = open(path, O_RDONLY);
	struct log_block block;
	size_t at;

	image->length = (size_t)read(fd, image->bytes, sizeof(image->bytes));
	close(fd);
	assert_in_range(image->length, 300, sizeof(image->bytes) - 1);
	at = log_get_u32(image->bytes + LOG_HEADER_LENGTH);
	for (size_t i = 0; i < 3; i++) {
		assert_true(log_block_decode(image->bytes + at, image->length - at, &block));
		assert_int_equal(block.type, i < 2 ? LOG_BLOCK_BATCH : LOG_BLOCK_INDEX);
		*(i < 2 ? &image->batches[i] : &image->index) = at;
		at += block.header_bytes + block.stored_bytes;
	}
	assert_int_equal(at + LOG_FOOTER_BYTES, image->length);
}

/* With the checksums set right. */
static void store_image(struct image *image)
{
	const size_t blocks[] = { image->batches[0], image->batches[1], image->index };
	int fd = open(path, O_WRONLY | O_TRUNC);

	for (size_t i = 0; i < 3; i++) {
		uint8_t *header = image->bytes + blocks[i];

		log_put_u32(header + LOG_BLOCK_PAYLOAD_CRC,
			    crc32c(header + LOG_BLOCK_HEADER_BYTES,
				   log_get_u32(header + LOG_BLOCK_STORED_BYTES)));
		log_put_u32(header + LOG_BLOCK_HEADER_CRC, crc32c(header, LOG_BLOCK_HEADER_CRC));
	}
	assert_int_equal(write(fd, image->bytes, image->length), image->length);
	close(fd);
}

/*
 * The payload of the index: 2 entries; offset, batches, records, first × 2, length; …; 0 others, 2 labels: 2
 * × "a", 1 × "b".
 */
static uint8_t *index_byte(struct image *image, uint8_t expected, size_t nth)
{
	uint8_t *byte = image->bytes + image->index + LOG_BLOCK_HEADER_BYTES + nth;

	assert_int_equal(*byte, expected);
	return byte;
}

static void assert_found(enum log_check_kind kind, const char *what)
{
	struct log_check *check = log_check_new(1 << 16, 10, false);

	assert_int_equal(block_check(check, path, NULL, NULL), 0);
	if (!what) {
		assert_null(log_check_problem(check, 0));
		assert_int_equal(log_check_result(check, LOG_CHECK_BATCHES)->checked_cnt, 2);
		assert_int_equal(log_check_result(check, LOG_CHECK_INDEX)->checked_cnt, 4);
	} else {
		assert_non_null(log_check_problem(check, 0));
		assert_string_equal(log_check_problem(check, 0)->what, what);
		assert_int_equal(log_check_problem(check, 0)->kind, kind);
		assert_int_equal(log_check_problem(check, 0)->record_number, 0);
	}
	log_check_free(check);
}

static void a_log_as_it_was_written(void **state)
{
	(void)state;
	write_log();
	assert_found(LOG_CHECK_COUNT, NULL);
}

static void times_of_a_batch(void **state)
{
	struct image image;
	char what[200];

	(void)state;
	write_log();
	load_image(&image);
	log_put_u64(image.bytes + image.batches[0] + LOG_BLOCK_LAST_NS, 299);
	store_image(&image);
	snprintf(what, sizeof(what),
		 "the batch at byte %zu says that its records are from 200 to 299 ns; they are from 200 to "
		 "300 ns",
		 image.batches[0]);
	assert_found(LOG_CHECK_BATCHES, what);
}

static void entries_of_the_index(void **state)
{
	struct image image, changed;
	char what[200];
	size_t first;

	(void)state;
	write_log();
	load_image(&image);
	first = image.batches[0] < 128 ? 2 : 3; /* behind the number of entries and the offset of the first */

	changed = image;
	*index_byte(&changed, 2, first + 1) = 3;
	store_image(&changed);
	snprintf(what, sizeof(what),
		 "its entry for byte %zu is wrong: at byte %zu are 2 records from 200 to 300 ns",
		 image.batches[0], image.batches[0]);
	assert_found(LOG_CHECK_INDEX, what);

	changed = image;
	*index_byte(&changed, 2, 0) = 1; /* one entry: what follows is taken for labels */
	store_image(&changed);
	assert_found(LOG_CHECK_INDEX, "it lacks batches of the log");

	changed = image;
	*index_byte(&changed, 2, 0) = 3;
	store_image(&changed);
	assert_found(LOG_CHECK_INDEX, "it has batches that are not in the log");
}

static void labels_of_the_index(void **state)
{
	struct image image, changed;
	uint8_t *end;

	(void)state;
	write_log();
	load_image(&image);
	end = changed.bytes + image.length - LOG_FOOTER_BYTES; /* …, 0, 2, 2, 1, "a", 1, 1, "b" */

	changed = image;
	assert_memory_equal(end - 8, "\0\2\2\1a\1\1b", 8);
	end[-6] = 7;
	store_image(&changed);
	assert_found(LOG_CHECK_INDEX, "it counts 7 spans with label 1, the log has others");

	changed = image;
	end[-8] = 7;
	store_image(&changed);
	assert_found(LOG_CHECK_INDEX, "it counts 7 spans with other labels, the log has 0");

	changed = image;
	end[-2] = 9; /* a label longer than what there is */
	store_image(&changed);
	assert_found(LOG_CHECK_INDEX, "it makes no sense");
}

static void the_end_of_the_file(void **state)
{
	struct image image;

	(void)state;
	write_log();
	load_image(&image);
	assert_int_equal(truncate(path, (off_t)(image.length - LOG_FOOTER_BYTES)), 0);
	assert_found(LOG_CHECK_INDEX, "the end of the log does not say where it is");
	assert_int_equal(truncate(path, (off_t)image.index), 0);
	assert_found(LOG_CHECK_INDEX, "there is none, as the log was not closed; 'txtrace repair' makes one");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_log_as_it_was_written), cmocka_unit_test(times_of_a_batch),
		cmocka_unit_test(entries_of_the_index),	   cmocka_unit_test(labels_of_the_index),
		cmocka_unit_test(the_end_of_the_file),
	};

	return cmocka_run_group_tests(tests, make_path, remove_path);
}
