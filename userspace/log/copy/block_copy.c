/* SPDX-License-Identifier: BSD-2-Clause */
#include "log/copy/block_copy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc32c.h"
#include "log/file/log_file.h"
#include "log/format/log_index.h"
#include "log/write/log_writer.h"

struct block_copy {
	struct block_file *from;
	struct log_file *file;
	struct log_index index;
	/* its header, of the last one that was copied: the index goes by its clocks */
	struct log_block last;
	uint64_t next_expected;   /* sequence in the old file */
	uint64_t next_sequence;   /* in the new one */
	struct block_copy_stats stats;
};

static void free_copy(struct block_copy *copy)
{
	log_index_release(&copy->index);
	free(copy);
}

void block_copy_abort(struct block_copy *copy)
{
	if (!copy)
		return;
	if (copy->file)
		log_file_discard(copy->file, NULL);
	free_copy(copy);
}

void block_copy_stats(const struct block_copy *copy, struct block_copy_stats *stats)
{
	*stats = copy->stats;
}

/* ---- the header ---- */

static int write_header(struct block_copy *copy, const struct txtrace_log_info *info)
{
	struct txtrace_log_info found;
	uint8_t *made = NULL;
	const uint8_t *bytes;
	int64_t length = block_file_read_header(copy->from, &bytes, &found);
	int err;

	if (length < 0)
		return (int)length;
	if (length == 0) {
		made = malloc(LOG_HEADER_MAX_BYTES);
		if (!made)
			return -ENOMEM;
		length = log_header_encode(info, made);
		bytes = made;
	}
	err = log_file_write(copy->file, bytes, (size_t)length, NULL, 0);
	free(made);
	return err;
}

int block_copy_open(struct block_copy **result, const char *path, struct block_file *from,
		    const struct txtrace_log_info *info)
{
	struct block_copy *copy = calloc(1, sizeof(*copy));
	int err;

	if (!copy)
		return -ENOMEM;
	copy->from = from;
	copy->last.anchor_monotonic_ns = info->start_monotonic_ns;
	copy->last.anchor_realtime_ns = info->start_realtime_ns;
	memcpy(copy->last.capture_id, info->capture_id, sizeof(copy->last.capture_id));
	err = log_index_init(&copy->index);
	if (!err)
		err = log_file_open(&copy->file, path, NULL);
	if (!err)
		err = write_header(copy, info);
	if (err)
		block_copy_abort(copy);
	else
		*result = copy;
	return err;
}

/* ---- batches ---- */

/*
 * Whether all records make sense; only then are the labels counted. So the batch is gone over twice: a span
 * of a batch that is left out has no place in the index.
 */
static int go_over(struct block_copy *copy)
{
	struct txtrace_record record;
	int result;

	for (int pass = 0; pass < 2; pass++) {
		result = block_file_unpack(copy->from);
		while (!result && (result = block_file_next(copy->from, &record)) > 0) {
			if (pass > 0 && record.kind == TXTRACE_RECORD_SPAN)
				log_index_add_spans(&copy->index, record.span.label.bytes,
						    record.span.label.length, 1);
			result = 0;
		}
		if (result)
			return result == -EBADMSG || result == -EPROTONOSUPPORT ? 0 : result;
	}
	return 1;
}

/* A jump forward says how many are missing, one backward that something is. */
static void find_place(struct block_copy *copy, const struct log_block *block)
{
	uint64_t jump = block->sequence - copy->next_expected;

	if (jump) {
		copy->next_sequence += block->sequence > copy->next_expected ? jump : 1;
		copy->stats.gap_cnt++;
	}
	copy->next_expected = block->sequence + 1;
}

static int write_block(struct block_copy *copy, const struct log_block *block)
{
	uint8_t header[LOG_BLOCK_HEADER_MAX_BYTES];

	find_place(copy, block);
	memcpy(header, block_file_header(copy->from), block->header_bytes);
	log_put_u64(header + LOG_BLOCK_SEQUENCE, copy->next_sequence++);
	log_put_u32(header + block->header_bytes - 4, crc32c(header, block->header_bytes - 4));
	return log_file_write(copy->file, header, block->header_bytes, block_file_payload(copy->from),
			      block->stored_bytes);
}

static int add_batch(struct block_copy *copy, const struct log_block *block)
{
	const struct log_index_entry entry = {
		.offset = log_file_bytes(copy->file),
		.first_ns = block->first_ns,
		.last_ns = block->last_ns,
		.record_cnt = block->record_cnt,
		.batch_cnt = 1,
	};
	int result = go_over(copy);

	if (result <= 0)
		return result;
	result = write_block(copy, block);
	if (result)
		return result;
	log_index_add_batch(&copy->index, &entry);
	copy->last = *block;
	copy->stats.batch_cnt++;
	copy->stats.record_cnt += block->record_cnt;
	return 1;
}

int block_copy_add(struct block_copy *copy)
{
	const struct log_block *block = block_file_block(copy->from);
	int err;

	switch (block->type) {
	case LOG_BLOCK_BATCH:
		return add_batch(copy, block);
	case LOG_BLOCK_INDEX:
		/* a new one will stand at the end; but its sequence tells what is missing before it */
		find_place(copy, block);
		return 1;
	default: /* a newer version's */
		err = write_block(copy, block);
		return err ? err : 1;
	}
}

/* ---- the end ---- */

static int write_index(struct block_copy *copy)
{
	uint8_t header[LOG_BLOCK_HEADER_BYTES], footer[LOG_FOOTER_BYTES],
		*payload = malloc(LOG_INDEX_BYTES_MAX);
	uint64_t offset = log_file_bytes(copy->file);
	struct log_block block = copy->last;
	uint32_t length;
	int err;

	if (!payload)
		return -ENOMEM;
	length = log_index_encode(&copy->index, payload);
	block.type = LOG_BLOCK_INDEX;
	block.codec = LOG_CODEC_NONE;
	block.stored_bytes = block.raw_bytes = length;
	block.record_cnt = 0;
	block.first_ns = block.last_ns = 0;
	block.payload_crc = crc32c(payload, length);
	block.sequence = copy->next_sequence;
	log_block_encode(&block, header);
	err = log_file_write(copy->file, header, sizeof(header), payload, length);
	free(payload);
	if (err)
		return err;
	log_footer_encode(offset, (uint32_t)(log_file_bytes(copy->file) - offset), footer);
	return log_file_write(copy->file, footer, sizeof(footer), NULL, 0);
}

int block_copy_close(struct block_copy *copy, bool is_cut)
{
	int err;

	copy->next_sequence += is_cut;
	err = write_index(copy);
	if (err) {
		block_copy_abort(copy);
		return err;
	}
	err = log_file_complete(copy->file, NULL);
	free_copy(copy);
	return err;
}
