/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log_repeat IN OUT MEGABYTES [KINDS]: a long log out of a short one: its records again and again, each time behind the ones before, until OUT
 * has so many megabytes. With KINDS the labels become so many times as many, and processes, threads and CPUs as many as there is room for.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/id_shift.h"
#include "analyze/log_census.h"
#include "log/log_writer.h"

#define PID_RANGES 100

struct repeat {
	struct log_writer *writer;
	struct id_shift shift;
	uint64_t kind_cnt; /* 0: the labels as they are */
	uint64_t round;
	struct log_census census; /* of the first round: how long it is */
	struct txtrace_record summary;
};

__attribute__((noreturn)) static void fail(const char *what, const char *path)
{
	fprintf(stderr, "log_repeat: %s '%s'\n", what, path);
	exit(1);
}

static int add(struct repeat *repeat, struct txtrace_record *record)
{
	char label[512];
	int err = id_shift_apply(&repeat->shift, record);

	if (err)
		return err;
	if (record->kind == TXTRACE_RECORD_SUMMARY) {
		repeat->summary = *record;
		return 0;
	}
	if (record->kind == TXTRACE_RECORD_SPAN && repeat->kind_cnt) {
		int length = snprintf(label, sizeof(label), "%.*s %llu", (int)record->span.label.length, record->span.label.bytes,
				      (unsigned long long)(repeat->round % repeat->kind_cnt));

		record->span.label = (struct txtrace_string){ label, (size_t)length };
	}
	return log_writer_add(repeat->writer, record);
}

static void add_round(struct repeat *repeat, const char *path)
{
	struct txtrace_record record;
	struct txtrace_log *log;

	if (txtrace_log_open(&log, path))
		fail("cannot read", path);
	while (txtrace_log_next(log, &record) > 0) {
		if (!repeat->round)
			log_census_add(&repeat->census, &record);
		if (add(repeat, &record))
			fail("cannot repeat", path);
	}
	txtrace_log_close(log);
	repeat->round++;
	repeat->shift.time_ns += repeat->census.last_ns - repeat->census.first_ns + 1000;
	if (repeat->kind_cnt)
		repeat->shift.pid_range = repeat->shift.cpu_range = (uint32_t)(repeat->round % PID_RANGES);
}

int main(int argc, char **argv)
{
	const struct log_writer_options options = { .codec = LOG_CODEC_ZSTD };
	struct repeat repeat = { .kind_cnt = argc > 4 ? strtoull(argv[4], NULL, 10) : 0 };
	struct txtrace_log *log;
	uint64_t bytes;

	if (argc < 4 || (bytes = strtoull(argv[3], NULL, 10) * 1000000) == 0)
		fail("usage: IN OUT MEGABYTES [KINDS], not", argc > 3 ? argv[3] : "");
	if (txtrace_log_open(&log, argv[1]))
		fail("cannot read", argv[1]);
	if (log_writer_open(&repeat.writer, argv[2], txtrace_log_info(log), &options))
		fail("cannot write", argv[2]);
	txtrace_log_close(log);
	while (log_writer_bytes(repeat.writer) < bytes)
		add_round(&repeat, argv[1]);
	if (repeat.summary.kind == TXTRACE_RECORD_SUMMARY && log_writer_add(repeat.writer, &repeat.summary))
		fail("cannot write", argv[2]);
	if (log_writer_close(repeat.writer))
		fail("cannot write", argv[2]);
	return 0;
}
