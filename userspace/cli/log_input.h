/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A log as a command reads it: opens it, tells what can't be read and where, shows how far it is when that takes long, and knows in
 * the end which exit status the log deserves.
 *
 *	struct log_input input;
 *	struct txtrace_record record;
 *	int status = log_input_open(&input, cli, path, true);
 *
 *	if (status != CLI_OK)
 *		return status;                          a sentence was said
 *	while (log_input_next(&input, &record))
 *		use(&record);                           also records of damage
 *	return log_input_close(&input);                 CLI_OK, CLI_INCOMPLETE or CLI_FAILED
 */
#ifndef LOG_INPUT_H
#define LOG_INPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/log_census.h"
#include "cli/cli.h"
#include "cli/progress.h"
#include "txtrace/log.h"

struct log_input {
	struct cli *cli;
	const char *path;
	struct txtrace_log *log;
	struct log_census census; /* of what was read so far */
	int err;                  /* with which reading ended, or 0 */
	bool is_at_end;
	const struct log_census *counted_by; /* may be set after the open: the census of somebody who counts all records; then ours is empty */
	unsigned int damage_line_cnt;
	bool is_quiet; /* may be set after the open: what is missing is not said, as the same file is read again */
	struct progress progress;
};

/* wants_progress: nothing else goes to a terminal meanwhile. */
int log_input_open(struct log_input *input, struct cli *cli, const char *path, bool wants_progress);

/* false: the end, or an error that log_input_close() will tell. Strings in the record live until the next call. */
bool log_input_next(struct log_input *input, struct txtrace_record *record);

uint64_t log_input_total_bytes(const struct log_input *input);

/* Says what was missing, once, and closes. */
int log_input_close(struct log_input *input);

#endif
