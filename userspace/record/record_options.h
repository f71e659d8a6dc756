/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of txtrace-bpf. */
#ifndef RECORD_OPTIONS_H
#define RECORD_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/options.h"

#define FOREIGN_OPTION_MAX 64

/* Spans of programs that were never changed; the strings are argv's. */
struct foreign_options {
	const char *spans[FOREIGN_OPTION_MAX];
	const char *funcs[FOREIGN_OPTION_MAX];
	const char *presets[FOREIGN_OPTION_MAX];
	size_t span_cnt;
	size_t func_cnt;
	size_t preset_cnt;
	uint64_t func_limit;       /* 0: the default */
	unsigned int func_returns; /* enum foreign_returns */
};

struct record_options {
	uint64_t pid;         /* 0: a command is given */
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
	struct foreign_options foreign;
	char *const *command; /* NULL: a pid is given */
};

/*
 * Parses, and checks what goes together. true: go on; false: it has printed help, the version or a complaint, and *status says how to end.
 */
bool record_options_parse(struct record_options *values, int argc, char **argv, int *status);

#endif
