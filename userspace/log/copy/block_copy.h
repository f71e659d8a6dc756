/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A log made of blocks of another one, each as it was but for its place in the
 * sequence, with a new index and footer. What a newer version put into a batch
 * or a header is copied with it. Where batches are missing, the sequence keeps
 * a gap: whoever reads the copy is told so.
 */
#ifndef BLOCK_COPY_H
#define BLOCK_COPY_H

#include "log/copy/block_file.h"

struct block_copy;

/*
 * Writes to path as log_file.h does. The header is that of `from`; if that is
 * damaged, one that says no more than the capture id of info and its clocks.
 * from must live as long as the copy. Negative errno.
 */
int block_copy_open(struct block_copy **copy, const char *path, struct block_file *from,
		    const struct txtrace_log_info *info);

/*
 * The block that `from` has loaded: 1; or 0, if it is a batch of which not all
 * records make sense; or a negative errno. An index is left out.
 */
int block_copy_add(struct block_copy *copy);

/* is_cut: after the last batch that was added, at least one more is missing. */
int block_copy_close(struct block_copy *copy, bool is_cut);

/* What was written is removed. NULL is allowed. */
void block_copy_abort(struct block_copy *copy);

struct block_copy_stats {
	uint64_t batch_cnt;
	uint64_t record_cnt;
	uint64_t gap_cnt; /* places where batches are missing */
};

void block_copy_stats(const struct block_copy *copy, struct block_copy_stats *stats);

#endif
