/* SPDX-License-Identifier: BSD-2-Clause */
/* From a log to a format, whatever becomes of either on the way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <unistd.h>

#include "unit/export_feed.h"
#include "log/write/log_writer.h"
#include "unit/random_bytes_record.h"

/* ---- the table ---- */

static void formats_are_found_by_name(void **state)
{
	static const char *const names[] = {
		"jsonl",   "perfetto", "chrome", "ctf",	   "pprof",   "speedscope", "csv",
		"tokio",   "tokio4",   "tokio6", "sui",	   "sui2",    "ftr",	    "ftr-double",
		"ftr-lz4", "ftr-text", "fvm",	 "sqlite", "firefox", "sui-files",  "sui2-files",
		"otlp",    "otlp-json",
	};
	size_t cnt = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_string_equal(export_format_find(names[i])->name, names[i]);
	assert_null(export_format_find("Jsonl"));
	assert_null(export_format_find(""));
	while (export_format_at(cnt))
		cnt++;
	assert_int_equal(cnt, sizeof(names) / sizeof(names[0]));
	assert_null(export_format_at(SIZE_MAX));
}

static void every_format_shows_losses_and_can_be_told_apart(void **state)
{
	const struct export_format *format;

	(void)state;
	for (size_t i = 0; (format = export_format_at(i)); i++) {
		assert_true(format->record || format->loss);
		assert_true(format->record || format->damage);
		assert_ptr_equal(export_format_find(format->name), format);
		assert_int_equal(format->suffix[0], '.');
		assert_int_equal(!format->open, !!format->open_in);
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(export_format_at(j)->suffix, format->suffix);
	}
}

/* ---- from a file ---- */

static char path[] = "/tmp/test_export.XXXXXX";

static int make_log(void **state)
{
	struct log_writer *writer;
	struct txtrace_record span = {
		.kind = TXTRACE_RECORD_SPAN,
		.span = { .id = 1,
			  .pid = 100,
			  .tid = 101,
			  .end_tid = 101,
			  .begin_ns = 1000,
			  .end_ns = 2000,
			  .work_ns = 1000,
			  .ledger.on_cpu_ns = 1000,
			  .label = { "tx", 2 } },
	};
	struct txtrace_record loss = { TXTRACE_RECORD_LOSS,
				       .loss = { .first_ns = 1100, .last_ns = 1200, .span_event_cnt = 3 } };
	struct txtrace_record summary = {
		TXTRACE_RECORD_SUMMARY,
		.summary = { .time_ns = 5000, .sent_cnt = 10, .received_cnt = 7, .lost_cnt = 3 }
	};
	struct log_writer_options options = { .codec = LOG_CODEC_NONE };
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(log_writer_open(&writer, path, &feed_info, &options), 0);
	for (int i = 0; i < 10; i++) {
		span.span.id = (uint64_t)i + 1;
		assert_int_equal(log_writer_add(writer, &span), 0);
	}
	assert_int_equal(log_writer_flush(writer), 0);
	assert_int_equal(log_writer_add(writer, &loss), 0);
	assert_int_equal(log_writer_add(writer, &summary), 0);
	return log_writer_close(writer);
}

static int remove_log(void **state)
{
	(void)state;
	return unlink(path);
}

static char *export_path(const char *name, const char *format, struct export_totals *totals)
{
	struct txtrace_log *log;
	char *bytes;
	size_t length;
	FILE *out = open_memstream(&bytes, &length);

	assert_int_equal(txtrace_log_open(&log, name), 0);
	assert_int_equal(export_log(log, export_format_find(format), out, totals), 0);
	txtrace_log_close(log);
	fclose(out);
	return bytes;
}

static size_t count(const char *text, const char *containing)
{
	size_t cnt = 0;

	for (; (text = strstr(text, containing)); text += strlen(containing))
		cnt++;
	return cnt;
}

static void a_log_goes_through_whole(void **state)
{
	struct export_totals totals;
	char *bytes = export_path(path, "jsonl", &totals);

	(void)state;
	assert_int_equal(count(bytes, "\"type\":\"span\""), 10);
	assert_int_equal(count(bytes, "\"type\":\"loss\""), 1);
	assert_non_null(strstr(bytes, "\"command\":\"./bank -t 2\""));
	assert_non_null(strstr(bytes, "\"sent_cnt\":10,\"received_cnt\":7,\"lost_cnt\":3,"));
	assert_non_null(strstr(bytes, "\"complete\":true}\n"));
	assert_int_equal(totals.census.record_cnt[TXTRACE_RECORD_SPAN], 10);
	assert_int_equal(totals.census.lost_span_event_cnt, 3);
	assert_int_equal(totals.census.first_ns, 1000);
	assert_int_equal(totals.census.last_ns, 5000);
	assert_true(totals.is_complete);
	free(bytes);
}

/*
 * Byte by byte shorter: every format ends properly, no span is made up, and an end that is missing is said.
 */
/* Under AddressSanitizer an open takes milliseconds, for its room: the build without it tries every size. */
#ifdef __SANITIZE_ADDRESS__
#define CUT_STEP 7
#else
#define CUT_STEP 1
#endif

static void a_log_that_was_cut_off_is_exported_and_said_to_be_incomplete(void **state)
{
	char cut_path[] = "/tmp/test_export.XXXXXX", *whole;
	size_t length, last_cnt = 0;
	int fd = mkstemp(cut_path);
	FILE *file = fopen(path, "r");

	(void)state;
	assert_non_null(file);
	assert_int_equal(fseek(file, 0, SEEK_END), 0);
	length = (size_t)ftell(file);
	rewind(file);
	whole = malloc(length);
	assert_int_equal(fread(whole, 1, length, file), length);
	fclose(file);
	for (size_t size = 1; size < length; size += CUT_STEP) {
		struct txtrace_log *log;
		int err;

		assert_int_equal(ftruncate(fd, 0), 0);
		assert_int_equal(pwrite(fd, whole, size, 0), size);
		err = txtrace_log_open(&log, cut_path);
		txtrace_log_close(log);
		if (err)
			continue; /* not even the header is there */
		for (size_t i = 0; export_format_at(i); i++) {
			struct export_totals totals;
			char *bytes;

			if (!export_format_at(i)->open)
				continue; /* several files: tests/cli/export_ctf.sh */
			bytes = export_path(cut_path, export_format_at(i)->name, &totals);

			assert_true(totals.census.record_cnt[TXTRACE_RECORD_SPAN] <= 10);
			/* more bytes, not fewer spans */
			assert_true(totals.census.record_cnt[TXTRACE_RECORD_SPAN] >= last_cnt);
			if (totals.census.record_cnt[TXTRACE_RECORD_SUMMARY] == 0)
				assert_false(totals.is_complete);
			last_cnt = totals.census.record_cnt[TXTRACE_RECORD_SPAN];
			free(bytes);
		}
	}
	assert_int_equal(last_cnt, 10);
	close(fd);
	unlink(cut_path);
	free(whole);
}

/* ---- what can go wrong ---- */

static void a_full_disk_is_the_export_s_error(void **state)
{
	const struct export_format *format;

	(void)state;
	for (size_t i = 0; (format = export_format_at(i)); i++) {
		struct export_totals totals;
		struct txtrace_log *log;
		FILE *full = fopen("/dev/full", "w");

		assert_non_null(full);
		if (!format->open) {
			fclose(full);
			continue; /* its files are elsewhere */
		}
		assert_int_equal(txtrace_log_open(&log, path), 0);
		assert_int_equal(export_log(log, format, full, &totals), -ENOSPC);
		assert_int_equal(totals.read_error, 0);
		txtrace_log_close(log);
		fclose(full);

		full = fopen("/dev/full", "w");
		setvbuf(full, NULL, _IONBF, 0); /* now the very first byte fails */
		assert_int_equal(txtrace_log_open(&log, path), 0);
		assert_int_equal(export_log(log, format, full, &totals), -ENOSPC);
		txtrace_log_close(log);
		fclose(full);
	}
}

static void when_reading_fails_the_output_ends_and_says_so(void **state)
{
	struct feed feed;

	(void)state;
	feed_begin(&feed, "jsonl");
	feed_summary(&feed, .time_ns = 1);
	assert_int_equal(export_close(feed.export, -EIO, &feed.totals), 0);
	fclose(feed.out);
	assert_int_equal(feed.totals.read_error, -EIO);
	assert_false(feed.totals.is_complete);
	assert_non_null(strstr(feed.bytes, "\"read_error\":\"Input/output error\",\"complete\":false}\n"));
	feed_release(&feed);
}

static void a_kind_that_is_not_known_is_left_out(void **state)
{
	struct feed feed;

	(void)state;
	feed_begin(&feed, "jsonl");
	feed_add(&feed, (struct txtrace_record){ .kind = TXTRACE_RECORD_KIND_COUNT });
	feed_add(&feed, (struct txtrace_record){ .kind = UINT32_MAX });
	feed_add(&feed, (struct txtrace_record){ .kind = 0 });
	feed_end(&feed);
	assert_int_equal(count(feed.bytes, "\n"), 2);
	feed_release(&feed);
}

/* ---- anything ---- */

static uint64_t random_number(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* Bytes, some of which look like UTF-8. */
static struct txtrace_string random_string(void *context)
{
	static char bytes[512];
	uint64_t *seed = context;
	size_t length = random_number(seed) % 3 ? random_number(seed) % 8
						: random_number(seed) % sizeof(bytes);

	for (size_t i = 0; i < length; i++)
		bytes[i] = random_number(seed) % 2 ? (char)random_number(seed)
						   : "ab\xc3\xa9\n\""[random_number(seed) % 6];
	return (struct txtrace_string){ length > 0 ? bytes : NULL, length };
}

/* Few different numbers, so that records meet, and the largest. */
static void fill_with_numbers(uint64_t *seed, void *record, size_t size)
{
	for (size_t i = 0; i + 4 <= size; i += 4) {
		uint32_t number = random_number(seed) % 10 ? random_number(seed) % 6 : UINT32_MAX;

		memcpy((char *)record + i, &number, 4);
	}
}

static struct txtrace_record random_record(uint64_t *seed)
{
	struct txtrace_record record;

	fill_with_numbers(seed, &record, sizeof(record));
	record.kind = (uint32_t)(random_number(seed) % TXTRACE_RECORD_KIND_COUNT);
	random_bytes_become_valid(&record, random_string, seed);
	return record;
}

static void records_of_any_content_go_through(void **state)
{
	const struct export_format *format;
	uint64_t seed = 1;

	(void)state;
	for (size_t i = 0; (format = export_format_at(i)); i++) {
		struct feed feed;

		feed_begin(&feed, format->name);
		for (int j = 0; j < 20000; j++)
			feed_add(&feed, random_record(&seed));
		feed_end(&feed);
		for (const char *at = feed.bytes; at < feed.bytes + feed.length && !format->is_binary; at++)
			assert_true((unsigned char)*at >= 0x20 || *at == '\n' || *at == '\r');
		feed_release(&feed);
	}
}

static void an_export_can_be_given_up(void **state)
{
	(void)state;
	export_abort(NULL);
	for (size_t i = 0; export_format_at(i); i++) {
		struct feed feed;

		feed_begin(&feed, export_format_at(i)->name);
		feed_attribute(&feed, .span = 5, .name = feed_string("a"));
		feed_open_span(&feed, .id = 6);
		feed_span(&feed, .id = 7, .end_tid = 1);
		export_abort(feed.export);
		fclose(feed.out);
		feed_release(&feed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(formats_are_found_by_name),
		cmocka_unit_test(every_format_shows_losses_and_can_be_told_apart),
		cmocka_unit_test(a_log_goes_through_whole),
		cmocka_unit_test(a_log_that_was_cut_off_is_exported_and_said_to_be_incomplete),
		cmocka_unit_test(a_full_disk_is_the_export_s_error),
		cmocka_unit_test(when_reading_fails_the_output_ends_and_says_so),
		cmocka_unit_test(a_kind_that_is_not_known_is_left_out),
		cmocka_unit_test(records_of_any_content_go_through),
		cmocka_unit_test(an_export_can_be_given_up),
	};

	return cmocka_run_group_tests_name("export", tests, make_log, remove_log);
}
