/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A directory of files that is there when it is complete: made beside under a
 * name of its own, then renamed. It never replaces anything but an empty
 * directory.
 */
#ifndef OUTPUT_DIRECTORY_H
#define OUTPUT_DIRECTORY_H

struct output_directory {
	int fd;       /* the files are made here */
	char *path;   /* without a '/' at its end */
	char *beside;
};

/*
 * -EEXIST: there is something already, and no empty directory; or another
 * negative errno (base/named_output.h explains it).
 */
int output_directory_open(struct output_directory *output, const char *path);

/* Renames. Negative errno, and then nothing is left. Frees the output in any case. */
int output_directory_commit(struct output_directory *output);

/* Removes what was made. */
void output_directory_abort(struct output_directory *output);

#endif
