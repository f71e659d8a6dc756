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
#include "log/write/flight_ring.h"

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

	/* Of a flight recorder: there is a file only while a dump is written. */
	struct flight_ring *ring;
	char *path;
	struct log_file_names dump_names;
	_Atomic uint64_t keep_cnt;
	_Atomic uint64_t keep_bytes;
	_Atomic uint64_t dump_cnt;
	_Atomic uint64_t dump_bytes;
	_Atomic uint64_t dump_first_ns;
	_Atomic uint64_t kept_bytes;
	_Atomic uint64_t added_bytes; /* to what is kept, so far */
	_Atomic uint64_t cut_cnt;

	/*
	 * For other threads. A file's bytes are those of `part` once that was set: they are set to 0 before.
	 */
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
		result->file_cnt = store->ring ? (uint32_t)store->dump_cnt
					       : store->part - store->first_part +
							 (store->has_batch || !store->file);
	}
	if (store->has_batch)
		log_file_abandon(store->file, names);
	else
		log_file_discard(store->file, names);
	if (result && store->ring && !store->file)
		result->names = store->dump_names;
	flight_ring_free(store->ring);
	free(store->path);
	codec_free(store->codec);
	log_index_release(&store->index);
	free(store->stored);
	free(store);
}

static struct log_store *new_store(const struct txtrace_log_info *info,
				   const struct log_writer_options *options)
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

static void keep_limits(struct log_store *store, const struct file_series_limits *limits)
{
	store->keep_cnt = limits->file_cnt;
	store->keep_bytes = limits->total_bytes;
}

/* The file was only to see that there can be one. */
static int begin_flight(struct log_store *store, const char *path, const struct log_writer_options *options)
{
	const struct file_series_limits limits = { .file_cnt = options->limits.keep_cnt,
						   .total_bytes = options->limits.keep_bytes };
	const struct flight_ring_limits flight = { .max_bytes = options->flight.max_bytes,
						   .span_ns = options->flight.span_ns };

	if (log_file_is_direct(store->file))
		return -ESPIPE;
	log_file_discard(store->file, NULL);
	store->file = NULL;
	keep_limits(store, &limits);
	store->path = strdup(path);
	store->ring = flight_ring_new(&flight);
	return store->path && store->ring ? 0 : -ENOMEM;
}

int log_store_open(struct log_store **result, const char *path, const struct txtrace_log_info *info,
		   const struct log_writer_options *options)
{
	struct log_file_options file = {
		.refuses_unread = options->refuses_unread,
		.keeps_older = options->keeps_older,
		.limits = { .file_cnt = options->limits.keep_cnt, .total_bytes = options->limits.keep_bytes },
	};
	struct log_store *store = new_store(info, options);
	int err;

	if (!store)
		return -ENOMEM;
	err = log_file_open(&store->file, path, &file);
	if (!err && options->flight.max_bytes)
		err = begin_flight(store, path, options);
	else if (!err)
		err = write_header(store);
	if (err) {
		free_store(store, NULL);
		return err;
	}
	*result = store;
	return 0;
}

/* Into store->stored. */
static int compress(struct log_store *store, struct log_block *block, const uint8_t *raw,
		    const uint32_t *cuts, uint32_t cut_cnt)
{
	int64_t length = codec_compress(store->codec, store->how, raw, cuts, cut_cnt, store->stored,
					store->stored_capacity);

	if (length < 0)
		return (int)length;
	block->codec = (uint8_t)store->how;
	block->raw_bytes = cuts[cut_cnt - 1];
	block->stored_bytes = (uint32_t)length;
	block->payload_crc = crc32c(store->stored, (size_t)length);
	block->anchor_monotonic_ns = store->anchor_monotonic_ns;
	block->anchor_realtime_ns = store->anchor_realtime_ns;
	return 0;
}

static int write_stored(struct log_store *store, struct log_block *block, const uint8_t *stored)
{
	uint8_t header[LOG_BLOCK_HEADER_BYTES];

	block->sequence = store->sequence++;
	memcpy(block->capture_id, store->info.capture_id, sizeof(block->capture_id));
	log_block_encode(block, header);
	return log_file_write(store->file, header, sizeof(header), stored, block->stored_bytes);
}

static void index_label(void *index, const char *label, size_t length, uint64_t span_cnt)
{
	log_index_add_spans(index, label, length, span_cnt);
}

/* The block of a batch, and what the index says of it. */
static int write_batch_block(struct log_store *store, struct log_block *block, const uint8_t *stored)
{
	struct log_index_entry entry = {
		.offset = log_file_bytes(store->file),
		.first_ns = block->first_ns,
		.last_ns = block->last_ns,
		.record_cnt = block->record_cnt,
		.batch_cnt = 1,
	};
	int err = write_stored(store, block, stored);

	if (err)
		return err;
	store->has_batch = true;
	log_index_add_batch(&store->index, &entry);
	publish_bytes(store);
	return 0;
}

static int compress_batch(struct log_store *store, const struct log_batch *batch, struct log_block *block)
{
	const struct batch *content = &batch->content;

	*block = (struct log_block){
		.type = LOG_BLOCK_BATCH,
		.record_cnt = content->record_cnt,
		.first_ns = content->first_ns,
		.last_ns = content->last_ns,
	};
	store->anchor_monotonic_ns = batch->anchor_monotonic_ns;
	store->anchor_realtime_ns = batch->anchor_realtime_ns;
	return compress(store, block, content->payload, content->cuts, content->cut_cnt);
}

static int write_batch(struct log_store *store, const struct log_batch *batch)
{
	struct log_block block;
	int err = compress_batch(store, batch, &block);

	if (!err)
		err = write_batch_block(store, &block, store->stored);
	if (err)
		return err;
	batch->visit_labels(batch->labels, index_label, &store->index);
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
	err = compress(store, &block, buffer, &length, 1);
	if (!err)
		err = write_stored(store, &block, store->stored);
	free(buffer);
	if (err)
		return err;
	log_footer_encode(offset, (uint32_t)(log_file_bytes(store->file) - offset), footer);
	err = log_file_write(store->file, footer, sizeof(footer), NULL, 0);
	publish_bytes(store);
	return err;
}

void log_store_set_limits(struct log_store *store, const struct file_series_limits *limits)
{
	if (store->ring)
		keep_limits(store, limits);
	else
		log_file_set_limits(store->file, limits);
}

/* Each file stands alone: a header, an index of its own. */
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

/* ---- a flight recorder ---- */

static void publish_ring(struct log_store *store)
{
	atomic_store_explicit(&store->kept_bytes, flight_ring_bytes(store->ring), memory_order_relaxed);
	atomic_store_explicit(&store->cut_cnt, flight_ring_cut_cnt(store->ring), memory_order_relaxed);
	atomic_store_explicit(&store->file_bytes, flight_ring_segment_bytes(store->ring),
			      memory_order_relaxed);
}

static int keep_batch(struct log_store *store, const struct log_batch *batch)
{
	struct flight_batch kept = { .stored = store->stored,
				     .visit_labels = batch->visit_labels,
				     .labels = batch->labels };
	uint64_t before_bytes = batch->begins_segment ? 0 : flight_ring_segment_bytes(store->ring);
	int err = compress_batch(store, batch, &kept.block);

	if (!err)
		err = flight_ring_add(store->ring, &kept, batch->begins_segment);
	if (err)
		return err;
	atomic_fetch_add_explicit(&store->added_bytes, flight_ring_segment_bytes(store->ring) - before_bytes,
				  memory_order_relaxed);
	if (batch->begins_segment) {
		store->file_bytes = 0;
		atomic_store_explicit(&store->part, store->part + 1, memory_order_release);
	}
	publish_ring(store);
	atomic_fetch_add_explicit(&store->raw_bytes, kept.block.raw_bytes, memory_order_relaxed);
	return 0;
}

static int write_kept(void *context, const struct flight_batch *kept)
{
	struct log_store *store = context;
	struct log_block block = kept->block;
	int err;

	if (!store->has_batch) {
		store->info.start_monotonic_ns = block.anchor_monotonic_ns;
		store->info.start_realtime_ns = block.anchor_realtime_ns;
		store->dump_first_ns = block.first_ns;
		err = write_header(store);
		if (err)
			return err;
	}
	err = write_batch_block(store, &block, kept->stored);
	if (!err)
		kept->visit_labels(kept->labels, index_label, &store->index);
	if (block.first_ns < store->dump_first_ns)
		store->dump_first_ns = block.first_ns;
	return err;
}

/* Each dump is a log of its own: they overlap in nothing, and lack what was between them. */
static void name_dump(struct log_store *store)
{
	uint64_t number = store->dump_cnt;

	for (size_t i = 0; i < 8; i++)
		store->info.capture_id[8 + i] ^= (uint8_t)((number ^ (number + 1)) >> (8 * i));
	store->sequence = store->info.first_sequence = 0;
	store->info.part = 0;
}

static int write_dump(struct log_store *store)
{
	const struct log_file_options options = {
		.keeps_older = true,
		.limits = { .file_cnt = store->keep_cnt, .total_bytes = store->keep_bytes },
	};
	uint64_t bytes;
	int err = log_file_open(&store->file, store->path, &options);

	if (err)
		return err;
	name_dump(store);
	log_index_clear(&store->index);
	err = flight_ring_each(store->ring, write_kept, store);
	if (!err)
		err = write_index(store);
	if (err)
		return err; /* what was written stays as a .partial */
	bytes = log_file_bytes(store->file);
	err = log_file_complete(store->file, &store->dump_names);
	store->file = NULL;
	store->has_batch = false;
	if (err)
		return err;
	flight_ring_clear(store->ring);
	publish_ring(store);
	store->ended_bytes += bytes;
	store->dump_bytes = bytes;
	atomic_fetch_add_explicit(&store->dump_cnt, 1, memory_order_release);
	return 0;
}

void log_store_flight_stats(const struct log_store *store, struct log_flight_stats *stats)
{
	*stats = (struct log_flight_stats){
		.dump_cnt = atomic_load_explicit(&store->dump_cnt, memory_order_acquire),
		.dump_bytes = store->dump_bytes,
		.dump_first_ns = store->dump_first_ns,
		.kept_bytes = store->kept_bytes,
		.cut_cnt = store->cut_cnt,
	};
}

int log_store_put(struct log_store *store, const struct log_batch *batch)
{
	int err = store->err;

	if (!err)
		err = store->ring ? keep_batch(store, batch) : write_batch(store, batch);
	if (!err && batch->dumps)
		err = write_dump(store);
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

	if (store->ring)
		return err;
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
	if (store->ring)
		return atomic_load_explicit(&store->ended_bytes, memory_order_relaxed);
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

uint64_t log_store_packed_bytes(const struct log_store *store)
{
	return store->ring ? atomic_load_explicit(&store->added_bytes, memory_order_relaxed)
			   : log_store_bytes(store);
}

int log_store_close(struct log_store *store, struct log_writer_result *result)
{
	struct log_file_names names;
	int err = store->err;
	bool was_whole;

	if (store->ring) {
		free_store(store, result);
		return err;
	}
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
