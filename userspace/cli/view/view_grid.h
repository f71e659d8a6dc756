/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sums by time, for what a page has no room to tell one by one: the capture is
 * cut into VIEW_BUCKET_CNT buckets at most, which double when it turns out to
 * be longer.
 *
 * Of each label, by the time at which its spans ended: how many, how long by
 * their wall time (the heat map), and their ledgers. Of each thread: how much
 * of a bucket it ran, was runnable, was blocked for which reason.
 */
#ifndef VIEW_GRID_H
#define VIEW_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "txtrace/log.h"

#define VIEW_BUCKET_CNT 256
#define VIEW_BIN_CNT 80	    /* of wall times: two for each power of two, from VIEW_BIN_FIRST_NS on */
#define VIEW_BIN_FIRST_NS 256
#define VIEW_LABEL_MAX 64   /* with sums of their own; others have one row together */
#define VIEW_THREAD_MAX 256 /* likewise */
#define VIEW_LABEL_REST VIEW_LABEL_MAX

/* What a thread did. The numbers are those of the page. */
enum view_state {
	VIEW_ON_CPU = 0,
	VIEW_STOLEN = 1,
	VIEW_RUNNABLE = 2,
	VIEW_BLOCKED = 3, /* and the reason, the last one unknown */
	VIEW_STATE_CNT = VIEW_BLOCKED + TXTRACE_BLOCK_REASON_COUNT + 1,
};

struct view_label_bucket {
	uint64_t cnt; /* exact spans */
	uint64_t lower_bound_cnt;
	uint64_t wall_ns;
	uint64_t work_ns;
	struct txtrace_ledger ledger;
};

struct view_label_grid {
	struct view_label_bucket buckets[VIEW_BUCKET_CNT];
	uint32_t heat[VIEW_BUCKET_CNT][VIEW_BIN_CNT]; /* exact spans */
};

struct view_thread_grid {
	uint64_t ns[VIEW_BUCKET_CNT][VIEW_STATE_CNT];
};

struct view_grid {
	uint64_t begin_ns;	  /* to be set before anything is added */
	uint64_t width_ns;	  /* of a bucket */
	struct view_label_grid *labels[VIEW_LABEL_MAX + 1];
	struct view_thread_grid *threads[VIEW_THREAD_MAX];
};

void view_grid_init(struct view_grid *grid);
void view_grid_release(struct view_grid *grid);

/* label: its number, or any above. 0 or -ENOMEM. */
int view_grid_add_span(struct view_grid *grid, uint32_t label, const struct txtrace_span *span);

/* thread: its number; from VIEW_THREAD_MAX on, nothing is noted. state: enum view_state. 0 or -ENOMEM. */
int view_grid_add_time(struct view_grid *grid, uint32_t thread, unsigned int state, uint64_t from_ns,
		       uint64_t to_ns);

#endif
