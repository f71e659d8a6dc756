/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Logs whose checksums are right and that make no sense all the same. A header is damaged: nothing is taken
 * from one that can't be trusted, and all from one that can. A batch is empty.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "log/format/log_header.h"

static const struct txtrace_log_info original = {
	.capture_id = "this capture",
	.boot_id = "this boot",
	.start_monotonic_ns = 1,
	.start_realtime_ns = 2,
	.pid = 3,
	.cpu_cnt = 4,
	.host = "box",
	.options = "-p 3",
};

static void a_header_whose_strings_run_over_its_end_says_nothing(void **state)
{
	static const struct txtrace_log_info nothing;
	static uint8_t bytes[LOG_HEADER_MAX_BYTES];
	uint32_t length = log_header_encode(&original, bytes), read_length;
	struct txtrace_log_info info;

	(void)state;
	log_put_u16(bytes + LOG_HEADER_STRINGS, 60000);
	log_put_u32(bytes + length - 4, crc32c(bytes, length - 4));
	assert_int_equal(log_header_decode(bytes, length, &info, &read_length), LOG_HEADER_DAMAGED);
	assert_memory_equal(&info, &nothing, sizeof(info));
}

static void a_header_that_lacks_only_the_magic_says_all(void **state)
{
	static uint8_t bytes[LOG_HEADER_MAX_BYTES];
	uint32_t length = log_header_encode(&original, bytes), read_length;
	struct txtrace_log_info info;

	(void)state;
	bytes[3] ^= 1;
	assert_int_equal(log_header_decode(bytes, length, &info, &read_length), LOG_HEADER_DAMAGED);
	assert_memory_equal(info.capture_id, original.capture_id, sizeof(info.capture_id));
	assert_string_equal(info.options, "-p 3");
}

/* A block of a capture, without a payload. */
static size_t put_block(uint8_t *to, uint8_t type, const char *capture)
{
	struct log_block block = { .type = type, .payload_crc = crc32c("", 0) };

	memcpy(block.capture_id, capture, strlen(capture));
	log_block_encode(&block, to);
	return LOG_BLOCK_HEADER_BYTES;
}

static struct txtrace_log *open_bytes(const uint8_t *bytes, size_t length)
{
	int fd = memfd_create("senseless", MFD_CLOEXEC);
	struct txtrace_log *log;
	char path[32];

	assert_int_equal(write(fd, bytes, length), length);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_int_equal(txtrace_log_open(&log, path), 0);
	close(fd);
	return log;
}

/* Where the magic alone is wrong, the capture is known: a block of another one is no part of the log. */
static void a_log_without_its_magic_keeps_to_its_capture(void **state)
{
	static uint8_t bytes[2 * LOG_HEADER_MAX_BYTES];
	uint32_t length = log_header_encode(&original, bytes), header_length = length;
	struct txtrace_record record;
	struct txtrace_log *log;

	(void)state;
	bytes[3] ^= 1;
	length += put_block(bytes + length, LOG_BLOCK_INDEX, "another one");
	length += put_block(bytes + length, LOG_BLOCK_INDEX, "this capture");
	log = open_bytes(bytes, length);
	assert_int_equal(txtrace_log_next(log, &record), 1);
	assert_int_equal(record.kind, TXTRACE_RECORD_DAMAGE);
	assert_int_equal(record.damage.offset_bytes, 0);
	assert_int_equal(record.damage.length_bytes, header_length + LOG_BLOCK_HEADER_BYTES);
	assert_memory_equal(txtrace_log_info(log)->capture_id, original.capture_id,
			    sizeof(original.capture_id));
	assert_int_equal(txtrace_log_next(log, &record), 0);
	txtrace_log_close(log);
}

/* The reader has made no room for a payload yet when it meets this one. */
static void a_batch_without_a_payload_is_damage(void **state)
{
	static uint8_t bytes[2 * LOG_HEADER_MAX_BYTES];
	uint32_t length = log_header_encode(&original, bytes), header_length = length;
	struct txtrace_record record;
	struct txtrace_log *log;

	(void)state;
	length += put_block(bytes + length, LOG_BLOCK_BATCH, "this capture");
	log = open_bytes(bytes, length);
	assert_int_equal(txtrace_log_next(log, &record), 1);
	assert_int_equal(record.kind, TXTRACE_RECORD_DAMAGE);
	assert_int_equal(record.damage.offset_bytes, header_length);
	assert_int_equal(txtrace_log_next(log, &record), 0);
	txtrace_log_close(log);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_header_whose_strings_run_over_its_end_says_nothing),
		cmocka_unit_test(a_header_that_lacks_only_the_magic_says_all),
		cmocka_unit_test(a_log_without_its_magic_keeps_to_its_capture),
		cmocka_unit_test(a_batch_without_a_payload_is_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
