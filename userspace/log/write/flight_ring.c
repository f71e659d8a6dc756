/* SPDX-License-Identifier: BSD-2-Clause */
#include "log/write/flight_ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A batch; behind it its stored bytes, then its labels: a head and the bytes of each. */
struct kept {
	struct kept *next;
	struct log_block block;
	size_t size;
	size_t label_bytes;
	bool begins_segment;
};

struct label_head {
	uint64_t span_cnt;
	size_t length;
};

struct flight_ring {
	struct flight_ring_limits limits;
	struct kept *first;
	struct kept **end;
	size_t cnt;
	uint64_t bytes;
	uint64_t segment_bytes;
	uint64_t cut_cnt;
};

static uint8_t *stored_of(struct kept *kept)
{
	return (uint8_t *)(kept + 1);
}

struct flight_ring *flight_ring_new(const struct flight_ring_limits *limits)
{
	struct flight_ring *ring = calloc(1, sizeof(*ring));

	if (!ring)
		return NULL;
	ring->limits = *limits;
	ring->end = &ring->first;
	return ring;
}

static void drop_first(struct flight_ring *ring)
{
	struct kept *kept = ring->first;

	ring->first = kept->next;
	if (!ring->first)
		ring->end = &ring->first;
	ring->bytes -= kept->size;
	ring->cnt--;
	free(kept);
}

void flight_ring_clear(struct flight_ring *ring)
{
	while (ring->first)
		drop_first(ring);
	ring->segment_bytes = 0;
}

void flight_ring_free(struct flight_ring *ring)
{
	if (!ring)
		return;
	flight_ring_clear(ring);
	free(ring);
}

/* The first batch of the second segment; NULL: there is one only. */
static const struct kept *second_segment(const struct flight_ring *ring)
{
	const struct kept *kept = ring->first ? ring->first->next : NULL;

	while (kept && !kept->begins_segment)
		kept = kept->next;
	return kept;
}

static void drop_segment(struct flight_ring *ring, const struct kept *next)
{
	while (ring->first != next)
		drop_first(ring);
}

/* What is older goes once the segments behind it cover the time by themselves. */
static bool is_old(const struct flight_ring *ring, const struct kept *second, uint64_t newest_ns)
{
	return ring->limits.span_ns && newest_ns > ring->limits.span_ns &&
	       second->block.first_ns <= newest_ns - ring->limits.span_ns;
}

static void make_room(struct flight_ring *ring, uint64_t newest_ns)
{
	const struct kept *second = second_segment(ring);

	while (second && (ring->bytes > ring->limits.max_bytes || is_old(ring, second, newest_ns))) {
		drop_segment(ring, second);
		second = second_segment(ring);
	}
	while (ring->bytes > ring->limits.max_bytes && ring->cnt > 1) {
		drop_first(ring);
		ring->cut_cnt++;
	}
}

struct label_room {
	uint8_t *at; /* NULL: only count */
	size_t bytes;
};

static void add_label(void *context, const char *label, size_t length, uint64_t span_cnt)
{
	const struct label_head head = { span_cnt, length };
	struct label_room *room = context;

	if (room->at) {
		memcpy(room->at + room->bytes, &head, sizeof(head));
		if (length)
			memcpy(room->at + room->bytes + sizeof(head), label, length);
	}
	room->bytes += sizeof(head) + length;
}

int flight_ring_add(struct flight_ring *ring, const struct flight_batch *batch, bool begins_segment)
{
	struct label_room labels = { 0 };
	struct kept *kept;
	size_t size;

	batch->visit_labels(batch->labels, add_label, &labels);
	size = sizeof(*kept) + batch->block.stored_bytes + labels.bytes;
	kept = malloc(size);
	if (!kept)
		return -ENOMEM;
	*kept = (struct kept){ .block = batch->block,
			       .size = size,
			       .label_bytes = labels.bytes,
			       .begins_segment = begins_segment };
	memcpy(stored_of(kept), batch->stored, batch->block.stored_bytes);
	labels = (struct label_room){ .at = stored_of(kept) + batch->block.stored_bytes };
	batch->visit_labels(batch->labels, add_label, &labels);
	*ring->end = kept;
	ring->end = &kept->next;
	ring->cnt++;
	ring->bytes += size;
	ring->segment_bytes = begins_segment ? size : ring->segment_bytes + size;
	make_room(ring, kept->block.last_ns);
	return 0;
}

static void visit_labels(const void *labels, label_visitor visit, void *context)
{
	const struct kept *kept = labels;
	const uint8_t *at = (const uint8_t *)(kept + 1) + kept->block.stored_bytes,
		      *end = at + kept->label_bytes;

	while (at < end) {
		struct label_head head;

		memcpy(&head, at, sizeof(head));
		visit(context, (const char *)at + sizeof(head), head.length, head.span_cnt);
		at += sizeof(head) + head.length;
	}
}

int flight_ring_each(const struct flight_ring *ring, flight_take take, void *context)
{
	int err = 0;

	for (struct kept *kept = ring->first; kept && !err; kept = kept->next) {
		const struct flight_batch batch = {
			.block = kept->block,
			.stored = stored_of(kept),
			.visit_labels = visit_labels,
			.labels = kept,
		};

		err = take(context, &batch);
	}
	return err;
}

uint64_t flight_ring_bytes(const struct flight_ring *ring)
{
	return ring->bytes;
}

uint64_t flight_ring_segment_bytes(const struct flight_ring *ring)
{
	return ring->segment_bytes;
}

uint64_t flight_ring_cut_cnt(const struct flight_ring *ring)
{
	return ring->cut_cnt;
}
