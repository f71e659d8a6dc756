/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the log is: the path that -o means, and afterwards the files that the
 * recording left there, in words.
 */
#ifndef LOG_PLACE_H
#define LOG_PLACE_H

#include <stddef.h>

#include "base/text.h"
#include "log/file/log_file.h"

#define LOG_PLACE_DEFAULT "txtrace.txtrace"
#define REPEAT_PLACE_DEFAULT "txtrace-runs" /* of --repeat: a directory */

/* `output`, or DEFAULT in it if it is a directory. -ENAMETOOLONG. */
int log_place_path(const char *output, char *path, size_t size);

/* How many files there are. */
size_t log_place_cnt(const char *path, const struct log_file_names *names);

/*
 * "'app.000001.txtrace', 'app.000002.txtrace' and 'app.txtrace'", the oldest
 * first; of more than ten: "'first' to 'last'"
 */
void log_place_append(struct text *text, const char *path, const struct log_file_names *names);

/*
 * The same as arguments of a command; of more than ten, if the name has an
 * extension, the pattern of all files of that name.
 */
void log_place_append_arguments(struct text *text, const char *path, const struct log_file_names *names);

#endif
