/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The columns of a thread in a profile of Firefox Profiler. Each is a list of
 * its own in the output, so what comes row by row waits in temporary files,
 * one for each column, until the thread is complete.
 */
#ifndef FIREFOX_COLUMNS_H
#define FIREFOX_COLUMNS_H

#include <stdint.h>
#include <stdio.h>

#include "export/thread_slices.h"
#include "txtrace/log.h"

enum firefox_column {
	/* of markers */
	COLUMN_NAME = 0,
	COLUMN_START = 1,
	COLUMN_END = 2,
	COLUMN_PHASE = 3, /* 0: an instant, 1: an interval */
	COLUMN_CATEGORY = 4,
	COLUMN_DATA = 5,
	/* of samples */
	COLUMN_STACK = 6,
	COLUMN_TIME = 7,
	COLUMN_WEIGHT = 8,
	COLUMN_CNT = 9,
};

struct firefox_columns;

/* 0 or a negative errno. out stays the caller's. */
int columns_new(struct firefox_columns **columns, FILE *out);
void columns_free(struct firefox_columns *columns); /* NULL is allowed */

/* A value behind the others of that column. What fails there, columns_write_thread() says. */
void column_u64(struct firefox_columns *columns, enum firefox_column column, uint64_t value);
void column_ms(struct firefox_columns *columns, enum firefox_column column, uint64_t ns);
void column_null(struct firefox_columns *columns, enum firefox_column column);
void column_data(struct firefox_columns *columns, const struct thread_slice *slice);

/* The thread with all that the columns hold; they are empty then. 0 or a negative errno. */
int columns_write_thread(struct firefox_columns *columns, const struct sliced_thread *thread,
			 const struct txtrace_log_info *info);

/* The beginning of a profile, up to the list of threads. Times count from base_ns. 0 or a negative errno. */
int columns_write_meta(FILE *out, const struct txtrace_log_info *info, uint64_t base_ns);

#endif
