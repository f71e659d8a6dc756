/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A log that queries read, as often as they like: a source for sql/. What is
 * wrong with the log is told once, whoever reads it.
 */
#ifndef QUERY_INPUT_H
#define QUERY_INPUT_H

#include "cli/files/log_input.h"
#include "sql/sql_source.h"

struct query_input {
	struct sql_source source;
	struct cli *cli;
	char *const *paths;
	int path_cnt;
	bool wants_progress;
	bool is_telling; /* a reader that tells what is wrong is open */
	bool has_told;	 /* one has come to the end */
	int status;	 /* the worst so far: CLI_OK, CLI_INCOMPLETE, CLI_FAILED */
};

/* Looks whether the log can be read. CLI_OK, or CLI_FAILED and a sentence was said. */
int query_input_init(struct query_input *input, struct cli *cli, char *const *paths, int path_cnt,
		     bool wants_progress);

#endif
