/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Imports another tool's trace as a log. Each format is a file of its own that
 * fills in a `struct import_format`, which is one line of the table in
 * import.c. A format reads its inputs from front to back and adds each record
 * when it is complete. Its memory is bounded by what is open at a time, not by
 * the length of the input.
 *
 * What the input does not say is unknown in the log, never 0: all of a span's
 * time is unknown_ns if the input has only its begin and its end. Times are ns
 * of one clock; import_begin() says how they relate to the wall clock.
 * import_note() reports what the log can't carry, import_complain() what is
 * damaged.
 *
 *	struct import_result result;
 *	int err = import_run(format, paths, path_cnt, &options, &sink, &result);
 *
 * docs/formats.md describes the formats.
 */
#ifndef IMPORT_H
#define IMPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "import/import_source.h"
#include "txtrace/log.h"

#define IMPORT_HEAD_BYTES 4096 /* what a format is recognised by: so many at the start of an input */

/* Where the log goes. Each function returns 0 or a negative errno, which ends the import. */
struct import_sink {
	/* once, before the first record */
	int (*begin)(void *context, const struct txtrace_log_info *info);
	/* a record of damage tells the readers of the log that something is missing here */
	int (*add)(void *context, struct txtrace_record *record);
	/* a sentence for the user, without the name of the program */
	void (*say)(void *context, const char *sentence);
	/* after each record: how much of the inputs was read; total: UINT64_MAX if not known. May be NULL. */
	void (*progress)(void *context, uint64_t done_bytes, uint64_t total_bytes);
	/* of an import that follows its input: waits so long; true: the user has seen enough. May be NULL. */
	bool (*wait)(void *context, uint64_t time_ns);
	void *context;
};

struct import;

struct import_format {
	const char *name; /* as after --format */
	const char *help; /* one line */
	/*
	 * Whether an input that begins with these bytes (unpacked; at most IMPORT_HEAD_BYTES) is of this
	 * format. The table is asked from its top: formats with a magic number come before those without.
	 */
	bool (*is_format)(const uint8_t *head, size_t length);
	/* of a directory, the files that belong to the format, by their names; NULL: all */
	bool (*is_member)(const char *name);
	/*
	 * Reads all inputs (import_next_source()) and adds what they say. A negative errno: nothing more can
	 * be had, and import_refuse() or the source has said why.
	 */
	int (*read)(struct import *import);
	bool can_follow; /* an input that is still being written */
};

/* For help texts: index 0, 1, … until NULL. */
const struct import_format *import_format_at(size_t index);

/* What only some formats ask about. All zero: each finds it out. */
struct import_options {
	uint32_t sui_variants; /* Sui's event types: 2 or 4 */
	const char *lanes;     /* Sui: a file that says which objects a transaction takes (sui_lanes.h) */
	bool is_following;     /* what is added to the input is read until nobody writes it any more */
	bool with_payloads;    /* Monad: of events, as attributes */
	const char *pairs;     /* perf, ftrace: BEGIN=END,…: events that are spans; NULL: none */
	const char *directory; /* where files without a name may be made; NULL: where the program runs */
};

struct import_result {
	uint64_t record_cnt;
	uint64_t problem_cnt; /* places in the inputs that could not be read */
	/* why there is nothing; empty: there is a log */
	struct error error;
};

/*
 * Reads the inputs into the sink. `format` NULL: found out from the first
 * input. A directory stands for the files in it, in the order of the numbers in
 * their names. 0: the sink has a log, which lacks what was complained about if
 * problem_cnt is not 0. -ECANCELED: there is no log, and result->error says
 * why. Any other negative errno: the sink failed.
 */
int import_run(const struct import_format *format, const char *const *paths, size_t path_cnt,
	       const struct import_options *options, const struct import_sink *sink,
	       struct import_result *result);

/* ---- for formats ---- */

/*
 * The next input, open and at its beginning, until the call after: 1; 0: there
 * is none left; a negative errno: it can't be read, and that was said.
 */
int import_next_source(struct import *import, struct import_source **source);

/*
 * For a format that reads its inputs twice: the next source is the first one
 * again. Only if all are files, which import_can_rewind() says.
 */
bool import_can_rewind(const struct import *import);
void import_rewind(struct import *import);

/* For a format that follows: see struct import_sink. */
bool import_wait(struct import *import, uint64_t time_ns);

/* As they were given to import_run(). */
const struct import_options *import_options(const struct import *import);

/*
 * Once, before the first record: the header of the log. start_monotonic_ns and
 * start_realtime_ns are the same moment; where the format knows only the wall
 * clock they are equal, and record times are ns since the epoch. Where it knows
 * no wall clock start_realtime_ns is 0. The recorder's name and the ids are
 * filled in: each import is a capture of its own, and has a clock of its own.
 */
int import_begin(struct import *import, const struct txtrace_log_info *info);

/* Adds one record. Strings are copied. */
int import_add(struct import *import, struct txtrace_record *record);

/*
 * A place in the current input can't be read: the sentence, which begins with
 * what is wrong, is said with the input's name and the offset; readers of the
 * log are told that something is missing. Reading may go on behind it. Of many,
 * the first few are said, and at the end how many there were. 0, or what the
 * sink failed with.
 */
__attribute__((format(printf, 3, 4))) int import_complain(struct import *import, uint64_t offset,
							  const char *format, ...);

/*
 * The current input, or the first one if none was asked for, is not of this
 * format, or of a version that can't be read: the sentence becomes
 * result->error. Returns -ECANCELED.
 */
__attribute__((format(printf, 2, 3))) int import_refuse(struct import *import, const char *format, ...);

/* Says a sentence. For the end of an import: what the log can't carry, and how much of that there was. */
__attribute__((format(printf, 2, 3))) void import_note(struct import *import, const char *format, ...);

#endif
