/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a tool writes: the wall clock of each record, gaps where the input was damaged, and nothing at all
 * after a failure.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/files/log_copy.h"
#include "cli/files/log_output.h"
#include "log/format/log_format.h"

static char folder[64];

static int make_folder(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/test_cli_log_output.XXXXXX");
	return mkdtemp(folder) ? chdir(folder) : -1;
}

static int remove_folder(void **state)
{
	(void)state;
	unlink("in");
	unlink("out");
	return chdir("/") || rmdir(folder);
}

static void open_cli(struct cli *cli)
{
	FILE *nowhere = fopen("/dev/null", "w");

	assert_non_null(nowhere);
	cli_init(cli, "txtrace", nowhere, nowhere);
}

static void close_cli(struct cli *cli)
{
	fclose(cli->out.file);
}

static struct txtrace_record instant(uint64_t time_ns)
{
	return (struct txtrace_record){
		.kind = TXTRACE_RECORD_INSTANT,
		.instant = { .time_ns = time_ns, .pid = 1, .tid = 1, .name = { "x", 1 } }
	};
}

/*
 * The wall clock is set by a second after the record at 1,000,000; each later reading differs by some ns from
 * the one before.
 */
static void write_input(void)
{
	const struct txtrace_log_info info = { .start_monotonic_ns = 1000, .start_realtime_ns = 5000001000 };
	const struct log_writer_options options = { .codec = LOG_CODEC_NONE };
	const struct txtrace_record summary = { .kind = TXTRACE_RECORD_SUMMARY,
						.summary = { .time_ns = 9000000 } };
	struct log_writer *writer;

	assert_int_equal(log_writer_open(&writer, "in", &info, &options), 0);
	for (uint64_t i = 1; i < 9; i++) {
		const struct txtrace_record record = instant(i * 1000000);

		assert_int_equal(log_writer_add(writer, &record), 0);
		assert_int_equal(log_writer_flush(writer), 0);
		log_writer_set_anchor(writer, i * 1000000, i * 1000000 + 6000000000 + i);
	}
	assert_int_equal(log_writer_add(writer, &summary), 0);
	assert_int_equal(log_writer_close(writer), 0);
}

static void the_wall_clock_goes_along(void **state)
{
	struct cli cli;
	struct txtrace_log *log;
	struct txtrace_record record;
	char *const inputs[] = { (char *)"in" };
	uint64_t offset;

	(void)state;
	write_input();
	open_cli(&cli);
	assert_int_equal(log_copy(&cli, &(struct log_copy){ .inputs = inputs,
							    .input_cnt = 1,
							    .output = "out",
							    .codec = LOG_CODEC_ZSTD }),
			 CLI_OK);
	assert_int_equal(txtrace_log_open(&log, "out"), 0);
	assert_int_equal(txtrace_log_info(log)->start_monotonic_ns, 1000);
	assert_int_equal(txtrace_log_info(log)->start_realtime_ns, 5000001000);
	for (uint64_t i = 1; i < 9; i++) {
		assert_int_equal(txtrace_log_next(log, &record), 1);
		assert_int_equal(record.instant.time_ns, i * 1000000);
		offset = txtrace_log_realtime_ns(log, i * 1000000) - i * 1000000;
		if (i == 1)
			assert_int_equal(offset, 5000000000);
		else
			assert_in_range(offset, 6000000000, 6000020000);
	}
	assert_int_equal(txtrace_log_next(log, &record), 1);
	assert_int_equal(record.kind, TXTRACE_RECORD_SUMMARY);
	assert_int_equal(txtrace_log_next(log, &record), 0);
	assert_true(txtrace_log_is_complete(log));
	txtrace_log_close(log);
	close_cli(&cli);
}

static void a_gap_is_told(void **state)
{
	const struct txtrace_log_info info = { .start_monotonic_ns = 1000 };
	struct txtrace_record first = instant(1), second = instant(2),
			      damage = { .kind = TXTRACE_RECORD_DAMAGE }, record;
	struct log_output output;
	struct txtrace_log *log;
	struct cli cli;
	static const uint32_t kinds[] = { TXTRACE_RECORD_INSTANT, TXTRACE_RECORD_DAMAGE,
					  TXTRACE_RECORD_INSTANT };

	(void)state;
	open_cli(&cli);
	assert_int_equal(log_output_open(&output, &cli, "out", &info, LOG_CODEC_ZSTD), CLI_OK);
	assert_int_equal(log_output_add(&output, &first, 0), 0);
	assert_int_equal(log_output_add(&output, &damage, 0), 0);
	assert_int_equal(log_output_add(&output, &second, 0), 0);
	assert_int_equal(log_output_close(&output, 0, 2), CLI_OK);
	assert_int_equal(txtrace_log_open(&log, "out"), 0);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(txtrace_log_next(log, &record), 1);
		assert_int_equal(record.kind, kinds[i]);
	}
	assert_int_equal(txtrace_log_next(log, &record), 0);
	txtrace_log_close(log);
	close_cli(&cli);
}

/* A string has at most 1 MiB. A reader takes more, from a log that somebody forged. */
static void what_is_too_long_is_left_out(void **state)
{
	const struct txtrace_log_info info = { .start_monotonic_ns = 1000 };
	char *bytes = calloc(1, LOG_STRING_MAX_BYTES + 1);
	struct txtrace_record good = instant(1), bad = instant(2), record;
	struct log_output output;
	struct txtrace_log *log;
	struct cli cli;

	(void)state;
	bad.instant.name = (struct txtrace_string){ bytes, LOG_STRING_MAX_BYTES + 1 };
	open_cli(&cli);
	assert_int_equal(log_output_open(&output, &cli, "out", &info, LOG_CODEC_ZSTD), CLI_OK);
	assert_int_equal(log_output_add(&output, &good, 0), 0);
	assert_int_equal(log_output_add(&output, &bad, 0), 0);
	assert_int_equal(log_output_close(&output, 0, 2), CLI_INCOMPLETE);
	assert_int_equal(txtrace_log_open(&log, "out"), 0);
	assert_int_equal(txtrace_log_next(log, &record), 1);
	assert_int_equal(record.instant.time_ns, 1);
	assert_int_equal(txtrace_log_next(log, &record), 1);
	assert_int_equal(record.kind, TXTRACE_RECORD_DAMAGE);
	assert_int_equal(txtrace_log_next(log, &record), 0);
	txtrace_log_close(log);
	close_cli(&cli);
	free(bytes);
}

static void a_failure_leaves_nothing(void **state)
{
	const struct txtrace_log_info info = { .start_monotonic_ns = 1000 };
	struct txtrace_record record = instant(1);
	struct log_output output;
	struct cli cli;

	(void)state;
	unlink("in");
	unlink("out");
	open_cli(&cli);
	assert_int_equal(log_output_open(&output, &cli, "out", &info, LOG_CODEC_ZSTD), CLI_OK);
	assert_int_equal(log_output_add(&output, &record, 0), 0);
	assert_int_equal(log_output_close(&output, -28, 1), CLI_FAILED);
	close_cli(&cli);
	assert_int_equal(rmdir(folder), 0); /* it is empty */
	assert_int_equal(make_folder(NULL), 0);
}

/* Between the two renames: the file is complete, and has not its name yet. */
static void a_kill_just_before_the_end_leaves_nothing(void **state)
{
	const struct txtrace_log_info info = { .start_monotonic_ns = 1000 };
	const struct log_writer_options options = { .codec = LOG_CODEC_NONE };
	struct txtrace_record record = instant(1);
	struct log_beside beside;
	struct log_writer *writer;
	int status, tries = 12000;
	pid_t child = fork();

	(void)state;
	if (child == 0) {
		if (!log_beside_init(&beside, "out") &&
		    !log_writer_open(&writer, log_beside_name(&beside), &info, &options) &&
		    !log_writer_add(writer, &record) && !log_writer_close(writer) &&
		    !access(beside.name, F_OK))
			kill(getpid(), SIGKILL);
		_exit(1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	while (rmdir(folder) && tries--) /* until it is empty */
		usleep(10000);
	assert_true(tries > 0);
	assert_int_equal(make_folder(NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_wall_clock_goes_along),
		cmocka_unit_test(a_gap_is_told),
		cmocka_unit_test(what_is_too_long_is_left_out),
		cmocka_unit_test(a_failure_leaves_nothing),
		cmocka_unit_test(a_kill_just_before_the_end_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
