/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Logs of every version of the format, as its own writer wrote them, are read. tests/golden/README.md tells how the files came to be;
 * "test_log_golden make FOLDER" writes those of this version.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unit/log_samples.h"

#define FOLDER "tests/golden"

enum content { EXAMPLE, EXTREME_VALUES, RANDOM_WORLD };

/* What the golden logs of version 1.0 hold, and the text beside them. */
static const struct golden {
	const char *log;
	const char *text;
	enum content content;
	enum log_codec codec;
} goldens[] = {
	{ "log-1.0-example-none.txtrace", "log-1.0-example.txt", EXAMPLE, LOG_CODEC_NONE },
	{ "log-1.0-extreme-none.txtrace", "log-1.0-extreme.txt", EXTREME_VALUES, LOG_CODEC_NONE },
	{ "log-1.0-world-zstd.txtrace", "log-1.0-world.txt", RANDOM_WORLD, LOG_CODEC_ZSTD },
	{ "log-1.0-world-lz4.txtrace", "log-1.0-world.txt", RANDOM_WORLD, LOG_CODEC_LZ4 },
};

#define GOLDEN_CNT (sizeof(goldens) / sizeof(goldens[0]))

static char *read_text(const char *path)
{
	FILE *in = fopen(path, "r");
	char *text = calloc(1, SAMPLE_LINE_BYTES);

	assert_non_null(in);
	assert_in_range(fread(text, 1, SAMPLE_LINE_BYTES - 1, in), 1, SAMPLE_LINE_BYTES - 2);
	fclose(in);
	return text;
}

static void golden_logs_are_read(void **state)
{
	char path[4096];

	(void)state;
	for (size_t i = 0; i < GOLDEN_CNT; i++) {
		unsigned int damage_cnt = 0;
		char *expected, *text;

		snprintf(path, sizeof(path), FOLDER "/%s", goldens[i].text);
		expected = read_text(path);
		snprintf(path, sizeof(path), FOLDER "/%s", goldens[i].log);
		text = read_sample(path, &damage_cnt);
		assert_int_equal(damage_cnt, 0);
		assert_string_equal(text, expected);
		free(text);
		free(expected);
	}
}

static void golden_headers_are_read(void **state)
{
	char path[4096];

	(void)state;
	for (size_t i = 0; i < GOLDEN_CNT; i++) {
		const struct txtrace_log_info *info;
		struct txtrace_log *log;

		snprintf(path, sizeof(path), FOLDER "/%s", goldens[i].log);
		assert_int_equal(txtrace_log_open(&log, path), 0);
		info = txtrace_log_info(log);
		assert_int_equal(info->version_major, 1);
		assert_int_equal(info->version_minor, 0);
		assert_memory_equal(info->capture_id, sample_info.capture_id, 16);
		assert_string_equal(info->command, sample_info.command);
		assert_string_equal(info->options, sample_info.options);
		txtrace_log_close(log);
	}
}

/* The log that docs/log-format.md takes apart: a thread works, is pushed off, and works on until the span is done. */
static const struct txtrace_record example[] = {
	{ .kind = TXTRACE_RECORD_RUN,
	  .run = { .tid = 7, .pid = 7, .cpu = 1, .begin_ns = 3600000001000, .end_ns = 3600000001500, .left_as = TXTRACE_LEFT_PREEMPTED, .syscall_nr = -1 } },
	{ .kind = TXTRACE_RECORD_SPAN,
	  .span = { .id = 5, .pid = 7, .tid = 7, .end_tid = 7, .begin_ns = 3600000001400, .end_ns = 3600000002100, .work_ns = 700,
		    .ledger = { .on_cpu_ns = 400, .runnable_ns = 300 }, .label = STRING("pay"), .tag = STRING("k=1") } },
};

static void put(struct log_writer *writer, FILE *text, const struct txtrace_record *record)
{
	if (log_writer_add(writer, record))
		abort();
	put_record(text, record);
}

static void put_content(struct log_writer *writer, FILE *text, enum content content)
{
	struct sample_world world = new_world(11);
	struct txtrace_record record;

	for (size_t i = 0; content == EXAMPLE && i < sizeof(example) / sizeof(example[0]); i++)
		put(writer, text, &example[i]);
	for (size_t i = 0; content == EXTREME_VALUES && i < EXTREME_RECORD_CNT; i++) {
		put(writer, text, &extreme_records[i]);
		if (i % 10 == 9)
			log_writer_flush(writer);
	}
	for (size_t i = 0; content == RANDOM_WORLD && i < 200; i++) {
		next_record(&world, &record);
		put(writer, text, &record);
		if (i % 90 == 89)
			log_writer_flush(writer);
	}
}

static int make(const char *folder)
{
	char path[4096];

	for (size_t i = 0; i < GOLDEN_CNT; i++) {
		struct log_writer_options options = { .codec = goldens[i].codec };
		struct log_writer *writer;
		FILE *text;

		snprintf(path, sizeof(path), "%s/%s", folder, goldens[i].text);
		text = fopen(path, "w");
		snprintf(path, sizeof(path), "%s/%s", folder, goldens[i].log);
		if (!text || log_writer_open(&writer, path, &sample_info, &options))
			return 1;
		put_content(writer, text, goldens[i].content);
		fclose(text);
		if (log_writer_close(writer))
			return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(golden_logs_are_read),
		cmocka_unit_test(golden_headers_are_read),
	};

	if (argc == 3 && !strcmp(argv[1], "make"))
		return make(argv[2]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
