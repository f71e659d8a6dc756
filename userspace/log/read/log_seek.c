/* SPDX-License-Identifier: BSD-2-Clause */
#include "log/read/log_seek.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc32c.h"
#include "log/format/codec.h"
#include "log/format/log_index.h"

bool log_goal_is_reached(const struct log_goal *goal, const struct log_block *block)
{
	if (block->type != LOG_BLOCK_BATCH)
		return false;
	return goal->kind == LOG_GOAL_TIME ? block->last_ns >= goal->number : block->sequence >= goal->number;
}

/* A sound header of a block of this capture at offset. */
static bool read_block(const struct block_walk *walk, uint64_t offset, struct log_block *block)
{
	struct block_walk there = *walk;

	there.at.offset = offset;
	return block_walk_look(&there, block) == WALK_BLOCK;
}

/* ---- the index ---- */

struct index_payload {
	uint64_t offset; /* of its block */
	struct log_block block;
	uint8_t *stored;
	uint8_t *raw;
};

static void release(struct index_payload *index)
{
	free(index->stored);
	free(index->raw);
}

static int unpack(const struct block_walk *walk, struct index_payload *index)
{
	const struct log_block *block = &index->block;
	struct codec *codec;
	int err;

	index->stored = malloc(block->stored_bytes + (size_t)1);
	index->raw = malloc(block->raw_bytes + (size_t)1);
	if (!index->stored || !index->raw)
		return -ENOMEM;
	if (file_read_at(walk->fd, index->stored, block->stored_bytes, index->offset + block->header_bytes) !=
		    block->stored_bytes ||
	    crc32c(index->stored, block->stored_bytes) != block->payload_crc)
		return -EBADMSG;
	codec = codec_new();
	if (!codec)
		return -ENOMEM;
	err = codec_decompress(codec, block->codec, index->stored, block->stored_bytes, index->raw,
			       block->raw_bytes);
	codec_free(codec);
	return err;
}

/* 0, -EBADMSG: there is none, or not a right one; -ENOMEM. To be released in any case. */
static int load(const struct block_walk *walk, struct index_payload *index)
{
	uint64_t file_bytes = block_walk_bytes(walk);
	uint8_t footer[LOG_FOOTER_BYTES];
	uint32_t index_bytes;

	*index = (struct index_payload){ 0 };
	if (file_bytes < LOG_FOOTER_BYTES ||
	    file_read_at(walk->fd, footer, sizeof(footer), file_bytes - LOG_FOOTER_BYTES) !=
		    LOG_FOOTER_BYTES ||
	    !log_footer_decode(footer, sizeof(footer), &index->offset, &index_bytes) ||
	    index->offset < walk->at.offset || !read_block(walk, index->offset, &index->block) ||
	    index->block.type != LOG_BLOCK_INDEX)
		return -EBADMSG;
	return unpack(walk, index);
}

/* ---- entries ---- */

/* The block that an entry names says of itself what the entry says. */
static bool is_true(const struct block_walk *walk, const struct log_index_entry *entry,
		    struct log_block *block)
{
	if (!read_block(walk, entry->offset, block) || block->type != LOG_BLOCK_BATCH)
		return false;
	if (entry->batch_cnt == 1)
		return block->first_ns == entry->first_ns && block->last_ns == entry->last_ns &&
		       block->record_cnt == entry->record_cnt;
	return block->first_ns >= entry->first_ns && block->last_ns <= entry->last_ns &&
	       block->record_cnt <= entry->record_cnt;
}

/* The entry in which the goal lies, and the one before it; without one, the goal is behind the last one. */
struct found {
	struct log_index_entry entry;
	struct log_index_entry before;
	bool has_entry;
	bool has_before;
};

static bool is_at_goal(const struct log_goal *goal, const struct log_index_entry *entry,
		       uint64_t first_sequence)
{
	return goal->kind == LOG_GOAL_TIME ? entry->last_ns >= goal->number
					   : first_sequence + entry->batch_cnt > goal->number;
}

static bool find(const struct index_payload *index, const struct log_goal *goal, uint64_t first_sequence,
		 struct found *found)
{
	struct log_index_reader reader;

	*found = (struct found){ .has_entry = false };
	if (!log_index_read(&reader, index->raw, index->block.raw_bytes))
		return false;
	while (!found->has_entry && log_index_next(&reader, &found->entry)) {
		if (found->entry.offset >= index->offset)
			return false;
		found->has_entry = is_at_goal(goal, &found->entry, first_sequence);
		if (found->has_entry)
			break;
		first_sequence += found->entry.batch_cnt;
		found->before = found->entry;
		found->has_before = true;
	}
	return found->has_entry || !reader.is_wrong;
}

/*
 * Where the way goes on: to the entry, or without one to the last there is, as what is behind its first block
 * is not proven. False, if the blocks do not say what the index does.
 */
static bool choose(const struct block_walk *walk, const struct log_goal *goal, const struct found *found,
		   struct walk_position *to)
{
	struct log_block block;

	if (found->has_before &&
	    (!is_true(walk, &found->before, &block) || log_goal_is_reached(goal, &block)))
		return false;
	if (found->has_entry && (!is_true(walk, &found->entry, &block) ||
				 (goal->kind == LOG_GOAL_BATCH && block.sequence > goal->number)))
		return false;
	if (!found->has_entry && !found->has_before)
		return false;
	to->offset = found->has_entry ? found->entry.offset : found->before.offset;
	to->next_sequence = block.sequence;
	return true;
}

int log_seek_by_index(struct block_walk *walk, const struct log_goal *goal)
{
	struct index_payload index;
	struct found found;
	int err = load(walk, &index);

	if (!err && find(&index, goal, walk->info.first_sequence, &found))
		choose(walk, goal, &found, &walk->at);
	release(&index);
	return err == -ENOMEM ? err : 0;
}
