/* SPDX-License-Identifier: BSD-2-Clause */
/* The other program, `txtrace`: it is where this one is. */
#ifndef TXTRACE_PATH_H
#define TXTRACE_PATH_H

#include <limits.h>

/* 0 or a negative errno. */
int txtrace_path(char path[PATH_MAX]);

#endif
