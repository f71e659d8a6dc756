/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file that is there when it is complete: written beside under a name of its
 * own, then renamed. What is no regular file (a pipe, /dev/null) is written as
 * it is.
 */
#ifndef OUTPUT_FILE_H
#define OUTPUT_FILE_H

#include <stdbool.h>
#include <stdio.h>

struct output_file {
	FILE *file;
	const char *path;
	char *beside; /* NULL: path is written itself */
};

/* Both are there, and are one file by two names, or by one. */
bool file_is_same(const char *path, const char *other);

/*
 * Refuses, with -EBUSY, to replace the file `input_path`. waits: for somebody
 * who reads the pipe; else -ENXIO. Negative errno (base/named_output.h explains
 * it). path must outlive the output.
 */
int output_file_open(struct output_file *output, const char *path, const char *input_path, bool waits);

/* Flushes, closes, renames. Negative errno, and then nothing is left. */
int output_file_commit(struct output_file *output);

/* Closes and removes what was written. */
void output_file_abort(struct output_file *output);

#endif
