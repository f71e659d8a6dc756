/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a picture of a log consists of, whatever the format: on which row a span
 * is drawn, and how a thread's runs become a row of states. Nothing here writes
 * anything.
 *
 * A viewer draws a row of slices as a stack: a slice lies within the one that
 * it began in, and the end of a slice ends the innermost. So a span may lie on
 * its thread's row only if it crosses none that lies there. Spans are known at
 * their end, in the order of their ends: the first that comes takes the row,
 * one that crosses it goes to a row of its own.
 */
#ifndef TIMELINE_H
#define TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "txtrace/log.h"

const char *left_as_name(unsigned int left_as); /* "preempted", …; "unknown" for any other number */

/* ---- the row of a thread ---- */

/* A stretch of the row that is taken by one span and those within it. */
struct nest {
	uint64_t begin_ns;
	uint64_t end_ns;
	uint64_t clear_ns; /* from here to end_ns there are only spans that end at end_ns */
};

/*
 * How many stretches all rows of an export may remember together; a few of each
 * row are remembered even when it is overdrawn.
 */
struct nest_budget {
	ptrdiff_t left;
};

struct nest_row {
	struct nest_budget *budget;
	struct nest *nests; /* disjoint, by time */
	size_t cnt;
	size_t size;
	uint64_t forgotten_ns; /* before this time it is not known any more what the row holds */
};

void nest_row_init(struct nest_row *row, struct nest_budget *budget);
void nest_row_release(struct nest_row *row);

/*
 * Takes room on the row, if the span crosses nothing there: 1. Otherwise 0: it
 * belongs elsewhere. Also 0 if that can't be told: the span ended before one
 * that is there already, or began before what the row still remembers. -ENOMEM.
 */
int nest_row_take(struct nest_row *row, uint64_t begin_ns, uint64_t end_ns);

/*
 * Whether the span is one stretch of work of the thread that began it, and so
 * belongs on that thread's row.
 */
bool span_is_of_thread(const struct txtrace_span *span);

/* ---- rows of slices that do not nest ---- */

#define LANE_CNT 64

/*
 * Rows for slices of one kind that overlap at will: each goes to a row that is
 * free. All zero is an empty set. When all are taken, one is given up: what is
 * drawn stays right, there are only more rows than needed.
 */
struct lane_set {
	struct lane {
		uint64_t row; /* the format's name for it */
		uint64_t end_ns;
	} lanes[LANE_CNT];
	unsigned int cnt;
};

/*
 * The row of a lane that is free from begin_ns on, now taken to end_ns.
 * *is_new: there was none; it is `new_row` now.
 */
uint64_t lane_set_take(struct lane_set *set, uint64_t begin_ns, uint64_t end_ns, uint64_t new_row,
		       bool *is_new);

/* ---- the states of a thread ---- */

enum thread_state {
	STATE_BLOCKED = 0,
	STATE_RUNNABLE = 1,
	STATE_RUNNING = 2,
	STATE_COUNT = 3,
};

/* "running", "runnable", "blocked" or, where the reason is known, "blocked: lock". Static. */
const char *state_name(enum thread_state state, unsigned int reason);

struct state_slice {
	enum thread_state state;
	unsigned int reason; /* BLOCKED; TXTRACE_BLOCK_REASON_COUNT: not known */
	int32_t syscall_nr;  /* BLOCKED, reason known */
	uint64_t object;
	uint64_t begin_ns;
	uint64_t end_ns;
};

/* What the next run of the thread has to know of the one before. All zero: there was none. */
struct state_row {
	uint64_t end_ns;
	bool has_run;
	uint8_t left_as;
	uint8_t reason;
	int32_t syscall_nr;
	uint64_t object;
};

/*
 * The slices of one run and of the wait before it, in order, never overlapping
 * each other nor those of runs before: what is already drawn stays. Returns how
 * many there are; those of no length are left out.
 */
unsigned int state_row_run(struct state_row *row, const struct txtrace_run *run,
			   struct state_slice slices[STATE_COUNT]);

#endif
