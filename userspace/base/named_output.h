/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opens what somebody has named to be written to. A symbolic link in the last
 * place is never followed, what is there is not truncated, and a file is made
 * anew.
 */
#ifndef NAMED_OUTPUT_H
#define NAMED_OUTPUT_H

#include <stdbool.h>

/*
 * *fd: of a device, a pipe, or what we were given ourselves (/dev/stdout,
 * /dev/stderr, /dev/fd/N), to be written as it is; -1: the path is an ordinary
 * file's, or nobody's. waits: for somebody who reads the pipe. 0, or a negative
 * errno: -EISDIR, -ELOOP (a link to a device or pipe), -ENXIO (nobody reads the
 * pipe), -ESTALE (it was replaced meanwhile).
 */
int named_output_special(int *fd, const char *path, bool waits);

/*
 * A new, empty file of mode 0600 under this name, in place of what had it. A
 * descriptor, or a negative errno.
 */
int named_output_make(const char *path);

/* strerror() for a person who named the path. err: negative errno. */
const char *named_output_explain(int err);

#endif
