/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which part of a log a command reads: --from, --to and --where. A command sets
 * cli->scope before it opens a log; log_input_next() then leaves out the rest.
 *
 * A record is in the range if it was finished in it: a span where it ended.
 * What lies outside is passed by the log's index. The names of threads and of
 * files come also from the first batch of the log, where the recorder tells
 * what was there when it began.
 *
 * --where is about spans. What is about a span for which the rule does not hold
 * (its attributes, instants, stays, …) is left out, too, if the command looks
 * at such records: then the log is read once more before, to find the spans. Of
 * spans with the same id, one for which it holds keeps that of all.
 */
#ifndef LOG_SCOPE_H
#define LOG_SCOPE_H

#include "cli/files/moment.h"

struct log_scope {
	struct moment from;
	struct moment to;
	const char *where; /* NULL: all spans */
	/* set by the command: what it makes of other records than spans depends on their span */
	bool finds_spans;
	bool needs_no_names; /* records of the range, and no others */
};

/* Entries of an options table; `type` has a member `at`, a struct log_scope. */
#define OPTIONS_SCOPE(type, at)                                                                        \
	OPTION("from", 0, OPTION_CALL, "T",                                                            \
	       "leave out what ended before T: a time since the capture began, as in 1.5s, or one of " \
	       "CLOCK_MONOTONIC as 'txtrace dump' prints them, as in 6098565896422abs",                \
	       offsetof(type, at.from), .call = moment_take),                                          \
		OPTION("to", 0, OPTION_CALL, "T", "leave out what ended at T or later",                \
		       offsetof(type, at.to), .call = moment_take),                                    \
		OPTION_WHERE(type, at)
#define OPTION_WHERE(type, at)                                                                          \
	OPTION("where", 0, OPTION_STRING, "RULE",                                                       \
	       "leave out spans for which RULE does not hold, as in 'label=commit and wall>50ms': the " \
	       "rules of txtrace-bpf --trigger",                                                        \
	       offsetof(type, at.where))

struct log_filter;

/*
 * Of a log that was just opened. NULL in *filter: all of it. CLI_OK, or
 * CLI_FAILED and a sentence was said. paths: what was opened.
 */
int log_filter_new(struct log_filter **filter, const struct log_scope *scope, struct log_input *input,
		   char *const *paths, int path_cnt);
void log_filter_free(struct log_filter *filter); /* NULL is allowed */

enum log_filter_choice {
	LOG_FILTER_SKIP = 0,
	LOG_FILTER_TAKE = 1,
	LOG_FILTER_NAME = 2, /* take it, but it lies outside of the range */
	LOG_FILTER_SEEK = 3, /* skip it, and go to the range */
};

enum log_filter_choice log_filter_choose(struct log_filter *filter, const struct txtrace_log *log,
					 const struct txtrace_record *record);

/* Goes to the range. 0 or a negative errno. */
int log_filter_seek(struct log_filter *filter, struct txtrace_log *log);

/* Whether the rule holds for this span; of a filter that finds spans. NULL: there is none. */
bool log_filter_has_span(const struct log_filter *filter, bool is_keyed, uint32_t pid, uint64_t span);

#endif
