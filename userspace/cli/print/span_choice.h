/* SPDX-License-Identifier: BSD-2-Clause */
/* Which span a command is about, and all that the log tells of its time: shared by show and critical-path. */
#ifndef SPAN_CHOICE_H
#define SPAN_CHOICE_H

#include "analyze/log_census.h"
#include "analyze/span/span_window.h"
#include "analyze/thread_names.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/files/log_input.h"

/* The options that both have; a member of theirs. */
struct span_choice {
	uint64_t pid; /* 0: any */
	uint64_t nth;
	uint64_t max_memory_bytes;
	unsigned int nest;
	bool is_keyed;
};

#define SPAN_CHOICE_DEFAULTS { .nth = 1, .max_memory_bytes = 1 << 30 }

/* Entries of an options table; `type` has a member `choice`. */
#define SPAN_CHOICE_OPTIONS(type)									\
	OPTION("pid", 'p', OPTION_U64, "PID", "a span of this process (ids are unique in one)", \
		offsetof(type, choice.pid), .minimum = 1, \
	       .maximum = UINT32_MAX),									\
	OPTION("keyed", 'k', OPTION_FLAG, NULL, "a keyed span: the recorder assigned its id", \
		offsetof(type, choice.is_keyed)), \
	OPTION("nth", 0, OPTION_U64, "N", "the N-th span with this id, if it was used again (default 1)", \
		offsetof(type, choice.nth), \
	       .minimum = 1),										\
	OPTION_NEST(type, choice.nest),									\
	OPTION("max-memory", 0, OPTION_SIZE, "SIZE", \
		"memory limit for what happened while it was open (default 1G)", \
	       offsetof(type, choice.max_memory_bytes), .minimum = 1 << 20)

struct chosen_span {
	struct span_query query;
	struct span_window window;
	struct thread_names *names;
	struct txtrace_log_info info;
	struct log_census census;
	int status; /* what the log deserves, when all else went well */
};

/*
 * operands: FILE… and ID. true: *chosen is filled, to be released; false: a
 * sentence was said, and *status says how to end.
 */
bool span_choice_load(struct cli *cli, const struct span_choice *choice,
		      const struct options_result *operands, bool wants_all_threads,
		      struct chosen_span *chosen, int *status);
void chosen_span_release(struct chosen_span *chosen);

/* "worker-1 4201", or the number alone. */
void chosen_span_append_thread(const struct chosen_span *chosen, struct text *text, uint32_t pid,
			       uint32_t tid);

/* "flush", "(no span)", by the index in the window. */
void chosen_span_append_label(const struct chosen_span *chosen, struct text *text, size_t span);

/*
 * Who ended a wait: "flush (worker-2 12)", "worker-2 12", "(timer)", "(nobody
 * known)"; nothing if the wakeup is not in the log.
 */
void chosen_span_append_waker(const struct chosen_span *chosen, struct text *text,
			      const struct window_segment *wait);

/*
 * The same as members "waker" ({"kind", "name"}) and "waker_tid", "waker_pid",
 * "waker_span" of the open object.
 */
void chosen_span_waker_json(const struct chosen_span *chosen, struct json *json,
			    const struct window_segment *wait);

/* "checkout", its id, tag and ledger: the lines above what is shown. */
void chosen_span_print_header(const struct chosen_span *chosen, const struct screen *screen);

/* Says what is missing: below what is shown. */
void chosen_span_print_missing(const struct chosen_span *chosen, const struct screen *screen);

/* "on_cpu", "runnable", "blocked", "unknown". */
extern const char *const window_state_names[];

#endif
