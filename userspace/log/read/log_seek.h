/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a seek is for, and how the index of a file shortens the way there.
 * Nothing that an index says is believed unless the blocks that it names say
 * the same; where it fails, the blocks' headers are walked.
 */
#ifndef LOG_SEEK_H
#define LOG_SEEK_H

#include "log/read/block_walk.h"

enum log_goal_kind {
	LOG_GOAL_NONE = 0,
	LOG_GOAL_TIME = 1,  /* the first batch with a record that finished at `number` or later */
	LOG_GOAL_BATCH = 2, /* the first batch whose sequence is `number` or more */
};

struct log_goal {
	enum log_goal_kind kind;
	uint64_t number;
};

bool log_goal_is_reached(const struct log_goal *goal, const struct log_block *block);

/*
 * Moves the walker, which stands behind the file's header, nearer to the goal,
 * and not beyond it. Without a (right) index it stays where it is. 0 or
 * -ENOMEM.
 */
int log_seek_by_index(struct block_walk *walk, const struct log_goal *goal);

#endif
