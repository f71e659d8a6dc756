/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Export: a log in somebody else's format. One file per format; each fills in
 * one `struct export_format`, which is one line of the table in export.c. A
 * format is a stream: it sees each record once, in the log's order, and holds
 * memory for open spans and live threads, not for the length of the log. What
 * was lost and what was damaged are callbacks that every format has: no picture
 * without its holes.
 *
 *	const struct export_format *format = export_format_find("jsonl");
 *	struct export_totals totals;
 *	int err = export_log(log, format, out, &totals);
 *
 * docs/export.md describes the formats.
 */
#ifndef EXPORT_H
#define EXPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analyze/log_census.h"
#include "txtrace/log.h"

/* What went through an export. */
struct export_totals {
	struct log_census census;
	int read_error;   /* negative errno with which reading ended early, or 0 */
	bool is_complete; /* the log has its summary, nothing in it was damaged, and it was read to its end */
};

/* A sentence for the user, without the name of the program. */
typedef void export_say(void *context, const char *sentence);

/* Who takes messages one by one, each complete by itself. Returns 0 or a negative errno. */
struct export_sink {
	int (*take)(void *context, const char *bytes, size_t length, uint32_t span_cnt);
	void *context;
};

/*
 * A format. `state` is what open() made. Each callback returns 0 or a negative
 * errno, which ends the export; a callback that is NULL leaves records of its
 * kind out. Strings may hold any bytes: a format writes what is valid in it
 * whatever they are.
 */
struct export_format {
	const char *name;   /* as after --format */
	const char *help;   /* one line */
	const char *suffix; /* of file names: ".jsonl" */
	bool is_binary;     /* not for a terminal */
	/* where its temporary files lie, for messages; NULL: it has none */
	const char *(*work_folder)(void);

	int (*open)(void **state, FILE *out, const struct txtrace_log_info *info);
	/*
	 * instead of open(), of a format that is several files: they are made in this directory, which is
	 * empty and stays the caller's
	 */
	int (*open_in)(void **state, int directory, const struct txtrace_log_info *info);
	/* likewise, of a format that is a sequence of messages, which must be complete after flush() */
	int (*open_sink)(void **state, const struct export_sink *sink, const struct txtrace_log_info *info);
	int (*flush)(void *state);
	/* of a first pass, before any other callback but capture; NULL: none is needed */
	int (*survey)(void *state, const struct txtrace_record *record);
	/* that pass is over the whole log, also if a part is exported: parents may lie outside of it */
	bool surveys_all;
	/* in each pass: what follows is of another capture than the header that was opened, or than before */
	int (*capture)(void *state, const uint8_t capture_id[16]);
	/* of any kind but SUMMARY, instead of what follows for each kind */
	int (*record)(void *state, const struct txtrace_record *record);
	int (*span)(void *state, const struct txtrace_span *span);
	int (*run)(void *state, const struct txtrace_run *run);
	int (*wake)(void *state, const struct txtrace_wake *wake);
	int (*thread)(void *state, const struct txtrace_thread *thread);
	int (*attribute)(void *state, const struct txtrace_attribute *attribute);
	int (*instant)(void *state, const struct txtrace_instant *instant);
	int (*counter)(void *state, const struct txtrace_counter *counter);
	int (*link)(void *state, const struct txtrace_link *link);
	int (*open_span)(void *state, const struct txtrace_open_span *open_span);
	/* never NULL, unless record is there; and so are dropped and damage */
	int (*loss)(void *state, const struct txtrace_loss *loss);
	int (*stay)(void *state, const struct txtrace_stay *stay);
	int (*overlap)(void *state, const struct txtrace_overlap *overlap);
	int (*object)(void *state, const struct txtrace_object *object);
	int (*stack)(void *state, const struct txtrace_stack *stack);
	int (*frames)(void *state, const struct txtrace_frames *frames);
	int (*other_run)(void *state, const struct txtrace_other_run *other_run);
	int (*cost)(void *state, const struct txtrace_cost *cost);
	int (*process)(void *state, const struct txtrace_process *process);
	int (*trigger)(void *state, const struct txtrace_trigger *trigger);
	int (*dropped)(void *state, const struct txtrace_dropped *dropped);
	int (*continued)(void *state, const struct txtrace_continued *continued);
	int (*damage)(void *state, const struct txtrace_damage *damage);
	/* writes what is left, and the end; not called after an error */
	int (*finish)(void *state, const struct export_totals *totals);
	/* then: says what could not be carried, a sentence for each kind; NULL: the format carries all */
	void (*tell)(const void *state, export_say *say, void *context);
	void (*free)(void *state);
};

/* NULL if there is none of that name. */
const struct export_format *export_format_find(const char *name);

/* For help texts: index 0, 1, … until NULL. */
const struct export_format *export_format_at(size_t index);

/*
 * Writes everything that can be read from the log to `out`, and flushes it. 0,
 * or a negative errno: if totals->read_error is set, reading failed
 * (txtrace_log_strerror() has the sentence; the output was ended properly and
 * says that it is incomplete), else writing did.
 */
int export_log(struct txtrace_log *log, const struct export_format *format, FILE *out,
	       struct export_totals *totals);

/*
 * The same in steps, for records that come from elsewhere. `info` and `out`
 * must live as long as the export.
 */
struct export;

/* -EISDIR: the format is one of several files. */
int export_open(struct export **export, const struct export_format *format, FILE *out,
		const struct txtrace_log_info *info);

/* A format with open_in(): its files are made in this directory. */
int export_open_in(struct export **export, const struct export_format *format, int directory,
		   const struct txtrace_log_info *info);

/* A format with open_sink(). `sink` must live as long as the export. */
int export_open_sink(struct export **export, const struct export_format *format,
		     const struct export_sink *sink, const struct txtrace_log_info *info);

/* Of a sink: it gets what there is of the message that is being put together. As export_add(). */
int export_flush(struct export *export);

/*
 * For a format with a survey(): each record of the log, in a first pass before
 * the first export_add(), or, of a log that is being written, some seconds ahead
 * of it. It can be left out: the picture is worse then.
 */
int export_survey(struct export *export, const struct txtrace_record *record);

/* In both passes, before the first record of another capture than that of `info`, or than before. */
int export_begin_capture(struct export *export, const uint8_t capture_id[16]);

/* Negative errno, final: after one, only abort may be called. */
int export_add(struct export *export, const struct txtrace_record *record);

/* To whom the close says what the format could not carry. */
void export_tell_at_close(struct export *export, export_say *say, void *context);

/*
 * Ends and flushes the output, tells the totals (NULL is allowed), frees the
 * export in any case. read_error: 0 or why records are missing.
 */
int export_close(struct export *export, int read_error, struct export_totals *totals);

/*
 * For a format's tell(): a sentence "NAME: COUNT" for each count that is not 0.
 */
void export_tell_counts(const char *const *names, const uint64_t *counts, size_t cnt, export_say *say,
			void *context);

/* Frees the export; what was written stays as it is. NULL is allowed. */
void export_abort(struct export *export);

#endif
