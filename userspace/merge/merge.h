/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The merge: records from several lanes, each nearly in the order of time, out
 * as one stream in the order of time.
 *
 * This is the seam behind which sources of events stand (the kernel's ring
 * buffers, a recorded stream, later others): a source has a lane, pushes its
 * records with their times, and says from time to time up to when it has told
 * everything (its watermark). The merge gives out what lies at or before the
 * least watermark. What a source pushes behind what was given out already is
 * late: counted, and given out at once, never dropped. Equal times: lane order,
 * and within a lane the order of pushing.
 */
#ifndef MERGE_H
#define MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct merge;

struct merge *merge_new(size_t lane_cnt); /* NULL: no memory */
void merge_free(struct merge *merge);

/* Copies the record. 0 or -ENOMEM. */
int merge_push(struct merge *merge, size_t lane, uint64_t time_ns, const void *record, size_t size);

/* The lane has told everything up to and at this time. Never goes back. */
void merge_set_watermark(struct merge *merge, size_t lane, uint64_t time_ns);

/*
 * A non-zero return stops the run and is its result; the record counts as
 * taken. The record lives until the call returns, aligned to 8.
 */
typedef int (*merge_take)(void *context, const void *record, size_t size);

/* Gives out what is at or before the least watermark, in order. */
int merge_run(struct merge *merge, merge_take take, void *context);

/* The same of at most so many records: the others come with the next run, if merge_has_more(). */
int merge_run_some(struct merge *merge, size_t max, merge_take take, void *context);

/*
 * Before a record is taken, runs call `look` with the one that is so many
 * records behind it in its lane, if there is one. NULL: no more.
 */
typedef void (*merge_look)(void *context, const void *record, size_t size);
void merge_look_ahead(struct merge *merge, merge_look look, unsigned int distance);

bool merge_has_more(const struct merge *merge);

struct merge_stats {
	uint64_t pushed_cnt;
	uint64_t late_cnt;
	uint64_t given_ns;    /* time of the last record given out */
	size_t waiting_cnt;   /* records that wait for a watermark */
	size_t waiting_bytes;
};

void merge_stats(const struct merge *merge, struct merge_stats *stats);

#endif
