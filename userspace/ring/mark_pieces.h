/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Texts that come in pieces before the mark that they belong to
 * (include/txtrace.h). A signal handler may put a text of its own between two
 * pieces: a few can be under way at once. A thread has memory only for those;
 * what was taken last lends its own to the next text, of whichever thread.
 */
#ifndef MARK_PIECES_H
#define MARK_PIECES_H

#include <stddef.h>
#include <stdint.h>

#include "txtrace/mark_ring.h"

#define MARK_PIECES_OPEN_MAX 4
#define MARK_PIECES_BYTES (64u << 20) /* of all texts of a pool that are under way at once */

struct mark;

/* What the texts of all threads of a pool share. All zero at first. */
struct mark_pieces_memory {
	size_t byte_cnt;      /* of texts that are under way */
	unsigned char *spare; /* of the text that was taken last; NULL: none */
	size_t spare_room;
};

struct mark_pieces {
	struct open_text {
		unsigned char *bytes; /* NULL: it is not under way */
		size_t length;
		size_t room;
		uint32_t number;
	} open[MARK_PIECES_OPEN_MAX];
	uint32_t next; /* which one makes room for another */
};

/*
 * A PIECE. One that does not continue what there is, and is not the first, ends
 * it; so does one for which there is no memory.
 */
void mark_pieces_add(struct mark_pieces *text, struct mark_pieces_memory *memory,
		     const struct mark_slot *slot);

/* The text of a mark whose `value` says how long it is, and its number. It lives until the next call. */
void mark_pieces_take(struct mark_pieces *text, struct mark_pieces_memory *memory, struct mark *mark);

void mark_pieces_release(struct mark_pieces *text, struct mark_pieces_memory *memory);
void mark_pieces_memory_release(struct mark_pieces_memory *memory);

#endif
