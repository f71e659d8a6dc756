/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where batches go: compressed, put into blocks, written, noted in the index;
 * and the files that they make one after the other. It is used by one thread;
 * what it has written may be asked for by another. Buffers are made once, at
 * the open.
 */
#ifndef LOG_STORE_H
#define LOG_STORE_H

#include "log/write/batch_encoder.h"
#include "log/file/log_file.h"
#include "log/write/log_writer.h"

struct log_store;

/* A batch on its way from the encoder. */
struct log_batch {
	struct batch content;
	uint64_t anchor_monotonic_ns; /* the same moment on both clocks */
	uint64_t anchor_realtime_ns;
	bool ends_file; /* what follows goes into the next file */

	/* Of a flight recorder. */
	bool begins_segment; /* definitions come first in it */
	bool dumps;          /* with it, all that is in memory is written */

	/* Tells how many spans of each label it holds; labels is for the visit. */
	void (*visit_labels)(const void *labels, label_visitor visit, void *context);
	const void *labels;
};

/* Writes the header. Negative errno, as log_writer_open(). */
int log_store_open(struct log_store **store, const char *path, const struct txtrace_log_info *info,
		   const struct log_writer_options *options);

/* The first error is final: from then on each returns it. */
int log_store_put(struct log_store *store, const struct log_batch *batch);
int log_store_skip(struct log_store *store); /* leaves a place in the sequence of blocks free */

/*
 * Whether the file is still there, so that what is written is not in vain;
 * syncs: and all of it is on the disk.
 */
int log_store_check(struct log_store *store, bool syncs);

/* From any thread. */
void log_store_set_limits(struct log_store *store, const struct file_series_limits *limits);
int log_store_error(const struct log_store *store);
uint64_t log_store_bytes(const struct log_store *store); /* in all files */
/* in the file of that part; 0: it is not there yet, or has ended */
uint64_t log_store_file_bytes(const struct log_store *store, uint32_t part);
void log_store_flight_stats(const struct log_store *store, struct log_flight_stats *stats);
/* of the payloads put so far, before compression */
uint64_t log_store_raw_bytes(const struct log_store *store);
/* what they have become, in files or in memory */
uint64_t log_store_packed_bytes(const struct log_store *store);

/*
 * Writes the index and gives the file its name; after an error, leaves what is
 * there. Both free the store and fill result, if not NULL.
 */
int log_store_close(struct log_store *store, struct log_writer_result *result);
void log_store_abort(struct log_store *store, struct log_writer_result *result); /* NULL is allowed */

#endif
