/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Texts that come in pieces before the mark that they belong to
 * (include/txtrace.h). A signal handler may put a text of its own between two
 * pieces: a few can be under way at once.
 */
#ifndef MARK_PIECES_H
#define MARK_PIECES_H

#include <stddef.h>
#include <stdint.h>

#include "txtrace/mark_ring.h"

#define MARK_PIECES_OPEN_MAX 4

struct mark;

struct mark_pieces {
	struct open_text {
		unsigned char *bytes;
		size_t length;
		size_t room;
		uint32_t number;
		uint32_t is_open;
	} open[MARK_PIECES_OPEN_MAX];
	uint32_t next; /* which one makes room for another */
};

/* A PIECE. One that does not continue what there is, and is not the first, ends it. */
void mark_pieces_add(struct mark_pieces *text, const struct mark_slot *slot);

/* The text of a mark whose `value` says how long it is, and its number. It lives until the next call. */
void mark_pieces_take(struct mark_pieces *text, struct mark *mark);

void mark_pieces_release(struct mark_pieces *text);

#endif
