/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rows that a picture has so far: each is announced to the canvas when it
 * is first asked for. They are remembered within fixed limits, however long the
 * log is: beyond them rows of threads that have ended are forgotten first, and
 * what is asked for again is announced anew, so that a picture gets more rows
 * than it needs, never a wrong one.
 */
#ifndef PICTURE_ROWS_H
#define PICTURE_ROWS_H

#include "export/crossings.h"
#include "base/key_map.h"
#include "export/picture.h"
#include "export/timeline.h"

struct drawn_thread {
	struct picture_row row;
	struct picture_row states; /* id 0 until it is announced */
	struct nest_row nest;
	struct state_row state;
	uint32_t cpu; /* of its last run */
	struct thread_wake wakes[THREAD_WAKE_CNT]; /* its last ones */
	unsigned int wake_cnt;
	bool has_exited;
};

struct picture_rows {
	const struct canvas_ops *ops;
	void *canvas;
	const struct txtrace_log_info *info;
	/* spans that leave their thread's row; NULL: there was no survey */
	const struct crossings *crossings;
	struct key_map processes; /* by pid */
	struct key_map threads;   /* by pid and tid */
	struct key_map lane_sets; /* by pid and label */
	struct key_map tracks;    /* likewise, by pid and the track's name */
	struct key_map counters;  /* by pid and name: their rows' ids */
	struct lane_set loss_lanes;
	struct picture_row capture;
	struct nest_budget nest_budget;
	uint64_t cnt;
};

/*
 * All strings are only looked at. What the functions below fill in or return is
 * good until the next call of any of them. 0, or -errno.
 */
void picture_rows_init(struct picture_rows *rows, const struct canvas_ops *ops, void *canvas,
		       const struct txtrace_log_info *info);
void picture_rows_release(struct picture_rows *rows);

bool picture_rows_know_thread(const struct picture_rows *rows, uint32_t pid, uint32_t tid);

/* name: what the record says that the thread is called; length 0: nothing. */
int picture_rows_thread(struct picture_rows *rows, uint32_t pid, uint32_t tid, struct txtrace_string name,
			struct drawn_thread **thread);

/* The same; its row of states is announced too. */
int picture_rows_states(struct picture_rows *rows, uint32_t pid, uint32_t tid, struct drawn_thread **thread);

/* The row for a span that has come to its end. track: what the program has given it; length 0: nothing. */
int picture_rows_span(struct picture_rows *rows, const struct txtrace_span *span, struct txtrace_string track,
		      uint64_t end_ns, struct picture_row *row);

int picture_rows_counter(struct picture_rows *rows, uint32_t pid, struct txtrace_string name,
			 struct picture_row *row);
int picture_rows_loss(struct picture_rows *rows, uint64_t begin_ns, uint64_t end_ns, struct picture_row *row);

/* For what concerns the whole capture: rows->capture. */
int picture_rows_capture(struct picture_rows *rows);

#endif
