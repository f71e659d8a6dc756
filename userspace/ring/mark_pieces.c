/* SPDX-License-Identifier: BSD-2-Clause */
#include "ring/mark_pieces.h"

#include <stdlib.h>
#include <string.h>

#include "ring/mark_pool.h"

static struct open_text *find(struct mark_pieces *text, uint32_t number)
{
	for (size_t i = 0; i < MARK_PIECES_OPEN_MAX; i++)
		if (text->open[i].is_open && text->open[i].number == number)
			return &text->open[i];
	return NULL;
}

static struct open_text *find_closed(struct mark_pieces *text)
{
	for (size_t i = 0; i < MARK_PIECES_OPEN_MAX; i++)
		if (!text->open[i].is_open)
			return &text->open[i];
	return NULL;
}

static struct open_text *begin(struct mark_pieces *text, uint32_t number)
{
	struct open_text *open = find(text, number);

	if (!open)
		open = find_closed(text);
	if (!open) /* handlers that jumped away have left theirs open */
		open = &text->open[text->next++ % MARK_PIECES_OPEN_MAX];
	open->is_open = 1;
	open->number = number;
	open->length = 0;
	return open;
}

static int make_room(struct open_text *open)
{
	size_t room = open->room ? 2 * open->room : 256;
	unsigned char *bytes;

	if (open->length + MARK_PIECE_BYTES <= open->room)
		return 0;
	bytes = realloc(open->bytes, room);
	if (!bytes)
		return -1;
	open->bytes = bytes;
	open->room = room;
	return 0;
}

void mark_pieces_add(struct mark_pieces *text, const struct mark_slot *slot)
{
	uint32_t number = slot->commit >> 32 & MARK_NUMBER_MASK, piece = (uint32_t)slot->commit;
	struct open_text *open = piece ? find(text, number) : begin(text, number);
	const uint64_t words[] = { slot->id, slot->name, slot->value };

	if (!open)
		return;
	if (open->length != (size_t)piece * MARK_PIECE_BYTES || open->length >= MARK_POOL_TEXT_MAX ||
	    make_room(open)) {
		open->is_open = 0;
		return;
	}
	memcpy(open->bytes + open->length, words, sizeof(words));
	open->length += sizeof(words);
}

void mark_pieces_take(struct mark_pieces *text, struct mark *mark)
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
	open->is_open = 0;
}

void mark_pieces_release(struct mark_pieces *text)
{
	for (size_t i = 0; i < MARK_PIECES_OPEN_MAX; i++)
		free(text->open[i].bytes);
	memset(text, 0, sizeof(*text));
}
