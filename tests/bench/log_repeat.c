/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A long log out of a short one: its records again and again, each time behind the ones before, until it is
 * so long. Or a part of it: the records of one kind alone. With --kinds the labels become so many times as
 * many, and so, up to a hundred times, processes, threads and CPUs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../programs/program_options.h"
#include "analyze/id_shift.h"
#include "analyze/log_census.h"
#include "log/write/log_writer.h"

#define PID_RANGES 100

enum { ALL, SPANS, SCHED };

struct repeat {
	struct log_writer *writer;
	int what;
	struct id_shift shift;
	uint64_t kind_cnt; /* 0: the labels as they are */
	uint64_t round;
	uint64_t span_cnt;
	struct log_census census; /* of the first round: how long it is */
	struct txtrace_record summary;
};

__attribute__((noreturn)) static void fail(const char *what, const char *path)
{
	fprintf(stderr, "log_repeat: %s '%s'\n", what, path);
	exit(1);
}

static bool is_wanted(int what, uint32_t kind)
{
	if (what == SPANS)
		return kind == TXTRACE_RECORD_SPAN;
	return what == ALL || kind == TXTRACE_RECORD_RUN || kind == TXTRACE_RECORD_WAKE;
}

static int add(struct repeat *repeat, struct txtrace_record *record)
{
	char label[512];
	int err = id_shift_apply(&repeat->shift, record);

	if (err || !is_wanted(repeat->what, record->kind))
		return err;
	if (record->kind == TXTRACE_RECORD_SUMMARY) {
		repeat->summary = *record;
		return 0;
	}
	if (record->kind == TXTRACE_RECORD_SPAN && repeat->kind_cnt) {
		int length = snprintf(label, sizeof(label), "%.*s %llu", (int)record->span.label.length,
				      record->span.label.bytes,
				      (unsigned long long)(repeat->span_cnt++ % repeat->kind_cnt));

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

static int parse_what(const char *only)
{
	static const char *const names[] = { [ALL] = "all", [SPANS] = "spans", [SCHED] = "sched" };

	for (int i = 0; i < 3; i++)
		if (!strcmp(only, names[i]))
			return i;
	fail("--only takes all, spans or sched, not", only);
}

int main(int argc, char **argv)
{
	const struct log_writer_options log_options = { .codec = LOG_CODEC_ZSTD };
	struct repeat repeat = { .round = 0 };
	const char *in = "", *out = "", *only = "all";
	uint64_t megabytes = 0;
	const struct option_spec table[] = {
		{ .name = "in", .help = "the log to read", .text = &in },
		{ .name = "out", .help = "the log to write", .text = &out },
		{ .name = "only", .help = "all, spans, or sched: stays on CPUs and wakeups", .text = &only },
		{ .name = "megabytes",
		  .help = "how long it is to become; 0: once is enough",
		  .count = &megabytes,
		  .max = 1e6 },
		{ .name = "kinds",
		  .help = "how many labels of each; 0: as they are",
		  .count = &repeat.kind_cnt,
		  .max = 1e9 },
	};
	struct txtrace_log *log;

	options_parse(table, sizeof(table) / sizeof(table[0]), "log_repeat: a long log out of a short one",
		      argc, argv);
	repeat.what = parse_what(only);
	if (txtrace_log_open(&log, in))
		fail("cannot read", in);
	if (log_writer_open(&repeat.writer, out, txtrace_log_info(log), &log_options))
		fail("cannot write", out);
	txtrace_log_close(log);
	do {
		add_round(&repeat, in);
	} while (log_writer_bytes(repeat.writer) < megabytes * 1000000);
	if (repeat.summary.kind == TXTRACE_RECORD_SUMMARY && log_writer_add(repeat.writer, &repeat.summary))
		fail("cannot write", out);
	if (log_writer_close(repeat.writer))
		fail("cannot write", out);
	return 0;
}
