/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where reading is: in which file of the set, at which block, and what is
 * decoded ahead of it. It goes from batch to batch, and tells what is damaged
 * between them.
 *
 *	while ((step = log_cursor_step(cursor)) > CURSOR_WAIT)
 *		if (step == CURSOR_DAMAGE)
 *			tell(&cursor->damage);
 *		else
 *			take the records of cursor->slot, then log_cursor_leave(cursor);
 *
 * Blocks are pushed into the queue as long as one sound header follows another.
 * Whatever else stands there waits until all before it is taken: so what is
 * told does not depend on the number of threads.
 */
#ifndef LOG_CURSOR_H
#define LOG_CURSOR_H

#include "log/read/decode_queue.h"
#include "log/read/log_seek.h"
#include "log/read/log_set.h"

enum cursor_step {
	CURSOR_END = 0,
	CURSOR_WAIT = 1,   /* following: nothing more is there yet */
	CURSOR_BATCH = 2,
	CURSOR_DAMAGE = 3,
};

struct log_cursor {
	struct log_set set;
	/* in the set: the file that is read, if is_open; else the one that is next */
	size_t idx;
	bool is_open;
	struct block_walk walk;       /* of that file */
	struct decode_queue *queue;
	struct batch_slot *slot;      /* of the batch that is read */
	struct txtrace_damage damage; /* told last, or, with a reason, to be told */
	bool has_begun;               /* to step */
	bool is_incomplete;           /* a file before this one was not closed, or a part is missing */

	/* Between files. */
	struct log_set_file last;     /* what was read before; no path */
	bool has_last;
	uint64_t next_sequence;       /* as it was at the end of it */
	bool was_after_damage;

	/* Seeking. */
	struct log_goal goal;
	uint64_t to_ns;               /* batches that begin later are hopped over; 0: none are */
	bool is_fresh;                /* nothing of this file was looked at yet */
	bool has_hopped;
	struct walk_position hopped;  /* the last block whose payload was not looked at */

	/* Following. */
	bool is_following;
	char *base;                   /* of the family's names */
	bool is_continued;            /* set by who reads the records: the capture goes on in another file */
	/*
	 * for the next part, in seconds: nobody is going to write it if it does not come soon; 0: it will not
	 * come
	 */
	int64_t waits_since;
};

/* All zero but for this. */
#define LOG_CURSOR_INIT { .walk = BLOCK_WALK_CLOSED }

/*
 * Opens the first file of the set, which has one at least, and is arranged. 0
 * or a negative errno. To be closed in any case.
 */
int log_cursor_open(struct log_cursor *cursor, unsigned int thread_cnt);

/* To follow one file: see txtrace_log_follow(). */
int log_cursor_follow(struct log_cursor *cursor, const char *path);
void log_cursor_close(struct log_cursor *cursor);

/* enum cursor_step, or a negative errno. */
int log_cursor_step(struct log_cursor *cursor);

/* The batch is read: its slot may be used for another. */
void log_cursor_leave(struct log_cursor *cursor);

/*
 * Goes back to the beginning and hops from there to the goal, and later over
 * batches in which nothing finished at to_ns or before; 0: over none. 0 or a
 * negative errno.
 */
int log_cursor_seek(struct log_cursor *cursor, const struct log_goal *goal, uint64_t to_ns);

/* Before the first step. 0 or a negative errno, and then it is as it was. */
int log_cursor_set_threads(struct log_cursor *cursor, unsigned int thread_cnt);

/* Whether the file after the one that is read is of the same capture. */
bool log_cursor_goes_on(const struct log_cursor *cursor);

#endif
