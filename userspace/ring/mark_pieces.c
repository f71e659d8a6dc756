/* SPDX-License-Identifier: BSD-2-Clause */
#include "ring/mark_pieces.h"

#include <stdlib.h>
#include <string.h>

#include "ring/mark_pool.h"

#define SPARE_MAX 4096 /* bytes: more is given back */

static struct open_text *find(struct mark_pieces *text, uint32_t number)
{
	for (size_t i = 0; i < MARK_PIECES_OPEN_MAX; i++)
		if (text->open[i].bytes && text->open[i].number == number)
			return &text->open[i];
	return NULL;
}

static struct open_text *find_closed(struct mark_pieces *text)
{
	for (size_t i = 0; i < MARK_PIECES_OPEN_MAX; i++)
		if (!text->open[i].bytes)
			return &text->open[i];
	return NULL;
}

/* Its memory is the spare one from now on. */
static void close_text(struct open_text *open, struct mark_pieces_memory *memory)
{
	free(memory->spare);
	memory->spare = open->bytes;
	memory->spare_room = open->room;
	memory->byte_cnt -= open->room;
	*open = (struct open_text){ 0 };
}

static void resize(struct open_text *open, struct mark_pieces_memory *memory, unsigned char *bytes,
		   size_t room)
{
	memory->byte_cnt += room - open->room;
	open->bytes = bytes;
	open->room = room;
}

/* NULL: no memory. */
static struct open_text *begin(struct mark_pieces *text, struct mark_pieces_memory *memory, uint32_t number)
{
	struct open_text *open = find(text, number);

	if (!open)
		open = find_closed(text);
	if (!open) /* handlers that jumped away have left theirs open */
		open = &text->open[text->next++ % MARK_PIECES_OPEN_MAX];
	open->number = number;
	open->length = 0;
	if (open->bytes)
		return open;
	if (memory->spare && memory->spare_room <= SPARE_MAX) {
		resize(open, memory, memory->spare, memory->spare_room);
	} else {
		free(memory->spare);
		resize(open, memory, malloc(256), 256);
	}
	memory->spare = NULL;
	if (!open->bytes)
		resize(open, memory, NULL, 0);
	return open->bytes ? open : NULL;
}

static int make_room(struct open_text *open, struct mark_pieces_memory *memory)
{
	unsigned char *bytes;

	if (open->length + MARK_PIECE_BYTES <= open->room)
		return 0;
	bytes = memory->byte_cnt + open->room <= MARK_PIECES_BYTES ? realloc(open->bytes, 2 * open->room)
								   : NULL;
	if (!bytes)
		return -1;
	resize(open, memory, bytes, 2 * open->room);
	return 0;
}

void mark_pieces_add(struct mark_pieces *text, struct mark_pieces_memory *memory,
		     const struct mark_slot *slot)
{
	uint32_t number = slot->commit >> 32 & MARK_NUMBER_MASK, piece = (uint32_t)slot->commit;
	struct open_text *open = piece ? find(text, number) : begin(text, memory, number);
	const uint64_t words[] = { slot->id, slot->name, slot->value };

	if (!open)
		return;
	if (open->length != (size_t)piece * MARK_PIECE_BYTES || open->length >= MARK_POOL_TEXT_MAX ||
	    make_room(open, memory)) {
		close_text(open, memory);
		return;
	}
	memcpy(open->bytes + open->length, words, sizeof(words));
	open->length += sizeof(words);
}

void mark_pieces_take(struct mark_pieces *text, struct mark_pieces_memory *memory, struct mark *mark)
{
	uint32_t most = mark->kind >= MARK_KEY_BEGIN ? MARK_KEY_MAX : MARK_POOL_TEXT_MAX;
	uint32_t length = (uint32_t)(mark->value >> 32);
	struct open_text *open = find(text, mark->value & MARK_NUMBER_MASK);

	mark->text = "";
	if (length == 0)
		return;
	mark->is_truncated = length != MARK_LENGTH_UNREADABLE && length > most;
	if (mark->is_truncated)
		length = most;
	if (!open || open->length < length) {
		mark->is_unreadable = true;
		return;
	}
	mark->text = open->bytes;
	mark->text_length = length;
	close_text(open, memory);
}

void mark_pieces_release(struct mark_pieces *text, struct mark_pieces_memory *memory)
{
	for (size_t i = 0; i < MARK_PIECES_OPEN_MAX; i++)
		if (text->open[i].bytes)
			close_text(&text->open[i], memory);
}

void mark_pieces_memory_release(struct mark_pieces_memory *memory)
{
	free(memory->spare);
	memory->spare = NULL;
}
