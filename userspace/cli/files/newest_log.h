/* SPDX-License-Identifier: BSD-2-Clause */
/* The log that a command follows, where it was given a directory. */
#ifndef NEWEST_LOG_H
#define NEWEST_LOG_H

#include "cli/cli.h"

/*
 * The path, or the log in that directory that was written last, without
 * ".partial". To be freed; NULL: a sentence was said.
 */
char *newest_log_path(struct cli *cli, const char *path);

/* The same without a sentence: 0, -ENOENT: the directory has none, or why it can't be read. */
int newest_log_find(const char *path, char **found);

#endif
