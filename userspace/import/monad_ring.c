/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/monad_ring.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "import/monad_image.h"

#define AREA_BYTES (2u << 20) /* of the header; each area begins on such a limit */
#define HEADER_BYTES 136u
#define LAST_AT 64u
#define WINDOW_AT 128u
#define DESCRIPTOR_BYTES 64u
#define CAPACITY_MIN (1ull << 16)
#define CAPACITY_MAX (1ull << 32)
#define PAYLOAD_MIN (1ull << 27)
#define PAYLOAD_MAX (1ull << 40)
#define BATCH_CNT 1024u
#define LOOKS_MAX 4u	       /* at one batch */
#define ARENA_BYTES (1u << 20) /* of payloads of a batch; one may be longer */

struct header {
	uint16_t content_type;
	uint8_t hash[MONAD_HASH_BYTES];
	uint64_t capacity, payload_bytes, context_bytes;
};

/* Of a descriptor of the batch. */
struct slot {
	uint8_t state; /* enum monad_payload_state */
	bool is_good;
	size_t payload_at; /* in the arena */
	size_t payload_length;
};

struct monad_ring {
	struct monad_image image;
	struct header header;
	monad_wanted wanted;
	const void *context;
	uint64_t next;	       /* number */
	uint64_t last;	       /* that was given out, when it was looked at */
	uint64_t end;	       /* the last one to be read */
	uint64_t window_start; /* virtual offset of the oldest payload */
	bool is_live;	       /* a writer may write meanwhile */
	bool is_following;
	bool is_given_up; /* the next number is not waited for */

	uint64_t first; /* of the batch */
	size_t cnt, at;
	uint8_t before[BATCH_CNT * DESCRIPTOR_BYTES];
	uint8_t bytes[BATCH_CNT * DESCRIPTOR_BYTES];
	struct slot slots[BATCH_CNT];
	uint8_t *arena;
	size_t arena_used, arena_size;
};

static uint64_t number_at(const uint8_t *bytes, unsigned int width)
{
	uint64_t value = 0;

	for (unsigned int i = 0; i < width; i++)
		value |= (uint64_t)bytes[i] << (8 * i);
	return value;
}

/* ---- the header ---- */

static bool is_size(uint64_t size, uint64_t min, uint64_t max)
{
	return size >= min && size <= max && (size & (size - 1)) == 0;
}

static int bad_size(struct error *error, const char *what, uint64_t size, uint64_t min, uint64_t max)
{
	error_set(error, "%s %" PRIu64 " is no power of two from %" PRIu64 " to %" PRIu64, what, size, min,
		  max);
	return -EBADMSG;
}

static int parse_header(struct header *header, const uint8_t *bytes, size_t length, struct error *error)
{
	if (length < HEADER_BYTES) {
		error_set(error, "it ends inside the header of a ring, after %zu of %u bytes", length,
			  HEADER_BYTES);
		return -EBADMSG;
	}
	if (memcmp(bytes, MONAD_MAGIC "01", 6) != 0) {
		error_set(error,
			  "it begins with '%.6s', and only rings that begin with '" MONAD_MAGIC
			  "01' can be read",
			  (const char *)bytes);
		return -EBADMSG;
	}
	header->content_type = (uint16_t)number_at(bytes + 6, 2);
	memcpy(header->hash, bytes + 8, MONAD_HASH_BYTES);
	header->capacity = number_at(bytes + 40, 8);
	header->payload_bytes = number_at(bytes + 48, 8);
	header->context_bytes = number_at(bytes + 56, 8);
	if (!is_size(header->capacity, CAPACITY_MIN, CAPACITY_MAX))
		return bad_size(error, "its capacity of descriptors, at byte 40,", header->capacity,
				CAPACITY_MIN, CAPACITY_MAX);
	if (!is_size(header->payload_bytes, PAYLOAD_MIN, PAYLOAD_MAX))
		return bad_size(error, "the size of its payload buffer, at byte 48,", header->payload_bytes,
				PAYLOAD_MIN, PAYLOAD_MAX);
	if (header->context_bytes != 0 && !is_size(header->context_bytes, 1, PAYLOAD_MAX))
		return bad_size(error, "the size of its context area, at byte 56,", header->context_bytes, 1,
				PAYLOAD_MAX);
	return 0;
}

static uint64_t payloads_at(const struct header *header)
{
	return AREA_BYTES + header->capacity * DESCRIPTOR_BYTES;
}

/* The header's numbers that a writer moves. */
static int look_at_header(struct monad_ring *ring)
{
	uint8_t bytes[HEADER_BYTES] = { 0 };
	int64_t got = monad_image_read(&ring->image, 0, bytes, sizeof(bytes));

	if (got < 0)
		return (int)got;
	if (number_at(bytes + LAST_AT, 8) > ring->last)
		ring->last = number_at(bytes + LAST_AT, 8);
	ring->window_start = number_at(bytes + WINDOW_AT, 8);
	return 0;
}

static uint64_t last_to_read(const struct monad_ring *ring)
{
	return ring->last < ring->end ? ring->last : ring->end;
}

/* ---- opening ---- */

/* The first number that may still be there. */
static uint64_t oldest(const struct monad_ring *ring)
{
	return ring->last >= ring->header.capacity ? ring->last - ring->header.capacity + 1 : 1;
}

static int open_ring(struct monad_ring *ring, struct import_source *source, const char *directory,
		     struct error *error)
{
	size_t length;
	const uint8_t *bytes = import_source_peek(source, HEADER_BYTES, &length);
	int err = bytes ? parse_header(&ring->header, bytes, length, error) : -ENOMEM;

	err = err ? err
		  : monad_image_open(&ring->image, source,
				     payloads_at(&ring->header) + ring->header.payload_bytes, directory,
				     error);
	if (err)
		return err;
	ring->is_live = monad_image_is_locked(&ring->image);
	err = look_at_header(ring);
	if (err)
		error_set(error, "can't read its header: %s", strerror(-err));
	ring->next = 1;
	ring->end = ring->last; /* a writer may be faster than the reader */
	return err;
}

int monad_ring_open(struct monad_ring **result, struct import_source *source, const char *directory,
		    struct error *error)
{
	struct monad_ring *ring = calloc(1, sizeof(*ring));
	int err;

	*result = NULL;
	if (!ring)
		return -ENOMEM;
	ring->image.fd = -1;
	err = open_ring(ring, source, directory, error);
	if (err)
		monad_ring_close(ring);
	else
		*result = ring;
	return err;
}

void monad_ring_close(struct monad_ring *ring)
{
	if (!ring)
		return;
	monad_image_close(&ring->image);
	free(ring->arena);
	free(ring);
}

void monad_ring_set_wanted(struct monad_ring *ring, monad_wanted wanted, const void *context)
{
	ring->wanted = wanted;
	ring->context = context;
}

uint16_t monad_ring_content_type(const struct monad_ring *ring)
{
	return ring->header.content_type;
}

const uint8_t *monad_ring_schema_hash(const struct monad_ring *ring)
{
	return ring->header.hash;
}

bool monad_ring_is_short(const struct monad_ring *ring, uint64_t *length, uint64_t *wanted, int *why)
{
	*length = monad_image_length(&ring->image);
	*wanted = payloads_at(&ring->header) + ring->header.payload_bytes;
	*why = ring->image.err;
	return *length < *wanted;
}

void monad_ring_follow(struct monad_ring *ring, bool is_following)
{
	ring->is_live = true; /* nobody knows for how long */
	look_at_header(ring); /* if it can't be read, no event can */
	ring->is_following = is_following;
	ring->end = is_following ? UINT64_MAX : ring->last;
}

bool monad_ring_is_alive(const struct monad_ring *ring)
{
	return monad_image_is_locked(&ring->image);
}

void monad_ring_give_up_one(struct monad_ring *ring)
{
	ring->is_given_up = true;
}

bool monad_ring_has_more(struct monad_ring *ring)
{
	return look_at_header(ring) == 0 && ring->next <= last_to_read(ring);
}

/* ---- a batch ---- */

static uint64_t slot_of(const struct monad_ring *ring, uint64_t number)
{
	return (number - 1) & (ring->header.capacity - 1);
}

static uint64_t offset_of(const struct monad_ring *ring, uint64_t number)
{
	return AREA_BYTES + slot_of(ring, number) * DESCRIPTOR_BYTES;
}

static uint64_t number_in(const uint8_t *bytes, size_t idx)
{
	return number_at(bytes + idx * DESCRIPTOR_BYTES, 8);
}

static int make_room(struct monad_ring *ring, size_t cnt)
{
	size_t size = ring->arena_used + cnt;
	uint8_t *arena;

	if (size <= ring->arena_size)
		return 0;
	size = size < ARENA_BYTES ? ARENA_BYTES : size;
	arena = realloc(ring->arena, size);
	if (!arena)
		return -ENOMEM;
	ring->arena = arena;
	ring->arena_size = size;
	return 0;
}

/* It may run over the end of the buffer, and goes on at its beginning. */
static int read_payload(struct monad_ring *ring, struct slot *slot, uint64_t offset, uint32_t cnt)
{
	const struct header *header = &ring->header;
	uint64_t at = offset & (header->payload_bytes - 1), left = header->payload_bytes - at;
	size_t first = cnt < left ? cnt : (size_t)left;
	int64_t got;
	int err = make_room(ring, cnt);

	if (err)
		return err;
	slot->payload_at = ring->arena_used;
	slot->payload_length = cnt;
	got = monad_image_read(&ring->image, payloads_at(header) + at, ring->arena + ring->arena_used, first);
	if (got == (int64_t)first && first < cnt) {
		got = monad_image_read(&ring->image, payloads_at(header),
				       ring->arena + ring->arena_used + first, cnt - first);
		got = got < 0 ? got : got + (int64_t)first;
	}
	if (got < 0)
		return (int)got;
	slot->state = (uint64_t)got < cnt ? MONAD_PAYLOAD_CUT : MONAD_PAYLOAD_HERE;
	ring->arena_used += cnt;
	return 0;
}

static int read_payload_of(struct monad_ring *ring, size_t idx)
{
	const uint8_t *bytes = ring->bytes + idx * DESCRIPTOR_BYTES;
	uint32_t size = (uint32_t)number_at(bytes + 12, 4), cnt;
	uint64_t offset = number_at(bytes + 24, 8);
	struct slot *slot = &ring->slots[idx];

	cnt = ring->wanted ? ring->wanted(ring->context, (uint16_t)number_at(bytes + 8, 2), size) : 0;
	cnt = cnt < size ? cnt : size;
	if (size == 0)
		return 0;
	if (offset < ring->window_start)
		slot->state = MONAD_PAYLOAD_EXPIRED;
	else if (size > ring->header.payload_bytes)
		slot->state = MONAD_PAYLOAD_CUT;
	else if (cnt > 0)
		return read_payload(ring, slot, offset, cnt);
	return 0;
}

/* Of those that are there, as far as there is room. */
static int read_payloads(struct monad_ring *ring)
{
	int err = 0;

	ring->arena_used = 0;
	for (size_t i = 0; !err && i < ring->cnt; i++) {
		if (ring->arena_used >= ARENA_BYTES) {
			ring->cnt = i;
			break;
		}
		ring->slots[i] = (struct slot){ .is_good = number_in(ring->bytes, i) == ring->first + i };
		if (ring->slots[i].is_good)
			err = read_payload_of(ring, i);
	}
	return err;
}

/* What a writer has touched meanwhile is not taken. */
static int look_again(struct monad_ring *ring)
{
	int64_t got;
	int err;

	got = monad_image_read(&ring->image, offset_of(ring, ring->first), ring->before,
			       ring->cnt * DESCRIPTOR_BYTES);
	err = got < 0 ? (int)got : look_at_header(ring);
	if (err)
		return err;
	for (size_t i = 0; i < ring->cnt; i++) {
		uint64_t offset = number_at(ring->bytes + i * DESCRIPTOR_BYTES + 24, 8);
		struct slot *slot = &ring->slots[i];

		if ((i + 1) * DESCRIPTOR_BYTES > (uint64_t)got ||
		    number_in(ring->before, i) != number_in(ring->bytes, i))
			slot->is_good = false;
		if (slot->state == MONAD_PAYLOAD_HERE && offset < ring->window_start)
			slot->state = MONAD_PAYLOAD_EXPIRED;
	}
	return 0;
}

/*
 * How many were finished between the first look and this one: perhaps after their bytes were read. They are
 * taken for not finished.
 */
static size_t drop_newer(struct monad_ring *ring, size_t cnt)
{
	size_t newer_cnt = 0;

	for (size_t i = 0; i < cnt; i++) {
		if (number_in(ring->before, i) == number_in(ring->bytes, i) ||
		    number_in(ring->bytes, i) != ring->first + i)
			continue;
		newer_cnt++;
		memset(ring->bytes + i * DESCRIPTOR_BYTES, 0, 8);
	}
	return newer_cnt;
}

/* Again if a writer is there: a number that was seen before proves what is read then. */
static int64_t read_descriptors(struct monad_ring *ring)
{
	size_t length = ring->cnt * DESCRIPTOR_BYTES, newer_cnt = 1;
	uint64_t offset = offset_of(ring, ring->first);
	int64_t got = monad_image_read(&ring->image, offset, ring->bytes, length);

	/* a writer that plays with its numbers is not waited for */
	for (unsigned int i = 0; ring->is_live && got > 0 && newer_cnt > 0 && i < LOOKS_MAX; i++) {
		length = (size_t)got;
		if (i == 0)
			memcpy(ring->before, ring->bytes, length);
		else
			monad_image_read(&ring->image, offset, ring->before, length);
		got = monad_image_read(&ring->image, offset, ring->bytes, length);
		if (got > 0)
			newer_cnt = drop_newer(ring, (size_t)got / DESCRIPTOR_BYTES);
	}
	return got;
}

/* The next batch: ring->cnt descriptors. 0 of them: there are none in the file. */
static int load(struct monad_ring *ring)
{
	uint64_t room = ring->header.capacity - slot_of(ring, ring->next);
	uint64_t left = last_to_read(ring) - ring->next + 1;
	int64_t got;
	int err;

	ring->first = ring->next;
	ring->at = 0;
	ring->cnt = left < room ? (left < BATCH_CNT ? (size_t)left : BATCH_CNT)
				: (room < BATCH_CNT ? (size_t)room : BATCH_CNT);
	got = read_descriptors(ring);
	ring->cnt = got < 0 ? 0 : (size_t)got / DESCRIPTOR_BYTES;
	err = got < 0 ? (int)got : read_payloads(ring);
	return !err && ring->is_live ? look_again(ring) : err;
}

/* ---- items ---- */

/* The next numbers, up to `last`, are told as lost. */
static int lose(struct monad_ring *ring, struct monad_item *item, enum monad_item_kind kind, uint64_t last)
{
	last = last < last_to_read(ring) ? last : last_to_read(ring);
	*item = (struct monad_item){ .kind = kind, .first = ring->next, .last = last };
	ring->at = last - ring->next < ring->cnt - ring->at ? ring->at + (size_t)(last - ring->next) + 1
							    : ring->cnt;
	ring->next = last + 1;
	ring->is_given_up = false;
	return 1;
}

/* Slots behind the end of the file, or in a part of it that was never written, from the next number on. */
static bool skip_empty(struct monad_ring *ring, struct monad_item *item)
{
	uint64_t end = ring->next + (ring->header.capacity - slot_of(ring, ring->next)) - 1;
	uint64_t offset = offset_of(ring, ring->next), data;

	if (end < ring->next) /* numbers end before the slots do */
		end = UINT64_MAX;
	if (offset + DESCRIPTOR_BYTES > monad_image_length(&ring->image))
		return lose(ring, item, MONAD_CUT, end);
	data = ring->is_live ? offset : monad_image_skip_zeros(&ring->image, offset);
	if (data == UINT64_MAX) /* to the end of the file: so long as there is one */
		data = monad_image_length(&ring->image);
	if (data < offset + DESCRIPTOR_BYTES)
		return false;
	if (end - ring->next > (data - offset) / DESCRIPTOR_BYTES - 1)
		end = ring->next + (data - offset) / DESCRIPTOR_BYTES - 1;
	return lose(ring, item, MONAD_HOLE, end);
}

static void give_event(struct monad_ring *ring, struct monad_item *item)
{
	const uint8_t *bytes = ring->bytes + ring->at * DESCRIPTOR_BYTES;
	const struct slot *slot = &ring->slots[ring->at];

	*item = (struct monad_item){
		.kind = MONAD_EVENT,
		.first = ring->next,
		.last = ring->next,
		.offset = offset_of(ring, ring->next),
		.time_ns = number_at(bytes + 16, 8),
		.size = (uint32_t)number_at(bytes + 12, 4),
		.type = (uint16_t)number_at(bytes + 8, 2),
		.state = slot->state,
	};
	for (unsigned int i = 0; i < 4; i++)
		item->words[i] = number_at(bytes + 32 + 8 * i, 8);
	if (slot->state == MONAD_PAYLOAD_HERE) {
		item->payload = ring->arena + slot->payload_at;
		item->payload_length = slot->payload_length;
	}
	ring->next++;
	ring->at++;
	ring->is_given_up = false;
}

/* The number in the slot of the next event is newer: at least this event is gone. */
static int lose_overwritten(struct monad_ring *ring, struct monad_item *item)
{
	int err = ring->is_live ? look_at_header(ring) : 0;
	uint64_t last = oldest(ring) > ring->next ? oldest(ring) - 1 : ring->next;

	return err ? err : lose(ring, item, MONAD_OVERWRITTEN, last);
}

static bool is_hole(const struct monad_ring *ring, size_t at)
{
	return at < ring->cnt && !ring->slots[at].is_good && number_in(ring->bytes, at) < ring->first + at;
}

/* Of the batch. */
static int give(struct monad_ring *ring, struct monad_item *item)
{
	size_t end = ring->at + 1;

	if (ring->slots[ring->at].is_good) {
		give_event(ring, item);
		return 1;
	}
	/* also if its own number is there and has changed since */
	if (!is_hole(ring, ring->at))
		return lose_overwritten(ring, item);
	if (ring->is_following) {
		if (ring->is_given_up)
			return lose(ring, item, MONAD_HOLE, ring->next);
		ring->at = ring->cnt = 0; /* it is looked at again */
		return 0;
	}
	while (is_hole(ring, end))
		end++;
	return lose(ring, item, MONAD_HOLE, ring->next + (end - ring->at) - 1);
}

int monad_ring_next(struct monad_ring *ring, struct monad_item *item)
{
	int err = 0;

	if (ring->at < ring->cnt)
		return give(ring, item);
	if (ring->is_live)
		err = look_at_header(ring);
	if (err || ring->next == 0 || ring->next > last_to_read(ring))
		return err;
	if (oldest(ring) > ring->next) /* at the beginning, what there was before */
		return lose(ring, item, MONAD_OVERWRITTEN, oldest(ring) - 1);
	if (skip_empty(ring, item))
		return 1;
	err = load(ring);
	if (err)
		return err;
	return ring->cnt > 0 ? give(ring, item) : lose(ring, item, MONAD_CUT, ring->next);
}
