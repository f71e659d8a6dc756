/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is written to a log is read from it: every kind, every codec, extreme and random values, any division
 * into batches.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "log/format/record_table.h"
#include "unit/log_samples.h"

static const enum log_codec codecs[] = { LOG_CODEC_NONE, LOG_CODEC_ZSTD, LOG_CODEC_LZ4 };

static void assert_log_holds(const char *path, const char *expected)
{
	unsigned int damage_cnt = 0;
	char *text = read_sample(path, &damage_cnt);

	assert_int_equal(damage_cnt, 0);
	assert_string_equal(text, expected);
	free(text);
	unlink(path);
}

static void extreme_values_come_back(void **state)
{
	(void)state;
	for (size_t i = 0; i < 3; i++) {
		const char *path = sample_path("extreme");
		struct log_writer *writer = open_sample(path, codecs[i], 0);
		char *expected;
		size_t length;
		FILE *out = open_memstream(&expected, &length);

		for (size_t round = 0; round < 2; round++) {
			for (size_t j = 0; j < EXTREME_RECORD_CNT; j++) {
				assert_int_equal(log_writer_add(writer, &extreme_records[j]), 0);
				put_record(out, &extreme_records[j]);
			}
		}
		fclose(out);
		assert_int_equal(log_writer_close(writer), 0);
		assert_log_holds(path, expected);
		free(expected);
	}
}

/* Each alone in its batch, so that nothing is helped by what came before. */
static void each_kind_stands_alone(void **state)
{
	const char *path = sample_path("alone");
	struct log_writer *writer = open_sample(path, LOG_CODEC_ZSTD, 0);
	char *expected;
	size_t length;
	FILE *out = open_memstream(&expected, &length);

	(void)state;
	for (size_t i = 0; i < EXTREME_RECORD_CNT; i++) {
		assert_int_equal(log_writer_add(writer, &extreme_records[i]), 0);
		assert_int_equal(log_writer_flush(writer), 0);
		put_record(out, &extreme_records[i]);
	}
	for (size_t i = 0; i < PROCESS_RECORD_CNT; i++) {
		assert_int_equal(log_writer_add(writer, &process_records[i]), 0);
		assert_int_equal(log_writer_flush(writer), 0);
		put_record(out, &process_records[i]);
	}
	fclose(out);
	assert_int_equal(log_writer_records(writer), EXTREME_RECORD_CNT + PROCESS_RECORD_CNT);
	assert_int_equal(log_writer_close(writer), 0);
	assert_log_holds(path, expected);
	free(expected);
}

static void random_records_come_back(uint64_t seed, unsigned int record_cnt, enum log_codec codec,
				     size_t batch_bytes)
{
	struct sample_world world = new_world(seed);
	const char *path = sample_path("random");
	struct log_writer *writer = open_sample(path, codec, batch_bytes);
	struct txtrace_record record;
	char *expected;
	size_t length;
	FILE *out = open_memstream(&expected, &length);

	for (unsigned int i = 0; i < record_cnt; i++) {
		next_record(&world, &record);
		assert_int_equal(log_writer_add(writer, &record), 0);
		put_record(out, &record);
		if (next_random(&world) % 500 == 0)
			assert_int_equal(log_writer_flush(writer), 0);
	}
	fclose(out);
	assert_int_equal(log_writer_close(writer), 0);
	assert_log_holds(path, expected);
	free(expected);
}

static void random_worlds_come_back(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 60; seed++)
		random_records_come_back(seed, (unsigned int)(seed * 37 % 3000), codecs[seed % 3],
					 seed % 2 ? 0 : 2000);
	random_records_come_back(61, 150000, LOG_CODEC_ZSTD, 64u << 20);
}

/* More threads, names, texts, objects and shapes than a batch can hold: it is closed, and the next begins. */
static void full_tables_close_the_batch(void **state)
{
	const char *path = sample_path("full");
	struct log_writer *writer = open_sample(path, LOG_CODEC_ZSTD, 64u << 20);
	char *expected, label[16], tag[16];
	size_t length;
	FILE *out = open_memstream(&expected, &length);

	(void)state;
	for (uint32_t i = 0; i < 40000; i++) {
		struct txtrace_record run = { .kind = TXTRACE_RECORD_RUN,
					      .run = { .tid = i,
						       .pid = i / 2,
						       .cpu = i % 7,
						       .begin_ns = i,
						       .end_ns = i + 1,
						       .object = i * 8 } };
		struct txtrace_record span = {
			.kind = TXTRACE_RECORD_SPAN,
			.span = { .id = i, .tid = i, .end_ns = i + 1, .end_tid = i / 3 }
		};

		span.span.label = (struct txtrace_string){ label, (size_t)snprintf(label, sizeof(label),
										   "label %u", i) };
		span.span.tag = (struct txtrace_string){ tag,
							 (size_t)snprintf(tag, sizeof(tag), "tag=%u", i) };
		assert_int_equal(log_writer_add(writer, &run), 0);
		assert_int_equal(log_writer_add(writer, &span), 0);
		put_record(out, &run);
		put_record(out, &span);
	}
	fclose(out);
	assert_int_equal(log_writer_close(writer), 0);
	assert_log_holds(path, expected);
	free(expected);
}

/* Strings of the greatest length are taken, and many of them; a longer one is refused and that is final. */
static void long_strings_have_a_limit(void **state)
{
	const char *path = sample_path("long");
	struct log_writer *writer = open_sample(path, LOG_CODEC_LZ4, 0);
	struct txtrace_record record = { .kind = TXTRACE_RECORD_ATTRIBUTE };
	char *bytes = malloc(LOG_STRING_MAX_BYTES + 1), *expected;
	size_t length;
	FILE *out = open_memstream(&expected, &length);

	(void)state;
	memset(bytes, 'x', LOG_STRING_MAX_BYTES + 1);
	for (unsigned int i = 0; i < 40; i++) {
		bytes[i] = 'y';
		record.attribute.name = (struct txtrace_string){ bytes, LOG_STRINGS_MAX_BYTES -
										LOG_STRING_MAX_BYTES };
		record.attribute.string = (struct txtrace_string){ bytes, LOG_STRING_MAX_BYTES - i };
		assert_int_equal(log_writer_add(writer, &record), 0);
		put_record(out, &record);
	}
	assert_int_equal(log_writer_close(writer), 0);
	fclose(out);
	assert_log_holds(path, expected);

	writer = open_sample(path, LOG_CODEC_NONE, 0);
	record.attribute.string.length = LOG_STRING_MAX_BYTES + 1;
	assert_int_equal(log_writer_add(writer, &record), -E2BIG);
	record.attribute.string.length = 1;
	assert_int_equal(log_writer_add(writer, &record), -E2BIG);
	log_writer_abort(writer);
	writer = open_sample(path, LOG_CODEC_NONE, 0);
	record.attribute.name.length++;
	record.attribute.string.length = LOG_STRING_MAX_BYTES;
	assert_int_equal(log_writer_add(writer, &record), -E2BIG);
	log_writer_abort(writer);
	free(expected);
	free(bytes);
}

static void what_is_no_record_is_refused(void **state)
{
	static const uint32_t kinds[] = { 0, TXTRACE_RECORD_DAMAGE, TXTRACE_RECORD_KIND_COUNT, UINT32_MAX };

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct log_writer *writer = open_sample(sample_path("refused"), LOG_CODEC_NONE, 0);
		struct txtrace_record record = { .kind = kinds[i] };

		assert_int_equal(log_writer_add(writer, &record), -EINVAL);
		log_writer_abort(writer);
	}
}

static void the_header_comes_back(void **state)
{
	const char *path = sample_path("header");
	struct log_writer *writer = open_sample(path, LOG_CODEC_ZSTD, 0);
	const struct txtrace_log_info *info;
	struct txtrace_record record;
	struct txtrace_log *log;

	(void)state;
	assert_int_equal(log_writer_close(writer), 0);
	assert_int_equal(txtrace_log_open(&log, path), 0);
	info = txtrace_log_info(log);
	assert_int_equal(info->version_major, LOG_VERSION_MAJOR);
	assert_int_equal(info->version_minor, LOG_VERSION_MINOR);
	assert_memory_equal(info->capture_id, sample_info.capture_id, 16);
	assert_memory_equal(info->boot_id, sample_info.boot_id, 16);
	assert_int_equal(info->start_monotonic_ns, sample_info.start_monotonic_ns);
	assert_int_equal(info->start_realtime_ns, sample_info.start_realtime_ns);
	assert_int_equal(info->pid, sample_info.pid);
	assert_int_equal(info->cpu_cnt, sample_info.cpu_cnt);
	assert_string_equal(info->host, sample_info.host);
	assert_string_equal(info->kernel, sample_info.kernel);
	assert_string_equal(info->command, sample_info.command);
	assert_string_equal(info->recorder, sample_info.recorder);
	assert_string_equal(info->options, sample_info.options);
	assert_int_equal(txtrace_log_next(log, &record), 0);
	assert_int_equal(txtrace_log_next(log, &record), 0);
	assert_true(txtrace_log_is_complete(log));
	txtrace_log_close(log);
	unlink(path);
}

/* The wall clock was set forward by an hour in the middle. */
static void the_wall_clock_may_be_set(void **state)
{
	const char *path = sample_path("clock");
	struct log_writer *writer = open_sample(path, LOG_CODEC_ZSTD, 0);
	struct txtrace_record record = { .kind = TXTRACE_RECORD_WAKE };
	struct txtrace_log *log;

	(void)state;
	record.wake.time_ns = sample_info.start_monotonic_ns + 5;
	assert_int_equal(log_writer_add(writer, &record), 0);
	assert_int_equal(log_writer_flush(writer), 0);
	log_writer_set_anchor(writer, sample_info.start_monotonic_ns + 10,
			      sample_info.start_realtime_ns + 10 + 3600000000000);
	assert_int_equal(log_writer_add(writer, &record), 0);
	assert_int_equal(log_writer_close(writer), 0);

	assert_int_equal(txtrace_log_open(&log, path), 0);
	assert_int_equal(txtrace_log_realtime_ns(log, sample_info.start_monotonic_ns + 7),
			 sample_info.start_realtime_ns + 7);
	assert_int_equal(txtrace_log_next(log, &record), 1);
	assert_int_equal(txtrace_log_realtime_ns(log, record.wake.time_ns),
			 sample_info.start_realtime_ns + 5);
	assert_int_equal(txtrace_log_next(log, &record), 1);
	assert_int_equal(txtrace_log_realtime_ns(log, record.wake.time_ns),
			 sample_info.start_realtime_ns + 5 + 3600000000000);
	txtrace_log_close(log);
	unlink(path);
}

/* Wakeups that differ in nothing but their times: in the same spans throughout, and in none. */
static void wakeups_keep_their_spans(void **state)
{
	const char *path = sample_path("wakeups");
	struct log_writer *writer = open_sample(path, LOG_CODEC_NONE, 0);
	struct txtrace_record record;
	struct txtrace_log *log;

	(void)state;
	for (uint64_t i = 0; i < 300; i++) {
		struct txtrace_record wake = { .kind = TXTRACE_RECORD_WAKE,
					       .wake = { .time_ns = 1000 + i, .pid = 5, .tid = 6 + i % 3 } };

		wake.wake.span = i % 3 == 2 ? 0 : 1000;
		wake.wake.waker_span = i % 3 == 1 ? 77 : 0;
		assert_int_equal(log_writer_add(writer, &wake), 0);
	}
	assert_int_equal(log_writer_close(writer), 0);

	assert_int_equal(txtrace_log_open(&log, path), 0);
	for (uint64_t i = 0; i < 300; i++) {
		assert_int_equal(txtrace_log_next(log, &record), 1);
		assert_int_equal(record.wake.span, i % 3 == 2 ? 0 : 1000);
		assert_int_equal(record.wake.waker_span, i % 3 == 1 ? 77 : 0);
	}
	txtrace_log_close(log);
	unlink(path);
}

static void ledgers_add_up_without_wrapping(void **state)
{
	struct txtrace_ledger ledger = { 1, 2, { 10, 20, 30, 40, 50, 60, 70, 80, 90 }, 3, 4, 0, 5 };

	(void)state;
	assert_int_equal(txtrace_ledger_blocked_ns(&ledger), 450);
	assert_int_equal(txtrace_ledger_sum_ns(&ledger), 465);
	ledger.blocked_ns[4] = UINT64_MAX - 5;
	assert_int_equal(txtrace_ledger_blocked_ns(&ledger), UINT64_MAX);
	assert_int_equal(txtrace_ledger_sum_ns(&ledger), UINT64_MAX);
	assert_string_equal(txtrace_block_reason_name(TXTRACE_BLOCK_PAGE_FAULT), "page_fault");
	assert_null(txtrace_block_reason_name(TXTRACE_BLOCK_REASON_COUNT));
	assert_null(txtrace_record_kind_name(0));
	for (unsigned int i = 1; i < TXTRACE_RECORD_KIND_COUNT; i++)
		assert_int_equal(txtrace_record_kind_name(i) != NULL,
				 i == TXTRACE_RECORD_DAMAGE ||
					 (i < LOG_KIND_COUNT && record_kinds[i].log_field_cnt));
	assert_null(txtrace_record_kind_name(TXTRACE_RECORD_KIND_COUNT));
	for (unsigned int i = 0; i < TXTRACE_ANOMALY_COUNT; i++)
		assert_non_null(txtrace_anomaly_name(i));
	assert_null(txtrace_anomaly_name(TXTRACE_ANOMALY_COUNT));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(extreme_values_come_back),
		cmocka_unit_test(each_kind_stands_alone),
		cmocka_unit_test(random_worlds_come_back),
		cmocka_unit_test(full_tables_close_the_batch),
		cmocka_unit_test(long_strings_have_a_limit),
		cmocka_unit_test(what_is_no_record_is_refused),
		cmocka_unit_test(the_header_comes_back),
		cmocka_unit_test(the_wall_clock_may_be_set),
		cmocka_unit_test(wakeups_keep_their_spans),
		cmocka_unit_test(ledgers_add_up_without_wrapping),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
