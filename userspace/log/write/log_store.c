/* SPDX-License-Identifier: BSD-2-Clause */
#include "log/write/log_store.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc32c.h"
#include "log/format/codec.h"
#include "log/format/log_header.h"
#include "log/format/log_index.h"

struct log_store {
	struct log_file *file;
	struct codec *codec;
	enum log_codec how;
	struct log_index index;
	struct txtrace_log_info info; /* of the file that is being written */
	uint8_t *stored;
	size_t stored_capacity;
	uint64_t anchor_monotonic_ns; /* of the last batch: the index has it, too */
	uint64_t anchor_realtime_ns;
	uint64_t sequence;
	uint32_t first_part;
	bool has_batch; /* in the file */

	/* For other threads. A file's bytes are those of `part` once that was set: they are set to 0 before. */
	_Atomic int err;
	_Atomic uint32_t part;
	_Atomic uint64_t file_bytes;
	_Atomic uint64_t ended_bytes; /* in the files before */
	_Atomic uint64_t raw_bytes;
};

/* A file with a header and no batch in it is of no use to anybody. */
static void free_store(struct log_store *store, struct log_writer_result *result)
{
	struct log_file_names *names = result ? &result->names : NULL;

	if (result) {
		result->written_bytes = log_store_bytes(store);
		result->file_cnt = store->part - store->first_part + (store->has_batch || !store->file);
	}
	if (store->has_batch)
		log_file_abandon(store->file, names);
	else
		log_file_discard(store->file, names);
	codec_free(store->codec);
	log_index_release(&store->index);
	free(store->stored);
	free(store);
}

static struct log_store *new_store(const struct txtrace_log_info *info, const struct log_writer_options *options)
{
	struct log_store *store = calloc(1, sizeof(*store));

	if (!store)
		return NULL;
	store->how = options->codec;
	store->info = *info;
	store->sequence = info->first_sequence;
	store->part = store->first_part = info->part;
	store->anchor_monotonic_ns = info->start_monotonic_ns;
	store->anchor_realtime_ns = info->start_realtime_ns;
	store->codec = codec_new();
	store->stored_capacity = codec_bound(batch_encoder_payload_max());
	store->stored = malloc(store->stored_capacity);
	if (log_index_init(&store->index) || !store->codec || !store->stored) {
		free_store(store, NULL);
		return NULL;
	}
	return store;
}

/* Sizes are told when all of it is written: a block is there or is not. */
static void publish_bytes(struct log_store *store)
{
	atomic_store_explicit(&store->file_bytes, log_file_bytes(store->file), memory_order_relaxed);
}

static int write_header(struct log_store *store)
{
	uint8_t *buffer = malloc(LOG_HEADER_MAX_BYTES);
	int err;

	if (!buffer)
		return -ENOMEM;
	err = log_file_write(store->file, buffer, log_header_encode(&store->info, buffer), NULL, 0);
	free(buffer);
	publish_bytes(store);
	return err;
}

int log_store_open(struct log_store **result, const char *path, const struct txtrace_log_info *info, const struct log_writer_options *options)
{
	struct log_file_options file = {
		.keeps_older = options->keeps_older,
		.limits = { .file_cnt = options->limits.keep_cnt, .total_bytes = options->limits.keep_bytes },
	};
	struct log_store *store = new_store(info, options);
	int err;

	if (!store)
		return -ENOMEM;
	err = log_file_open(&store->file, path, &file);
	if (!err)
		err = write_header(store);
	if (err) {
		free_store(store, NULL);
		return err;
	}
	*result = store;
	return 0;
}

static int write_block(struct log_store *store, struct log_block *block, const uint8_t *raw, const uint32_t *cuts, uint32_t cut_cnt)
{
	int64_t length = codec_compress(store->codec, store->how, raw, cuts, cut_cnt, store->stored, store->stored_capacity);
	uint8_t header[LOG_BLOCK_HEADER_BYTES];

	if (length < 0)
		return (int)length;
	block->codec = (uint8_t)store->how;
	block->raw_bytes = cuts[cut_cnt - 1];
	block->stored_bytes = (uint32_t)length;
	block->payload_crc = crc32c(store->stored, (size_t)length);
	block->sequence = store->sequence++;
	block->anchor_monotonic_ns = store->anchor_monotonic_ns;
	block->anchor_realtime_ns = store->anchor_realtime_ns;
	memcpy(block->capture_id, store->info.capture_id, sizeof(block->capture_id));
	log_block_encode(block, header);
	return log_file_write(store->file, header, sizeof(header), store->stored, (size_t)length);
}

static void index_label(void *index, const char *label, size_t length, uint64_t span_cnt)
{
	log_index_add_spans(index, label, length, span_cnt);
}

static int write_batch(struct log_store *store, const struct log_batch *batch)
{
	const struct batch *content = &batch->content;
	struct log_index_entry entry = {
		.offset = log_file_bytes(store->file),
		.first_ns = content->first_ns,
		.last_ns = content->last_ns,
		.record_cnt = content->record_cnt,
		.batch_cnt = 1,
	};
	struct log_block block = {
		.type = LOG_BLOCK_BATCH,
		.record_cnt = content->record_cnt,
		.first_ns = content->first_ns,
		.last_ns = content->last_ns,
	};
	int err;

	store->anchor_monotonic_ns = batch->anchor_monotonic_ns;
	store->anchor_realtime_ns = batch->anchor_realtime_ns;
	err = write_block(store, &block, content->payload, content->cuts, content->cut_cnt);
	if (err)
		return err;
	store->has_batch = true;
	log_index_add_batch(&store->index, &entry);
	batch->visit_labels(batch->labels, index_label, &store->index);
	publish_bytes(store);
	atomic_fetch_add_explicit(&store->raw_bytes, block.raw_bytes, memory_order_relaxed);
	return 0;
}

static int write_index(struct log_store *store)
{
	struct log_block block = { .type = LOG_BLOCK_INDEX };
	uint64_t offset = log_file_bytes(store->file);
	uint8_t footer[LOG_FOOTER_BYTES], *buffer = malloc(LOG_INDEX_BYTES_MAX);
	uint32_t length;
	int err;

	if (!buffer)
		return -ENOMEM;
	length = log_index_encode(&store->index, buffer);
	err = write_block(store, &block, buffer, &length, 1);
	free(buffer);
	if (err)
		return err;
	log_footer_encode(offset, (uint32_t)(log_file_bytes(store->file) - offset), footer);
	err = log_file_write(store->file, footer, sizeof(footer), NULL, 0);
	publish_bytes(store);
	return err;
}

/* Each file stands alone: a header, an index of its own. */
void log_store_set_limits(struct log_store *store, const struct file_series_limits *limits)
{
	log_file_set_limits(store->file, limits);
}

static int begin_next_file(struct log_store *store)
{
	uint64_t ended_bytes;
	int err = write_index(store);

	if (err)
		return err;
	ended_bytes = log_file_bytes(store->file);
	err = log_file_turn(store->file);
	if (err)
		return err;
	store->has_batch = false;
	log_index_clear(&store->index);
	store->info.part++;
	store->info.first_sequence = store->sequence;
	store->ended_bytes += ended_bytes;
	store->file_bytes = 0;
	atomic_store_explicit(&store->part, store->info.part, memory_order_release);
	return write_header(store);
}

int log_store_put(struct log_store *store, const struct log_batch *batch)
{
	int err = store->err;

	if (!err)
		err = write_batch(store, batch);
	if (!err && batch->ends_file)
		err = begin_next_file(store);
	store->err = err;
	return err;
}

int log_store_skip(struct log_store *store)
{
	store->sequence++;
	return store->err;
}

int log_store_check(struct log_store *store, bool syncs)
{
	int err = store->err;

	if (!err)
		err = log_file_check(store->file);
	if (!err && syncs)
		err = log_file_sync(store->file);
	store->err = err;
	return err;
}

int log_store_error(const struct log_store *store)
{
	return atomic_load_explicit(&store->err, memory_order_relaxed);
}

uint64_t log_store_bytes(const struct log_store *store)
{
	return atomic_load_explicit(&store->ended_bytes, memory_order_relaxed) +
	       atomic_load_explicit(&store->file_bytes, memory_order_relaxed);
}

uint64_t log_store_file_bytes(const struct log_store *store, uint32_t part)
{
	if (atomic_load_explicit(&store->part, memory_order_acquire) != part)
		return 0;
	return atomic_load_explicit(&store->file_bytes, memory_order_relaxed);
}

uint64_t log_store_raw_bytes(const struct log_store *store)
{
	return atomic_load_explicit(&store->raw_bytes, memory_order_relaxed);
}

int log_store_close(struct log_store *store, struct log_writer_result *result)
{
	struct log_file_names names;
	int err = store->err;
	bool was_whole;

	if (!err)
		err = write_index(store);
	was_whole = !err;
	if (was_whole) {
		err = log_file_complete(store->file, &names);
		store->file = NULL;
	}
	free_store(store, result);
	if (was_whole && result)
		result->names = names;
	return err;
}

void log_store_abort(struct log_store *store, struct log_writer_result *result)
{
	if (store)
		free_store(store, result);
}
