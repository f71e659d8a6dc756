/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as a log that `txtrace repair` is given. It fails, or what it writes is sound: complete, nothing
 * skipped, an index that fits, no record that was not in the input, and repairing it once more changes no
 * byte.
 */
#include <fcntl.h>

#include "analyze/files/block_check.h"
#include "cli/commands/command.h"
#include "fuzz/fuzz_checksums.h"
#include "fuzz/fuzz_laws.h"
#include "fuzz/fuzz_prints.h"

#define PIPE_BYTES (1 << 20)

static FILE *nowhere;

static void read_prints(const char *path, struct prints *prints)
{
	struct txtrace_log *log;

	LAW(!txtrace_log_open(&log, path));
	prints_read(prints, log);
	txtrace_log_close(log);
}

/*
 * A pipe is written directly: no file, and no child that would guard it. Returns how long the output is, or
 * -1: there is none.
 */
static ssize_t repair(const char *path, uint8_t *output, size_t room)
{
	static int ends[2];
	static char to[32];
	char *argv[] = { (char *)"repair", (char *)"-o", to, (char *)path, NULL };
	struct cli cli;
	ssize_t got;
	int status;

	if (!nowhere) {
		nowhere = fopen("/dev/null", "w");
		LAW(nowhere && !pipe2(ends, O_CLOEXEC | O_NONBLOCK) &&
		    fcntl(ends[1], F_SETPIPE_SZ, PIPE_BYTES) >= PIPE_BYTES);
		snprintf(to, sizeof(to), "/proc/self/fd/%d", ends[1]);
	}
	cli_init(&cli, "txtrace", nowhere, nowhere);
	status = command_repair.run(&cli, 4, argv);
	got = read(ends[0], output, room);
	if (status == CLI_FAILED)
		return -1;
	LAW(got > 0 && (size_t)got < room);
	return got;
}

static void law_of_indices(const char *path)
{
	struct log_check *check = log_check_new(1u << 20, 4, false);

	LAW(check && !block_check(check, path, NULL, NULL));
	log_check_finish(check);
	LAW(log_check_result(check, LOG_CHECK_INDEX)->problem_cnt == 0);
	log_check_free(check);
}

static void law_of_repaired(const struct prints *before, const char *path)
{
	static struct prints after;

	read_prints(path, &after);
	LAW(after.is_complete && after.damaged_bytes == 0);
	LAW(prints_are_among(&after, before));
	LAW(before->damaged_bytes || after.cnt == before->cnt);
	law_of_indices(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct fuzz_file input, output;
	static struct prints before;
	static uint8_t once[PIPE_BYTES], twice[PIPE_BYTES];
	ssize_t length;

	if (size > PIPE_BYTES / 4)
		return 0;
	fuzz_file_set(&input, data, size);
	length = repair(input.path, once, sizeof(once));
	if (length < 0)
		return 0;
	read_prints(input.path, &before);
	if (before.is_too_long)
		return 0;
	fuzz_file_set(&output, once, (size_t)length);
	law_of_repaired(&before, output.path);
	LAW(repair(output.path, twice, sizeof(twice)) == length && !memcmp(once, twice, (size_t)length));
	return 0;
}
