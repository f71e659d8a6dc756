/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The memory in which a program marks, as its reader sees it: version 1 of what
 * include/txtrace.h calls the ring, which says how it is written. A test holds
 * the two against each other. All of it is the traced program's: whatever it
 * says has to be checked.
 */
#ifndef TXTRACE_MARK_RING_H
#define TXTRACE_MARK_RING_H

#ifndef __VMLINUX_H__
#include <stdint.h>
#endif

enum mark_kind {
	MARK_BEGIN = 1,
	MARK_BEGIN_DETACHED = 2,
	MARK_ENTER = 3,
	MARK_EXIT = 4,
	MARK_END = 5,
	MARK_EVENT = 8,
	MARK_COUNTER = 9,
	MARK_LINK = 10,
	MARK_ATTR = 16, /* + enum attr_type, but for strings */
	MARK_ATTR_BYTES = 87,
	MARK_TAG = 88,
	MARK_ATTR_STRING = 89,
	MARK_KEY_BEGIN = 90,
	MARK_KEY_ENTER = 91,
	MARK_KEY_EXIT = 92,
	MARK_KEY_END = 93,
	MARK_KEY_EVENT = 94,
	MARK_PIECE = 95,
	/* of the probe `ring` alone, which tells of the pool and where in it the lane is */
	MARK_POOL = 96,
	MARK_LANE = 97,
	MARK_FILLING = 98, /* it wants to be read at once */
	MARK_GONE = 99,    /* nothing is marked in it any more */
};

#define MARK_POOL_MAGIC 0x6c6f6f705f787474ull
#define MARK_POOL_VERSION 1
#define MARK_POOL_BYTES (16u << 20)
#define MARK_CHUNK_BYTES 4096u
#define MARK_CHUNK_SLOTS 128u
#define MARK_CHUNK_COUNT (MARK_POOL_BYTES / MARK_CHUNK_BYTES)
#define MARK_PLACE_BYTES 256u /* places are counted in these */
#define MARK_PLACES_IN_CHUNK (MARK_CHUNK_BYTES / MARK_PLACE_BYTES)
#define MARK_PLACE_COUNT (MARK_POOL_BYTES / MARK_PLACE_BYTES)
#define MARK_LANE_SLOTS 3u
#define MARK_LOST_KINDS 32u

struct mark_slot {
	uint64_t id;
	uint64_t name;
	uint64_t value;  /* of a text: length << 32 | number */
	/* kind << 56 | time; PIECE: kind << 56 | number << 32 | which piece; 0: it is not there yet */
	uint64_t commit;
};

#define MARK_KIND_SHIFT 56
#define MARK_TIME_MASK ((1ull << MARK_KIND_SHIFT) - 1)
#define MARK_NUMBER_MASK 0xffffffull
#define MARK_PIECE_BYTES 24u
#define MARK_KEY_MAX 64u /* bytes of a key; what is beyond does not count */
#define MARK_LENGTH_UNREADABLE 0xffffffffu /* there was no text */

struct mark_lane {
	uint64_t position; /* turn << 44 | end << 24 | taken slots */
	uint32_t next_free;
	uint32_t is_known; /* the reader's */
	uint32_t lost[MARK_LOST_KINDS];
	uint32_t is_over; /* the reader's: an earlier one has read it, or was to */
	uint32_t reserved[3];
	struct mark_slot slots[MARK_LANE_SLOTS];
};

#define MARK_USED(position) ((position)&0xffffff)
#define MARK_END_PLACE(position) ((position) >> 24 & 0xfffff)
#define MARK_TURN(position) ((position) >> 44)
#define MARK_TURN_MASK 0xfffffu

#define MARK_CHUNK_LANES (1ull << 62)
#define MARK_CHUNK_SLOTS_OF (1ull << 63) /* | turn << 32 | place of the lane */
#define MARK_CHUNK_OVER (1ull << 61)     /* | place of the lane: an earlier reader's, never read again */

struct mark_pool_head {
	uint64_t magic;
	uint32_t version;
	uint32_t accepted; /* the reader's */
	uint64_t bytes;
	uint64_t free_chunks; /* changes << 32 | the first one; 0: none */
	uint64_t free_lanes;  /* changes << 32 | the first one's place; 0: none */
	uint32_t chunk_cnt;
	uint32_t taken_cnt; /* chunks of slots */
	uint32_t given_cnt;
	uint32_t padding[3];
	uint64_t chunks[MARK_CHUNK_COUNT];
};

#define MARK_HEAD_CHUNKS \
	((uint32_t)((sizeof(struct mark_pool_head) + MARK_CHUNK_BYTES - 1) / MARK_CHUNK_BYTES))

_Static_assert(sizeof(struct mark_slot) == 32, "mark_slot");
_Static_assert(sizeof(struct mark_lane) == MARK_PLACE_BYTES, "mark_lane");

#endif
