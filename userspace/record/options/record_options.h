/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of txtrace-bpf. */
#ifndef RECORD_OPTIONS_H
#define RECORD_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "attach/process/target_rules.h"
#include "base/caller.h"
#include "base/error.h"
#include "base/options.h"
#include "base/text.h"
#include "base/word_list.h"
#include "log/write/log_writer.h"
#include "record/flight/flight_rules.h"
#include "record/options/span_choices.h"

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

enum stack_unwind_way {
	STACK_UNWIND_DWARF = 0,
	STACK_UNWIND_FRAME_POINTERS = 1,
};

struct stack_choice {
	bool off_cpu;
	bool on_cpu;
};

/* How marks of txtrace.h come here. */
enum marks_mode {
	MARKS_PROBE = 0, /* through a probe for each kind of mark */
	MARKS_RING = 1,  /* through memory that the program shares with the recorder, where it can */
	MARKS_AUTO = 2,  /* likewise, where that is possible here */
};

struct record_options {
	struct target_rules targets;
	const char *output;
	struct log_writer_limits limits;
	uint64_t queue_size_bytes;
	unsigned int compress;      /* enum log_codec */
	bool is_sync;
	uint64_t duration_ns; /* 0: until stopped */
	uint64_t ring_size_bytes; /* of all rings together; 0: the default */
	uint64_t span_memory_bytes;
	const char *stream;   /* NULL: none */
	const char *stack_list; /* as it was given; NULL: none */
	struct stack_choice stacks;
	uint64_t stack_rate;  /* samples a second */
	unsigned int unwind;  /* enum stack_unwind_way */
	bool is_without_futex_names;
	bool wants_fast_probes;
	bool wants_irq;
	bool wants_otel; /* contexts that threads publish */
	bool wants_threads; /* alone: no probe is attached, so there are no spans */
	unsigned int sched;   /* enum sched_mode */
	unsigned int marks;   /* enum marks_mode */
	struct span_choices choices;
	struct flight_rules flight;
	bool wants_check;
	bool wants_json; /* only with it */
	struct option_file config; /* its text belongs to the options */
	const char *metrics;       /* an address; NULL: nobody asks */
	const char *metrics_file;  /* NULL: none */
	const char *otlp;	   /* a receiver of spans; NULL: none */
	const char *otlp_headers;  /* a file; NULL: none */
	unsigned int messages;     /* enum message_format */
	bool is_quiet;
	bool wants_top; /* a live view while recording */
	uint64_t dump_pid;    /* 0: record; else let that recorder write what it has */
	bool is_unconfined;
	const char *list;     /* NULL: record; else a pid or a file: tell what can be traced there */
	const char *list_pattern; /* NULL: all of it */
	uint64_t repeat;      /* runs of the command, each into a log of its own; 0: one, as ever */
	const char *base_text;
	struct word_list base; /* its words; .argv NULL: there is no base */
	struct foreign_options foreign;
	struct caller *caller; /* whose rights open the files that are named here; main's, no option */
	int argc; /* what all of this was read from */
	char **argv;
	char *const *command; /* NULL: processes are given */
};

/*
 * Parses, and checks what goes together. true: go on; false: it has printed
 * help, the version or a complaint, and *status says how to end.
 */
bool record_options_parse(struct record_options *values, int argc, char **argv, int *status);

/*
 * Reads the command line and the file of options again. fresh is to be released
 * in any case. -EINVAL and a sentence.
 */
int record_options_read_again(const struct record_options *options, struct record_options *fresh,
			      struct error *error);

/*
 * Appends the names of options that are not the same in both, but for those
 * that take effect while recording goes on.
 */
void record_options_append_unlike(const struct record_options *options, const struct record_options *fresh,
				  struct text *names);

void record_options_release(struct record_options *options);

#endif
