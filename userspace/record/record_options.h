/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of txtrace-bpf. */
#ifndef RECORD_OPTIONS_H
#define RECORD_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/options.h"

enum stack_unwind_way {
	STACK_UNWIND_DWARF = 0,
	STACK_UNWIND_FRAME_POINTERS = 1,
};

struct stack_choice {
	bool off_cpu;
	bool on_cpu;
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
	const char *stack_list; /* as it was given; NULL: none */
	struct stack_choice stacks;
	uint64_t stack_rate;  /* samples a second */
	unsigned int unwind;  /* enum stack_unwind_way */
	bool is_without_futex_names;
	bool wants_fast_probes;
	bool is_quiet;
	char *const *command; /* NULL: a pid is given */
};

/*
 * Parses, and checks what goes together. true: go on; false: it has printed help, the version or a complaint, and *status says how to end.
 */
bool record_options_parse(struct record_options *values, int argc, char **argv, int *status);

#endif
