/* SPDX-License-Identifier: BSD-2-Clause */
#include "log/log_writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc32c.h"
#include "log/batch_encoder.h"
#include "log/codec.h"
#include "log/log_file.h"
#include "log/log_header.h"
#include "log/log_index.h"

/* Large enough that a dictionary is paid for by many records, small enough for a CPU's second cache. */
#define DEFAULT_BATCH_BYTES (384u << 10)

struct log_writer {
	struct log_file *file;
	struct batch_encoder *encoder;
	struct codec *codec;
	enum log_codec how;
	size_t batch_bytes;
	struct log_index index;
	uint8_t *stored;
	size_t stored_capacity;
	uint64_t anchor_monotonic_ns;
	uint64_t anchor_realtime_ns;
	uint8_t capture_id[16];
	uint64_t sequence;
	uint64_t record_cnt;
	uint32_t pending_cnt; /* records in the encoder */
	bool has_batch;       /* in the file */
	int err;              /* the first one: final */
};

/* A file with a header and no batch in it is of no use to anybody. */
static void free_writer(struct log_writer *writer)
{
	if (writer->has_batch)
		log_file_abandon(writer->file);
	else
		log_file_discard(writer->file);
	batch_encoder_free(writer->encoder);
	codec_free(writer->codec);
	log_index_release(&writer->index);
	free(writer->stored);
	free(writer);
}

static struct log_writer *new_writer(const struct txtrace_log_info *info, const struct log_writer_options *options)
{
	struct log_writer *writer = calloc(1, sizeof(*writer));

	if (!writer)
		return NULL;
	writer->how = options->codec;
	writer->batch_bytes = options->batch_bytes ? options->batch_bytes : DEFAULT_BATCH_BYTES;
	writer->anchor_monotonic_ns = info->start_monotonic_ns;
	writer->anchor_realtime_ns = info->start_realtime_ns;
	writer->sequence = info->first_sequence;
	memcpy(writer->capture_id, info->capture_id, sizeof(writer->capture_id));
	writer->encoder = batch_encoder_new();
	writer->codec = codec_new();
	writer->stored_capacity = codec_bound(batch_encoder_payload_max());
	writer->stored = malloc(writer->stored_capacity);
	if (log_index_init(&writer->index) || !writer->encoder || !writer->codec || !writer->stored) {
		free_writer(writer);
		return NULL;
	}
	return writer;
}

static int write_header(struct log_writer *writer, const struct txtrace_log_info *info)
{
	uint8_t *buffer = malloc(LOG_HEADER_MAX_BYTES);
	int err;

	if (!buffer)
		return -ENOMEM;
	err = log_file_write(writer->file, buffer, log_header_encode(info, buffer), NULL, 0);
	free(buffer);
	return err;
}

int log_writer_open(struct log_writer **result, const char *path, const struct txtrace_log_info *info,
		    const struct log_writer_options *options)
{
	struct log_writer *writer = new_writer(info, options);
	int err;

	if (!writer)
		return -ENOMEM;
	err = log_file_open(&writer->file, path);
	if (!err)
		err = write_header(writer, info);
	if (err) {
		free_writer(writer);
		return err;
	}
	*result = writer;
	return 0;
}

static int write_block(struct log_writer *writer, struct log_block *block, const uint8_t *raw, const uint32_t *cuts, uint32_t cut_cnt)
{
	int64_t length = codec_compress(writer->codec, writer->how, raw, cuts, cut_cnt, writer->stored, writer->stored_capacity);
	uint8_t header[LOG_BLOCK_HEADER_BYTES];

	if (length < 0)
		return (int)length;
	block->codec = (uint8_t)writer->how;
	block->raw_bytes = cuts[cut_cnt - 1];
	block->stored_bytes = (uint32_t)length;
	block->payload_crc = crc32c(writer->stored, (size_t)length);
	block->sequence = writer->sequence++;
	block->anchor_monotonic_ns = writer->anchor_monotonic_ns;
	block->anchor_realtime_ns = writer->anchor_realtime_ns;
	memcpy(block->capture_id, writer->capture_id, sizeof(block->capture_id));
	log_block_encode(block, header);
	return log_file_write(writer->file, header, sizeof(header), writer->stored, (size_t)length);
}

static void index_label(void *index, const char *label, size_t length, uint64_t span_cnt)
{
	log_index_add_spans(index, label, length, span_cnt);
}

static int write_batch(struct log_writer *writer)
{
	struct log_index_entry entry = { .offset = log_file_bytes(writer->file), .batch_cnt = 1 };
	struct log_block block = { .type = LOG_BLOCK_BATCH };
	struct batch batch;
	int err;

	batch_encoder_finish(writer->encoder, &batch);
	block.record_cnt = batch.record_cnt;
	block.first_ns = batch.first_ns;
	block.last_ns = batch.last_ns;
	err = write_block(writer, &block, batch.payload, batch.cuts, batch.cut_cnt);
	if (err)
		return err;
	entry.first_ns = batch.first_ns;
	entry.last_ns = batch.last_ns;
	entry.record_cnt = batch.record_cnt;
	writer->has_batch = true;
	log_index_add_batch(&writer->index, &entry);
	batch_encoder_visit_labels(writer->encoder, index_label, &writer->index);
	batch_encoder_reset(writer->encoder);
	writer->pending_cnt = 0;
	return 0;
}

int log_writer_flush(struct log_writer *writer)
{
	if (!writer->err && writer->pending_cnt)
		writer->err = write_batch(writer);
	return writer->err;
}

int log_writer_add(struct log_writer *writer, const struct txtrace_record *record)
{
	int err;

	if (writer->err)
		return writer->err;
	err = batch_encoder_add(writer->encoder, record);
	if (err == -ENOSPC) {
		err = log_writer_flush(writer);
		if (!err)
			err = batch_encoder_add(writer->encoder, record);
	}
	if (err) {
		writer->err = err;
		return err;
	}
	writer->pending_cnt++;
	writer->record_cnt++;
	return batch_encoder_bytes(writer->encoder) >= writer->batch_bytes ? log_writer_flush(writer) : 0;
}

int log_writer_skip(struct log_writer *writer)
{
	int err = log_writer_flush(writer);

	writer->sequence++;
	return err;
}

void log_writer_set_anchor(struct log_writer *writer, uint64_t monotonic_ns, uint64_t realtime_ns)
{
	writer->anchor_monotonic_ns = monotonic_ns;
	writer->anchor_realtime_ns = realtime_ns;
}

uint64_t log_writer_bytes(const struct log_writer *writer)
{
	return log_file_bytes(writer->file);
}

uint64_t log_writer_records(const struct log_writer *writer)
{
	return writer->record_cnt;
}

static int write_index(struct log_writer *writer)
{
	struct log_block block = { .type = LOG_BLOCK_INDEX };
	uint64_t offset = log_file_bytes(writer->file);
	uint8_t footer[LOG_FOOTER_BYTES], *buffer = malloc(LOG_INDEX_BYTES_MAX);
	uint32_t length;
	int err;

	if (!buffer)
		return -ENOMEM;
	length = log_index_encode(&writer->index, buffer);
	err = write_block(writer, &block, buffer, &length, 1);
	free(buffer);
	if (err)
		return err;
	log_footer_encode(offset, (uint32_t)(log_file_bytes(writer->file) - offset), footer);
	return log_file_write(writer->file, footer, sizeof(footer), NULL, 0);
}

int log_writer_close(struct log_writer *writer)
{
	int err = log_writer_flush(writer);

	if (!err)
		err = write_index(writer);
	if (!err) {
		err = log_file_complete(writer->file);
		writer->file = NULL;
	}
	free_writer(writer);
	return err;
}

void log_writer_abort(struct log_writer *writer)
{
	if (writer)
		free_writer(writer);
}
