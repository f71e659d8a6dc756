/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A log from the standard input, "-" where a file is named. Reading a log takes
 * a file in which one can seek, for its index, and often a second time; so what
 * comes out of a pipe is first copied into a temporary file without a name.
 */
#ifndef STDIN_LOG_H
#define STDIN_LOG_H

#include "cli/cli.h"

/* The path to open: the same for each call. NULL: a sentence was said. */
const char *stdin_log_path(struct cli *cli);

/* What to call this path: "-", if it is that of the standard input. */
const char *stdin_log_name(const struct cli *cli, const char *path);

#endif
