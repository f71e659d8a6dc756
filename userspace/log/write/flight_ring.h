/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The last part of a log, in memory: batches as they would be stored in a file,
 * the oldest going as new ones come, until somebody wants them written.
 *
 * Batches come in segments, each of which begins with what a reader needs who
 * knows nothing of those before (threads, processes, objects, open spans), so
 * that is how they go: a whole segment at a time. What is there thus always
 * begins with definitions, and covers at least what is asked for less one
 * segment. Only where one segment alone is larger than the limit do its own
 * batches go, which is counted.
 *
 * Memory: the batches and about 200 bytes for each, never more than max_bytes
 * but for the last batch.
 */
#ifndef FLIGHT_RING_H
#define FLIGHT_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "log/format/log_header.h"
#include "log/format/log_index.h"
#include "log/write/batch_encoder.h"

struct flight_ring;

struct flight_ring_limits {
	uint64_t max_bytes;
	uint64_t span_ns; /* what is older than the newest by more than this goes, too; 0: only size counts */
};

struct flight_batch {
	struct log_block block; /* all but the sequence */
	const uint8_t *stored;  /* block.stored_bytes */

	/* Tells how many spans of each label it holds. */
	void (*visit_labels)(const void *labels, label_visitor visit, void *context);
	const void *labels;
};

struct flight_ring *flight_ring_new(const struct flight_ring_limits *limits); /* NULL: no memory */
void flight_ring_free(struct flight_ring *ring);                               /* NULL is allowed */

/* Copies it. begins_segment: definitions come first in it. 0 or -ENOMEM. */
int flight_ring_add(struct flight_ring *ring, const struct flight_batch *batch, bool begins_segment);

/* Calls take for each, the oldest first. A non-zero return stops and is the result. */
typedef int (*flight_take)(void *context, const struct flight_batch *batch);
int flight_ring_each(const struct flight_ring *ring, flight_take take, void *context);

void flight_ring_clear(struct flight_ring *ring);

uint64_t flight_ring_bytes(const struct flight_ring *ring);
uint64_t flight_ring_segment_bytes(const struct flight_ring *ring); /* of the last one */
/* batches that had to go out of a segment that stayed */
uint64_t flight_ring_cut_cnt(const struct flight_ring *ring);

#endif
