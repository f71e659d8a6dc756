/* SPDX-License-Identifier: BSD-2-Clause */
#include "log/write/log_writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "log/write/batch_encoder.h"
#include "log/write/log_store.h"
#include "log/write/store_thread.h"

/* Large enough that a dictionary is paid for by many records, small enough for a CPU's second cache. */
#define DEFAULT_BATCH_BYTES (384u << 10)

/* A flight recorder's memory is given up by about so many parts of it. */
#define FLIGHT_SEGMENTS 8

struct log_writer {
	struct log_writer_options options;
	struct batch_encoder *encoder;
	struct log_store *store;
	struct store_thread *thread; /* NULL: no queue */
	uint64_t anchor_monotonic_ns;
	uint64_t anchor_realtime_ns;
	uint64_t record_cnt;
	uint32_t pending_cnt; /* records in the encoder */
	int err;              /* the first one: final */
	bool waits;           /* for room in the queue */

	uint32_t part;
	uint64_t part_begin_ns;   /* by the anchors */
	uint64_t raw_bytes;       /* of the batches handed on, before compression */
	uint64_t part_raw_bytes;  /* of those, in the parts before */
	uint64_t last_ns;         /* greatest time of a record so far */
	bool has_content;         /* the part has more in it than definitions */
	bool wants_part;          /* the next part shall begin */
	bool wants_definitions;   /* those that were dropped shall come again */
	bool is_through;          /* the last batch was not dropped */
	bool begins_segment;      /* of a flight recorder: the next batch does */

	struct txtrace_dropped dropped; /* in all */
	struct txtrace_dropped untold;  /* of it, what no record that got through tells */
};

/* ---- open and close ---- */

static void free_writer(struct log_writer *writer)
{
	store_thread_stop(writer->thread);
	log_store_abort(writer->store, writer->options.result);
	batch_encoder_free(writer->encoder);
	free(writer);
}

/* What is kept has room for the file that is written and one before it. */
static void fit_limits(struct log_writer_options *options)
{
	struct log_writer_limits *limits = &options->limits;

	if (options->flight.max_bytes) {
		limits->rotate_bytes = options->flight.max_bytes / FLIGHT_SEGMENTS;
		limits->rotate_ns = options->flight.span_ns / FLIGHT_SEGMENTS;
		return;
	}
	if (limits->keep_bytes && (!limits->rotate_bytes || limits->rotate_bytes > limits->keep_bytes / 2))
		limits->rotate_bytes = limits->keep_bytes / 2;
}

void log_writer_set_limits(struct log_writer *writer, const struct log_writer_limits *limits)
{
	const struct file_series_limits kept = { .file_cnt = limits->keep_cnt,
						 .total_bytes = limits->keep_bytes };

	writer->options.limits = *limits;
	fit_limits(&writer->options);
	log_store_set_limits(writer->store, &kept);
}

int log_writer_open(struct log_writer **result, const char *path, const struct txtrace_log_info *info,
		    const struct log_writer_options *options)
{
	struct log_writer *writer = calloc(1, sizeof(*writer));
	int err;

	if (!writer)
		return -ENOMEM;
	writer->options = *options;
	if (!options->batch_bytes)
		writer->options.batch_bytes = DEFAULT_BATCH_BYTES;
	fit_limits(&writer->options);
	writer->anchor_monotonic_ns = writer->part_begin_ns = info->start_monotonic_ns;
	writer->anchor_realtime_ns = info->start_realtime_ns;
	writer->part = info->part;
	writer->is_through = true;
	writer->waits = options->is_sync;
	writer->encoder = batch_encoder_new();
	err = writer->encoder ? log_store_open(&writer->store, path, info, &writer->options) : -ENOMEM;
	if (!err && options->queue_bytes)
		err = store_thread_start(&writer->thread, writer->store, options);
	if (err)
		free_writer(writer);
	else
		*result = writer;
	return err;
}

void log_writer_abort(struct log_writer *writer)
{
	if (writer)
		free_writer(writer);
}

/* What every file needs at its beginning, and says nothing new. */
static bool is_definition(unsigned int kind)
{
	return kind == TXTRACE_RECORD_THREAD || kind == TXTRACE_RECORD_OPEN_SPAN ||
	       kind == TXTRACE_RECORD_OBJECT || kind == TXTRACE_RECORD_PROCESS;
}

static bool is_content(const uint64_t *record_cnts)
{
	for (unsigned int kind = 0; kind < TXTRACE_RECORD_KIND_COUNT; kind++)
		if (record_cnts[kind] && !is_definition(kind))
			return true;
	return false;
}

/* ---- what is dropped ---- */

static void add_dropped(struct txtrace_dropped *sum, const struct txtrace_dropped *dropped)
{
	if (!sum->batch_cnt || dropped->first_ns < sum->first_ns)
		sum->first_ns = dropped->first_ns;
	if (dropped->last_ns > sum->last_ns)
		sum->last_ns = dropped->last_ns;
	sum->batch_cnt += dropped->batch_cnt;
	for (unsigned int kind = 0; kind < TXTRACE_RECORD_KIND_COUNT; kind++)
		sum->record_cnt[kind] += dropped->record_cnt[kind];
}

/* In front of what comes next. It fits: the encoder is empty. */
static int tell_dropped(struct log_writer *writer)
{
	struct txtrace_record record = { .kind = TXTRACE_RECORD_DROPPED, .dropped = writer->untold };

	record.dropped.time_ns = record.dropped.last_ns;
	writer->pending_cnt++;
	return batch_encoder_add(writer->encoder, &record);
}

/*
 * What the writer itself has added is none of what it was given. A definition that went with it has to come
 * again.
 */
static void count_dropped(struct log_writer *writer, const struct batch *content, const uint64_t *record_cnts)
{
	struct txtrace_dropped dropped = { .first_ns = content->first_ns, .last_ns = content->last_ns };

	for (unsigned int kind = 0; kind < TXTRACE_RECORD_KIND_COUNT; kind++) {
		if (kind == TXTRACE_RECORD_DROPPED || kind == TXTRACE_RECORD_CONTINUED || !record_cnts[kind])
			continue;
		dropped.record_cnt[kind] = record_cnts[kind];
		dropped.batch_cnt = 1;
		writer->wants_definitions |= is_definition(kind);
	}
	if (!dropped.batch_cnt)
		return;
	add_dropped(&writer->dropped, &dropped);
	add_dropped(&writer->untold, &dropped);
}

/* ---- batches ---- */

static void visit_encoder(const void *encoder, label_visitor visit, void *context)
{
	batch_encoder_visit_labels(encoder, visit, context);
}


/*
 * What waits in the queue counts as what it is likely to become: so a file, or a segment of a flight
 * recorder, is as large under load as it is else. Before anything was stored, it counts as it is.
 */
static uint64_t part_bytes(const struct log_writer *writer)
{
	uint64_t file_bytes = log_store_file_bytes(writer->store, writer->part),
		 packed_bytes = log_store_packed_bytes(writer->store);
	uint64_t raw_bytes = log_store_raw_bytes(writer->store),
		 waiting_bytes = writer->raw_bytes - raw_bytes;

	if (waiting_bytes > writer->raw_bytes - writer->part_raw_bytes)
		waiting_bytes = writer->raw_bytes - writer->part_raw_bytes;
	return file_bytes +
	       (raw_bytes ? (uint64_t)((double)waiting_bytes * (double)packed_bytes / (double)raw_bytes)
			  : waiting_bytes);
}

static void look_at_part(struct log_writer *writer)
{
	const struct log_writer_limits *limits = &writer->options.limits;
	bool is_large = limits->rotate_bytes && part_bytes(writer) >= limits->rotate_bytes;
	bool is_old = limits->rotate_ns &&
		      writer->anchor_monotonic_ns - writer->part_begin_ns >= limits->rotate_ns;

	writer->wants_part = writer->options.keeps_older && writer->has_content && (is_large || is_old);
}

enum batch_end {
	ENDS_BATCH,
	ENDS_FILE,
	DUMPS,
};

/* Closes the batch and hands it on. Afterwards is_through tells whether it was dropped. */
static int end_batch(struct log_writer *writer, enum batch_end end)
{
	struct log_batch batch = {
		.anchor_monotonic_ns = writer->anchor_monotonic_ns,
		.anchor_realtime_ns = writer->anchor_realtime_ns,
		.ends_file = end == ENDS_FILE,
		.begins_segment = writer->begins_segment,
		.dumps = end == DUMPS,
		.visit_labels = visit_encoder,
		.labels = writer->encoder,
	};
	uint64_t record_cnts[TXTRACE_RECORD_KIND_COUNT];
	int err;

	batch_encoder_finish(writer->encoder, &batch.content);
	batch_encoder_count(writer->encoder, record_cnts);
	err = writer->thread ? store_thread_put(writer->thread, &batch, writer->waits || batch.dumps) :
			       log_store_put(writer->store, &batch);
	if (batch.content.last_ns > writer->last_ns)
		writer->last_ns = batch.content.last_ns;
	writer->is_through = !writer->thread || err != -EAGAIN;
	if (writer->is_through)
		writer->begins_segment = false;
	if (writer->is_through)
		writer->raw_bytes += batch.content.cuts[batch.content.cut_cnt - 1];
	writer->has_content |= is_content(record_cnts);
	if (writer->is_through)
		memset(&writer->untold, 0, sizeof(writer->untold));
	else
		count_dropped(writer, &batch.content, record_cnts);
	batch_encoder_reset(writer->encoder);
	writer->pending_cnt = 0;
	if (!writer->is_through)
		err = writer->untold.batch_cnt ? tell_dropped(writer) : 0;
	look_at_part(writer);
	return err;
}

static int flush_pending(struct log_writer *writer)
{
	if (!writer->err && writer->pending_cnt)
		writer->err = end_batch(writer, ENDS_BATCH);
	return writer->err;
}

int log_writer_add(struct log_writer *writer, const struct txtrace_record *record)
{
	int err;

	if (writer->err)
		return writer->err;
	err = batch_encoder_add(writer->encoder, record);
	if (err == -ENOSPC) {
		err = flush_pending(writer);
		if (!err)
			err = batch_encoder_add(writer->encoder, record);
	}
	if (err) {
		writer->err = err;
		return err;
	}
	writer->pending_cnt++;
	writer->record_cnt++;
	return batch_encoder_bytes(writer->encoder) >= writer->options.batch_bytes ? flush_pending(writer)
										   : 0;
}

int log_writer_flush(struct log_writer *writer)
{
	int err = flush_pending(writer);

	if (err)
		return err;
	if (writer->thread)
		err = store_thread_check(writer->thread, writer->options.is_sync);
	else
		err = log_store_check(writer->store, writer->options.is_sync);
	writer->err = err;
	look_at_part(writer);
	return err;
}

int log_writer_skip(struct log_writer *writer)
{
	int err = flush_pending(writer);

	return err ? err : log_store_skip(writer->store);
}

/* ---- parts ---- */

/*
 * Definitions that were dropped come again once there is room: before, they would only be dropped once more.
 */
bool log_writer_is_due(const struct log_writer *writer)
{
	return writer->is_through && (writer->wants_part || writer->wants_definitions);
}

/* In the last batch of a part, behind all other records. */
static int end_part(struct log_writer *writer)
{
	struct txtrace_record record = { .kind = TXTRACE_RECORD_CONTINUED };
	uint64_t last_ns = batch_encoder_last_ns(writer->encoder);
	int err;

	record.continued.next_part = writer->part + 1;
	record.continued.time_ns = last_ns > writer->last_ns ? last_ns : writer->last_ns;
	err = batch_encoder_add(writer->encoder, &record);
	if (err == -ENOSPC) {
		err = flush_pending(writer);
		if (!err)
			err = batch_encoder_add(writer->encoder, &record);
	}
	writer->pending_cnt++;
	if (!err)
		err = end_batch(writer, ENDS_FILE);
	if (err || !writer->is_through)
		return err;
	writer->part++;
	writer->part_begin_ns = writer->anchor_monotonic_ns;
	writer->part_raw_bytes = writer->raw_bytes;
	writer->has_content = writer->wants_part = false;
	writer->wants_definitions = true;
	return 0;
}

/* What comes next begins with definitions. */
static void begin_segment(struct log_writer *writer)
{
	writer->part++;
	writer->part_begin_ns = writer->anchor_monotonic_ns;
	writer->part_raw_bytes = writer->raw_bytes;
	writer->has_content = writer->wants_part = false;
	writer->begins_segment = writer->wants_definitions = true;
}

static int end_segment(struct log_writer *writer)
{
	int err = flush_pending(writer);

	if (!err && writer->is_through)
		begin_segment(writer);
	return err;
}

int log_writer_dump(struct log_writer *writer, const struct txtrace_record *last)
{
	int err = flush_pending(writer);

	if (!err)
		err = batch_encoder_add(writer->encoder, last);
	if (err) {
		writer->err = err;
		return err;
	}
	writer->pending_cnt++;
	writer->record_cnt++;
	err = end_batch(writer, DUMPS);
	if (!err)
		begin_segment(writer);
	writer->err = err;
	return err;
}

int log_writer_turn(struct log_writer *writer)
{
	bool wants_definitions;

	if (writer->err)
		return writer->err;
	if (writer->wants_part)
		writer->err = writer->options.flight.max_bytes ? end_segment(writer) : end_part(writer);
	if (writer->err)
		return writer->err;
	wants_definitions = writer->wants_definitions && writer->is_through;
	if (wants_definitions)
		writer->wants_definitions = false;
	return wants_definitions;
}

/* ---- what may be asked ---- */

void log_writer_set_anchor(struct log_writer *writer, uint64_t monotonic_ns, uint64_t realtime_ns)
{
	writer->anchor_monotonic_ns = monotonic_ns;
	writer->anchor_realtime_ns = realtime_ns;
}

uint64_t log_writer_bytes(const struct log_writer *writer)
{
	return log_store_bytes(writer->store);
}

uint64_t log_writer_records(const struct log_writer *writer)
{
	return writer->record_cnt;
}

const struct txtrace_dropped *log_writer_dropped(const struct log_writer *writer)
{
	return &writer->dropped;
}

uint64_t log_writer_dropped_records(const struct log_writer *writer)
{
	uint64_t cnt = 0;

	for (unsigned int kind = 0; kind < TXTRACE_RECORD_KIND_COUNT; kind++)
		cnt += writer->dropped.record_cnt[kind];
	return cnt;
}

void log_writer_drop_no_more(struct log_writer *writer)
{
	writer->waits = true;
}

void log_writer_flight_stats(const struct log_writer *writer, struct log_flight_stats *stats)
{
	log_store_flight_stats(writer->store, stats);
}

int log_writer_error(const struct log_writer *writer)
{
	return writer->err ? writer->err : log_store_error(writer->store);
}

int log_writer_close(struct log_writer *writer)
{
	int err, stop_err;

	writer->waits = true;
	err = flush_pending(writer);
	/* What there is no room for even in an empty queue is told once more, by itself. */
	if (!err && !writer->is_through)
		err = flush_pending(writer);
	stop_err = store_thread_stop(writer->thread);
	writer->thread = NULL;
	if (!err)
		err = stop_err;
	if (!err) {
		err = log_store_close(writer->store, writer->options.result);
		writer->store = NULL;
	}
	free_writer(writer);
	return err;
}
