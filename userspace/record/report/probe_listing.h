/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * txtrace-bpf --list: what could be traced in a process or a file, and how to
 * name it. Needs no privilege but that of reading.
 */
#ifndef PROBE_LISTING_H
#define PROBE_LISTING_H

#include <stdio.h>

#include "base/caller.h"
#include "base/error.h"

/*
 * subject: a pid, or the path of a file, which is opened with the caller's
 * rights. pattern, if it is not NULL, is a shell pattern: only probes and
 * functions whose name matches, alone or as "PROVIDER:NAME", "BINARY:NAME";
 * -ENOENT if none does. 0, or a negative errno and a sentence; then nothing has
 * been printed.
 */
int probe_listing_print(const char *subject, const char *pattern, struct caller *caller, FILE *out,
			struct error *error);

#endif
