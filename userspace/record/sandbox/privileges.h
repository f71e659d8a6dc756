/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the recorder may do, and when it gives that up. It starts with what it
 * was given (root, or some capabilities) and keeps, once the target is traced,
 * what recording goes on to need and nothing else:
 *
 *	privileges_plan()      at the start, before there are threads: what will be kept, for which of the
 *	                       options
 *	privileges_lacking()   a sentence: what does not work without capabilities that we do not have
 *	capabilities_keep()    in each thread, for good: one of the sets
 *
 * Which capability is kept for what is a table in privileges.c, and in
 * txtrace-bpf(1).
 */
#ifndef PRIVILEGES_H
#define PRIVILEGES_H

#include <stdbool.h>
#include <stdint.h>

#include "attach/probes/kernel_features.h"
#include "base/error.h"

struct privileges_needs {
	const struct kernel_features *features;
	const char *log_path;
	const char *metrics_file; /* NULL: none */
	bool has_command;         /* that may run as another user */
	bool has_caller;          /* whose rights open files (base/caller.h): sudo's */
};

/* Sets of capabilities (attach/process/capabilities.h). */
struct privileges {
	uint64_t held;      /* at the start */
	uint64_t recording; /* of what is held: needed while recording */
	uint64_t writing;   /* of what is held: needed by the thread that writes the log */
	uint64_t timing;    /* of what is held: needed by the process that has the kernel time BPF programs */
};

void privileges_plan(struct privileges *privileges, const struct privileges_needs *needs);

/* false: nothing is lacking that would be of use. */
bool privileges_lacking(const struct privileges *privileges, struct error *sentence);

#endif
