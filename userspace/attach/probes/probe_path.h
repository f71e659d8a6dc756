/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The path under which a file is named to the kernel for a probe. Kernels
 * before 5.15 do not tell a program which of its probes was hit, but keep that
 * path, and let the program read it (bpf/compat.h): so the path says the
 * cookie. Besides, it leads to the file, whatever the file's name is now.
 */
#ifndef PROBE_PATH_H
#define PROBE_PATH_H

#include <stdint.h>

#define PROBE_PATH_SIZE 96

/* Of the file open at fd; cookie: 16 bits of it are kept (txtrace/foreign.h). Returns the path. */
const char *probe_path_format(char path[PROBE_PATH_SIZE], int fd, uint64_t cookie);

#endif
