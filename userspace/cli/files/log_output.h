/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A log as a command writes it: beside, under a name that nobody else has, and
 * renamed when it is complete. A command that fails, is interrupted or killed
 * leaves nothing (log_beside.h). What stood at OUT before stays until then, and
 * an input is never written over.
 *
 *	struct log_output output;
 *	int status = log_output_open(&output, cli, path, &target);
 *
 *	if (status != CLI_OK)
 *		return status;                                          a sentence was said
 *	while (!err && (next record))
 *		err = log_output_add(&output, &record, clock_ns);
 *	return log_output_close(&output, err, cnt);                     CLI_OK, CLI_INCOMPLETE or CLI_FAILED;
 *	                                                                told
 */
#ifndef LOG_OUTPUT_H
#define LOG_OUTPUT_H

#include <stdint.h>

#include "cli/cli.h"
#include "cli/files/log_beside.h"
#include "cli/files/log_input.h"
#include "log/write/log_writer.h"
#include "txtrace/log.h"

struct log_output {
	struct cli *cli;
	struct log_beside beside;
	struct log_writer *writer;
	uint64_t clock_ns; /* of the last record, see log_output_add() */
	uint64_t record_cnt;
	uint64_t too_long_cnt;
};

/* Refuses with a sentence if path is one of the files that are read. */
int log_output_check(const char *path, const struct log_input *input);

int log_output_open(struct log_output *output, struct cli *cli, const char *path,
		    const struct txtrace_log_info *info, enum log_codec codec);

/*
 * clock_ns: what the wall clock has ahead of CLOCK_MONOTONIC at this record,
 * modulo 2^64: txtrace_log_realtime_ns(log, 0) of the log that it comes from.
 * It is kept to 20 µs. A record of damage tells the readers of the output that
 * something is missing there. A negative errno: then close.
 */
int log_output_add(struct log_output *output, struct txtrace_record *record, uint64_t clock_ns);

/*
 * err: 0, or what the command failed with, which is said. Without one it says
 * how many records of from_cnt are in the output, and how large that is.
 */
int log_output_close(struct log_output *output, int err, uint64_t from_cnt);

/* The same for a command that has said itself why there will be no output. */
void log_output_abort(struct log_output *output);

#endif
