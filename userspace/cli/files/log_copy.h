/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What most commands that make a log out of a log have in common: all records
 * of one go into the other, but for what the command changes.
 */
#ifndef LOG_COPY_H
#define LOG_COPY_H

#include "cli/cli.h"
#include "cli/files/log_input.h"
#include "log/write/log_writer.h"
#include "txtrace/log.h"

struct log_copy {
	char *const *inputs;
	int input_cnt;
	const char *output;
	enum log_codec codec;

	/* May change the header of the output; NULL: it is that of the input. Negative errno. */
	int (*change_info)(void *context, struct txtrace_log_info *info);

	/*
	 * 1: the record, which it may change, goes into the output; 0: it does not; negative errno. NULL: all
	 * do. Not asked about damage.
	 */
	int (*change)(void *context, struct txtrace_record *record);
	void *context;
};

/* Returns enum cli_status. What went wrong is said. */
int log_copy(struct cli *cli, const struct log_copy *copy);

/* The same for an input that is open, which it closes. */
int log_copy_from(const struct log_copy *copy, struct log_input *input);

/*
 * Says so if the input is of a newer minor version: what this one does not know
 * of it is left out. Returns CLI_INCOMPLETE then, or CLI_OK.
 */
int log_copy_warn_newer(const struct log_input *input);

/* The option --output of such a command is required. Returns CLI_OK, or says what is wrong. */
int log_copy_check_output(struct cli *cli, const char *command, const char *output);

#endif
