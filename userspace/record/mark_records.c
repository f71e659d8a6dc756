/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/mark_records.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "event/event_decode.h"
#include "ring/loss_counters.h"

static const struct {
	uint8_t wire_kind;
	enum { NOTHING, SPAN, NAMED, VALUE, TEXT, KEY } shape;
	uint8_t type;
} shapes[] = {
	[MARK_BEGIN] = { WIRE_BEGIN, SPAN, 0 },
	[MARK_BEGIN_DETACHED] = { WIRE_BEGIN_DETACHED, SPAN, 0 },
	[MARK_ENTER] = { WIRE_ENTER, SPAN, 0 },
	[MARK_EXIT] = { WIRE_LEAVE, SPAN, 0 },
	[MARK_END] = { WIRE_END, SPAN, 0 },
	[MARK_EVENT] = { WIRE_INSTANT, NAMED, 0 },
	[MARK_COUNTER] = { WIRE_COUNTER, NAMED, 0 },
	[MARK_LINK] = { WIRE_LINK, NAMED, 0 },
	[MARK_ATTR + ATTR_BOOL] = { WIRE_ATTR, VALUE, ATTR_BOOL },
	[MARK_ATTR + ATTR_INT] = { WIRE_ATTR, VALUE, ATTR_INT },
	[MARK_ATTR + ATTR_UINT] = { WIRE_ATTR, VALUE, ATTR_UINT },
	[MARK_ATTR + ATTR_DOUBLE] = { WIRE_ATTR, VALUE, ATTR_DOUBLE },
	[MARK_ATTR + ATTR_POINTER] = { WIRE_ATTR, VALUE, ATTR_POINTER },
	[MARK_ATTR_BYTES] = { WIRE_ATTR, TEXT, ATTR_BYTES },
	[MARK_TAG] = { WIRE_TAG, TEXT, 0 },
	[MARK_ATTR_STRING] = { WIRE_ATTR, TEXT, ATTR_STRING },
	[MARK_KEY_BEGIN] = { WIRE_KEY_BEGIN, KEY, 0 },
	[MARK_KEY_ENTER] = { WIRE_KEY_ENTER, KEY, 0 },
	[MARK_KEY_EXIT] = { WIRE_KEY_LEAVE, KEY, 0 },
	[MARK_KEY_END] = { WIRE_KEY_END, KEY, 0 },
	[MARK_KEY_EVENT] = { WIRE_KEY_INSTANT, KEY, 0 },
};

#define SHAPE_CNT (sizeof(shapes) / sizeof(shapes[0]))

/* The label as the kernel side would tell it: its place in the file, if it is a literal there. */
static uint64_t label_of(const struct mark_records *records, const struct mark_owner *owner, uint64_t address)
{
	uint64_t place = address + owner->label_base;

	if (!address)
		return 0;
	if (address & WIRE_LABEL_IS_PLACE)
		return WIRE_LABEL_UNREADABLE;
	return owner->label_base && label_files_has(records->label_files, place) ? place : address;
}

/*
 * In three words, not field by field: who reads a record right after in larger
 * pieces than were written waits 10 ns until all of them have come to the cache.
 */
static void put_header(struct wire_header *header, const struct queued_mark *mark,
		       const struct mark_owner *owner, uint16_t flags, size_t size)
{
	uint16_t kept = size < UINT16_MAX ? (uint16_t)size : UINT16_MAX;
	const uint64_t words[] = { mark->time_ns, (uint64_t)owner->tgid << 32 | mark->tid,
				   (uint64_t)shapes[mark->kind].wire_kind << 48 |
					   (uint64_t)LOSS_CPU_UNKNOWN << 32 | (uint64_t)kept << 16 | flags };

	memcpy(header, words, sizeof(*header));
}

_Static_assert(offsetof(struct wire_header, tid) == 8 && offsetof(struct wire_header, tgid) == 12 &&
		       offsetof(struct wire_header, flags) == 16 &&
		       offsetof(struct wire_header, size) == 18 && offsetof(struct wire_header, cpu) == 20 &&
		       offsetof(struct wire_header, kind) == 22,
	       "the words of a header");

static int push_span(struct mark_records *records, const struct queued_mark *mark,
		     const struct mark_owner *owner)
{
	struct wire_span span;

	put_header(&span.header, mark, owner, records->join ? 0 : WIRE_NO_CLOCKS, sizeof(span));
	span.id = mark->id;
	span.label = label_of(records, owner, mark->name);
	span.parent = mark->value;
	return records->join ? mark_join_add(records->join, &span.header)
			     : records->push(records->context, &span, sizeof(span));
}

static int push_key(struct mark_records *records, const struct queued_mark *mark,
		    const struct mark_owner *owner)
{
	struct wire_key key = { .name = label_of(records, owner, mark->name),
				.key_length = mark->text_length < WIRE_KEY_MAX ? mark->text_length
									       : WIRE_KEY_MAX };
	uint16_t flags = records->join ? 0 : WIRE_NO_CLOCKS;

	if (mark->text_length > WIRE_KEY_MAX || mark->is_truncated)
		flags |= WIRE_IS_TRUNCATED;
	if (!key.key_length)
		flags |= WIRE_IS_UNREADABLE;
	put_header(&key.header, mark, owner, flags, sizeof(key));
	memcpy(key.key, queued_text(mark), key.key_length);
	return records->join ? mark_join_add(records->join, &key.header)
			     : records->push(records->context, &key, sizeof(key));
}

static int push_named(struct mark_records *records, const struct queued_mark *mark,
		      const struct mark_owner *owner)
{
	struct wire_mark named;

	put_header(&named.header, mark, owner, 0, sizeof(named));
	named.id = mark->id;
	named.name = label_of(records, owner, mark->name);
	named.value = mark->value;
	return records->push(records->context, &named, sizeof(named));
}

/* Room for a record of this size, until the next call; NULL: no memory. */
static struct wire_text *text_room(struct mark_records *records, size_t size)
{
	if (size > records->text_room) {
		free(records->text);
		records->text_room = 2 * size;
		records->text = malloc(records->text_room);
		if (!records->text)
			records->text_room = 0;
	}
	return records->text;
}

static int push_text(struct mark_records *records, const struct queued_mark *mark,
		     const struct mark_owner *owner)
{
	size_t size = sizeof(struct wire_text) + mark->text_length;
	struct wire_text *text = text_room(records, size);

	if (!text)
		return -ENOMEM;
	put_header(&text->header, mark, owner,
		   (mark->is_truncated ? WIRE_IS_TRUNCATED : 0) |
			   (mark->is_unreadable ? WIRE_IS_UNREADABLE : 0),
		   size);
	text->id = mark->id;
	text->name = label_of(records, owner, mark->name);
	text->value = mark->value;
	text->type = shapes[mark->kind].type;
	text->text_length = mark->text_length;
	memcpy(text + 1, queued_text(mark), mark->text_length);
	return records->push(records->context, text, size);
}

bool mark_records_knows(uint8_t kind)
{
	return kind < SHAPE_CNT && shapes[kind].wire_kind;
}

void mark_records_count(struct mark_counts *counts, const struct queued_mark *mark)
{
	uint8_t kind = shapes[mark->kind].wire_kind;

	counts->marks[kind]++;
	counts->slots[kind] += 1 + (mark->text_length + MARK_PIECE_BYTES - 1) / MARK_PIECE_BYTES;
}

void mark_records_count_lost(struct mark_counts *counts, uint32_t kind, uint64_t cnt)
{
	for (size_t i = 1; kind && i < SHAPE_CNT; i++) {
		if (!shapes[i].wire_kind || (i & (MARK_LOST_KINDS - 1)) != kind)
			continue;
		counts->marks[shapes[i].wire_kind] += cnt;
		counts->slots[shapes[i].wire_kind] += cnt;
	}
}

uint64_t mark_records_kinds(uint32_t kind)
{
	uint64_t kinds = 0;

	for (size_t i = 1; i < SHAPE_CNT; i++)
		if (shapes[i].wire_kind && (!kind || (i & (MARK_LOST_KINDS - 1)) == kind))
			kinds |= UINT64_C(1) << shapes[i].wire_kind;
	return kinds;
}

void mark_records_release(struct mark_records *records)
{
	free(records->text);
}

int mark_records_put(struct mark_records *records, const struct queued_mark *mark,
		     const struct mark_owner *owner)
{
	switch (shapes[mark->kind].shape) {
	case SPAN:
		return push_span(records, mark, owner);
	case KEY:
		return push_key(records, mark, owner);
	case NAMED:
		return push_named(records, mark, owner);
	case VALUE:
	case TEXT:
		return push_text(records, mark, owner);
	case NOTHING:
		break;
	}
	return 0;
}
