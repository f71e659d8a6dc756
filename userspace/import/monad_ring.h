/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The events of a Monad event ring (RING01), in the order of their numbers. The
 * ring may be a file that is left of a writer, a snapshot, or the file into
 * which a writer writes now: what is read is looked at again afterwards, so
 * that an event that was overwritten meanwhile is told as lost. Nothing in the
 * file is trusted.
 *
 *	struct monad_ring *ring;
 *	int err = monad_ring_open(&ring, source, directory, &error);
 *
 *	while (!err && (result = monad_ring_next(ring, &item)) == 1)
 *		use(&item);
 *	monad_ring_close(ring);
 *
 * Memory: 1.2 MiB, and the longest payload that is wanted.
 */
#ifndef MONAD_RING_H
#define MONAD_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "import/import_source.h"

#define MONAD_MAGIC "RING"
#define MONAD_HASH_BYTES 32
#define MONAD_CONTENT_EXECUTION 2

struct monad_ring;

enum monad_payload_state {
	MONAD_PAYLOAD_NONE = 0, /* it has 0 bytes, or was not wanted */
	MONAD_PAYLOAD_HERE = 1,
	MONAD_PAYLOAD_EXPIRED = 2, /* others have its place by now */
	MONAD_PAYLOAD_CUT = 3,	   /* it would lie behind the end of the file, or is longer than the buffer */
};

enum monad_item_kind {
	MONAD_EVENT = 1,
	/* numbers first to last have no event: */
	MONAD_HOLE = 2,	       /* their writer never finished them */
	MONAD_OVERWRITTEN = 3, /* they were overwritten before they could be read */
	MONAD_CUT = 4,	       /* they would lie behind the end of the file */
};

struct monad_item {
	enum monad_item_kind kind;
	uint64_t first, last; /* numbers; EVENT: `first` is its number */
	uint64_t offset;      /* EVENT: in the file, of its descriptor */
	uint64_t time_ns;     /* EVENT: of the wall clock */
	uint64_t words[4];
	uint32_t size; /* of the payload */
	uint16_t type;
	uint8_t state;		/* enum monad_payload_state */
	const uint8_t *payload; /* HERE: so many bytes as were wanted and are there; until the next call */
	size_t payload_length;
};

/* How many bytes of the payload of such an event are of use; all of them at most. */
typedef uint32_t (*monad_wanted)(const void *context, uint16_t type, uint32_t size);

/* -EBADMSG: not a ring that can be read, and *error says why; other errnos likewise. */
int monad_ring_open(struct monad_ring **ring, struct import_source *source, const char *directory,
		    struct error *error);
void monad_ring_close(struct monad_ring *ring); /* NULL is allowed */

/* Before the first item. The context outlives the ring. */
void monad_ring_set_wanted(struct monad_ring *ring, monad_wanted wanted, const void *context);

uint16_t monad_ring_content_type(const struct monad_ring *ring);
const uint8_t *monad_ring_schema_hash(const struct monad_ring *ring);

/* Whether the file, or what could be unpacked, is shorter than its header asks for; why: 0 or an errno. */
bool monad_ring_is_short(const struct monad_ring *ring, uint64_t *length, uint64_t *wanted, int *why);

/* Whether what is not finished is waited for, and what a writer adds is read, too. Not so at first. */
void monad_ring_follow(struct monad_ring *ring, bool is_following);

/* Whether a writer holds the lock of the file. */
bool monad_ring_is_alive(const struct monad_ring *ring);

/* The next number is not waited for any longer: if it is still not finished it is a hole. */
void monad_ring_give_up_one(struct monad_ring *ring);

/* Whether numbers were given out that have not been read. */
bool monad_ring_has_more(struct monad_ring *ring);

/* 1; 0: there is nothing more, or for now; a negative errno: the file can't be read. */
int monad_ring_next(struct monad_ring *ring, struct monad_item *item);

#endif
