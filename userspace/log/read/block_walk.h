/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The way through one file, from block to block. Where no sound block stands
 * where one should, it looks for the next one whose header has a right checksum
 * and belongs to this capture; what lies between is damage.
 *
 * The walker reads headers only. Whoever reads the payloads may be some blocks
 * behind it; if one turns out to be wrong, he sets the walker back to the
 * position before that block and rejects it. So what is found does not depend
 * on how far ahead the walker was.
 *
 * Following: the file is being written. An end in the middle of something is
 * then no damage, and neither is anything behind which nothing sound stands:
 * the walker waits.
 */
#ifndef BLOCK_WALK_H
#define BLOCK_WALK_H

#include "log/format/log_header.h"

/* All that passing a block changes. */
struct walk_position {
	uint64_t offset;        /* where the next block should stand */
	uint64_t next_sequence;
	bool is_after_damage;   /* a gap in the sequence has been told already */
	bool has_footer;        /* it has been seen */
};

struct block_walk {
	int fd;
	bool is_following;
	bool has_capture_id;          /* false: the header is damaged, and no block has been found yet */
	struct txtrace_log_info info; /* of a damaged header: 0, but for the capture id */
	struct walk_position at;
	uint64_t vain_bytes;          /* read of payloads that turned out wrong */
	uint8_t *search;
};

enum walk_step {
	WALK_END = 0,    /* of the file */
	WALK_BLOCK = 1,  /* a sound header of a block */
	WALK_FOOTER = 2,
	WALK_LOST = 3,   /* none of these: recover */
	WALK_WAIT = 4,   /* following: it is not all there yet */
};

#define BLOCK_WALK_CLOSED { .fd = -1 }

/*
 * 1: *damage is at the beginning of the file; 0; or a negative errno: -EBADMSG
 * no log, -ENODATA an empty file, -EPROTONOSUPPORT of a newer major version,
 * -EISDIR, -ESPIPE; following, -EAGAIN: its header is not all there yet. To be
 * closed in any case.
 */
int block_walk_open(struct block_walk *walk, const char *path, bool is_following,
		    struct txtrace_damage *damage);
void block_walk_close(struct block_walk *walk); /* closed already: nothing happens */

/* What stands at the position: enum walk_step, with *block filled if it is a block; or a negative errno. */
int block_walk_look(struct block_walk *walk, struct log_block *block);

/* Goes past it; true: batches are missing before it. */
bool block_walk_pass(struct block_walk *walk, const struct log_block *block);
void block_walk_pass_footer(struct block_walk *walk);

/*
 * The block at the position is wrong, or, for recover, what stands there is
 * none. 1: the walker is at the next sound place, and *damage says what lies
 * before that; 0: following, and there is no such place yet; or a negative
 * errno.
 */
int block_walk_reject(struct block_walk *walk, const struct log_block *block, const char *reason,
		      struct txtrace_damage *damage);
int block_walk_recover(struct block_walk *walk, struct txtrace_damage *damage);

/* The file's length; 0 if that can't be told. */
uint64_t block_walk_bytes(const struct block_walk *walk);

/* Nobody is writing the file: no recorder holds its lock, and it has not grown for a second. */
bool block_walk_is_abandoned(const struct block_walk *walk);

/* Reads up to length bytes; fewer only at the end of the file. Returns how many, or a negative errno. */
int64_t file_read_at(int fd, uint8_t *bytes, size_t length, uint64_t offset);

#endif
