/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Is a log what it says it is? Looks at every record, in the order of the log:
 * do ledgers add up, are flags and times consistent, does the order hold, is
 * what is referred to there, do the recorder's own counts add up.
 *
 * What is wrong is counted by check; the first few of each are kept with the
 * place. Some of it is to be expected where events were lost, or where a
 * program misused its marks: then the check has an excuse, once the log is at
 * its end.
 */
#ifndef LOG_CHECK_H
#define LOG_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "txtrace/log.h"

/* In the order in which they are told. */
enum log_check_kind {
	LOG_CHECK_DAMAGE,  /* checksums, lengths, batches that are missing: what the reader finds */
	LOG_CHECK_BATCHES, /* the times in a batch's header are those of its records (block_check.h) */
	/*
	 * of each span that is no lower bound, the ledger sums up to the work, and no span is flagged as
	 * unbalanced
	 */
	LOG_CHECK_BALANCE,
	LOG_CHECK_WORK,    /* of each such span, work = wall, or more if several threads worked for it */
	/*
	 * flags agree with each other and with the rest of the span; numbers of states and reasons are known
	 * ones
	 */
	LOG_CHECK_FLAGS,
	LOG_CHECK_TIMES,   /* nothing ends before it begins */
	LOG_CHECK_ORDER,   /* records stand in the order in which they were finished */
	LOG_CHECK_PARENTS, /* parents are in the log */
	/* spans that have attributes and instants, or that links come from, are in the log */
	LOG_CHECK_MARKS,
	LOG_CHECK_THREADS, /* who runs or is woken, or begins a span, was told of before */
	LOG_CHECK_INDEX,   /* there is one, and it says what is in the batches (block_check.h) */
	LOG_CHECK_SUMMARY, /* there is one, at the end, and sent = received + lost */
	LOG_CHECK_COUNT,
};

const char *log_check_name(enum log_check_kind kind); /* "damage", …; static */

struct log_check_result {
	uint64_t checked_cnt;
	uint64_t problem_cnt;
	const char *excuse;     /* why these problems do not speak against the log; NULL: they do. Static. */
	const char *unchecked;  /* why not all could be looked at; NULL: all were. Static. */
};

#define LOG_CHECK_WHAT_SIZE 192

struct log_check_problem {
	enum log_check_kind kind;
	uint64_t record_number; /* from 1, as 'txtrace dump' counts lines; 0: of the log as a whole */
	uint64_t time_ns;       /* of the record */
	char what[LOG_CHECK_WHAT_SIZE]; /* a phrase of plain ASCII; numbers only, no strings of the log */
};

struct log_check;

/* is_slice: the records that others refer to may have been left out on purpose. NULL: no memory. */
struct log_check *log_check_new(size_t max_bytes, size_t problems_per_check, bool is_slice);
void log_check_free(struct log_check *check);

/* What comes now is of another capture. */
void log_check_begin_capture(struct log_check *check);

/* Parts of the capture are missing on purpose: they are other files. */
void log_check_excuse_parts(struct log_check *check);

void log_check_add(struct log_check *check, const struct txtrace_record *record);

/* What somebody else checked; a problem is of the log as a whole. */
void log_check_count(struct log_check *check, enum log_check_kind kind);
__attribute__((format(printf, 3, 4))) void log_check_complain(struct log_check *check,
							      enum log_check_kind kind, const char *format,
							      ...);

/* The log is at its end. What follows may be asked then. */
void log_check_finish(struct log_check *check);

const struct log_check_result *log_check_result(const struct log_check *check, enum log_check_kind kind);
bool log_check_is_sound(const struct log_check *check);

/* Those that were kept: by kind, then in the order of the log. NULL: behind the last. */
const struct log_check_problem *log_check_problem(const struct log_check *check, size_t idx);

#endif
