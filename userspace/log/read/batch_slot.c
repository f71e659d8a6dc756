/* SPDX-License-Identifier: BSD-2-Clause */
#include "log/read/batch_slot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc32c.h"
#include "log/format/codec.h"
#include "log/format/record_table.h"

int batch_slot_init(struct batch_slot *slot)
{
	memset(slot, 0, sizeof(*slot));
	slot->decoder = batch_decoder_new();
	slot->codec = codec_new();
	return slot->decoder && slot->codec ? 0 : -ENOMEM;
}

void batch_slot_release(struct batch_slot *slot)
{
	batch_decoder_free(slot->decoder);
	codec_free(slot->codec);
	free(slot->stored.bytes);
	free(slot->raw.bytes);
	free(slot->ahead.bytes);
}

/* What was in it is gone. */
static int make_room(struct slot_buffer *buffer, size_t length)
{
	if (length <= buffer->capacity)
		return 0;
	free(buffer->bytes);
	buffer->bytes = malloc(length);
	buffer->capacity = buffer->bytes ? length : 0;
	return buffer->bytes ? 0 : -ENOMEM;
}

/* ---- loading ---- */

static int unpack(struct batch_slot *slot)
{
	const struct log_block *block = &slot->block;
	int err = codec_decompress(slot->codec, block->codec, slot->stored.bytes, block->stored_bytes,
				   slot->raw.bytes, block->raw_bytes);

	if (err)
		return err;
	memset(slot->raw.bytes + block->raw_bytes, 0, BATCH_DECODER_SLACK_BYTES);
	return batch_decoder_open(slot->decoder, slot->raw.bytes, block->raw_bytes, block->record_cnt);
}

/* Why the block can't be used, or NULL; or slot->err is set. */
static const char *load(struct batch_slot *slot)
{
	const struct log_block *block = &slot->block;
	int64_t got;

	slot->err = make_room(&slot->stored, block->stored_bytes);
	if (!slot->err)
		slot->err = make_room(&slot->raw, block->raw_bytes + (size_t)BATCH_DECODER_SLACK_BYTES);
	if (slot->err)
		return NULL;
	got = file_read_at(slot->fd, slot->stored.bytes, block->stored_bytes,
			   slot->before.offset + block->header_bytes);
	if (got < 0) {
		slot->err = (int)got;
		return NULL;
	}
	if (got < block->stored_bytes)
		return "the file ends in the middle of a batch";
	if (crc32c(slot->stored.bytes, block->stored_bytes) != block->payload_crc)
		return "the checksum of a batch is wrong";
	if (block->type != LOG_BLOCK_BATCH)
		return NULL;
	if (block->major > LOG_VERSION_MAJOR)
		return "a batch is of a newer version";
	switch (unpack(slot)) {
	case 0:
		slot->end = 1;
		return NULL;
	case -EPROTONOSUPPORT:
		return "a batch is compressed in a way that this version does not know";
	case -ENOMEM:
		slot->err = -ENOMEM;
		return NULL;
	default:
		return "a batch has a right checksum and makes no sense";
	}
}

static void decode_ahead(struct batch_slot *slot)
{
	struct txtrace_record *record;

	if (make_room(&slot->ahead, BATCH_SLOT_AHEAD_BYTES))
		return;
	while (slot->ahead_end + sizeof(*record) <= slot->ahead.capacity &&
	       !atomic_load_explicit(&slot->is_wanted, memory_order_relaxed)) {
		record = (struct txtrace_record *)(slot->ahead.bytes + slot->ahead_end);
		slot->end = batch_decoder_next(slot->decoder, record);
		if (slot->end <= 0)
			return;
		slot->ahead_end += record_kinds[record->kind].bytes;
	}
}

void batch_slot_load(struct batch_slot *slot, bool ahead)
{
	slot->ahead_at = slot->ahead_end = 0;
	slot->end = 0;
	slot->reason = load(slot);
	if (ahead && slot->end > 0)
		decode_ahead(slot);
}

void batch_slot_hurry(struct batch_slot *slot)
{
	atomic_store_explicit(&slot->is_wanted, true, memory_order_relaxed);
}

/* ---- records ---- */

int batch_slot_take(struct batch_slot *slot, struct txtrace_record *record)
{
	const struct txtrace_record *ready = (const struct txtrace_record *)(slot->ahead.bytes +
									     slot->ahead_at);
	size_t length = record_kinds[ready->kind].bytes;

	/* Of constant length for what most records are: these become a few instructions. */
	if (ready->kind == TXTRACE_RECORD_RUN)
		memcpy(record, ready, RECORD_BYTES(run));
	else if (ready->kind == TXTRACE_RECORD_WAKE)
		memcpy(record, ready, RECORD_BYTES(wake));
	else
		memcpy(record, ready, length);
	slot->ahead_at += length;
	return 1;
}

uint32_t batch_slot_left(const struct batch_slot *slot)
{
	return slot->block.record_cnt - batch_decoder_position(slot->decoder);
}
