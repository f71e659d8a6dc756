/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of txtrace-bpf. */
#ifndef RECORD_OPTIONS_H
#define RECORD_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "attach/target_rules.h"
#include "base/options.h"

struct record_options {
	struct target_rules targets;
	const char *output;
	uint64_t rotate_size_bytes; /* 0: never */
	uint64_t rotate_time_ns;    /* 0: never */
	uint64_t keep;              /* files; 0: all */
	uint64_t keep_size_bytes;   /* 0: any */
	uint64_t queue_size_bytes;
	unsigned int compress;      /* enum log_codec */
	bool is_sync;
	uint64_t duration_ns; /* 0: until stopped */
	uint64_t ring_size_bytes; /* of all rings together; 0: the default */
	const char *stream;   /* NULL: none */
	bool wants_fast_probes;
	bool is_quiet;
	const char *list;     /* NULL: record; else a pid or a file: tell what can be traced there */
	char *const *command; /* NULL: processes are given */
};

/*
 * Parses, and checks what goes together. true: go on; false: it has printed help, the version or a complaint, and *status says how to end.
 */
bool record_options_parse(struct record_options *values, int argc, char **argv, int *status);

#endif
