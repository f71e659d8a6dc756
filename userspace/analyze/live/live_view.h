/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A live view, from the records of a log as they are written: spans of the
 * last minute by label, thread, process and tag, those that are open, what they
 * wait for, who ended the waits, and losses. Memory is bounded, whatever the
 * log holds: 200 groups of each kind, 65,536 open spans, 8,192 threads and
 * spans with waits.
 *
 *	while (txtrace_log_next(...) > 0)
 *		err = live_view_add(view, &record);
 *	err = live_view_rows(view, LIVE_LABELS, LIVE_WINDOW_COUNT, &rows);
 */
#ifndef LIVE_VIEW_H
#define LIVE_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/live/live_group.h"
#include "txtrace/log.h"

struct live_view;

enum live_kind {
	LIVE_LABELS = 0,
	LIVE_THREADS = 1, /* that began the spans */
	LIVE_PROCESSES = 2,
	LIVE_TAGS = 3,
	LIVE_KIND_COUNT = 4,
};

#define LIVE_WINDOW_COUNT 3

extern const unsigned int live_windows[LIVE_WINDOW_COUNT]; /* seconds: 1, 10, 60 */

/* Valid until the view is changed. */
struct live_row {
	char *name; /* owned by the rows; NULL: there is none */
	size_t name_length;
	bool is_rest; /* groups for which there was no room */
	uint64_t open_cnt;
	struct live_figures windows[LIVE_WINDOW_COUNT];
};

struct live_rows {
	struct live_row *rows; /* in no order */
	size_t cnt;
};

enum live_state {
	LIVE_STATE_UNKNOWN = 0, /* of its thread nothing is known since the span began */
	LIVE_STATE_AWAKE = 1,	/* it has been on a CPU, or waits for one */
	LIVE_STATE_BLOCKED = 2,
};

/* A span that had begun and not ended by the last checkpoint of the log. */
struct live_open {
	struct txtrace_string label;
	struct txtrace_string thread; /* its name; length 0: unknown */
	uint64_t id;
	uint64_t begin_ns;
	uint32_t pid;
	uint32_t tid;
	uint32_t flags;
	enum live_state state;
	uint8_t reason;	   /* BLOCKED: enum txtrace_block_reason */
	uint64_t since_ns; /* of the state; UNKNOWN: 0 */
};

struct live_totals {
	uint64_t span_cnt; /* since the log began */
	uint64_t open_cnt;
	uint64_t lost_cnt; /* events that did not reach the log, and records that were dropped */
	uint64_t damage_cnt;
	uint64_t last_ns;  /* the latest time of any record */
	uint64_t begin_ns; /* of the log: seconds count from here */
	uint64_t end;	   /* the windows end before this second */
	bool has_ended;	   /* the capture was closed */
};

/* begin_ns: of the log. NULL: no memory. */
struct live_view *live_view_new(uint64_t begin_ns);
void live_view_free(struct live_view *view);

/* 0 or -ENOMEM. */
int live_view_add(struct live_view *view, const struct txtrace_record *record);

/*
 * All records of times before that are there; for a log in which nothing
 * happens: windows advance all the same.
 */
void live_view_pass(struct live_view *view, uint64_t time_ns);

/* The log will have no further records: windows end with its last second. */
void live_view_end(struct live_view *view);

void live_view_totals(const struct live_view *view, struct live_totals *totals);

/*
 * Groups with spans that are open, or ended within a minute. Figures of one
 * window, by its index, or (LIVE_WINDOW_COUNT) of all; the others are empty. 0
 * or -ENOMEM; to be released in any case.
 */
int live_view_rows(struct live_view *view, enum live_kind kind, unsigned int window, struct live_rows *rows);
void live_rows_release(struct live_rows *rows);

/* The name of a waker of a row. */
struct txtrace_string live_view_name(const struct live_view *view, uint32_t name);

/* Up to max_cnt of the spans that are open, the oldest first; returns how many. */
size_t live_view_oldest(const struct live_view *view, struct live_open *oldest, size_t max_cnt);

#endif
