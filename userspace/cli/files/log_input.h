/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A log, of one or several files, as a command reads it: opens it, tells what
 * can't be read and where, shows how far it is when that takes long, and knows
 * in the end which exit status the log deserves.
 *
 *	struct log_input input;
 *	struct txtrace_record record;
 *	int status = log_input_open(&input, cli, paths, path_cnt, true);
 *
 *	if (status != CLI_OK)
 *		return status;                          a sentence was said
 *	while (log_input_next(&input, &record))
 *		use(&record);                           also records of damage
 *	return log_input_close(&input);                 CLI_OK, CLI_INCOMPLETE or CLI_FAILED
 */
#ifndef LOG_INPUT_H
#define LOG_INPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/log_census.h"
#include "cli/cli.h"
#include "cli/files/progress.h"
#include "txtrace/log.h"

/* --nest, and cli->nest: which parents spans have that were recorded without one. */
enum log_nest {
	LOG_NEST_NONE = 0, /* what is in the log */
	/* what their threads were in, see analyze/thread_nest.h: the log is read twice */
	LOG_NEST_THREAD = 1,
};

extern const char *const log_nest_choices[];

/* The entry of an options table; `type` has a member `at`, an unsigned int. */
#define OPTION_NEST(type, at)                                                                         \
	OPTION("nest", 0, OPTION_CHOICE, "HOW",                                                       \
	       "for logs of format 1.1 and older: the parents of spans that name none: none, or the " \
	       "span that their thread was in (default none)",                                        \
	       offsetof(type, at), .choices = log_nest_choices)

struct thread_nest;
struct log_filter;

struct log_input {
	struct cli *cli;
	const char *path; /* as it was given; of several "the first and 2 more" */
	char *several;	  /* what path points to then */
	struct txtrace_log *log;
	struct txtrace_log_info info; /* of the first file */
	uint8_t capture_id[16];	      /* of the file that is read */
	/* by the record that came last: it is of another capture than those before */
	bool has_begun_capture;
	struct log_census census;  /* of what was read so far */
	struct log_filter *filter; /* of cli->scope; NULL: all is read */
	uint64_t before_ns;	   /* the first time of what was left out before the first record; or 0 */
	int err;		   /* with which reading ended, or 0 */
	bool is_at_end;
	bool has_sought; /* what came before was not read */
	/* may be set after the open: what is missing is not said, as the same file is read again */
	bool is_quiet;
	struct progress progress;
	struct thread_nest *nest; /* NULL: spans come as they are */
};

/*
 * All logs of these files and directories as one; "-" is the standard input,
 * which is first copied into a temporary file. Only what cli->scope wants is
 * read. wants_progress: nothing else
 * goes to a terminal meanwhile. Large ones are decoded ahead, by as many
 * threads as TXTRACE_THREADS says, or as there are CPUs to spare.
 */
int log_input_open(struct log_input *input, struct cli *cli, char *const *paths, int path_cnt,
		   bool wants_progress);

/*
 * A file that is still being written: see txtrace_log_follow(). *is_too_early:
 * its recorder has just begun, try again; nothing was said.
 */
int log_input_follow(struct log_input *input, struct cli *cli, const char *path, bool *is_too_early);

/*
 * Before the first record: goes to the first batch with a record that finished
 * at time_ns or later. CLI_OK, or CLI_FAILED and a sentence was said.
 */
int log_input_seek(struct log_input *input, uint64_t time_ns);

/* The same; and what follows is without batches in which nothing finished at to_ns or before; 0: all. */
int log_input_seek_range(struct log_input *input, uint64_t from_ns, uint64_t to_ns);

/*
 * false: the end, or an error that log_input_close() will tell, or, following,
 * nothing more is there yet: then is_at_end is not set. Strings in the record
 * live until the next call.
 */
bool log_input_next(struct log_input *input, struct txtrace_record *record);

/* The first time in the log: what times are shown from. */
uint64_t log_input_begin_ns(const struct log_input *input);

/*
 * For a command that makes one log of it: CLI_OK, or CLI_FAILED and a sentence
 * was said, as they are several captures.
 */
int log_input_check_one_capture(const struct log_input *input);

/* Whether path is one of the files that are read, by whatever name. */
bool log_input_has_file(const struct log_input *input, const char *path);

uint64_t log_input_total_bytes(const struct log_input *input);

/* Says what was missing, once, and closes. */
int log_input_close(struct log_input *input);

/*
 * The end of a command that read it: says that it can't do what was wanted
 * ("report on") if there was an error, unless that is -ECANCELED: then it was
 * said. Closes, and knows the exit status.
 */
int log_input_end(struct log_input *input, int err, const char *what);

#endif
