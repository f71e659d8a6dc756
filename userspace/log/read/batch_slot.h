/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One block on its way from the file to records: read, checked, unpacked, and,
 * if that is done ahead of the one who wants the records, decoded, as many of
 * them as there is room for. What is left is decoded as it is asked for.
 *
 * A slot is used by one thread at a time; only batch_slot_hurry() may come from
 * another.
 *
 * Memory: what the largest block so far needed, at most 8 MiB as stored, 8 MiB
 * unpacked and about 18 MiB of tables, and BATCH_SLOT_AHEAD_BYTES.
 */
#ifndef BATCH_SLOT_H
#define BATCH_SLOT_H

#include <stdatomic.h>

#include "log/read/batch_decoder.h"
#include "log/read/block_walk.h"

/*
 * Most of a batch. Measured with one thread on two CPUs against none: 1 MiB 1.2
 * times as fast, 4 MiB 1.4, 16 MiB 1.4; 256 KiB is slower than none.
 */
#define BATCH_SLOT_AHEAD_BYTES (4u << 20)

struct codec;

struct slot_buffer {
	uint8_t *bytes;
	size_t capacity;
};

struct batch_slot {
	/* What is to be done. */
	int fd;
	struct walk_position before; /* where the block stands, and what was known there */
	struct log_block block;
	bool is_gap;                 /* batches are missing before it */

	/* What came of it. */
	int err;                     /* the file can't be read, or no memory */
	const char *reason;          /* why the block can't be used; static */

	/* private */
	atomic_bool is_wanted;
	struct batch_decoder *decoder;
	struct codec *codec;
	struct slot_buffer stored;
	struct slot_buffer raw;
	struct slot_buffer ahead;    /* records, each as long as its kind is */
	size_t ahead_at;
	size_t ahead_end;
	int end;                     /* what the decoder said when it had no more; 1: it has not */
};

int batch_slot_init(struct batch_slot *slot); /* 0 or -ENOMEM; to be released in any case */
void batch_slot_release(struct batch_slot *slot);

/*
 * Does what is to be done, and sets what came of it. ahead: also decodes, until
 * there is no more room or somebody hurries.
 */
void batch_slot_load(struct batch_slot *slot, bool ahead);

/* Somebody waits for it: what is left of the decoding is left to him. */
void batch_slot_hurry(struct batch_slot *slot);

/* 1 and *record filled with what was decoded ahead, of which there must be something. */
int batch_slot_take(struct batch_slot *slot, struct txtrace_record *record);

/*
 * After a load without err and reason. 1 and *record filled; 0: no more;
 * -EBADMSG: the rest makes no sense. Strings live until the next load.
 */
static inline int batch_slot_next(struct batch_slot *slot, struct txtrace_record *record)
{
	if (slot->ahead_at < slot->ahead_end)
		return batch_slot_take(slot, record);
	return slot->end > 0 ? batch_decoder_next(slot->decoder, record) : slot->end;
}

/* How many records next has not come to. */
uint32_t batch_slot_left(const struct batch_slot *slot);

#endif
